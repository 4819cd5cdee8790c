"""Planned submissions: hand-made answers to the release notebooks, and the points each must get.

Each lesson has a module `lessonN.py` beside this one with a list of at least twelve:

    PLANNED = [
        Planned("everything right", {"verify_greedy": SOLUTION, "tokens_produced": 3, ...}, {"verify_greedy": 4, ...}),
        Planned("nothing done", {}, {}),
    ]

An answer to a function is its source (the whole cell); to a number or a choice a value, or the source of its cell.
SOLUTION stands for the course's own answer. An item that is left out stays the stub; points that are left out are 0.
"""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
from nbformat import NotebookNode

from specdec_helpers.checks import LESSONS

ROOT = Path(__file__).resolve().parents[3]


class Solution:
    """The type of SOLUTION, the course's own answer."""

    def __repr__(self) -> str:
        return "SOLUTION"


SOLUTION = Solution()


@dataclass(frozen=True)
class Planned:
    """One submission: its name (also the student's), what is written where, and the points by item."""

    name: str
    answers: Mapping[str, Any]
    points: Mapping[str, float] = field(default_factory=dict)
    extra_cells: tuple[str, ...] = ()  # code cells that the student added right below the set-up cell

    def __str__(self) -> str:
        return self.name


def module(lesson: str) -> ModuleType | None:
    """The module with a lesson's planned submissions; None while it has none."""
    name = f"{__name__}.{lesson}"
    return import_module(name) if find_spec(name) else None


def planned(*lessons: str) -> list[tuple[str, Planned]]:
    """(lesson, submission) of the lessons (of every lesson when none is named)."""
    return [
        (lesson, submission)
        for lesson in lessons or LESSONS
        for submission in getattr(module(lesson), "PLANNED", ())
    ]


def notebook_path(lesson: str, folder: str) -> Path:
    """The lesson's notebook in source/ or release/."""
    (path,) = (ROOT / folder / lesson).glob("*.ipynb")
    return path


def items(lesson: str) -> dict[str, float]:
    """{item: its points} of a lesson, from its source notebook."""
    return {
        cell.metadata.nbgrader.grade_id.removeprefix("test_"): float(cell.metadata.nbgrader.points)
        for cell in nbformat.read(notebook_path(lesson, "source"), 4).cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }


def cell_source(item: str, answer: Any, solution: str) -> str:
    """What stands in the item's cell."""
    if isinstance(answer, Solution):
        return solution
    if isinstance(answer, str):
        text = textwrap.dedent(answer).strip("\n")
        try:
            names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
            is_code = f"def {item}" in text or (item in names and "=" in text) or "import" in text
        except SyntaxError:
            is_code = "\n" in text or f"def {item}" in text
        if is_code:
            return text
    return f"{item} = {answer!r}"


def submission(lesson: str, plan: Planned) -> NotebookNode:
    """The release notebook of a lesson with a planned submission's answers written into it."""
    notebook = copy.deepcopy(nbformat.read(notebook_path(lesson, "release"), 4))
    solutions = {c.id: c.source for c in nbformat.read(notebook_path(lesson, "source"), 4).cells}
    cells = {cell.id: cell for cell in notebook.cells}
    for item, answer in plan.answers.items():
        if item not in cells:
            raise ValueError(f"{plan.name}: {lesson} has no item {item!r}; it has {', '.join(items(lesson))}")
        cells[item].source = cell_source(item, answer, solutions[item])
    first = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code") + 1
    own = [nbformat.v4.new_code_cell(source, id=f"own-{n}") for n, source in enumerate(plan.extra_cells)]
    notebook.cells[first:first] = own
    return notebook
