"""The stock door: `nbgrader autograde` and formgrader's button come in here and use the same engine and writer.

nbgrader_config.py names `Doorway` as the exporter of nbgrader's Autograde converter. The converter makes its exporter
just before it converts; the doorway then takes the conversion over. Stock conversion would delete the old result
first, copy whatever files were submitted (links included), and stop at a notebook it cannot read.
"""

from __future__ import annotations

import contextlib
import fnmatch
from functools import partial
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException

from .collect import collect
from .course import Course, CourseError
from .desk import Desk, NotWritten, open_desk
from .launch import launch_early
from .master import MasterError
from .rebuild import safe_name
from .store import Busy, recorded, state_folder
from .tasks import PLAIN, Lesson
from .work import Bench


class Doorway(NotebookExporter):  # type: ignore[misc]
    """An exporter that, made by nbgrader's Autograde, grades in its place."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if isinstance(self.parent, Autograde):
            self.parent.convert_notebooks = partial(autograde, self.parent)


def autograde(converter: Autograde) -> None:
    """Grade what the converter was asked for. Raises NbGraderException at the end if a submission failed."""
    course = Course(converter.coursedir, converter)
    lesson = converter.coursedir.assignment_id
    permissions = int(str(converter.permissions), 8)
    try:
        with contextlib.ExitStack() as stack:
            bench = _bench(converter, course, lesson, stack)
            say = converter.log.warning
            desk = stack.enter_context(open_desk(course, lesson, say, permissions, bench.lesson.notebooks))
            failed = _all(converter, desk, bench)
    except (Busy, CourseError) as error:
        converter.log.error(str(error))
        raise NbGraderException(str(error)) from error
    if failed:
        raise NbGraderException(
            f"{len(failed)} of {lesson} could not be graded, through no fault of theirs: {', '.join(failed)}"
        )


def _bench(converter: Autograde, course: Course, name: str, stack: contextlib.ExitStack) -> Bench:
    """A bench; its sandbox starts at once, while the gradebook is read, if there will be something to grade."""
    lesson = Lesson(name, course.sources(name), course.limits, course.mode, (str(course.root),))
    graded = frozenset() if converter.force else recorded(state_folder(course.root), name)
    students = [student for student in course.submissions(name) if _wanted(course, student)]
    running = launch_early(lesson.mode, lesson.limits, lesson.hide) if set(students) - graded else None
    try:
        bench = Bench(lesson, running)
    except MasterError as error:
        if running is not None:
            running.stop()
        raise CourseError(str(error)) from error
    stack.callback(bench.close)
    return bench


def _wanted(course: Course, student: str) -> bool:
    return fnmatch.fnmatchcase(student, course.directory.student_id)


def _all(converter: Autograde, desk: Desk, bench: Bench) -> list[str]:
    """Grade every matching submission; the students for whom we failed."""
    course, log, failed = desk.course, converter.log, []
    for student, folder in course.submissions(desk.lesson).items():
        if not _wanted(course, student):
            continue
        if not converter.create_student and not desk.book.knows(student):
            log.error("No student with ID '%s' exists in the database", student)
            failed.append(student)
            continue
        submission = collect(student, folder)
        if not converter.force and desk.unchanged(submission):
            log.info("Skipping existing assignment: %s", course.autograded(student, desk.lesson))
            continue
        converter.notebooks = [str(folder / name) for name in sorted(submission.files)]
        converter.run_pre_convert_hook()
        log.info("Autograding %s", folder)
        outcome = bench.do(desk.task(submission))
        try:
            if outcome.ours:
                raise NotWritten(outcome.ours)
            record = desk.write(submission, outcome)
        except Exception as error:  # NotWritten, or something nobody thought of: the others go on
            log.error("%s: not graded, and not the student's fault: %s", safe_name(student), error)
            failed.append(safe_name(student))
            continue
        for remark in outcome.remarks:
            log.warning("%s: %s", student, remark.text)
        if record.mode == PLAIN:
            log.warning("%s: graded WITHOUT a sandbox (run `specdec doctor`)", student)
        log.info("%s: %g of %g points", student, record.total, sum(_points(desk).values()))
        converter.run_post_convert_hook()
    return failed


def _points(desk: Desk) -> dict[str, float]:
    return {name: points for master in desk.masters.values() for name, points in master.points.items()}
