"""What has been graded, and from what: one small SQLite file per lesson beside the gradebook.

A record is written last, after the gradebook and the graded notebook, and removed first when a submission is
graded anew. So whatever moment the power goes, a submission without a record is simply graded again, and as
grading is deterministic the end is the same.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SCHEMA = """CREATE TABLE IF NOT EXISTS result (
    student TEXT PRIMARY KEY, key TEXT NOT NULL, sha TEXT NOT NULL, body TEXT NOT NULL) WITHOUT ROWID"""


class Busy(RuntimeError):
    """Another run is grading the same lesson."""


@dataclass(frozen=True)
class Record:
    """One graded submission: what it was graded from (`key`), what came out, what is to be said about it."""

    student: str
    key: str
    sha: str  # of the graded notebooks
    scores: dict[str, float]
    remarks: list[str] = field(default_factory=list)
    look: bool = False
    mistakes: dict[str, list[str]] = field(default_factory=dict)
    mode: str = ""
    seconds: float = 0.0

    @property
    def total(self) -> float:
        """Points in all."""
        return sum(self.scores.values())


class Store:
    """The records of one lesson."""

    def __init__(self, folder: Path, lesson: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{lesson}.results.db"
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            # Not a database any more: put it aside. All that is lost is the knowledge that nothing has changed.
            os.replace(self.path, self.path.with_suffix(".broken"))
            for leftover in ("-wal", "-shm"):
                Path(f"{self.path}{leftover}").unlink(missing_ok=True)
            self._open()

    def _open(self) -> None:
        self._db = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute(SCHEMA)

    def records(self) -> dict[str, Record]:
        """All records by student."""
        rows = self._db.execute("SELECT student, key, sha, body FROM result ORDER BY student")
        return {student: Record(student, key, sha, **_body(body)) for student, key, sha, body in rows}

    def forget(self, student: str) -> None:
        """Remove a record: the submission is about to be written, or was found to be in doubt."""
        self._db.execute("DELETE FROM result WHERE student = ?", (student,))

    def remember(self, record: Record) -> None:
        """Write a record: everything else about this submission is in place."""
        body = {
            name: value for name, value in asdict(record).items() if name not in ("student", "key", "sha")
        }
        self._db.execute(
            "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?)",
            (record.student, record.key, record.sha, json.dumps(body, sort_keys=True)),
        )

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def state_folder(root: Path) -> Path:
    """Where the records of the course at `root` are kept."""
    return root / ".specdec"


def recorded(folder: Path, lesson: str) -> frozenset[str]:
    """The students with a record, looked up in passing: nothing is made, and what does not work counts as none."""
    path = folder / f"{lesson}.results.db"
    if not path.exists():
        return frozenset()
    try:
        db = sqlite3.connect(path, timeout=1)
        try:
            return frozenset(student for (student,) in db.execute("SELECT student FROM result"))
        finally:
            db.close()
    except sqlite3.Error:
        return frozenset()


def _body(text: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(text)
    return body


@contextmanager
def only_one(folder: Path, lesson: str) -> Iterator[None]:
    """Hold the lesson for this process; the system lets go of it when the process ends, however it ends.

    Raises Busy where another process has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # Windows: no batch there, only the stock command
        yield
        return
    with open(folder / f"{lesson}.lock", "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            who = file.read().strip() or "another process"
            raise Busy(
                f"{lesson} is being graded by {who}; wait for it, or end it and run this again"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()}")
        file.flush()
        yield
