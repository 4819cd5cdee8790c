"""Build the notebooks: course/ → source/ → (nbgrader's own generate_assignment) → release/, and the sealed notes.

Everything is made in memory and in a temporary folder first; only a build that succeeded as a whole touches the
repository, file by file, and only where bytes differ. The instructor's gradebook is never opened.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from nbgrader.converters import GenerateAssignment, NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from . import house, notebook
from .course import BuildError, Cell, CourseError, CourseErrors, Lesson, read_course
from .notes import Answer, Seals, read_answer, sealed_notes
from .rules import course_errors

NOTES = Path("specdec_helpers/checks/notes.json")
CONFIG = "nbgrader_config.py"


@dataclass(frozen=True)
class Built:
    """A whole build in memory: {path relative to the root: bytes}, and the lessons it was made from."""

    files: dict[Path, bytes]
    lessons: list[Lesson]

    def drift(self, root: Path) -> list[Path]:
        """Return the paths whose bytes on disk differ from the build, and the notebooks that it would not make."""
        changed = [path for path, data in self.files.items() if _read(root / path) != data]
        return sorted([*changed, *self.stale(root)])

    def stale(self, root: Path) -> list[Path]:
        """Return the built lessons' notebooks on disk that the build does not make (a lesson was renamed)."""
        folders = {path.parent for path in self.files if path.suffix == ".ipynb"}
        found = {path.relative_to(root) for folder in folders for path in (root / folder).glob("*.ipynb")}
        return sorted(found - set(self.files))

    def write(self, root: Path) -> list[Path]:
        """Write what differs, each file in one step; delete stale notebooks. Returns the paths that changed."""
        changed = self.drift(root)
        for path in changed:
            if path in self.files:
                replace(root / path, self.files[path])
            else:
                (root / path).unlink()
        return changed


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def replace(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old bytes or the new ones, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _before(lesson: Lesson, cell: Cell) -> Cell | None:
    index = next(i for i, other in enumerate(lesson.cells) if other is cell)
    return lesson.cells[index - 1] if index else None


def _answers(
    lesson: Lesson, tables: house.Tables, seals: Seals
) -> tuple[dict[str, Answer], list[CourseError]]:
    """Return a lesson's numbers and choices, and what is wrong with them or unlike the reference."""
    answers: dict[str, Answer] = {}
    errors: list[CourseError] = []
    for cell in lesson.exercises:
        if cell.kind == "code":
            continue
        try:
            answer = answers[cell.name] = read_answer(cell, _before(lesson, cell), seals)
        except CourseError as error:
            errors.append(error)
            continue
        if cell.name in tables.answers:
            theirs = tables.answers[cell.name]
            bound: Any = answer.options or answer.places
            read = seals.canonical_choice if cell.kind == "choice" else seals.canonical_number
            if read(theirs, bound) != answer.right:
                errors.append(
                    cell.wrong(
                        f"{cell.name} = {answer.literal} here, but the reference says {theirs!r}; "
                        f"correct this cell or ANSWERS in reference/{lesson.assignment}.py",
                        1,
                    )
                )
    return answers, errors


def _source(
    course: list[Lesson], lessons: list[Lesson], tables_of: Callable[[str], house.Tables], seals: Seals
) -> tuple[dict[Path, bytes], dict[str, dict[str, Any]]]:
    """Return the source notebooks and the sealed notes of `lessons`, or raise CourseErrors with all that is wrong.

    The whole course is looked at, so that names stay unique in it, but only errors in `lessons` count.
    """
    tables = {lesson.assignment: tables_of(lesson.assignment) for lesson in lessons}
    files_wanted = {cell.path for lesson in lessons for cell in lesson.cells} | {
        lesson.path for lesson in lessons
    }
    found = course_errors(course, {name: table.lacking for name, table in tables.items()})
    # The chapter's cells stand in every lesson; what is wrong in them is said once.
    errors = list({str(error): error for error in found if error.path in files_wanted}.values())
    answers: dict[str, dict[str, Answer]] = {}
    for lesson in lessons:
        if any(error.path == lesson.path for error in errors):
            continue  # notes are read only from cells whose keys are sound
        answers[lesson.assignment], wrong = _answers(lesson, tables[lesson.assignment], seals)
        errors += wrong
    if errors:
        raise CourseErrors(errors)
    files: dict[Path, bytes] = {}
    notes: dict[str, dict[str, Any]] = {}
    for lesson in lessons:
        mine = answers[lesson.assignment]
        made = notebook.source_notebook(lesson, mine, tables[lesson.assignment].mistakes)
        files[Path("source", lesson.assignment, f"{lesson.notebook}.ipynb")] = notebook.to_text(made).encode()
        for item, entry in sealed_notes(list(mine.values()), seals).items():
            notes[item] = {"lesson": lesson.assignment, **entry}
    return files, notes


def read_config(folder: Path) -> Config:
    """Return the configuration in a folder's nbgrader_config.py. BuildError where there is none."""
    if not (folder / CONFIG).is_file():
        raise BuildError(f"{folder} holds no {CONFIG}; run from the repository, or give --root")
    config: Config = PyFileConfigLoader(CONFIG, path=str(folder)).load_config()
    return config


def release_files(source: dict[Path, bytes], config: Config) -> dict[Path, bytes]:
    """Return what nbgrader's generate_assignment makes of source notebooks, without a gradebook.

    Raises
    ------
    BuildError
        nbgrader refuses a notebook; its own last words are in the text.
    """
    words = StringIO()  # nbgrader logs the reason and raises a summary; both belong into our error
    log = logging.getLogger("specdec.build")
    log.handlers, log.propagate = [logging.StreamHandler(words)], False
    log.setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="specdec-build-") as temporary:
        root = Path(temporary)
        for path, data in source.items():
            replace(root / path, data)
        # What `nbgrader generate_assignment --no-db` sets: no gradebook is opened, the notebooks are the same.
        without_database = {"GenerateAssignment": {"no_database": True}, "SaveCells": {"enabled": False}}
        overrides = Config({"CourseDirectory": {"root": temporary}, **without_database})
        for assignment in sorted({path.parent.name for path in source}):
            settings = Config(config)
            settings.merge(overrides)
            settings.CourseDirectory.assignment_id = assignment
            converter = GenerateAssignment(coursedir=CourseDirectory(config=settings), config=settings)
            converter.log = log
            try:
                converter.start()
            except (NbGraderException, RuntimeError, SystemExit) as error:
                reason = f"{words.getvalue()}{error}".strip()
                raise BuildError(f"nbgrader generate_assignment {assignment} failed:\n{reason}") from error
        made = {
            Path("release", *path.parts[1:]): _read(root / "release" / Path(*path.parts[1:]))
            for path in source
        }
    missing = [path.as_posix() for path, data in made.items() if data is None]
    if missing:
        raise BuildError(
            f"nbgrader made no {', '.join(missing)}; run `nbgrader generate_assignment` to see why"
        )
    return {path: data for path, data in made.items() if data is not None}


def notes_text(notes: dict[str, dict[str, Any]]) -> bytes:
    """Return the bytes of checks/notes.json: by lesson, and within a lesson in the notebook's order."""
    ordered = dict(sorted(notes.items(), key=lambda pair: str(pair[1]["lesson"])))
    return (json.dumps(ordered, indent=1, ensure_ascii=False) + "\n").encode()


def build(
    root: Path,
    only: Collection[str] = (),
    tables_of: Callable[[str], house.Tables] = house.tables,
    config: Config | None = None,
) -> Built:
    """Build the course in `root` in memory.

    Parameters
    ----------
    only : assignments to build, such as "lesson3"; empty for all. Of the others, names must still be unique, and
        their sealed notes are kept as they are on disk.
    tables_of : gives a lesson's tables (tests hand in their own)
    config : nbgrader's configuration; by default that of `root`

    Raises
    ------
    CourseError, CourseErrors, BuildError
    """
    lessons = read_course(root / "course")
    known = [lesson.assignment for lesson in lessons]
    for name in only:
        if name not in known:
            raise BuildError(f"{name!r} is no lesson of this course; choose from {', '.join(known)}")
    wanted = [lesson for lesson in lessons if not only or lesson.assignment in only]
    files, notes = _source(lessons, wanted, tables_of, house.seals())
    if only:
        kept = json.loads(_read(root / NOTES) or b"{}")
        notes = {k: v for k, v in kept.items() if v["lesson"] not in only} | notes
    made = {**files, **release_files(files, config or read_config(root)), NOTES: notes_text(notes)}
    return Built({path: made[path] for path in sorted(made)}, wanted)


def find_root(start: Path) -> Path:
    """Return the nearest folder at or above `start` that holds course/ and nbgrader_config.py."""
    for folder in (start, *start.parents):
        if (folder / "course").is_dir() and (folder / CONFIG).is_file():
            return folder
    raise BuildError(f"no folder at or above {start} holds course/ and {CONFIG}; give --root")


__all__ = ["BuildError", "Built", "build", "find_root", "read_config", "replace"]
