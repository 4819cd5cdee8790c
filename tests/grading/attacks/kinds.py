"""What an attack is: a submission folder, one line saying what it tries, and what stock nbgrader gives for it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

from grading_sample import RIGHT, cell_of, code, dumps, place_of, release

FULL = {"test_double": 4.0, "test_triple": 2.0, "test_count": 1.0}
ZERO = dict.fromkeys(FULL, 0.0)
FILE = "draft_and_verify.ipynb"
# Plausible, runs, and wrong everywhere: whatever an attack earns above nothing, it earned by attacking.
WRONG = {
    "double": "def double(x):\n    return 0",
    "triple": "def triple(x):\n    return 0",
    "count": "count = 0",
}

# Words that no student may ever receive; the harness plants them.
HIDDEN, OTHER = "MARKER-hidden-tests", "MARKER-other-student"
FOLDER, GRADES = "MARKER-course-folder", "MARKER-gradebook"


@dataclass(frozen=True)
class Attack:
    """One attack.

    Attributes:
        name: short, also the student's id.
        says: one line: what it tries.
        build: writes the submission into a folder; gets the course folder too (for links).
        honest: what the same answers earn without the attack.
        stock: what stock nbgrader 0.9.6 gives, where it was measured; else "".
    """

    name: str
    says: str
    build: Callable[[Path, Path], None]
    honest: dict[str, float] = field(default_factory=lambda: dict(ZERO))
    stock: str = ""


Edit = Callable[[dict[str, Any]], Any]


def notebook(before: str = "", after: str = "", edit: Edit | None = None, **answers: str) -> bytes:
    """The wrong notebook with cells added before the first and after the last exercise, and edited."""
    made = release(**{name: tidy(source) for name, source in {**WRONG, **answers}.items()})
    if before:
        made["cells"].insert(place_of(made, "double"), code(tidy(before), "added-before"))
    if after:
        made["cells"].insert(place_of(made, "l-next"), code(tidy(after), "added-after"))
    if edit is not None:
        made = edit(made) or made
    return dumps(made)


def tidy(source: str) -> str:
    """The source of a cell, which the catalogue writes indented."""
    return dedent(source).strip("\n")


def cells(
    name: str, says: str, before: str = "", after: str = "", stock: str = "", honest: dict[str, float] | None = None,
    edit: Edit | None = None, **answers: str,
) -> Attack:  # fmt: skip
    """An attack that is one notebook."""
    data = notebook(before, after, edit, **answers)

    def build(place: Path, course: Path) -> None:
        (place / FILE).write_bytes(data)

    return Attack(name, says, build, honest or dict(ZERO), stock)


def files(name: str, says: str, others: dict[str, str | bytes], stock: str = "", **more: str) -> Attack:
    """An attack with files beside the wrong notebook."""

    def build(place: Path, course: Path) -> None:
        (place / FILE).write_bytes(notebook(**more))
        for path, data in others.items():
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data if isinstance(data, bytes) else data.encode())

    return Attack(name, says, build, stock=stock)


def on_test(change: Callable[[dict[str, Any]], Any], which: str = "test_double") -> Edit:
    """An edit of one test cell."""

    def edit(made: dict[str, Any]) -> None:
        change(cell_of(made, which))

    return edit


def twice(cell_id: str) -> Edit:
    """An edit that repeats a cell at the end."""

    def edit(made: dict[str, Any]) -> None:
        made["cells"].append(copy.deepcopy(cell_of(made, cell_id)))

    return edit


def without(*ids: str) -> Edit:
    """An edit that removes cells."""

    def edit(made: dict[str, Any]) -> None:
        made["cells"] = [cell for cell in made["cells"] if cell["id"] not in ids]

    return edit


__all__ = [
    "FILE", "FOLDER", "FULL", "GRADES", "HIDDEN", "OTHER", "RIGHT", "WRONG", "ZERO", "Attack", "cell_of", "cells",
    "code", "files", "notebook", "on_test", "twice", "without",
]  # fmt: skip
