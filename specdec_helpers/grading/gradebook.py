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

from sqlalchemy import bindparam, insert, select, update

from .master import Master
from .tables import (
    Assignment,
    BaseCell,
    Comment,
    Course,
    Database,
    Grade,
    GradeCell,
    Notebook,
    SolutionCell,
    SourceCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)

Penalty = Callable[[str, float, float], float | None]  # student, score, seconds late -> points taken off


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
    """One lesson in the gradebook. Make it with `Book.find`."""

    db: Database
    lesson: str
    assignment_id: str
    duedate: datetime.datetime | None
    notebooks: dict[str, BookNotebook] = field(default_factory=dict)

    @classmethod
    def find(cls, db: Database, course_id: str, lesson: str) -> Book | None:
        """Read the lesson's structure; None where the gradebook, the course or the lesson is not there yet."""
        if db.is_new() or db.execute(select(Course.c.id).where(Course.c.id == course_id)).first() is None:
            return None
        columns = (Assignment.c.id, Assignment.c.duedate)
        found = db.execute(select(*columns).where(Assignment.c.name == lesson)).first()
        if found is None:
            return None
        book = cls(db, lesson, *found)
        for notebook_id, name in db.execute(
            select(Notebook.c.id, Notebook.c.name).where(Notebook.c.assignment_id == book.assignment_id)
        ).all():
            book.notebooks[name] = BookNotebook(
                notebook_id,
                name,
                {n: (i, float(p)) for i, n, p in _cells(db, GradeCell, notebook_id, GradeCell.c.max_score)},
                {n: i for i, n in _cells(db, TaskCell, notebook_id)},
                {n: i for cell in (SolutionCell, TaskCell) for i, n in _cells(db, cell, notebook_id)},
                _pairs(
                    db,
                    select(SourceCell.c.name, SourceCell.c.source).where(
                        SourceCell.c.notebook_id == notebook_id
                    ),
                ),
            )
        db.rollback()
        return book

    def agrees(self, masters: Mapping[str, Master]) -> bool:
        """Whether the gradebook has the same tests, with the same points and sources, as source/."""
        for name, master in masters.items():
            known = self.notebooks.get(name)
            if known is None or {g: p for g, (_, p) in known.grades.items()} != master.points:
                return False
            if any(known.sources.get(cell.grade_id) != cell.source for cell in master.tests):
                return False
        return set(self.notebooks) == set(masters)

    def knows(self, student: str) -> bool:
        """Whether there is such a student."""
        found = self.db.execute(select(Student.c.id).where(Student.c.id == student)).first() is not None
        self.db.rollback()
        return found

    def rows(self) -> dict[str, Row]:
        """Student -> what is there of this lesson, in one query."""
        found: dict[str, dict[str, float | None]] = defaultdict(dict)
        extensions: dict[str, str] = {}
        query = (
            select(
                SubmittedAssignment.c.student_id,
                SubmittedAssignment.c.extension,
                BaseCell.c.name,
                Grade.c.auto_score,
            )
            .join(SubmittedNotebook, SubmittedNotebook.c.assignment_id == SubmittedAssignment.c.id)
            .join(Grade, Grade.c.notebook_id == SubmittedNotebook.c.id)
            .join(BaseCell, BaseCell.c.id == Grade.c.cell_id)
            .where(SubmittedAssignment.c.assignment_id == self.assignment_id)
        )
        for student, extension, name, score in self.db.execute(query):
            found[student][name] = score
            extensions[student] = str(extension or "")
        self.db.rollback()
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
        db = self.db
        try:
            submission_id, late = self._submission(student, timestamp)
            ids = _pairs(
                db,
                select(SubmittedNotebook.c.notebook_id, SubmittedNotebook.c.id).where(
                    SubmittedNotebook.c.assignment_id == submission_id,
                    SubmittedNotebook.c.notebook_id.in_(
                        [notebook.id for notebook in self.notebooks.values()]
                    ),
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
                late_row = update(SubmittedNotebook).where(SubmittedNotebook.c.id == own)
                db.execute(late_row.values(late_submission_penalty=points))
            db.commit()
        except BaseException:
            db.rollback()
            raise

    def _submission(self, student: str, timestamp: datetime.datetime | None) -> tuple[str, float]:
        """(id of the submission's row, seconds late); makes what is not there."""
        db = self.db
        if db.execute(select(Student.c.id).where(Student.c.id == student)).first() is None:
            db.execute(insert(Student).values(id=student))
        found = db.execute(
            select(
                SubmittedAssignment.c.id, SubmittedAssignment.c.timestamp, SubmittedAssignment.c.extension
            ).where(
                SubmittedAssignment.c.assignment_id == self.assignment_id,
                SubmittedAssignment.c.student_id == student,
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
                moved = update(SubmittedAssignment).where(SubmittedAssignment.c.id == own)
                db.execute(moved.values(timestamp=timestamp))
        if timestamp is None or self.duedate is None:
            return own, 0.0
        due = self.duedate + (extension or datetime.timedelta())
        return own, max(0.0, (timestamp - due).total_seconds())

    def _grades(self, own: str, notebook: BookNotebook, entry: Entry) -> float:
        """Write every grade row of a notebook; the notebook's score with a person's grades and extra credit."""
        db = self.db
        wanted = [
            *((name, cell_id) for name, (cell_id, _) in notebook.grades.items()),
            *notebook.tasks.items(),
        ]
        # nbgrader's tables have no index by notebook alone; with the cells, no row of another submission is looked at.
        query = select(Grade.c.id, Grade.c.cell_id, Grade.c.manual_score, Grade.c.extra_credit).where(
            Grade.c.notebook_id == own, Grade.c.cell_id.in_([cell_id for _, cell_id in wanted])
        )
        there = {row.cell_id: row for row in db.execute(query)}
        new, changed, total = [], [], 0.0
        for name, cell_id in wanted:
            auto = self._auto_score(name, notebook, entry)
            row = there.get(cell_id)
            manual = row.manual_score if row is not None else None
            values = {"auto_score": auto, "needs_manual_grade": manual is not None or auto is None}
            if row is None:
                new.append({"notebook_id": own, "cell_id": cell_id, **values})
            else:
                changed.append({"row": row.id, **values})
            total += (manual if manual is not None else auto or 0.0) + (
                (row.extra_credit or 0.0) if row else 0.0
            )
        if new:
            db.execute(insert(Grade), new)
        if changed:
            db.execute(update(Grade).where(Grade.c.id == bindparam("row")), changed)
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
        db = self.db
        query = select(Comment.c.cell_id, Comment.c.id).where(
            Comment.c.notebook_id == own, Comment.c.cell_id.in_(list(notebook.comments.values()))
        )
        there = _pairs(db, query)
        new, changed = [], []
        for name, cell_id in notebook.comments.items():
            untouched = name not in notebook.tasks and self._untouched(name, notebook, entry)
            text = "No response." if untouched else None
            if cell_id in there:
                changed.append({"row": there[cell_id], "auto_comment": text})
            else:
                new.append({"notebook_id": own, "cell_id": cell_id, "auto_comment": text})
        if new:
            db.execute(insert(Comment), new)
        if changed:
            db.execute(update(Comment).where(Comment.c.id == bindparam("row")), changed)


def _cells(db: Database, kind: Any, notebook_id: str, *columns: Any) -> list[Any]:
    query = select(BaseCell.c.id, BaseCell.c.name, *columns).join(kind, kind.c.id == BaseCell.c.id)
    return list(db.execute(query.where(BaseCell.c.notebook_id == notebook_id)))


def _pairs(db: Database, query: Any) -> dict[str, Any]:
    return {row[0]: row[1] for row in db.execute(query)}


def _insert(db: Database, table: Any, **values: Any) -> str:
    key: str = db.execute(insert(table).values(**values).returning(table.c.id)).scalar_one()
    return key
