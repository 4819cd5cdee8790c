"""The one writer: outcomes go into gradebook, graded notebooks and records, in an order that survives anything."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from . import keys
from .collect import Submission
from .course import Course, CourseError
from .gradebook import Book, Entry, Penalty, Row
from .limits import Limits
from .master import Master
from .patience import Away, patiently
from .publish import publish, published_sha, sha_of, stamp_text
from .store import Record, Store, only_one, state_folder
from .tasks import PLAIN, Outcome, Task, seed_of

PATIENCE = 60.0  # seconds to wait for a database or a disk before giving up on a submission


class NotWritten(RuntimeError):
    """A result could not be written; nothing of it is recorded, so the next run does it again."""


@dataclass
class Desk:
    """Everything needed to decide whether a submission must be graded, and to write what came out."""

    course: Course
    lesson: str
    masters: dict[str, Master]
    book: Book
    store: Store
    limits: Limits
    say: Callable[[str], None]
    patience: float  # seconds to wait for a database or a disk
    permissions: int
    penalty: Penalty | None = None
    records: dict[str, Record] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.records = self.store.records()
        self.rows = self.book.rows()
        self.penalty = self.course.penalty()
        self._tests = keys.tests_key(self.lesson, self.masters)

    def task(self, submission: Submission) -> Task:
        """The work that a submission means."""
        return Task(submission.student, submission.files, self.seed(submission.student), submission.remarks)

    def seed(self, student: str) -> int:
        """The seed of a student's hidden inputs."""
        return seed_of(self.course.directory.course_id, self.lesson, student)

    def key(self, submission: Submission) -> str:
        """What the submission's result depends on."""
        row = self.rows.get(submission.student)
        due = f"{self.book.duedate} {row.extension if row else ''}" if submission.timestamp else ""
        seed = self.seed(submission.student)
        return keys.result_key(submission.sha, self._tests, self.limits, seed, due)

    def unchanged(self, submission: Submission) -> bool:
        """Whether the result that is recorded, in the gradebook and on disk is the one grading would give."""
        record = self.records.get(submission.student)
        if record is None or record.key != self.key(submission):
            return False
        row = self.rows.get(submission.student)
        if row is None or any(row.scores.get(name) != points for name, points in record.scores.items()):
            return False
        folder = self.course.autograded(submission.student, self.lesson)
        return published_sha(folder, [f"{name}.ipynb" for name in self.masters]) == record.sha

    def write(self, submission: Submission, outcome: Outcome) -> Record:
        """Write an outcome. Raises NotWritten when database or disk stay away longer than our patience."""
        student = submission.student
        files = {f"{name}.ipynb": graded.notebook for name, graded in outcome.graded.items()}
        record = Record(
            student=student,
            key=self.key(submission),
            sha=sha_of(files),
            scores=outcome.scores,
            remarks=[remark.text for remark in outcome.remarks],
            look=outcome.look,
            mistakes=outcome.mistakes,
            mode=next((graded.mode for graded in outcome.graded.values()), PLAIN),
            seconds=round(sum(graded.seconds for graded in outcome.graded.values()), 3),
        )
        entries = {name: Entry(graded.scores, graded.answers) for name, graded in outcome.graded.items()}
        if submission.timestamp is not None:
            files["timestamp.txt"] = stamp_text(submission.timestamp)
        # release_feedback stops for the whole class where one is missing, so everyone has one
        files["submission_secret.txt"] = (submission.secret or submission.sha).encode()
        folder = self.course.autograded(student, self.lesson)
        # The order matters: no record while gradebook and notebook may disagree (see store.py).
        self._patiently(lambda: self.store.forget(student), "the record of results")
        self._patiently(
            lambda: self.book.write(student, entries, submission.timestamp, self.penalty), "the gradebook"
        )
        self._patiently(lambda: publish(folder, files, self.permissions), str(folder))
        self._patiently(lambda: self.store.remember(record), "the record of results")
        self.records[student] = record
        extension = self.rows[student].extension if student in self.rows else ""
        self.rows[student] = Row(dict(record.scores), extension)
        return record

    def _patiently(self, step: Callable[[], None], what: str) -> None:
        try:
            patiently(step, f"write {what}", self.patience, self.say, self.book.db.remove)
        except Away as error:
            if error.waited:  # it is gone for good: do not wait as long for each
                self.patience = min(self.patience, 3.0)
            raise NotWritten(str(error)) from error


@contextlib.contextmanager
def open_desk(
    course: Course,
    lesson: str,
    say: Callable[[str], None],
    permissions: int = 0o444,
    sources: dict[str, bytes] | None = None,
) -> Iterator[Desk]:
    """A lesson's desk, held by this process alone; `sources` are its source notebooks if they have been read.

    Raises Busy where another process grades the lesson, CourseError where the lesson cannot be graded.
    """
    with (
        only_one(state_folder(course.root), lesson),
        held_desk(course, lesson, say, permissions, sources) as desk,
    ):
        yield desk


@contextlib.contextmanager
def held_desk(
    course: Course,
    lesson: str,
    say: Callable[[str], None],
    permissions: int = 0o444,
    sources: dict[str, bytes] | None = None,
) -> Iterator[Desk]:
    """The same for a process that holds the lesson already. Raises CourseError."""
    masters, limits = course.masters(lesson, sources), course.limits

    def opened() -> tuple[Desk, contextlib.ExitStack]:
        with contextlib.ExitStack() as stack:
            book = stack.enter_context(course.book(lesson, masters))
            store = Store(state_folder(course.root), lesson)
            stack.callback(store.close)
            desk = Desk(course, lesson, masters, book, store, limits, say, PATIENCE, permissions)
            return desk, stack.pop_all()

    try:
        desk, stack = patiently(opened, "open the gradebook and the record of results", PATIENCE, say)
    except Away as error:
        raise CourseError(f"{error}; nothing was graded, run it again when that is mended") from error
    with stack:
        yield desk
