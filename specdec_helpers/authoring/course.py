"""Read the course files: one jupytext py:percent file a lesson, cut into cells that know their line and their kind."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext

KINDS = ("code", "number", "choice", "ungraded", "generated")
EXERCISES = ("code", "number", "choice")
LESSON_FILE = re.compile(r"lesson([1-9])_([a-z][a-z0-9_]*)\.py")
CELL_MARK = re.compile(r"# %%(?!%)(\s|$)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*$")


class BuildError(Exception):
    """The build stopped for a reason that is not in a course file; the text says which and what to do."""


class CourseError(Exception):
    """Something in a course file cannot be built; the text names the place, the value, the bound and the way out."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        self.path, self.line, self.message = path, line, message
        super().__init__(f"{path.as_posix()}:{line}: {message}")


class CourseErrors(Exception):
    """All that one build found wrong, one line each."""

    def __init__(self, errors: list[CourseError]) -> None:
        self.errors = errors
        super().__init__("\n".join(str(error) for error in errors))


@dataclass
class Cell:
    """One cell of a course file.

    `kind` is "markdown", "setup", "demo" or one of KINDS; `name` is the value of the kind's key, "" where it has none;
    `keys` are the remaining keys of the `# %%` line; `line` is the line of that mark in the file.
    """

    kind: str
    name: str
    source: str
    path: Path
    line: int
    markdown: bool = False
    keys: dict[str, Any] = field(default_factory=dict)

    @property
    def is_exercise(self) -> bool:
        """Whether this cell carries points."""
        return self.kind in EXERCISES

    def wrong(self, message: str, line: int | None = None) -> CourseError:
        """Return an error at this cell (or at `line` lines below its mark)."""
        return CourseError(self.path, self.line + (line or 0), message)


@dataclass
class Lesson:
    """A lesson as its author wrote it, the chapter's cells included."""

    number: int
    notebook: str
    path: Path
    cells: list[Cell]

    @property
    def assignment(self) -> str:
        """The assignment's name for nbgrader: "lesson1"."""
        return f"lesson{self.number}"

    @property
    def exercises(self) -> list[Cell]:
        """The cells that carry points, in their order."""
        return [cell for cell in self.cells if cell.is_exercise]


def _marks(text: str) -> list[int]:
    """Return the line numbers of the cell marks, in order."""
    return [number for number, line in enumerate(text.splitlines(), start=1) if CELL_MARK.match(line)]


def _kind_of(keys: dict[str, Any], markdown: bool) -> tuple[str, str]:
    """Return (kind, name) and take the kind's key out of `keys`; a cell with two kinds keeps both for the rules."""
    found = [kind for kind in KINDS if kind in keys]
    if len(found) == 1:
        return found[0], str(keys.pop(found[0]))
    title = str(keys.get("title", "")).rstrip("…").strip()
    if not markdown and title == "setup":
        keys.pop("title")
        return "setup", ""
    return ("markdown" if markdown else "demo"), ""


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of one course file.

    Raises
    ------
    CourseError
        The file is not UTF-8 text, or text stands before its first `# %%` line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CourseError(path, 1, f"byte {error.start} is not UTF-8; save the file as UTF-8") from error
    marks = _marks(text)
    notebook = jupytext.reads(text, fmt="py:percent")
    if len(marks) != len(notebook.cells):
        raise CourseError(
            path,
            1,
            f"{len(marks)} lines begin with '# %%' but the file reads as {len(notebook.cells)} cells; "
            "begin every cell, also the first one, with a '# %%' line, and no text line with it",
        )
    cells = []
    for line, raw in zip(marks, notebook.cells, strict=True):
        keys = {key: value for key, value in raw.metadata.items() if key != "lines_to_next_cell"}
        markdown = raw.cell_type != "code"
        kind, name = _kind_of(keys, markdown)
        cells.append(Cell(kind, name, raw.source.strip("\n"), path, line, markdown, keys))
    return cells


def heading(cell: Cell) -> tuple[int, str] | None:
    """Return (level, text) of the heading that a markdown cell begins with, or None."""
    match = HEADING.match(cell.source.partition("\n")[0]) if cell.markdown else None
    return (len(match[1]), match[2]) if match else None


def _with_chapter(cells: list[Cell], chapter: list[Cell]) -> list[Cell]:
    """Put the chapter's cells at the mark generated="chapter", else before "What next", else at the end."""
    where = len(cells)
    for index, cell in enumerate(cells):
        if cell.kind == "generated" and cell.name == "chapter":
            return [*cells[:index], *chapter, *cells[index + 1 :]]
        start = heading(cell)
        if start and start[0] <= 2 and start[1].lower().startswith("what next"):
            where = index
    return [*cells[:where], *chapter, *cells[where:]]


def read_course(folder: Path) -> list[Lesson]:
    """Return the lessons of a course folder in their order, each with the chapter's cells in place.

    Raises
    ------
    CourseError
        A file's name is outside the scheme, two files claim one lesson, or the folder holds no lesson.
    """
    chapter_file = folder / "chapter.py"
    chapter = read_cells(chapter_file) if chapter_file.is_file() else []
    lessons: dict[int, Lesson] = {}
    for path in sorted(folder.glob("*.py")):
        if path == chapter_file:
            continue
        match = LESSON_FILE.fullmatch(path.name)
        if match is None:
            raise CourseError(
                path, 1, f"{path.name!r} is no lesson's name; call it lesson1_draft_and_verify.py or the like"
            )
        number = int(match[1])
        if number in lessons:
            raise CourseError(
                path, 1, f"lesson {number} is already in {lessons[number].path.name}; one file a lesson"
            )
        cells = [Cell(**vars(cell)) for cell in chapter]
        lessons[number] = Lesson(number, match[2], path, _with_chapter(read_cells(path), cells))
    if not lessons:
        raise CourseError(folder, 1, "no lesson is here; expected at least one lesson1_….py")
    return [lessons[number] for number in sorted(lessons)]
