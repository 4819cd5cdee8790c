"""The course folder as nbgrader's configuration describes it: where things are, and where a lesson's rows are."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from traitlets.config import LoggingConfigurable

from .gradebook import Book, UnknownLesson
from .limits import Limits
from .master import Master, MasterError


class CourseError(RuntimeError):
    """Something about the course folder or the gradebook keeps a lesson from being graded; says what to do."""


@dataclass(frozen=True)
class Course:
    """A course: nbgrader's directory object, and the application or converter whose configuration applies."""

    directory: CourseDirectory
    app: LoggingConfigurable

    @classmethod
    def here(cls, root: str = "", db_url: str = "") -> Course:
        """The course of the current folder (or `root`), with its nbgrader_config.py read."""
        from nbgrader.apps import NbGrader

        app = NbGrader()
        app.initialize([], root=root)
        if db_url:
            app.coursedir.db_url = db_url
        return cls(app.coursedir, app)

    @property
    def root(self) -> Path:
        """The course folder."""
        return Path(self.directory.root)

    @property
    def limits(self) -> Limits:
        """The limits set as `c.SpecDec.limits`. Raises CourseError for one that is not sensible."""
        try:
            return Limits.from_config(dict(self.app.config.SpecDec.get("limits", {})))
        except ValueError as error:
            raise CourseError(f"nbgrader_config.py, c.SpecDec.limits: {error}") from error

    @property
    def mode(self) -> str:
        """How to sandbox: `c.SpecDec.mode`, "auto" unless set."""
        return str(self.app.config.SpecDec.get("mode", "auto"))

    def masters(self, lesson: str) -> dict[str, Master]:
        """The lesson's source notebooks by name. Raises CourseError where there are none."""
        folder = self.root / self.directory.format_path(self.directory.source_directory, ".", lesson)
        paths = sorted(folder.glob("*.ipynb")) if folder.is_dir() else []
        if not paths:
            known = ", ".join(sorted(p.name for p in folder.parent.glob("*") if any(p.glob("*.ipynb"))))
            raise CourseError(
                f"there is no notebook in {folder}; lessons here: {known or 'none, run `make build`'}"
            )
        try:
            return {path.stem: Master.load(path, lesson) for path in paths}
        except MasterError as error:
            raise CourseError(str(error)) from error

    def submissions(self, lesson: str) -> dict[str, Path]:
        """Student -> folder of everything that was collected for a lesson."""
        pattern = self.directory.format_path(
            self.directory.submitted_directory, "(?P<student>.*)", lesson, escape=True
        )
        found = {}
        for folder in self._folders(self.directory.submitted_directory, lesson):
            matched = re.fullmatch(
                pattern, str(folder.relative_to(self.root)).replace("\\", "/")
            ) or re.fullmatch(pattern, str(folder))
            if matched and matched["student"] not in ("", "."):
                found[matched["student"]] = folder
        excluded = {name for name in self.directory.student_id_exclude.split(",") if name}
        return {student: found[student] for student in sorted(found) if student not in excluded}

    def _folders(self, step: str, lesson: str) -> list[Path]:
        template = self.directory.format_path(step, "*", lesson)
        base = Path(template)
        if (
            not base.is_absolute()
        ):  # the course folder's own name may hold characters that glob would interpret
            return sorted(self.root.glob(template))
        return sorted(Path(base.anchor).glob(str(base.relative_to(base.anchor))))

    def autograded(self, student: str, lesson: str) -> Path:
        """Where a graded submission is kept."""
        return Path(
            self.root, self.directory.format_path(self.directory.autograded_directory, student, lesson)
        )

    @contextmanager
    def book(self, lesson: str, masters: dict[str, Master]) -> Iterator[Book]:
        """The lesson in the gradebook, registered or brought up to date where it differs from source/."""
        _find_alembic()
        gradebook = Gradebook(self.directory.db_url, self.directory.course_id)
        try:
            try:
                book = Book.open(gradebook, lesson)
            except UnknownLesson:
                book = None
            if book is None or not _agrees(book, masters):
                self._register(gradebook, lesson, masters)
                book = Book.open(gradebook, lesson)
            yield book
        finally:
            gradebook.close()

    def _register(self, gradebook: Gradebook, lesson: str, masters: dict[str, Master]) -> None:
        """Put the lesson's cells into the gradebook, through the steps of `nbgrader generate_assignment`."""
        import nbformat
        from nbgrader.converters import GenerateAssignment
        from nbgrader.preprocessors import SaveCells

        gradebook.update_or_create_assignment(lesson)
        converter = GenerateAssignment(coursedir=self.directory, parent=self.app)
        for name, master in masters.items():
            notebook: Any = nbformat.reads(master.data.decode(), as_version=4)
            names = {"notebook": name, "assignment": lesson, "student": ".", "db_url": self.directory.db_url}
            resources: Any = {"nbgrader": names, "unique_key": name}
            try:
                for step in converter.preprocessors:
                    notebook, resources = step(parent=converter).preprocess(notebook, resources)
                    if issubclass(step, SaveCells):
                        break
            except RuntimeError as error:
                raise CourseError(
                    f"{lesson} has other cells in source/ than in the gradebook, which holds submissions of the old "
                    f"ones ({error}). Put the cells back, or start the lesson afresh: "
                    f"`nbgrader db assignment remove {lesson} --force`"
                ) from error

    def penalty(self) -> Callable[[str, float, float], float | None]:
        """The configured plugin for late submissions."""
        from nbgrader.preprocessors import AssignLatePenalties

        holder = AssignLatePenalties(parent=self.app)
        holder.init_plugin()

        def points(student: str, score: float, seconds: float) -> float | None:
            taken = holder.plugin_inst.late_submission_penalty(student, score, seconds)
            return None if taken is None else float(taken)

        return points


def _find_alembic() -> None:
    """nbgrader starts `alembic` by name for a new gradebook; it lies beside the interpreter, perhaps not on PATH."""
    here = os.path.dirname(sys.executable)
    paths = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if here not in paths:
        os.environ["PATH"] = os.pathsep.join([*paths, here])


def _agrees(book: Book, masters: dict[str, Master]) -> bool:
    """Whether the gradebook has the same tests, with the same points and sources, as source/."""
    for name, master in masters.items():
        known = book.notebooks.get(name)
        if known is None or {g: p for g, (_, p) in known.grades.items()} != master.points:
            return False
        if any(known.sources.get(cell.grade_id) != cell.source for cell in master.tests):
            return False
    return set(book.notebooks) == set(masters)
