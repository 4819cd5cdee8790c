"""A course of two small lessons, with tables of its own, built in a temporary folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from specdec_helpers.authoring.build import Built, build, read_config
from specdec_helpers.authoring.house import Tables

REPOSITORY = Path(__file__).parents[2]

LESSON1 = '''# %% [markdown] generated="header"
# # Draft and verify
#
# Trace it, then write it.
#
# **Where you are.** At the start.
#
# **What you built.** Nothing yet.
#
# **What comes.** Acceptance.

# %% setup
from specdec_helpers import check, explore, start
start("lesson1")

# %% [markdown]
# ## The idea
# Guess cheaply, check in one pass.

# %% label="Explore" minutes=3
explore("lesson1")

# %% [markdown]
# ### How many tokens?
# The draft is 7 3 5 9.

# %% number="tokens_out" places=0 points=1 minutes=2 difficulty="easy"
tokens_out = 3
# note 3: Yes. Two accepted drafts
#         and the target's own token.
# note 2: You counted only the accepted drafts.

# %% [markdown]
# Emit before verification?
#
# - **A.** Yes
# - **B.** No

# %% choice="emit_early" points=1 minutes=1 difficulty="easy"
emit_early = "B"
# note A: Nothing leaves before the target has checked it.
# note B: Right, never.

# %% [markdown]
# ## Part 2

# %% code="first_of" points=4 minutes=10 difficulty="medium"
def first_of(items):
    """The first item.

    >>> first_of([7, 3])
    7
    """
    ### BEGIN SOLUTION
    return items[0]
    ### END SOLUTION

# %% ungraded="prediction" label="Predict" minutes=1
# Write what you expect:
prediction = None

# %% [markdown]
# ## What next
# Lesson 2.
'''

LESSON2 = """# %% [markdown] generated="header"
# # Accept or reject
#
# **Where you are.** In the middle.

# %% setup
from specdec_helpers import check, explore, start
start("lesson2")

# %% [markdown]
# ## Part 1

# %% number="rate" places=2 points=2 minutes=2 difficulty="hard"
rate = 0.7
# note 0.7: Yes.
"""

CHAPTER = """# %% [markdown]
# ## Chapter reference
# The same in every lesson.

# %% [markdown] generated="mistakes"

# %%
assert round(sum(0.8**i for i in range(5)), 4) == 3.3616
"""

TABLES = {
    "lesson1": Tables(
        exercises=frozenset({"first_of"}),
        trials=frozenset({"first_of"}),
        answers={"tokens_out": 3, "emit_early": "B"},
        mistakes={"first_of": [("the last is taken", "items[-1] is the end", "use items[0]")]},
    ),
    "lesson2": Tables(answers={"rate": 0.7}),
}


@dataclass
class Course:
    """A course folder that a test may change and build."""

    root: Path

    def lesson(self, number: int) -> Path:
        return next((self.root / "course").glob(f"lesson{number}_*.py"))

    def edit(self, number: int, old: str, new: str) -> None:
        path = self.lesson(number)
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def build(self, *only: str, tables: dict[str, Tables] = TABLES) -> Built:
        return build(self.root, only, tables.__getitem__, read_config(REPOSITORY))


@pytest.fixture
def course(tmp_path: Path) -> Course:
    folder = tmp_path / "a course" / "course"  # a space in the path, on purpose
    folder.mkdir(parents=True)
    (folder / "lesson1_draft_and_verify.py").write_text(LESSON1, encoding="utf-8")
    (folder / "lesson2_accept_or_reject.py").write_text(LESSON2, encoding="utf-8")
    (folder / "chapter.py").write_text(CHAPTER, encoding="utf-8")
    return Course(folder.parent)
