"""Odd but honest notebooks, run in the real sandbox: all are graded, with one line where something was off.

What may be odd about the file itself is in test_rebuild.py; folders, names, late and repeated ones in test_doors.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from classroom import FULL, WarmJail
from grading_sample import RIGHT, code, dumps, hidden, master, nbgrader, place_of, release, source_notebook

from specdec_helpers.grading.engine import Graded, grade
from specdec_helpers.grading.limits import Limits
from specdec_helpers.grading.master import Master

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"


def run(notebook: dict[str, Any], lesson: Master | None = None) -> Graded:
    jail = WarmJail(Limits())
    return grade(lesson or master(), {"draft_and_verify.ipynb": dumps(notebook)}, jail, 7, Limits())


def with_cell(source: str, **answers: str) -> Graded:
    """The right notebook with one more cell at its beginning."""
    notebook = release(**{**RIGHT, **answers})
    notebook["cells"].insert(2, code(source, "mine"))
    return run(notebook)


def outputs(graded: Graded, cell_id: str = "added-1") -> list[dict[str, Any]]:
    cell = next(c for c in json.loads(graded.notebook)["cells"] if c["id"] == cell_id)
    found: list[dict[str, Any]] = cell["outputs"]
    return found


@pytest.mark.parametrize(
    "magic",
    [
        "%matplotlib inline",
        "%matplotlib notebook",
        "%matplotlib widget",
        "%matplotlib agg",
        "import matplotlib; matplotlib.use('Agg')",
        "%config InlineBackend.figure_format = 'svg'",
        "%load_ext autoreload\n%autoreload 2",
        "%%time\nx = 1",
        "%%R\nx <- 1",
        "!pip install something",
        "?print",
        "1 +",
        "library(ggplot2)\nx <- 3",
    ],
)
def test_magics_backends_and_other_languages(magic: str) -> None:
    graded = with_cell(f"{magic}\n{PLOT}" if not magic.startswith("%%") else magic)
    assert graded.scores == FULL
    assert graded.remarks == ()


def test_figures_reach_the_graded_notebook() -> None:
    kinds = [set(output.get("data", {})) for output in outputs(with_cell(PLOT))]
    assert any("image/png" in kind for kind in kinds)
    svg = outputs(with_cell(f"%config InlineBackend.figure_format = 'svg'\n{PLOT}"))
    assert any(
        "data:image/svg+xml" in output["data"].get("text/html", "") for output in svg if "data" in output
    )


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("from ipywidgets import interact\n@interact(x=(0, 5))\ndef show(x=2):\n    print('x is', x)", ""),
        ("import ipywidgets\nout = ipywidgets.Output()\nwith out:\n    print('hidden in a widget')\nout", ""),
        ("answer = input('your name? ')", "EOFError"),
        ("from IPython.display import HTML\nHTML('<b>only html</b>')", "only html"),
        ("import sys\nprint('to stderr', file=sys.stderr)", "to stderr"),
        ("import warnings\nwarnings.warn('careful')", "careful"),
        ("print('₀ → ≤ 🙂 Привет')", "₀ → ≤ 🙂 Привет"),
        ("exit()", ""),
        ("raise SystemExit(3)", ""),
        ("from IPython import get_ipython\nget_ipython().run_line_magic('reset', '-f')", ""),
    ],
)
def test_what_cells_do(source: str, shown: str) -> None:
    graded = with_cell(source)
    assert graded.scores["test_double"] == 4
    assert shown in json.dumps(outputs(graded), ensure_ascii=False)


def test_a_warning_or_a_print_in_the_function_changes_nothing() -> None:
    noisy = (
        "import sys, warnings\ndef double(x):\n    warnings.warn('deprecated')\n    print('here', x)\n"
        "    print('there', file=sys.stderr)\n    return 2 * x"
    )
    graded = with_cell("x = 1", double=noisy)
    assert graded.scores == FULL
    test = outputs(graded, "test_double")
    assert all(output.get("name") != "stderr" for output in test)
    assert "here" not in json.dumps(test)  # prints during hidden tests would show their inputs


def test_names_and_text_outside_latin() -> None:
    graded = with_cell("удвоить = lambda x: 2 * x", double="def double(x):\n    return удвоить(x)  # ≤ ₀ 🙂")
    assert graded.scores == FULL


def test_a_zero_point_test_and_a_second_test_for_one_exercise() -> None:
    notebook = source_notebook()
    place = place_of(notebook, "test_double") + 1
    more = [
        code("assert double(0) == 0", "test_zero", nbgrader("test_zero", 0, grade=True, locked=True)),
        code(
            hidden("", "assert double(2) == 4"), "test_two", nbgrader("test_two", 1, grade=True, locked=True)
        ),
    ]
    notebook["cells"][place:place] = more
    lesson = Master(dumps(notebook), "lesson1", "draft_and_verify")
    graded = run(release(**RIGHT), lesson)
    assert graded.scores == {**FULL, "test_zero": 0.0, "test_two": 1.0}
    assert [r.text for r in graded.remarks] == [
        "test cell test_zero, test cell test_two was missing; it was put back"
    ]


def test_an_empty_class_of_cells_and_a_thousand_of_them() -> None:
    notebook = release(**RIGHT)
    notebook["cells"] += [code("", f"e{i}") for i in range(500)] + [code("1", f"c{i}") for i in range(200)]
    graded = run(notebook)
    assert graded.scores == FULL


@pytest.mark.skipif(sys.platform == "win32", reason="locales")
def test_under_lang_c(tmp_path: Path) -> None:
    """A server without a locale: everything is UTF-8 all the same."""
    script = (
        "import sys; sys.path[:0] = [sys.argv[1]]\n"
        "from pathlib import Path\nfrom classroom import Classroom\nfrom grading_sample import RIGHT, release\n"
        "room = Classroom(Path(sys.argv[2]) / 'курс 1')\n"
        "answers = {**RIGHT, 'double': 'def double(x):\\n    # \\u2264 \\U0001f642\\n    return 2 * x'}\n"
        "room.submit('\\u043e\\u043b\\u044f', release(**answers))\n"
        "log = room.stock('autograde', 'lesson1')\n"
        "assert list(room.scores().values()) == [{'test_double': 4.0, 'test_triple': 2.0, 'test_count': 1.0}], log\n"
    )
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    environment = {**os.environ, "LANG": "C", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py"), str(Path(__file__).parent), str(tmp_path)],
        capture_output=True, text=True, env=environment, timeout=300, check=False, errors="replace",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
