"""Turn a lesson into an nbgrader source notebook: the cells, their ids and their metadata.

Nothing in it depends on when, where or how often it is made: ids come from grade ids and headings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import nbformat
from nbformat import NotebookNode

from . import words
from .course import Cell, Lesson, heading
from .notes import Answer
from .rules import BEGIN, END

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
TEST = """check({name}={name})
### BEGIN HIDDEN TESTS
from specdec_helpers.grading import compare
compare({name}={name}, points={points})
### END HIDDEN TESTS"""
LONGEST_ID = 64  # nbformat's bound
FIXED = {"deletable": False, "editable": False}


class Ids:
    """Gives `<lesson>-<section>-<n>` to cells without a grade id, counting within each section."""

    def __init__(self, lesson: str) -> None:
        self.lesson, self.section = lesson, "start"
        self.used: dict[str, int] = {}

    def next(self, cell: Cell) -> str:
        """Return the id of the next cell; a heading of level 1 or 2 opens a section."""
        start = heading(cell)
        if start and start[0] <= 2:
            slug = re.sub(r"[^a-z0-9]+", "-", start[1].lower()).strip("-")
            self.section = slug[: LONGEST_ID - len(self.lesson) - 6].strip("-") or "section"
        count = self.used[self.section] = self.used.get(self.section, 0) + 1
        return f"{self.lesson}-{self.section}-{count}"


def grading(grade_id: str, *, solution: bool = False, points: int | None = None) -> dict[str, Any]:
    """Return nbgrader's metadata (schema 3): a solution, a test worth `points`, or a read-only cell."""
    meta: dict[str, Any] = {
        "grade": points is not None,
        "grade_id": grade_id,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return meta if points is None else meta | {"points": points}


def _code(source: str, cell_id: str, metadata: dict[str, Any]) -> NotebookNode:
    cell: NotebookNode = nbformat.v4.new_code_cell(source, id=cell_id, metadata=metadata)
    return cell


def _text(source: str, cell_id: str, metadata: dict[str, Any] | None = None) -> NotebookNode:
    own = FIXED if metadata is None else metadata
    cell: NotebookNode = nbformat.v4.new_markdown_cell(source, id=cell_id, metadata=own)
    return cell


def answer_source(answer: Answer) -> str:
    """Return the solution cell of a number or choice; cleared, only its first line is left."""
    return f"{answer.item} = None\n### {BEGIN}\n{answer.item} = {answer.literal}\n### {END}"


def _exercise(cell: Cell, answers: Mapping[str, Answer]) -> list[NotebookNode]:
    source = cell.source if cell.kind == "code" else answer_source(answers[cell.name])
    test = TEST.format(name=cell.name, points=cell.keys["points"])
    grade_id = f"test_{cell.name}"
    return [
        _code(source, cell.name, {"deletable": False, "nbgrader": grading(cell.name, solution=True)}),
        _code(test, grade_id, {**FIXED, "nbgrader": grading(grade_id, points=cell.keys["points"])}),
    ]


def _plain(cell: Cell, ids: Ids) -> NotebookNode:
    """Return a cell without points: text, set-up, a demonstration, or one that the student writes in."""
    if cell.kind == "ungraded":
        ids.next(cell)
        return (_text if cell.markdown else _code)(cell.source, cell.name, {"deletable": False})
    cell_id = ids.next(cell)
    if cell.markdown:
        return _text(cell.source, cell_id)
    return _code(cell.source, cell_id, {**FIXED, "nbgrader": grading(cell_id)})


def _opening(cells: list[Cell]) -> Cell:
    """Return the text that opens what comes next: the last one under a heading, else the last one.

    An exercise is often told in several texts (the task, then the hints); its label stands above all of them.
    """
    for cell in reversed(cells):
        if cell.kind != "markdown":
            break
        if cell.source.startswith("#"):
            return cell
    return cells[-1]


def _expand(lesson: Lesson, table: Mapping[str, Sequence[tuple[str, str, str]]]) -> list[Cell]:
    """Return the lesson's cells with the generated texts and the label lines in place."""
    cells: list[Cell] = []
    for cell in lesson.cells:
        if cell.kind == "generated":
            texts = [words.header(lesson, cell)] if cell.name == "header" else words.mistakes(cell, table)
            cells += [Cell("markdown", "", text, cell.path, cell.line, True) for text in texts]
            continue
        cell = Cell(**vars(cell))
        line = words.label(cell)
        if line and cell.markdown:
            cell.source = words.with_label(cell.source, line)
        elif line and cells and cells[-1].kind == "markdown":
            text = _opening(cells)
            text.source = words.with_label(text.source, line)
        elif line:
            cells.append(Cell("markdown", "", line, cell.path, cell.line, True))
        cells.append(cell)
    return cells


def source_notebook(
    lesson: Lesson, answers: Mapping[str, Answer], mistakes: Mapping[str, Sequence[tuple[str, str, str]]]
) -> NotebookNode:
    """Return the instructor's notebook of a lesson, nbformat 4.5, without outputs.

    Parameters
    ----------
    answers : the lesson's numbers and choices by name, from `notes.read_answer`
    mistakes : {function: [(name, cause, next step)]}
    """
    ids = Ids(lesson.assignment)
    cells: list[NotebookNode] = []
    for cell in _expand(lesson, mistakes):
        cells += _exercise(cell, answers) if cell.is_exercise else [_plain(cell, ids)]
    made: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)
    return made


def to_text(notebook: NotebookNode) -> str:
    """Return the notebook's file text: sorted keys, one final newline."""
    text: str = nbformat.writes(notebook, version=4)
    return text.rstrip("\n") + "\n"
