"""The judge: points come from the test's value alone, a crash costs its own test only, nothing of ours shows."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from grading_sample import RIGHT, code, dumps, hidden, master, nbgrader, release, source_notebook
from local_jail import LocalJail
from nbformat import from_dict
from nbgrader.utils import determine_grade

from specdec_helpers.checks.report import NotYet
from specdec_helpers.grading.engine import Graded, grade
from specdec_helpers.grading.limits import Limits
from specdec_helpers.grading.master import Master
from specdec_helpers.grading.testcell import points_of


def run(answers: dict[str, str], changed: Any = None, jail: LocalJail | None = None) -> Graded:
    lesson = master()
    if changed:
        notebook = source_notebook()
        for cell in notebook["cells"]:
            cell["source"] = changed.get(cell["id"], cell["source"])
        lesson = Master(dumps(notebook), "lesson1", "draft_and_verify")
    return grade(
        lesson, {"draft_and_verify.ipynb": dumps(release(**answers))}, jail or LocalJail(), 7, Limits()
    )


def cell(graded: Graded, cell_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(c for c in json.loads(graded.notebook)["cells"] if c["id"] == cell_id)
    return found


@pytest.mark.parametrize(
    ("value", "points"),
    [
        (None, 4), (0, 0), (2, 2), (2.5, 2.5), (4.0, 4), (np.float64(1.5), 1.5), (np.int64(3), 3),
        (math.nan, 0), (math.inf, 0), (-1, 0), (10**9, 0), (True, 0), ("abc", 0), ("4", 0), ([4], 0), (NotYet("x"), 0),
        (np.bool_(True), 0), (4.0000000001, 4),
    ],
)  # fmt: skip
def test_only_a_plain_number_earns(value: Any, points: float) -> None:
    got, remark = points_of(value, 4)
    assert got == points
    assert bool(remark) == (points == 0 and not (isinstance(value, NotYet) or value == 0))


@pytest.mark.parametrize(
    "answers",
    [
        RIGHT,
        {},
        {**RIGHT, "double": "def double(x):\n    return 2 if x == 1 else 10"},
        {**RIGHT, "count": "count = 'three'"},
    ],
)
def test_nbgrader_reads_the_same_points(answers: dict[str, str]) -> None:
    graded = run(answers)
    for test in master().tests:
        node = from_dict(cell(graded, test.grade_id))
        assert determine_grade(node)[0] == graded.scores[test.grade_id]


def test_partial_credit() -> None:
    graded = run({**RIGHT, "double": "def double(x):\n    return 2 if x == 1 else 10"})
    assert graded.scores["test_double"] == 2.0


def test_a_crash_costs_its_own_test_only() -> None:
    jail = LocalJail()
    graded = run({**RIGHT, "triple": "def triple(x):\n    die()"}, jail=jail)
    assert graded.scores == {"test_double": 4.0, "test_triple": 0.0, "test_count": 1.0}
    assert jail.sessions == 1  # only the copy that the test ran in is gone
    assert [r.text for r in graded.remarks] == ["in the test of triple: the process ended"]
    assert graded.look


def test_a_cell_that_kills_is_not_run_again() -> None:
    jail = LocalJail()
    graded = run({**RIGHT, "triple": "die()"}, jail=jail)
    assert graded.scores == {"test_double": 4.0, "test_triple": 0.0, "test_count": 1.0}
    assert jail.sessions == 2


def test_visible_and_hidden_messages() -> None:
    graded = run({"double": "def double(x):\n    return 3"})
    error = cell(graded, "test_double")["outputs"][-1]
    assert (error["ename"], error["evalue"]) == ("AssertionError", "double(1) is 2")
    assert len(error["traceback"]) == 1


def test_a_student_cannot_carry_hidden_inputs_out_in_an_exception() -> None:
    graded = run(
        {
            **RIGHT,
            "double": "def double(x):\n    if x == 1: return 2\n    raise AssertionError(f'input was {x}')",
        }
    )
    assert b"input was" not in graded.notebook.replace(b"f'input was {x}'", b"")
    assert cell(graded, "test_double")["outputs"][-1]["ename"] == "AssertionError"


def test_missing_name_is_explained() -> None:
    graded = run({**RIGHT, "double": "def dubble(x):\n    return 2 * x"})
    error = cell(graded, "test_double")["outputs"][-1]
    assert error["ename"] == "NameError"
    assert "double does not exist when this test runs" in error["evalue"]


def test_prints_of_a_test_are_its_output_and_not_the_logs(capsys: pytest.CaptureFixture[str]) -> None:
    graded = run(RIGHT)
    assert cell(graded, "test_triple")["outputs"][0]["text"] == "well done\n"
    assert capsys.readouterr().out == ""


def test_names_of_ours_are_real_and_the_students_are_not() -> None:
    graded = run(
        {**RIGHT, "double": "isclose = lambda *a: True\ndef double(x):\n    return 7"},
        {"l-setup": "from math import isclose", "test_double": "assert isclose(double(3), 6)"},
    )
    assert graded.scores["test_double"] == 0


def test_a_value_that_cannot_travel() -> None:
    graded = run({**RIGHT, "count": "count = {1, 2}"})
    assert graded.scores["test_count"] == 0


def test_an_error_of_a_test_of_ours_gets_a_remark() -> None:
    graded = run(RIGHT, {"test_count": hidden("", "'full marks'")})
    assert graded.scores["test_count"] == 0
    assert "test_count: the test's last value was a str" in graded.remarks[-1].text


def test_hostile_outputs_are_harmless() -> None:
    from specdec_helpers.grading.clean import clean_html, clean_markdown, clean_outputs

    html = (
        '<p onclick="x()">hi<script>alert(1)</script><a href="javascript:x()">a</a><img src="http://spy/x.png">'
        '<iframe src="x"></iframe><svg onload="x()"></svg><a href="data:text/html,x">b</a>'
    )
    cleaned = clean_html(html)
    for bad in ("script", "onclick", "javascript", "http://spy", "iframe", "svg", "data:text"):
        assert bad not in cleaned
    assert "<p>hi" in cleaned
    marked = clean_markdown("**b** <img src=x onerror=alert(1)> [x](javascript:alert(1)) <b>ok</b> a < b")
    assert "<img" not in marked
    assert "javascript:" not in marked
    assert "<b>ok</b>" in marked
    outputs = clean_outputs(
        [
            {"output_type": "display_data", "data": {"application/javascript": "alert(1)"}},
            {"output_type": "display_data", "data": {"image/svg+xml": "<svg><script>1</script></svg>"}},
            {"output_type": "display_data", "data": {"image/png": "not base64 <script>"}},
            {"output_type": "nonsense"}, "x", {"output_type": "stream", "text": 5},
        ]
    )  # fmt: skip
    assert len(outputs) == 4
    assert b"<script" not in json.dumps(outputs).encode()


def test_two_tests_for_one_master_error() -> None:
    notebook = source_notebook()
    notebook["cells"].append(code("1", "again", nbgrader("test_double", 1, grade=True)))
    with pytest.raises(ValueError, match="'test_double' is used twice"):
        Master(dumps(notebook), "lesson1", "x")


@pytest.mark.parametrize(
    "html",
    [
        *(tag * 20_000 for tag in ("<div>", "<b>", "<table><tr><td>")),
        "".join(f"<p><b title={i}>" for i in range(2000)),
        "<a " + " ".join(f"x{i}=1" for i in range(10_000)) + ">",
    ],
    ids=["div", "b", "table", "p b", "attributes"],
)
def test_html_that_takes_a_cleaner_forever_is_not_shown(html: str) -> None:
    """The parser's time grows with the square of these; what it gives up leaves it ready for the next."""
    from specdec_helpers.grading import clean

    assert clean.clean_html(html) == clean.TOO_MUCH
    assert clean.clean_html("<b>x</b>") == "<b>x</b>"
    shown = clean.clean_outputs(
        [
            {
                "output_type": "display_data",
                "data": {"text/html": "<i>x</i>" * 10_000, "text/plain": "x"},
                "metadata": {},
            }
        ]
        * 3
    )
    assert [sorted(output["data"]) for output in shown] == [
        ["text/html", "text/plain"],
        *[["text/plain"]] * 2,
    ]
