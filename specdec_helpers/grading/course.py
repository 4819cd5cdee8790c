"""The course folder as nbgrader's configuration describes it: where things are, and where a lesson's rows are."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets.config import LoggingConfigurable
from traitlets.utils.importstring import import_item

from .directory import CourseDirectory, Settings
from .limits import Limits

if TYPE_CHECKING:
    from .gradebook import Book
    from .master import Master


class CourseError(RuntimeError):
    """Something about the course folder or the gradebook keeps a lesson from being graded; says what to do."""


@dataclass(frozen=True)
class Course:
    """A course: its directory object, and the application or converter whose configuration applies.

    Both may be nbgrader's own (the stock command) or those of directory.py, which are quicker to come by.
    """

    directory: CourseDirectory
    app: LoggingConfigurable

    @classmethod
    def here(cls, root: str = "", db_url: str = "") -> Course:
        """The course of the current folder (or `root`), with its nbgrader_config.py read."""
        app, directory = Settings.read(root)
        course = cls(directory, app)
        if not app.is_plain:
            theirs = _nbgrader().apps.NbGrader()
            theirs.initialize([], root=root)
            course = cls(theirs.coursedir, theirs)
        if db_url:
            course.directory.db_url = db_url
        return course

    def nbgrader(self) -> Course:
        """The same course with nbgrader's own objects, for what nbgrader itself has to do."""
        if not isinstance(self.app, Settings):
            return self
        nbgrader = _nbgrader()
        app = nbgrader.apps.NbGrader(config=self.app.config)
        app.coursedir = nbgrader.coursedir.CourseDirectory(
            parent=app, root=self.directory.root, db_url=self.directory.db_url
        )
        return Course(app.coursedir, app)

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

    def sources(self, lesson: str) -> dict[str, bytes]:
        """The lesson's source notebooks by name, as they are on disk. Raises CourseError where there are none."""
        folder = self.root / self.directory.format_path(self.directory.source_directory, ".", lesson)
        paths = sorted(folder.glob("*.ipynb")) if folder.is_dir() else []
        if not paths:
            known = ", ".join(sorted(p.name for p in folder.parent.glob("*") if any(p.glob("*.ipynb"))))
            raise CourseError(
                f"there is no notebook in {folder}; lessons here: "
                + (known or "none. Is this the course folder? Its source/ is made by `make build`")
            )
        return {path.stem: path.read_bytes() for path in paths}

    def masters(self, lesson: str, sources: dict[str, bytes] | None = None) -> dict[str, Master]:
        """The lesson's source notebooks, parsed; read from disk unless given. Raises CourseError."""
        from .master import Master, MasterError

        try:
            return {
                name: Master(data, lesson, name) for name, data in (sources or self.sources(lesson)).items()
            }
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
        from .gradebook import Book
        from .tables import Database

        database = Database(self.directory.db_url)
        try:
            book = Book.find(database, self.directory.course_id, lesson)
            if book is None or not book.agrees(masters):
                database.remove()
                self._register(lesson, masters)
                book = Book.find(database, self.directory.course_id, lesson)
            if book is None:
                raise CourseError(f"{lesson} is not in the gradebook, although it was put there just now")
            yield book
        finally:
            database.close()

    def _register(self, lesson: str, masters: dict[str, Master]) -> None:
        """Put the lesson's cells into the gradebook, through the steps of `nbgrader generate_assignment`."""
        nbgrader, course = _nbgrader(), self.nbgrader()
        import nbformat

        with _gradebook(course.directory.db_url, course.directory.course_id) as gradebook:
            gradebook.update_or_create_assignment(lesson)
        converter = nbgrader.converters.GenerateAssignment(coursedir=course.directory, parent=course.app)
        for name, master in masters.items():
            notebook: Any = nbformat.reads(master.data.decode(), as_version=4)
            names = {
                "notebook": name,
                "assignment": lesson,
                "student": ".",
                "db_url": course.directory.db_url,
            }
            resources: Any = {"nbgrader": names, "unique_key": name}
            try:
                for step in map(_class, converter.preprocessors):
                    notebook, resources = step(parent=converter).preprocess(notebook, resources)
                    if issubclass(step, nbgrader.preprocessors.SaveCells):
                        break
            except RuntimeError as error:
                raise CourseError(
                    f"{lesson} has other cells in source/ than in the gradebook, which holds submissions of the old "
                    f"ones ({error}). Put the cells back, or start the lesson afresh: "
                    f"`nbgrader db assignment remove {lesson} --force`"
                ) from error

    def penalty(self) -> Callable[[str, float, float], float | None]:
        """The configured plugin for late submissions; it is loaded when the first one is late."""
        plugins: list[Any] = []

        def points(student: str, score: float, seconds: float) -> float | None:
            if not plugins:
                holder = _nbgrader().preprocessors.AssignLatePenalties(parent=self.nbgrader().app)
                holder.init_plugin()
                plugins.append(holder.plugin_inst)
            taken = plugins[0].late_submission_penalty(student, score, seconds)
            return None if taken is None else float(taken)

        return points


def _nbgrader() -> Any:
    """nbgrader, with all of it that is needed here. It takes a second, so only for what it alone can do."""
    # A grammar of web addresses that jsonschema would build for another second, to check a format that no notebook has.
    left_out = sys.modules.setdefault("rfc3987_syntax", None) is None  # type: ignore[arg-type]
    try:
        import nbgrader.api
        import nbgrader.apps
        import nbgrader.converters
        import nbgrader.coursedir
        import nbgrader.preprocessors
    finally:
        if left_out:
            del sys.modules["rfc3987_syntax"]
    return nbgrader


def _gradebook(url: str, course_id: str) -> Any:
    """nbgrader's gradebook; a new one is made. For its version, nbgrader would start `alembic` and itself once more."""
    from alembic.script import ScriptDirectory
    from nbgrader import api, dbutil

    asked = api.get_alembic_version
    api.get_alembic_version = lambda: ScriptDirectory(dbutil.ALEMBIC_DIR).get_current_head()
    try:
        return api.Gradebook(url, course_id)
    finally:
        api.get_alembic_version = asked


def _class(step: Any) -> Any:
    """A class, or what a dotted name in the configuration stands for."""
    return import_item(step) if isinstance(step, str) else step
