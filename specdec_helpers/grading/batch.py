"""Grade a lesson's whole class: in parallel, watched, resumable. Run it again at any time; it does what is missing."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from .cluster import run_on_cluster
from .course import Course, CourseError
from .pool import run_local
from .store import only_one, recorded, state_folder
from .table import Progress, Summary
from .tasks import PLAIN, Lesson, Outcome, Task, seed_of

if TYPE_CHECKING:
    from .collect import Submission
    from .desk import Desk
    from .store import Record


@dataclass(frozen=True)
class Options:
    """How to run a batch."""

    workers: int = 0  # 0: one for each core
    force: bool = False
    students: tuple[str, ...] = ("*",)
    scheduler: str = ""
    quiet: bool = False
    mode: str = ""  # "" takes the configured one

    @property
    def count(self) -> int:
        """Worker processes."""
        if self.workers > 0:
            return self.workers
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_batch(course: Course, lesson: str, options: Options) -> Summary:
    """Grade everything collected for a lesson that is not graded yet, or not from these bytes.

    Raises Busy, CourseError, NoCluster before anything is written.
    """
    began = time.monotonic()
    sources = course.sources(
        lesson
    )  # first: in a wrong folder, or for a wrong name, nothing was collected either
    folders = {
        student: folder
        for student, folder in course.submissions(lesson).items()
        if any(fnmatch.fnmatchcase(student, pattern) for pattern in options.students)
    }
    if not folders:
        wanted = "" if options.students == ("*",) else f" of {', '.join(options.students)}"
        place = course.directory.format_path(course.directory.submitted_directory, "*", lesson)
        raise CourseError(
            f"no submission{wanted} was found at {place}; run `nbgrader collect {lesson}` first"
        )
    progress = Progress(len(folders), options.quiet)
    try:
        with contextlib.ExitStack() as stack:
            summary = _Run(course, lesson, sources, folders, options, progress, stack).run()
    finally:
        progress.close()
    summary.seconds = round(time.monotonic() - began, 2)
    return summary


@dataclass
class _Run:
    """One batch. It is also the tasks that its workers take.

    The desk is opened when every worker has been given something to do, or when it is needed before: to see whether
    something that is recorded has changed. So gradebook and records are read while the sandboxes warm up.
    """

    course: Course
    lesson: str
    sources: dict[str, bytes]
    folders: dict[str, Path]
    options: Options
    progress: Progress
    stack: contextlib.ExitStack
    pending: dict[str, Submission] = field(default_factory=dict)

    def run(self) -> Summary:
        course, options = self.course, self.options
        mode = options.mode or course.mode
        self.stack.enter_context(only_one(self.state, self.lesson))
        lesson = Lesson(self.lesson, self.sources, course.limits, mode, (str(course.root),))
        outcomes = (
            run_on_cluster(lesson, self, options.scheduler)
            if options.scheduler
            else run_local(lesson, self, min(options.count, len(self.folders)))
        )
        for outcome in outcomes:
            self._take(outcome)
        return self.summary

    @cached_property
    def certain(self) -> frozenset[str]:
        """The students whose submissions must be graded for certain: nothing of them is recorded."""
        students = frozenset(self.folders)
        return students if self.options.force else students - recorded(self.state, self.lesson)

    @property
    def state(self) -> Path:
        """Where the records are."""
        return state_folder(self.course.root)

    def __length_hint__(self) -> int:
        return len(self.certain)

    @cached_property
    def desk(self) -> Desk:
        """The lesson's desk. Raises CourseError."""
        from .desk import held_desk

        permissions = 0o664 if self.course.directory.groupshared else 0o444
        return self.stack.enter_context(
            held_desk(self.course, self.lesson, self.progress.say, permissions, self.sources)
        )

    @cached_property
    def summary(self) -> Summary:
        """What is told at the end."""
        masters = self.desk.masters.values()
        return Summary(self.lesson, sum(sum(master.points.values()) for master in masters))

    @cached_property
    def before(self) -> dict[str, Mapping[str, float | None]]:
        """The scores of the last run, of those whom it recorded."""
        rows, records = self.desk.rows, self.desk.records
        return {student: rows[student].scores if student in rows else {} for student in records}

    def __iter__(self) -> Iterator[Task]:
        """The submissions that must be graded; the others are counted on the way."""
        from .collect import collect

        course_id = self.course.directory.course_id
        idle = self.options.count
        for student, folder in self.folders.items():
            try:
                submission = collect(student, folder)
            except OSError as error:
                self._ours(student, f"cannot read {folder}: {error}")
                continue
            if student not in self.certain and self.desk.unchanged(submission):
                self.summary.unchanged.append(student)
                self._note(self.desk.records[student])
                continue
            self.pending[student] = submission
            seed = seed_of(course_id, self.lesson, student)
            yield Task(student, submission.files, seed, submission.remarks)
            idle -= 1
            if idle == 0:
                self.desk  # noqa: B018 - opened here and now
        self.desk  # noqa: B018

    def _take(self, outcome: Outcome) -> None:
        submission = self.pending.pop(outcome.student)
        if outcome.ours:
            self._ours(outcome.student, outcome.ours)
            return
        from .desk import NotWritten

        desk, known = self.desk, self.before
        try:
            record = desk.write(submission, outcome)
        except Exception as error:  # NotWritten, or something nobody thought of: the others go on
            kind = "" if isinstance(error, NotWritten) else f"{type(error).__name__}: "
            self._ours(outcome.student, f"{kind}{error}")
            return
        self.summary.graded.append(outcome.student)
        before = known.get(outcome.student, {})
        changes = {n: (before.get(n), s) for n, s in record.scores.items() if before.get(n) != s}
        if changes and outcome.student in known:
            self.summary.differences[outcome.student] = changes
        self._note(record)

    def _note(self, record: Record) -> None:
        kind = self.summary.look if record.look else self.summary.notes
        if record.remarks:
            kind[record.student] = record.remarks
        self.summary.totals[record.student] = record.total
        self.summary.not_sandboxed += record.mode == PLAIN
        self.progress.step(record.look)

    def _ours(self, student: str, reason: str) -> None:
        from .rebuild import safe_name

        self.summary.ours[safe_name(student)] = reason
        self.progress.say(f"{safe_name(student)}: {reason}")
        self.progress.step(True)
