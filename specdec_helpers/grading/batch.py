"""Grade a lesson's whole class: in parallel, watched, resumable. Run it again at any time; it does what is missing."""

from __future__ import annotations

import fnmatch
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .cluster import run_on_cluster
from .collect import Submission, collect
from .course import Course, CourseError
from .desk import Desk, NotWritten, open_desk
from .engine import PLAIN
from .pool import run_local
from .rebuild import safe_name
from .store import Record
from .table import Progress, Summary
from .work import Lesson, Outcome, Task


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

    Raises Busy, CourseError, NoCluster before anything is graded.
    """
    began = time.monotonic()
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
    groupshared = course.directory.groupshared
    try:
        with open_desk(course, lesson, progress.say, 0o664 if groupshared else 0o444) as desk:
            summary = _Run(desk, folders, options, progress).run()
    finally:
        progress.close()
    summary.seconds = round(time.monotonic() - began, 2)
    return summary


class _Run:
    def __init__(self, desk: Desk, folders: dict[str, Path], options: Options, progress: Progress) -> None:
        self.desk, self.folders, self.options, self.progress = desk, folders, options, progress
        self.summary = Summary(desk.lesson, sum(sum(m.points.values()) for m in desk.masters.values()))
        self.pending: dict[str, Submission] = {}
        self.before = {student: row.scores for student, row in desk.rows.items()}
        self.known = set(desk.records)

    def run(self) -> Summary:
        desk, course = self.desk, self.desk.course
        mode = self.options.mode or course.mode
        notebooks = {name: master.data for name, master in desk.masters.items()}
        lesson = Lesson(desk.lesson, notebooks, desk.limits, mode, (str(course.root),))
        outcomes = (
            run_on_cluster(lesson, self._tasks(), self.options.scheduler)
            if self.options.scheduler
            else run_local(lesson, self._tasks(), min(self.options.count, len(self.folders)))
        )
        for outcome in outcomes:
            self._take(outcome)
        return self.summary

    def _tasks(self) -> Iterator[Task]:
        """The submissions that must be graded; the others are counted on the way."""
        for student, folder in self.folders.items():
            try:
                submission = collect(student, folder)
            except OSError as error:
                self._ours(student, f"cannot read {folder}: {error}")
                continue
            if not self.options.force and self.desk.unchanged(submission):
                self.summary.unchanged.append(student)
                self._note(self.desk.records[student])
                continue
            self.pending[student] = submission
            yield self.desk.task(submission)

    def _take(self, outcome: Outcome) -> None:
        submission = self.pending.pop(outcome.student)
        if outcome.ours:
            self._ours(outcome.student, outcome.ours)
            return
        try:
            record = self.desk.write(submission, outcome)
        except Exception as error:  # NotWritten, or something nobody thought of: the others go on
            kind = "" if isinstance(error, NotWritten) else f"{type(error).__name__}: "
            self._ours(outcome.student, f"{kind}{error}")
            return
        self.summary.graded.append(outcome.student)
        before = self.before.get(outcome.student, {})
        changes = {n: (before.get(n), s) for n, s in record.scores.items() if before.get(n) != s}
        if changes and outcome.student in self.known:
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
        self.summary.ours[safe_name(student)] = reason
        self.progress.say(f"{safe_name(student)}: {reason}")
        self.progress.step(True)
