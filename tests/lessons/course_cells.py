"""What the lessons' tests share: the course's cells, and the names that a solved notebook defines."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

import specdec_helpers
from specdec_helpers.authoring.course import Cell, read_course

ROOT = Path(__file__).parents[2]
SOURCES = {path.parent.name: path for path in sorted(ROOT.glob("source/lesson*/*.ipynb"))}
CELLS = {cell.name: cell for lesson in read_course(ROOT / "course") for cell in lesson.cells if cell.name}
EXERCISES = {lesson.assignment: lesson.exercises for lesson in read_course(ROOT / "course")}


def solved(lesson: str) -> dict[str, Any]:
    """Return what a lesson's source notebook defines, solutions included; nothing is shown or measured."""
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        for verb in specdec_helpers.__all__:
            patch.setattr(specdec_helpers, verb, lambda *a, **k: None, raising=False)
        for cell in nbformat.read(SOURCES[lesson], 4).cells:
            if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade"):
                exec(compile(cell.source, cell.id, "exec"), names)
    return names


def cell(name: str) -> Cell:
    """Return the course's cell of this name."""
    return CELLS[name]


def uncommented(name: str) -> str:
    """Return the source of a cell whose lines the student is asked to uncomment."""
    return re.sub(r"^# ", "", CELLS[name].source, flags=re.MULTILINE)


def noted_numbers(item: str) -> set[float]:
    """Return the numbers that a cell's notes comment on, the right one among them."""
    return {float(text) for text in noted(item)}


def noted(item: str) -> list[str]:
    """Return the numbers or letters that a cell's notes comment on, as written, the right one among them."""
    return re.findall(r"^# note ([^:]+):", CELLS[item].source, flags=re.MULTILINE)
