"""The tables of nbgrader's gradebook, as far as grading reads and writes them.

nbgrader declares them in `nbgrader.api`, whose import brings the whole of Jupyter's server along: two seconds of
every command. A test holds these against nbgrader's own, so that a new version of it cannot drift away unnoticed. A
new gradebook, and a lesson that is not in it yet, are made by nbgrader itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    DateTime,
    Executable,
    Float,
    Interval,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    inspect,
)

metadata = MetaData()


def _id(length: int = 32) -> Column[str]:
    return Column("id", String(length), primary_key=True, default=lambda: uuid4().hex)


def _key(name: str, length: int = 32) -> Column[str]:
    return Column(name, String(length))


Course = Table("course", metadata, _key("id", 128))
Student = Table("student", metadata, _key("id", 128))
Assignment = Table(
    "assignment",
    metadata,
    _id(),
    Column("name", String(128)),
    Column("duedate", DateTime),
    _key("course_id", 128),
)
Notebook = Table("notebook", metadata, _id(), Column("name", String(128)), _key("assignment_id"))
BaseCell = Table("base_cell", metadata, _id(), Column("name", String(128)), _key("notebook_id"))
GradeCell = Table("grade_cells", metadata, _key("id"), Column("max_score", Float))
SolutionCell = Table("solution_cells", metadata, _key("id"))
TaskCell = Table("task_cells", metadata, _key("id"), Column("max_score", Float))
SourceCell = Table(
    "source_cell", metadata, _id(), Column("name", String(128)), Column("source", Text), _key("notebook_id")
)
SubmittedAssignment = Table(
    "submitted_assignment", metadata, _id(), _key("assignment_id"), _key("student_id", 128),
    Column("timestamp", DateTime), Column("extension", Interval),
)  # fmt: skip
SubmittedNotebook = Table(
    "submitted_notebook", metadata, _id(), _key("assignment_id"), _key("notebook_id"),
    Column("flagged", Boolean, default=False), Column("late_submission_penalty", Float),
)  # fmt: skip
Grade = Table(
    "grade", metadata, _id(), _key("notebook_id"), _key("cell_id"), Column("auto_score", Float),
    Column("manual_score", Float), Column("extra_credit", Float), Column("needs_manual_grade", Boolean, default=True),
)  # fmt: skip
Comment = Table(
    "comment", metadata, _id(), _key("notebook_id"), _key("cell_id"), Column("auto_comment", Text)
)


class Database:
    """A connection to a gradebook that is made when it is needed, and made anew after it was lost."""

    def __init__(self, url: str) -> None:
        self._engine = create_engine(url)
        self._connection: Connection | None = None

    def execute(self, statement: Executable, rows: Sequence[Mapping[str, Any]] | None = None) -> Any:
        """Execute a statement, in the transaction that is open or in a new one."""
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection.execute(statement, rows)

    def is_new(self) -> bool:
        """Whether there is no gradebook yet."""
        return not inspect(self._engine).has_table(Assignment.name)

    def commit(self) -> None:
        """Keep what was done in this transaction."""
        if self._connection is not None:
            self._connection.commit()

    def rollback(self) -> None:
        """Undo what was done in this transaction."""
        if self._connection is not None:
            self._connection.rollback()

    def remove(self) -> None:
        """Let the connection go; the next statement makes a new one."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def close(self) -> None:
        """Let everything go."""
        try:
            self.remove()
        finally:
            self._engine.dispose()
