# ruff: noqa: E501 - some lines of hostile code are long
"""Attacks on a real lesson's hidden tests: its reference, its trials, and its log of model calls."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / "tests" / "grading")) if path not in sys.path]

from jails import opened, sealed_modes  # noqa: E402

from specdec_helpers.grading.engine import Graded, grade  # noqa: E402
from specdec_helpers.grading.limits import Limits  # noqa: E402
from specdec_helpers.grading.master import Master  # noqa: E402
from specdec_helpers.grading.sandbox import Jail  # noqa: E402
from specdec_helpers.grading.tasks import seed_of  # noqa: E402

pytestmark = pytest.mark.skipif(not sealed_modes(), reason="needs bubblewrap")
NAME = "draft_and_verify"
LIMITS = Limits(cell_seconds=5, notebook_seconds=30)
FUNCTIONS = ("verify_greedy", "accepted_count", "speculative_generate")


@pytest.fixture(scope="module")
def jail() -> Iterator[Jail]:
    yield from opened(sealed_modes()[0], LIMITS)


@pytest.fixture(scope="module")
def master() -> Master:
    return Master.load(ROOT / "source" / "lesson1" / f"{NAME}.ipynb", "lesson1")


def play(
    master: Master, jail: Jail, after: str = "", before: str = "", student: str = "s", **answers: str
) -> Graded:
    notebook = json.loads((ROOT / "release" / "lesson1" / f"{NAME}.ipynb").read_text())
    for number, cell in enumerate(notebook["cells"]):
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if grade_id in answers:
            cell["source"] = answers[grade_id]
        if grade_id == "verify_greedy" and before:
            place = number
    extra = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    if before:
        notebook["cells"].insert(place, {**extra, "id": "added-before", "source": before})
    if after:
        notebook["cells"].append({**extra, "id": "added-after", "source": after})
    return grade(
        master,
        {f"{NAME}.ipynb": json.dumps(notebook).encode()},
        jail,
        seed_of("c", "lesson1", student),
        LIMITS,
    )


def outputs(graded: Graded) -> str:
    """Everything shown in the graded notebook, without the student's own source."""
    return json.dumps([cell.get("outputs", []) for cell in json.loads(graded.notebook)["cells"]])


PLAIN_GREEDY = """
def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    out = list(prompt)
    while len(out) < len(prompt) + n_tokens:
        out.append(target_model(out))
    return out[len(prompt):]
"""
DRAFT_FOR_SHOW = """
def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    draft_model(list(prompt))
    out = list(prompt)
    while len(out) < len(prompt) + n_tokens:
        out.append(target_model(out))
    return out[len(prompt):]
"""


@pytest.mark.parametrize("source", [PLAIN_GREEDY, DRAFT_FOR_SHOW], ids=["target only", "one draft for show"])
def test_right_tokens_without_speculation_are_not_enough(master: Master, jail: Jail, source: str) -> None:
    graded = play(master, jail, speculative_generate=source)
    assert graded.scores["test_speculative_generate"] < 5.0


def test_table_of_the_visible_cases_is_worth_little(master: Master, jail: Jail) -> None:
    """A table learned from the check itself: it records the visible calls, and answers them from the right code."""
    table = (
        "_known = [([7, 3, 5, 9], [7, 3, 8, 1, 2]), ([7, 3, 5, 9], [7, 3, 5, 9, 2])]\n"
        "def verify_greedy(draft, target_next):\n"
        "    for d, t in _known:\n        if (list(draft), list(target_next)) == (d, t): return [7, 3, 8] if t[2] == 8 else t\n"
        "    return []\n"
    )
    graded = play(master, jail, verify_greedy=table)
    assert graded.scores["test_verify_greedy"] <= 1.0


def test_log_of_model_calls_cannot_be_forged(master: Master, jail: Jail) -> None:
    source = (
        "import gc, sys\n" + PLAIN_GREEDY.replace("    out = list(prompt)\n", "    for m in (draft_model, target_model):\n"
        "        for attribute in ('calls', 'log', 'count', 'seen'):\n            try: setattr(m, attribute, [])\n            except Exception: pass\n"
        "        for cell in m.__closure__ or ():\n            try: cell.cell_contents = 0\n            except Exception: pass\n    out = list(prompt)\n")
    )  # fmt: skip
    assert play(master, jail, speculative_generate=source).scores["test_speculative_generate"] < 5.0


def _visible(name: str) -> set[str]:
    """The arguments of the visible calls, as the check itself makes them."""
    from specdec_helpers import check
    from specdec_helpers.checks.report import collecting

    seen: set[str] = set()

    def spy(*arguments):
        seen.add(f"SEEN {arguments[:2]!r}")
        raise ValueError

    with collecting(lambda card: None):
        check(**{name: spy})
    return seen


TELLERS = {
    "by value": "return f'SEEN {(a, b)!r}'",
    "by error": "raise ValueError(f'SEEN {(a, b)!r}')",
    "by error type": "raise type(f'SEEN {(a, b)!r}', (ValueError,), {})('x')",
    "by key": "return {f'SEEN {(a, b)!r}': 1}",
    "by memory": "kept.append(f'SEEN {(a, b)!r}'); return []",
    "by file": "open('/tmp/kept', 'a').write(f'SEEN {(a, b)!r}'); return []",
    "by name of a local": "exec(f'SEEN = {(a, b)!r}'); print(f'SEEN {(a, b)!r}'); return []",
}


@pytest.mark.parametrize("how", TELLERS)
def test_hidden_arguments_stay_hidden(master: Master, jail: Jail, how: str) -> None:
    source = f"def verify_greedy(a, b):\n    {TELLERS[how]}"
    after = "import glob\nprint(kept, [open(p).read() for p in glob.glob('/tmp/*')])"
    graded = play(master, jail, after, "kept = []", verify_greedy=source)
    assert graded.scores["test_verify_greedy"] == 0.0
    told = set(re.findall(r"SEEN \(\[[^()]*\]\)", json.loads(json.dumps(outputs(graded)))))
    assert told <= _visible("verify_greedy"), told


def test_nothing_of_the_reference_or_the_trials_is_shown(master: Master, jail: Jail) -> None:
    """Every error our own code can be made to raise is authored: no line, no name, no path of ours."""
    bad = {name: f"def {name}(*a, **k):\n    return {{'t': [None]}}" for name in FUNCTIONS}
    graded = play(master, jail, "import sys\nprint(sys.path, list(sys.modules))", **bad)
    text = graded.notebook.decode()
    assert str(ROOT) not in text
    assert "specdec_helpers/grading" not in text
    for module in (
        "reference/lesson1.py",
        "trials/lesson1.py",
        "trials/lesson1_runs.py",
        "grading/hidden.py",
    ):
        released = (ROOT / "release" / "lesson1" / f"{NAME}.ipynb").read_text()
        for line in (ROOT / "specdec_helpers" / module).read_text().splitlines():
            words = line.strip()
            if (
                len(words) > 45
                and not words.startswith(("from ", "import ", '"', "#"))
                and words not in released
            ):
                assert words not in text, f"{module}: {words}"


def test_two_students_get_different_inputs_and_one_gets_the_same_again(master: Master, jail: Jail) -> None:
    source = "def verify_greedy(a, b):\n    import zlib\n    kept.append(zlib.crc32(repr((a, b)).encode()))\n    return list(b)[:1]"
    first, again = (
        play(master, jail, "", "kept = []", student="one", verify_greedy=source) for _ in range(2)
    )
    assert first.notebook == again.notebook
    assert first.scores == again.scores
