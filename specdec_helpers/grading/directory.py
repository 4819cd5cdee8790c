"""nbgrader's configuration of a course, read without nbgrader.

The files are found and read by jupyter_core and traitlets, as nbgrader has them do it; `CourseDirectory` has the traits
of nbgrader's class of that name, and a test holds them against each other. Importing nbgrader's costs two seconds.
"""

from __future__ import annotations

import logging
import os
import re
from typing import Any

from jupyter_core.application import JupyterApp
from traitlets import Bool, Integer, List, TraitError, Unicode, default, validate
from traitlets.config import Config, LoggingConfigurable

# Sections of the configuration that nbgrader's own application reads, most of them under names of long ago.
THEIRS = (
    "NbGrader",
    "NbGraderConfig",
    "BasicConfig",
    "BaseNbGraderApp",
    "BaseApp",
    "TransferApp",
    "BaseNbConvertApp",
)


class CourseDirectory(LoggingConfigurable):
    """Where things are in a course folder; the names are nbgrader's."""

    course_id = Unicode("").tag(config=True)
    student_id = Unicode("*").tag(config=True)
    student_id_exclude = Unicode("").tag(config=True)
    assignment_id = Unicode("").tag(config=True)
    notebook_id = Unicode("*").tag(config=True)
    directory_structure = Unicode(os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")).tag(
        config=True
    )
    source_directory = Unicode("source").tag(config=True)
    release_directory = Unicode("release").tag(config=True)
    source_with_tests_directory = Unicode("source_with_tests").tag(config=True)
    submitted_directory = Unicode("submitted").tag(config=True)
    autograded_directory = Unicode("autograded").tag(config=True)
    feedback_directory = Unicode("feedback").tag(config=True)
    solution_directory = Unicode("solution").tag(config=True)
    db_url = Unicode("").tag(config=True)
    root = Unicode("").tag(config=True)
    groupshared = Bool(False).tag(config=True)
    ignore = List([".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback"]).tag(config=True)
    include = List(["*"]).tag(config=True)
    max_file_size = Integer(100000).tag(config=True)
    max_dir_size = Integer(100000).tag(config=True)

    @default("db_url")
    def _beside_the_course(self) -> str:
        return f"sqlite:///{os.path.abspath(os.path.join(self.root, 'gradebook.db'))}"

    @default("root")
    def _here(self) -> str:
        return os.getcwd()

    @validate("root")
    def _absolute(self, proposal: Any) -> str:
        return os.path.abspath(str(proposal["value"]))

    @validate("course_id", "student_id", "assignment_id", "notebook_id")
    def _stripped(self, proposal: Any) -> str:
        value = str(proposal["value"])
        if proposal["trait"].name == "assignment_id" and "+" in value:
            raise TraitError("Assignment names should not contain the following characters: +")
        return value.strip()

    def format_path(
        self, nbgrader_step: str, student_id: str, assignment_id: str, escape: bool = False
    ) -> str:
        """The folder of a step, a student and a lesson; with `escape` as a regular expression, but for these three."""
        names = {"nbgrader_step": nbgrader_step, "student_id": student_id, "assignment_id": assignment_id}
        if not escape:
            return os.path.join(self.root, self.directory_structure.format(**names))
        parts = [part.format(**names) for part in _parts(self.directory_structure)]
        if not parts or not parts[0].startswith(os.sep):
            parts.insert(0, re.escape(self.root))
        return re.escape(os.path.sep).join(parts)


def _parts(path: str) -> list[str]:
    rest, last = os.path.split(path)
    return [path] if path in (rest, last) else [*_parts(rest), last]


class Settings(JupyterApp):  # type: ignore[misc]
    """Reads nbgrader_config.py from where nbgrader reads it: Jupyter's folders, this folder, the course folder."""

    name = "jupyter"
    config_file_name = "nbgrader_config"
    classes = List([CourseDirectory])  # type: ignore[assignment]
    _log_formatter_cls = logging.Formatter  # type: ignore[assignment]

    @default("log_level")
    def _informed(self) -> int:
        return logging.INFO

    @default("log_format")
    def _plain(self) -> str:
        return "[%(name)s | %(levelname)s] %(message)s"

    directory: CourseDirectory | None = None

    @classmethod
    def read(cls, root: str = "") -> tuple[Settings, CourseDirectory]:
        """Read the configuration of the course at `root`, or of the one that this folder's configuration names."""
        app = cls()
        directory = app.directory = CourseDirectory(parent=app, **({"root": root} if root else {}))
        app.initialize([])
        app.load_named("nbgrader_config.py", directory.root)
        return app, directory

    def _load_config(self, cfg: Config, *args: Any, **kwargs: Any) -> None:
        super()._load_config(cfg, *args, **kwargs)
        if self.directory is not None:
            self.directory._load_config(cfg)

    def load_config_file(self, *args: Any, **kwargs: Any) -> None:
        """Read Jupyter's folders, then this one."""
        super().load_config_file(*args, **kwargs)
        self.load_named(self.config_file_name, os.getcwd())

    def load_named(self, name: str, folder: str) -> None:
        """Read one folder's file."""
        super(JupyterApp, self).load_config_file(name, path=folder)

    @property
    def is_plain(self) -> bool:
        """Whether nothing is set that only nbgrader's own application understands."""
        return not any(self.config.get(name) for name in THEIRS) and "course_id" not in self.config.get(
            "Exchange", {}
        )
