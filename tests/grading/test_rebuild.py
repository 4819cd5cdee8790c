"""Rebuilding from the master: every odd but honest notebook is graded, with one clear line."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from grading_sample import RIGHT, STUBS, cell_of, code, dumps, markdown, master, place_of, release
from local_jail import LocalJail

from specdec_helpers.grading.engine import Graded, grade
from specdec_helpers.grading.limits import Limits

FILE = "draft_and_verify.ipynb"
FULL = {"test_double": 4.0, "test_triple": 2.0, "test_count": 1.0}


def run(notebook: Any, name: str = FILE) -> Graded:
    data = notebook if isinstance(notebook, bytes) else dumps(notebook)
    return grade(master(), {name: data}, LocalJail(), 7, Limits())


def texts(graded: Graded) -> list[str]:
    return [remark.text for remark in graded.remarks]


def test_right_release_and_empty() -> None:
    right = run(release(**RIGHT))
    assert right.scores == FULL
    assert right.remarks == ()
    empty = run(release())
    assert empty.scores == dict.fromkeys(FULL, 0.0)
    assert not empty.look


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the file is empty"),
        (b"\0" * 5000, "the file is empty"),
        (dumps(release(**RIGHT))[:-900], "cut off"),
        (b"PK\x03\x04 a zip", "not a notebook"),
        (b'{"a": 1}', "no list of cells"),
        (b"[" * 100_000, "too deeply"),
        (b"\xff\xfe\x00", "not a notebook"),
    ],
)
def test_unreadable(data: bytes, says: str) -> None:
    graded = run(data)
    assert graded.scores == dict.fromkeys(FULL, 0.0)
    assert graded.look
    assert len(graded.remarks) == 1
    assert says in graded.remarks[0].text


def test_too_large() -> None:
    graded = run(dumps(release(**RIGHT)) + b" " * 25_000_000)
    assert "larger than 25 MB" in texts(graded)[0]


def test_nothing_handed_in() -> None:
    graded = grade(master(), {}, LocalJail(), 7, Limits())
    assert graded.scores == dict.fromkeys(FULL, 0.0)
    assert "no notebook was handed in" in texts(graded)[0]


def strip_metadata(notebook: dict[str, Any], ids: bool = True) -> dict[str, Any]:
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        if ids:
            cell.pop("id")
    notebook["metadata"] = {}
    notebook["nbformat_minor"] = 4
    return notebook


def test_metadata_stripped_ids_kept() -> None:
    graded = run(strip_metadata(release(**RIGHT), ids=False))
    assert graded.scores == FULL
    assert texts(graded) == []


def test_metadata_and_ids_stripped() -> None:
    graded = run(strip_metadata(release(**RIGHT)))
    assert graded.scores == FULL
    assert texts(graded) == [
        "double, triple, count: the cell had lost its id; it was found by the name it defines"
    ]
    cells = json.loads(graded.notebook)["cells"]
    assert [c["id"] for c in cells] == [c.cell_id for c in master().cells]  # nothing doubled


def test_45_without_ids_and_44_with_ids() -> None:
    without = release(**RIGHT)
    for cell in without["cells"]:
        del cell["id"]
    assert run(without).scores == FULL
    assert run(without).remarks == ()
    old = release(**RIGHT) | {"nbformat_minor": 4}
    assert run(old).scores == FULL


def test_duplicate_ids() -> None:
    notebook = strip_metadata(release(**RIGHT), ids=False)
    for cell in notebook["cells"]:
        cell["id"] = "same"
    assert run(notebook).scores == FULL


def test_nbformat_3() -> None:
    notebook = release(**RIGHT)
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        del cell["id"]
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source").splitlines(keepends=True)
    old = {
        "metadata": {"name": ""},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": notebook["cells"]}],
    }
    graded = run(old)
    assert graded.scores == FULL
    assert "the notebook is saved in the old nbformat 3" in texts(graded)


def test_answer_retyped_in_a_new_cell_below_the_test() -> None:
    notebook = release(triple=RIGHT["triple"], count=RIGHT["count"])
    notebook["cells"].append(code(RIGHT["double"], "mine"))
    graded = run(notebook)
    assert graded.scores == FULL
    assert texts(graded) == ["double: the answer was written in a cell of its own; it was used"]


def test_solution_cell_deleted_and_retyped() -> None:
    notebook = release(**RIGHT)
    at = place_of(notebook, "double")
    notebook["cells"][at] = code(RIGHT["double"], "new")
    assert run(notebook).scores == FULL


@pytest.mark.parametrize("keep", [True, False])
def test_solution_cell_split_in_two(keep: bool) -> None:
    notebook = release(**RIGHT)
    at = place_of(notebook, "double")
    first, second = "def double(x):\n    y = x", "    return x + y"
    cell_of(notebook, "double")["source"] = first
    extra = code(second, "half", copy.deepcopy(notebook["cells"][at]["metadata"]) if keep else {})
    notebook["cells"].insert(at + 1, extra)
    graded = run(notebook)
    assert graded.scores == FULL
    assert texts(graded) == ["double: the answer was split over 2 cells; they were joined"]


def test_split_between_import_and_function() -> None:
    notebook = release(**RIGHT)
    at = place_of(notebook, "triple")
    cell_of(notebook, "triple")["source"] = "import math"
    same = copy.deepcopy(notebook["cells"][at]["metadata"])
    notebook["cells"].insert(at + 1, code("def triple(x):\n    return math.ceil(x) * 3", "half", same))
    assert run(notebook).scores == FULL


def test_scratch_copy_below_the_tests() -> None:
    notebook = release(**RIGHT)
    scratch = copy.deepcopy(cell_of(notebook, "double")) | {
        "id": "copy",
        "source": "def double(x):\n    return 'scratch'",
    }
    notebook["cells"].append(scratch)
    graded = run(notebook)
    assert graded.scores == FULL
    assert texts(graded) == ["double: 2 cells carry this exercise's id; the first was graded"]


def test_copy_answered_original_left_as_stub() -> None:
    notebook = release(triple=RIGHT["triple"], count=RIGHT["count"])
    answered = copy.deepcopy(cell_of(notebook, "double")) | {"id": "copy", "source": RIGHT["double"]}
    notebook["cells"].append(answered)
    graded = run(notebook)
    assert graded.scores == FULL
    assert "the one with an answer was graded" in texts(graded)[0]


def test_tests_deleted_edited_doubled_or_turned_to_markdown() -> None:
    notebook = release(double="def double(x):\n    return 0", triple=RIGHT["triple"], count=RIGHT["count"])
    notebook["cells"].remove(cell_of(notebook, "test_triple"))
    cell_of(notebook, "test_double").update(source="4.0")
    cell_of(notebook, "test_count").update(cell_type="markdown")
    notebook["cells"].append(copy.deepcopy(cell_of(notebook, "test_double")))
    graded = run(notebook)
    assert graded.scores == {"test_double": 0.0, "test_triple": 2.0, "test_count": 1.0}
    assert set(texts(graded)) == {
        "test cell test_triple was missing; it was put back",
        "test cell test_double was there 2 times; it was graded once",
        "test cell test_double, test cell test_count is not the one of this lesson any more; the lesson's own was used",
    }


def test_renamed_copy() -> None:
    graded = run(release(**RIGHT), "draft_and_verify-Copy1.ipynb")
    assert graded.scores == FULL
    assert "recognised by its cells" in texts(graded)[0]
    assert not graded.look


def test_two_notebooks() -> None:
    good, stub = dumps(release(**RIGHT)), dumps(release())
    graded = grade(master(), {FILE: stub, "draft_and_verify-Copy1.ipynb": good}, LocalJail(), 7, Limits())
    assert graded.scores == FULL  # the one under the right name is untouched
    assert graded.look
    assert "2 notebooks were handed in; draft_and_verify-Copy1.ipynb was graded" in texts(graded)[0]
    half = dumps(release(double=RIGHT["double"]))
    graded = grade(master(), {FILE: half, "old.ipynb": good}, LocalJail(), 7, Limits())
    assert graded.scores["test_triple"] == 0  # the right name counts once it holds an answer


def test_another_lessons_notebook() -> None:
    other = {"cells": [markdown("# Lesson 4", "x"), code("print(1)", "y")], "metadata": {}, "nbformat": 4}
    graded = run(other)
    assert graded.look
    assert "is it another lesson's?" in texts(graded)[0]


def test_wrong_kernel_r_and_raw_cells() -> None:
    notebook = release(**RIGHT)
    notebook["metadata"]["kernelspec"] = {"name": "ir", "language": "R", "display_name": "R"}
    notebook["cells"].append({"cell_type": "raw", "id": "raw", "metadata": {}, "source": "raw text"})
    graded = run(notebook)
    assert graded.scores == FULL
    assert texts(graded) == ["the notebook was saved with a kernel for R; Python was used"]
    assert json.loads(graded.notebook)["metadata"]["kernelspec"]["name"] == "python3"


def test_crlf_and_unicode() -> None:
    double = "def double(x):\r\n    # ₀ → ≤ 🙂\r\n    итог = x + x\r\n    return итог"
    notebook = release(**{**RIGHT, "double": double})
    graded = run(notebook)
    assert graded.scores == FULL
    assert "итог".encode() in graded.notebook
    assert b"\\r" not in graded.notebook


def test_half_a_surrogate_pair_in_the_source() -> None:
    data = dumps(release(**RIGHT)).replace(b"return x + x", b"return x + x # \\ud83d")
    assert run(data).scores["test_double"] == 4


def test_metadata_attacks_change_nothing() -> None:
    notebook = release(double="def double(x):\n    return 0", **{k: RIGHT[k] for k in ("triple", "count")})
    test = cell_of(notebook, "test_double")
    test["metadata"] |= {"tags": ["skip-execution", "raises-exception"]}
    test["metadata"]["nbgrader"] |= {"schema_version": 99, "points": 1000, "grade": False, "solution": True}
    graded = run(notebook)
    assert graded.scores["test_double"] == 0
    cell = cell_of(json.loads(graded.notebook), "test_double")
    assert cell["metadata"]["nbgrader"]["points"] == 4
    assert "tags" not in cell["metadata"]


def test_added_cells_keep_their_place_and_run() -> None:
    notebook = release(
        double="def double(x):\n    return helper(x)", triple=RIGHT["triple"], count=RIGHT["count"]
    )
    notebook["cells"].insert(place_of(notebook, "double"), code("def helper(x):\n    return 2 * x", "h"))
    notebook["cells"].insert(1, markdown("my note <script>alert(1)</script>", "n"))
    graded = run(notebook)
    assert graded.scores == FULL
    cells = json.loads(graded.notebook)["cells"]
    assert [c["id"] for c in cells][:5] == ["l-title", "added-1", "l-setup", "l-part2", "added-2"]
    assert "<script" not in cells[1]["source"]


def test_same_bytes_twice_and_no_hidden_source() -> None:
    first, second = run(release(**RIGHT)), run(release(**RIGHT))
    assert first.notebook == second.notebook
    assert b"SECRET" not in first.notebook
    assert b"hidden tests run here" in first.notebook


def test_a_solution_cell_holding_the_stub_of_another() -> None:
    notebook = release(**RIGHT)
    cell_of(notebook, "double")["source"] = STUBS["double"] + "\n" + STUBS["triple"]
    graded = run(notebook)
    assert graded.scores["test_double"] == 0
    assert graded.scores["test_triple"] == 2


def test_more_code_than_anybody_reads_is_left_out() -> None:
    """Reading it would cost the grader's time: the lesson's answers come first, what is too much does not count."""
    notebook = release(**RIGHT)
    notebook["cells"] += [code("x = 1\n" * 60_000, f"more{i}") for i in range(4)]
    graded = run(notebook)
    assert graded.scores == FULL
    assert [text for text in texts(graded) if "characters of code" in text]
    two = {FILE: dumps(notebook), "b.ipynb": dumps(release(**RIGHT))}
    graded = grade(master(), two, LocalJail(), 7, Limits())
    assert graded.scores == FULL
