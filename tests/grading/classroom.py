"""A small course folder for tests of the doors: the sample lesson, submissions, and a look at what came out."""

from __future__ import annotations

import atexit
import io
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from grading_sample import LESSON, NAME, dumps, source_notebook

ROOT = Path(__file__).resolve().parents[2]
FILE = f"{NAME}.ipynb"
FULL = {"test_double": 4.0, "test_triple": 2.0, "test_count": 1.0}
ZERO = dict.fromkeys(FULL, 0.0)


@cache
def _empty_gradebook() -> Path:
    """A gradebook without rows. Making one starts a process of alembic's, so it is made once and copied."""
    from nbgrader.api import Gradebook

    place = Path(tempfile.mkdtemp(prefix="specdec-tests-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    os.environ["PATH"] = os.pathsep.join([os.environ["PATH"], str(Path(sys.executable).parent)])
    Gradebook(f"sqlite:///{place / 'gradebook.db'}", "specdec").close()
    return place / "gradebook.db"


class WarmJail:
    """The same warm jail for all tests of this process: it is what a worker does, and saves its start."""

    _jail: Any = None

    def __new__(cls, limits: Any = None, mode: str = "auto", hide: Any = ()) -> Any:
        from specdec_helpers.grading.sandbox import Jail

        if cls._jail is None or cls._jail.limits != limits:
            if cls._jail is not None:
                Jail.close(cls._jail)
            cls._jail = Jail(limits)
            cls._jail.close = lambda: None
            atexit.register(Jail.close, cls._jail)
        return cls._jail


class Classroom:
    def __init__(self, folder: Path, config: str = "", url: str = "") -> None:
        """A course in a new folder; its gradebook is a SQLite file there, or what is at `url`."""
        self.folder, self.url = folder, url
        if url:
            config += f'\nc.CourseDirectory.db_url = "{url}"\n'
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "nbgrader_config.py", folder)
        if config:
            with open(folder / "nbgrader_config.py", "a") as file:
                file.write(config)
        shutil.copy(_empty_gradebook(), folder / "gradebook.db")
        self.write_source(source_notebook())

    def write_source(self, notebook: Any, lesson: str = LESSON, name: str = NAME) -> None:
        place = self.folder / "source" / lesson
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.ipynb").write_bytes(dumps(notebook))

    def submit(self, student: str, data: Any, name: str = FILE, lesson: str = LESSON, when: str = "") -> Path:
        place = self.folder / "submitted" / student / lesson
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data if isinstance(data, bytes) else dumps(data))
        if when:
            (place / "timestamp.txt").write_text(when)
        return place

    def run(self, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command beside the interpreter (nbgrader …, specdec …) in the course folder."""
        command = [str(Path(sys.executable).parent / words[0]), *words[1:]]
        environment = {**os.environ, **(env or {})}
        return subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
            env=environment,
            check=False,
        )

    def stock(self, command: str, *words: str) -> str:
        """A stock nbgrader command in this process: its log and its exit status."""
        from nbgrader.apps import AutogradeApp, GenerateFeedbackApp

        app = {"autograde": AutogradeApp, "generate_feedback": GenerateFeedbackApp}[command]()
        text, status, before = io.StringIO(), 0, os.getcwd()
        os.chdir(self.folder)
        handler = logging.StreamHandler(text)
        try:
            app.initialize(list(words))
            app.log.addHandler(handler)
            app.start()
        except SystemExit as stop:
            status = int(stop.code or 0)
        finally:
            os.chdir(before)
            app.log.removeHandler(handler)
        return f"{text.getvalue()}\nstatus {status}"

    def scores(self, lesson: str = LESSON, database: str = "gradebook.db") -> dict[str, dict[str, float]]:
        """What the gradebook holds: {student: {grade id: score}}."""
        found: dict[str, dict[str, float]] = {}
        for student, name, score in self.query(
            "SELECT s.student_id, c.name, g.auto_score FROM grade g JOIN base_cell c ON c.id = g.cell_id "
            "JOIN submitted_notebook n ON n.id = g.notebook_id JOIN submitted_assignment s ON s.id = n.assignment_id "
            "JOIN assignment a ON a.id = s.assignment_id WHERE a.name = ?",
            lesson,
            database=database,
        ):
            found.setdefault(student, {})[name] = score
        return found

    def query(self, text: str, *values: Any, database: str = "gradebook.db") -> list[tuple[Any, ...]]:
        if self.url:
            from sqlalchemy import create_engine

            engine = create_engine(self.url)
            with engine.connect() as server:
                return [tuple(row) for row in server.exec_driver_sql(text.replace("?", "%s"), values)]
        with sqlite3.connect(self.folder / database) as db:
            return db.execute(text, values).fetchall()

    def graded(self, student: str, lesson: str = LESSON) -> bytes:
        return (self.folder / "autograded" / student / lesson / FILE).read_bytes()

    def everything(self) -> dict[str, bytes]:
        """All published bytes and all gradebook contents but row ids: what must not depend on how we got there."""
        state = {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted((self.folder / "autograded").rglob("*"))
            if path.is_file()
        }
        rows = self.query(
            "SELECT s.student_id, s.timestamp, a.name, b.name, c.name, g.auto_score, g.manual_score, "
            "g.needs_manual_grade, n.late_submission_penalty FROM grade g JOIN base_cell c ON c.id = g.cell_id "
            "JOIN submitted_notebook n ON n.id = g.notebook_id JOIN notebook b ON b.id = n.notebook_id "
            "JOIN submitted_assignment s ON s.id = n.assignment_id JOIN assignment a ON a.id = s.assignment_id "
            "ORDER BY 1, 3, 4, 5"
        )
        comments = self.query(
            "SELECT s.student_id, c.name, k.auto_comment FROM comment k JOIN base_cell c ON c.id = k.cell_id "
            "JOIN submitted_notebook n ON n.id = k.notebook_id JOIN submitted_assignment s ON s.id = n.assignment_id "
            "ORDER BY 1, 2"
        )
        state["gradebook"] = repr((rows, comments)).encode()
        return state
