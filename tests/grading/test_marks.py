"""Marks instead of copies: a test sees every name as it was at its place, whatever the cells after it do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from grading_sample import RIGHT, cell_of, code, dumps, hidden, master, place_of, release, source_notebook
from jails import modes, opened

from specdec_helpers.grading import judge as judging
from specdec_helpers.grading.bindings import only_binds
from specdec_helpers.grading.engine import Graded, grade
from specdec_helpers.grading.limits import Limits
from specdec_helpers.grading.master import Master
from specdec_helpers.grading.sandbox import Jail

BINDS = [
    "", "x = 1", "x, y = 1, [2, 3]", "x: int = 3", "def f(a, b=2, *c, d=None, **e) -> list[float]:\n    return a",
    "import numpy as np\nfrom math import isclose", '"""Text."""', "del x", "x = [i * i for i in y if i]", "x = y[1:]",
    "x = f'{a:.2f}'", "pass", "# nothing",
]  # fmt: skip
CHANGES = [
    "f()", "x = f()", "x += [1]", "x[0] = 1", "x.y = 1", "@f\ndef g(): pass", "def g(a=f()): pass", "for x in y: pass",
    "class A: pass", "with f: pass", "import helper_of_mine", "from .here import x", "print(f(2))", "x = [y := 3]",
    "def g(a: f()): pass", "del x[0]", "lambda: 0", "x = yield", "%time x = 1", "no python", "x.append(1)",
    "if x: pass", "await f", "global x\nx = 1", "x = f'{y()}'", "print(x)", "from helper_of_mine import f",
    "import xml.dom", "from xml.dom import minidom",
]  # fmt: skip


@pytest.fixture(scope="module", params=modes())
def jail(request: pytest.FixtureRequest) -> Iterator[Jail]:
    yield from opened(request.param)


@pytest.mark.parametrize("source", BINDS)
def test_cells_that_only_bind(source: str) -> None:
    assert only_binds(source)


@pytest.mark.parametrize("source", CHANGES)
def test_cells_that_may_change_more(source: str) -> None:
    assert not only_binds(source)


def test_a_lesson_may_call_its_own_verbs_and_readers() -> None:
    ours = frozenset({"check"})
    assert only_binds("check(x=x)\nprint('tokens:', sum(x))\nassert len(x) == 2, 'two'", ours)
    assert not only_binds("check(x.pop())", ours)
    assert not only_binds("print(double(2))", ours)


def test_most_cells_of_the_lessons_only_bind() -> None:
    """What it is for: in no lesson more than three cells call for a copy."""
    for path in sorted(Path(__file__).parents[2].glob("source/lesson*/*.ipynb")):
        lesson = Master.load(path, path.parent.name)
        ours = judging.ours_of(lesson)
        cells = [cell for cell in lesson.cells if cell.kind == "code" and cell.role != "test"]
        other = [
            cell for cell in cells if not only_binds(cell.source, ours if cell.role == "fixed" else None)
        ]
        assert len(other) <= 3, [cell.source for cell in other]


USES_SCALE = "scale = 1\ndef double(x):\n    return 2 * x * scale"
USES_LIST = "seen = []\ndef double(x):\n    return 2 * x + len(seen)"
# What stands between the test of `double` and the next one, or in the answers; the points of (double, triple, count).
SCENES = {
    "a name is bound anew": (USES_SCALE, "scale = 7", (4, 2, 1)),
    "the function itself is": (RIGHT["double"], "def double(x):\n    return 0", (4, 2, 1)),
    "and is right only then": ("def double(x):\n    return 0", RIGHT["double"], (0, 2, 1)),
    "it is deleted": (RIGHT["double"], "del double", (4, 2, 1)),
    "a helper comes too late": (
        "def double(x):\n    return twice(x)",
        "def twice(x):\n    return 2 * x",
        (0, 2, 1),
    ),
    "a name becomes another function": (
        "def add(a, b):\n    return a + b\ndef double(x):\n    return add(x, x)",
        "def add(a, b):\n    return 0",
        (4, 2, 1),
    ),
    "a list grows": (USES_LIST, "seen.append(1)", (4, 2, 1)),
    "a list grows after names were bound": (USES_LIST, "other = 2\nseen.append(other)", (4, 2, 1)),
    "code is swapped": (
        "def double(x):\n    return 2 * x\ndef other(x):\n    return 0",
        "double.__code__ = other.__code__",
        (4, 2, 1),
    ),
    "a thread changes names later": (
        f"{USES_SCALE}\nimport threading, time\ndef later():\n    global scale\n    time.sleep(0.05)\n    scale = 9\n"
        "threading.Thread(target=later, daemon=True).start()",
        "import time",
        (4, 2, 1),
    ),
    "an iterator is used up": (
        "ones = iter([1, 1, 1, 0])\ndef double(x):\n    return 2 * x * next(ones, 0)",
        "rest = [one for one in ones]",
        (4, 2, 1),
    ),
    "a dictionary adds what is missing": (
        "from collections import defaultdict\nd = defaultdict(int)\ndef double(x):\n    return 0 if d else 2 * x",
        "value = d['a']",
        (4, 2, 1),
    ),
    "an operator of the student's changes something": (
        "class V:\n    n = 0\n    def __add__(self, o):\n        V.n += 1\n        return self\nv = V()\n"
        "def double(x):\n    return 0 if V.n else 2 * x",
        "w = v + 1",
        (4, 2, 1),
    ),
    "a part of a package is imported later": (
        "import xml\ndef double(x):\n    return 2 * x if xml.dom.minidom else 0",
        "import xml.dom.minidom",
        (0, 2, 1),
    ),
    "a file of the student's is imported": (
        "log = []\nopen('colorsys.py', 'w').write('import __main__; __main__.log.append(1)')\n"
        "def double(x):\n    return 0 if log else 2 * x",
        "import colorsys",
        (4, 2, 1),
    ),
    "a hook runs with every cell": (
        "log = []\nget_ipython().events.register('post_run_cell', lambda r: log.append(1))\n"
        "def double(x):\n    return 2 * x if len(log) == 1 else 0",
        "y = 1",
        (4, 2, 1),
    ),
    "In and Out grow": (
        "def double(x):\n    return 2 * x if 'double' in In[-1] and not Out else 0",
        "x = 1\nx",
        (4, 2, 1),
    ),
    "the process ends": (RIGHT["double"], "import os\nos._exit(3)", (4, 2, 1)),
    "a number that takes forever": (RIGHT["double"], "waste = 9 ** 9 ** 9 ** 9", (4, 2, 1)),
    "the function kills its copy": ("def double(x):\n    import os\n    os._exit(1)", "scale = 2", (0, 2, 1)),
}


def play(jail: Jail, first: str, between: str) -> Graded:
    notebook = release(**{**RIGHT, "double": first})
    notebook["cells"].insert(place_of(notebook, "test_double") + 1, code(between, "added"))
    limits = Limits(cell_seconds=1, notebook_seconds=60)
    return grade(master(), {"draft_and_verify.ipynb": dumps(notebook)}, jail, 7, limits)


@pytest.mark.parametrize("scene", SCENES)
def test_a_test_sees_the_names_of_its_place(jail: Jail, scene: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first, between, points = SCENES[scene]
    graded = play(jail, first, between)
    assert tuple(graded.scores.values()) == points
    # The plain way, a copy at every test, comes to the same.
    monkeypatch.setattr(judging, "only_binds", lambda *_: False)
    again = play(jail, first, between)
    assert again.scores == graded.scores
    if "thread" not in scene:
        assert again.notebook == graded.notebook


def test_a_copy_is_taken_only_before_a_cell_that_may_change_more(
    jail: Jail, monkeypatch: pytest.MonkeyPatch
) -> None:
    from specdec_helpers.grading.session import Session

    taken: list[int] = []
    real = Session.snapshot

    def snapshot(self: Session) -> Session:
        taken.append(self.pid)
        return real(self)

    monkeypatch.setattr(Session, "snapshot", snapshot)
    play(jail, RIGHT["double"], "scale = 2")
    assert len(taken) == 2, "one for each test of a function"
    taken.clear()
    play(jail, RIGHT["double"], "print(scale := 2)")
    assert len(taken) == 3, "and one put aside"


# How a function could leave what it sees for another test: in memory, or in what the copies of a process share.
SPIES = {
    "memory": ("seen = []", "seen.append(x)", "seen"),
    "a file": (
        "import os, tempfile\nkept = os.path.join(tempfile.gettempdir(), 'kept')",
        "open(kept, 'a').write(f'<{x}>')",
        "open(kept).read() if os.path.exists(kept) else ''",
    ),
    "a pipe": (
        "import os\nout, into = os.pipe()\nos.set_blocking(out, False)\nos.write(into, b'<>')",
        "os.write(into, f'<{x}>'.encode())",
        "os.read(out, 1000).decode()",
    ),
}


@pytest.mark.parametrize("way", SPIES)
def test_hidden_inputs_do_not_reach_another_test(jail: Jail, way: str) -> None:
    """In no visible part of any test, before or after, does something of the hidden ones show."""
    before, keep, look = SPIES[way]
    spy = f"{before}\ndef double(x):\n    {keep}\n    return 2 * x"
    reader = f"def triple(x):\n    seen_there = {look}\n    return str(seen_there) if x == 1 else 3 * x"
    notebook = source_notebook()
    test = cell_of(notebook, "test_triple")
    test["source"] = hidden("print('got', triple(1))", "assert triple(9) == 27")
    lesson = Master(dumps(notebook), "lesson1", "draft_and_verify")
    answers = release(**{**RIGHT, "double": spy, "triple": reader})
    graded = grade(lesson, {"draft_and_verify.ipynb": dumps(answers)}, jail, 7, Limits())
    assert graded.scores == {"test_double": 4.0, "test_triple": 2.0, "test_count": 1.0}
    shown = cell_of(json.loads(graded.notebook), "test_triple")["outputs"][0]["text"]
    assert shown.startswith("got ")
    assert set(re.findall(r"\d+", shown)) <= {"1"}, "1 is what the visible test of double hands in"
