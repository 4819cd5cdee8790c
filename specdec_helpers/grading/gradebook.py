"""nbgrader's own gradebook, written by one process in one transaction a submission.

nbgrader's API commits after every cell and asks a query for each; here a lesson's structure is read once, and a
submission costs a handful of statements. The tables and what they hold are nbgrader's, so formgrader, `nbgrader
export` and feedback read them as they always do.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    MissingEntry,
    Notebook,
    SolutionCell,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import insert, select, update

Penalty = Callable[[str, float, float], float | None]  # student, score, seconds late -> points taken off


class UnknownLesson(LookupError):
    """The lesson is not in the gradebook."""


@dataclass(frozen=True)
class BookNotebook:
    """A lesson's notebook as the gradebook knows it: names -> ids, points, released sources."""

    id: str
    name: str
    grades: dict[str, tuple[str, float]]  # grade id -> (cell id, points), code tests and manual cells
    tasks: dict[str, str]  # grade id -> cell id
    comments: dict[str, str]  # grade id -> cell id of cells that carry a comment
    sources: dict[str, str]


@dataclass(frozen=True)
class Row:
    """What the gradebook holds for one submission."""

    scores: dict[str, float | None]
    extension: str = ""


@dataclass(frozen=True)
class Entry:
    """What to write for one notebook of a submission."""

    scores: Mapping[str, float]
    answers: Mapping[str, str]


@dataclass
class Book:
    """One lesson in the gradebook. Make it with `Book.open`."""

    gradebook: Gradebook
    lesson: str
    assignment_id: str
    duedate: datetime.datetime | None
    notebooks: dict[str, BookNotebook] = field(default_factory=dict)

    @classmethod
    def open(cls, gradebook: Gradebook, lesson: str) -> Book:
        """Read the lesson's structure. Raises UnknownLesson."""
        try:
            assignment = gradebook.find_assignment(lesson)
        except MissingEntry:
            raise UnknownLesson(lesson) from None
        book = cls(gradebook, lesson, assignment.id, assignment.duedate)
        db = gradebook.db
        for notebook_id, name in db.execute(
            select(Notebook.id, Notebook.name).where(Notebook.assignment_id == assignment.id)
        ):
            book.notebooks[name] = BookNotebook(
                notebook_id,
                name,
                {n: (i, float(p)) for i, n, p in _cells(db, GradeCell, notebook_id, GradeCell.max_score)},
                {n: i for i, n in _cells(db, TaskCell, notebook_id)},
                {n: i for cell in (SolutionCell, TaskCell) for i, n in _cells(db, cell, notebook_id)},
                _pairs(
                    db, select(SourceCell.name, SourceCell.source).where(SourceCell.notebook_id == notebook_id)
                ),
            )
        db.rollback()
        return book

    def rows(self) -> dict[str, Row]:
        """Student -> what is there of this lesson, in one query."""
        found: dict[str, dict[str, float | None]] = defaultdict(dict)
        extensions: dict[str, str] = {}
        query = (
            select(
                SubmittedAssignment.student_id, SubmittedAssignment.extension, BaseCell.name, Grade.auto_score
            )
            .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
            .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .where(SubmittedAssignment.assignment_id == self.assignment_id)
        )
        for student, extension, name, score in self.gradebook.db.execute(query):
            found[student][name] = score
            extensions[student] = str(extension or "")
        self.gradebook.db.rollback()
        return {student: Row(scores, extensions[student]) for student, scores in found.items()}

    def write(
        self,
        student: str,
        entries: Mapping[str, Entry],
        timestamp: datetime.datetime | None = None,
        penalty: Penalty | None = None,
    ) -> None:
        """Write a submission: every grade row of the lesson, 0 unless earned. One transaction: all of it or nothing.

        Args:
            student: the student's id; made if it is new.
            entries: notebook name -> scores and graded answers. A notebook without an entry scores 0.
            timestamp: when it was handed in (UTC); None leaves what is there.
            penalty: the configured plugin for late submissions.

        Raises what SQLAlchemy raises (locked, disconnected, …), with nothing written.
        """
        db = self.gradebook.db
        try:
            submission_id, late = self._submission(student, timestamp)
            ids = _pairs(
                db,
                select(SubmittedNotebook.notebook_id, SubmittedNotebook.id).where(
                    SubmittedNotebook.assignment_id == submission_id
                ),
            )
            for notebook in self.notebooks.values():
                own = ids.get(notebook.id) or _insert(
                    db, SubmittedNotebook, notebook_id=notebook.id, assignment_id=submission_id
                )
                entry = entries.get(notebook.name, Entry({}, {}))
                score = self._grades(own, notebook, entry)
                self._comments(own, notebook, entry)
                points = penalty(student, score, late) if penalty is not None and late > 0 else None
                if points is not None:
                    points = min(max(points, 0.0), score)
                db.execute(
                    update(SubmittedNotebook)
                    .where(SubmittedNotebook.id == own)
                    .values(late_submission_penalty=points)
                )
            db.commit()
        except BaseException:
            db.rollback()
            raise

    def _submission(self, student: str, timestamp: datetime.datetime | None) -> tuple[str, float]:
        """(id of the submission's row, seconds late); makes what is not there."""
        db = self.gradebook.db
        if db.execute(select(Student.id).where(Student.id == student)).first() is None:
            db.execute(insert(Student).values(id=student))
        found = db.execute(
            select(
                SubmittedAssignment.id, SubmittedAssignment.timestamp, SubmittedAssignment.extension
            ).where(
                SubmittedAssignment.assignment_id == self.assignment_id,
                SubmittedAssignment.student_id == student,
            )
        ).first()
        extension = None
        if found is None:
            own = _insert(
                db,
                SubmittedAssignment,
                assignment_id=self.assignment_id,
                student_id=student,
                timestamp=timestamp,
            )
        else:
            own, before, extension = found
            if timestamp is None:
                timestamp = before
            elif timestamp != before:
                db.execute(
                    update(SubmittedAssignment)
                    .where(SubmittedAssignment.id == own)
                    .values(timestamp=timestamp)
                )
        if timestamp is None or self.duedate is None:
            return own, 0.0
        due = self.duedate + (extension or datetime.timedelta())
        return own, max(0.0, (timestamp - due).total_seconds())

    def _grades(self, own: str, notebook: BookNotebook, entry: Entry) -> float:
        """Write every grade row of a notebook; the notebook's score with a person's grades and extra credit."""
        db = self.gradebook.db
        there = {
            row.cell_id: row
            for row in db.execute(
                select(Grade.id, Grade.cell_id, Grade.manual_score, Grade.extra_credit).where(
                    Grade.notebook_id == own
                )
            )
        }
        new, changed, total = [], [], 0.0
        wanted = [(name, cell_id) for name, (cell_id, _) in notebook.grades.items()] + list(
            notebook.tasks.items()
        )
        for name, cell_id in wanted:
            auto = self._auto_score(name, notebook, entry)
            row = there.get(cell_id)
            manual = row.manual_score if row is not None else None
            values = {"auto_score": auto, "needs_manual_grade": manual is not None or auto is None}
            if row is None:
                new.append({"notebook_id": own, "cell_id": cell_id, **values})
            else:
                changed.append({"id": row.id, **values})
            total += (manual if manual is not None else auto or 0.0) + (
                (row.extra_credit or 0.0) if row else 0.0
            )
        if new:
            db.execute(insert(Grade), new)
        if changed:
            db.execute(update(Grade), changed)
        return total

    def _auto_score(self, name: str, notebook: BookNotebook, entry: Entry) -> float | None:
        if name in entry.scores:
            return float(entry.scores[name])
        if name in notebook.comments and name in entry.answers and not self._untouched(name, notebook, entry):
            return None  # a written answer: a person's to grade
        return 0.0

    def _untouched(self, name: str, notebook: BookNotebook, entry: Entry) -> bool:
        source = entry.answers.get(name, "").strip()
        return not source or source == (notebook.sources.get(name) or "").strip()

    def _comments(self, own: str, notebook: BookNotebook, entry: Entry) -> None:
        """nbgrader's own automatic comment on an exercise that was left as it was handed out."""
        db = self.gradebook.db
        there = _pairs(db, select(Comment.cell_id, Comment.id).where(Comment.notebook_id == own))
        new, changed = [], []
        for name, cell_id in notebook.comments.items():
            untouched = name not in notebook.tasks and self._untouched(name, notebook, entry)
            text = "No response." if untouched else None
            if cell_id in there:
                changed.append({"id": there[cell_id], "auto_comment": text})
            else:
                new.append({"notebook_id": own, "cell_id": cell_id, "auto_comment": text})
        if new:
            db.execute(insert(Comment), new)
        if changed:
            db.execute(update(Comment), changed)


def _cells(db: Any, kind: Any, notebook_id: str, *columns: Any) -> list[Any]:
    return list(db.execute(select(kind.id, kind.name, *columns).where(kind.notebook_id == notebook_id)))


def _pairs(db: Any, query: Any) -> dict[str, Any]:
    return {row[0]: row[1] for row in db.execute(query)}


def _insert(db: Any, table: Any, **values: Any) -> str:
    key: str = db.execute(insert(table).values(**values).returning(table.id)).scalar_one()
    return key
