"""A small lesson for tests of the grader, in the shape that the course's build makes, and submissions to it."""

from __future__ import annotations

import copy
import json
from typing import Any

from specdec_helpers.grading.master import Master, strip_hidden

LESSON, NAME = "lesson1", "draft_and_verify"

SETUP = 'from specdec_helpers import check, explore, start\nstart("lesson1")'
DOUBLE = '''def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION'''
TRIPLE = '''import math

def triple(x):
    """Three times x."""
    ### BEGIN SOLUTION
    return 3 * x
    ### END SOLUTION'''
COUNT = "count = None\n### BEGIN SOLUTION\ncount = 3\n### END SOLUTION"


def hidden(visible: str, secret: str) -> str:
    return f"{visible}\n### BEGIN HIDDEN TESTS\n{secret}\n### END HIDDEN TESTS"


DOUBLE_TEST = hidden(
    "assert double(1) == 2, 'double(1) is 2'",
    "SECRET = [(5, 10), (7, 14)]\nright = [double(x) == y for x, y in SECRET]\n4.0 * sum(right) / 2",
)
TRIPLE_TEST = hidden("assert triple(1) == 3, 'triple(1) is 3'", "assert triple(9) == 27\nprint('well done')")
COUNT_TEST = hidden("print('your answer:', count)", "float(type(count) is int and count == 3)")


def nbgrader(
    grade_id: str, points: float = 0, solution: bool = False, grade: bool = False, locked: bool = False
) -> dict[str, Any]:
    meta: dict[str, Any] = {"grade": grade, "grade_id": grade_id, "locked": locked, "solution": solution}
    meta |= {"schema_version": 3, "task": False, "cell_type": "code"}
    if grade:
        meta["points"] = points
    return {"nbgrader": meta}


def code(source: str, cell_id: str, metadata: dict | None = None) -> dict[str, Any]:
    return {
        "cell_type": "code", "execution_count": None, "id": cell_id, "metadata": metadata or {}, "outputs": [],
        "source": source,
    }


def markdown(source: str, cell_id: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": source}


def source_notebook() -> dict[str, Any]:
    cells = [
        markdown("# A lesson", "l-title"),
        code(SETUP, "l-setup", nbgrader("l-setup", locked=True)),
        markdown("## Part 2", "l-part2"),
        code(DOUBLE, "double", nbgrader("double", solution=True)),
        code(DOUBLE_TEST, "test_double", nbgrader("test_double", 4, grade=True, locked=True)),
        code(TRIPLE, "triple", nbgrader("triple", solution=True)),
        code(TRIPLE_TEST, "test_triple", nbgrader("test_triple", 2, grade=True, locked=True)),
        code(COUNT, "count", nbgrader("count", solution=True)),
        code(COUNT_TEST, "test_count", nbgrader("test_count", 1, grade=True, locked=True)),
        markdown("## What next", "l-next"),
    ]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def dumps(notebook: Any) -> bytes:
    return json.dumps(notebook, indent=1).encode()


def master() -> Master:
    return Master(dumps(source_notebook()), LESSON, NAME)


STUBS = {
    "double": 'def double(x):\n    """Twice x."""\n    raise NotImplementedError',
    "triple": 'import math\n\ndef triple(x):\n    """Three times x."""\n    raise NotImplementedError',
    "count": "count = None",
}
RIGHT = {
    "double": "def double(x):\n    return x + x",
    "triple": "def triple(x):\n    return x * 3",
    "count": "count = 3",
}


def release(**answers: str) -> dict[str, Any]:
    """The notebook a student gets, with some of the answers filled in."""
    notebook = copy.deepcopy(source_notebook())
    for cell in notebook["cells"]:
        cell["source"] = strip_hidden(cell["source"])
        if cell["id"] in STUBS:
            cell["source"] = {**STUBS, **answers}[cell["id"]]
    return notebook


def cell_of(notebook: dict[str, Any], cell_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(cell for cell in notebook["cells"] if cell["id"] == cell_id)
    return found


def place_of(notebook: dict[str, Any], cell_id: str) -> int:
    return next(i for i, cell in enumerate(notebook["cells"]) if cell["id"] == cell_id)
