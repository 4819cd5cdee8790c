"""The class at a glance: scores per exercise, how they spread, which misconceptions were named, who needs a look."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import mean, median

from .course import Course, CourseError
from .gradebook import Book
from .page import number
from .store import Record, Store, state_folder
from .tasks import PLAIN

BANDS = 10
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet takes a cell that starts so for a formula


@dataclass(frozen=True)
class ClassReport:
    """A lesson's class: scores from the gradebook (a person's marks included), the rest from the records."""

    lesson: str
    points: dict[str, float]
    scores: dict[str, dict[str, float]]  # student -> grade id -> score
    records: Mapping[str, Record] = field(default_factory=dict)
    missing: tuple[str, ...] = ()  # collected but not graded yet
    late: Mapping[str, float] = field(
        default_factory=dict
    )  # student -> points taken off, where there are any

    @cached_property
    def most(self) -> float:
        """The points of the whole lesson."""
        return sum(self.points.values())

    def total(self, student: str) -> float:
        """A student's points, what a late submission costs taken off: the score of `nbgrader export`."""
        return max(0.0, sum(self.scores[student].values()) - self.late.get(student, 0.0))

    @cached_property
    def totals(self) -> list[float]:
        """All totals, in the order of the students."""
        return [self.total(student) for student in sorted(self.scores)]

    @cached_property
    def bands(self) -> list[tuple[str, int]]:
        """The totals in bands of a tenth of the points, the lowest first: (label, students)."""
        counts = Counter(min(int(BANDS * t / self.most), BANDS - 1) if self.most else 0 for t in self.totals)
        edge = self.most / BANDS
        return [(f"{number(i * edge)} to {number((i + 1) * edge)}", counts[i]) for i in range(BANDS)]

    @cached_property
    def mistakes(self) -> list[tuple[str, str, int]]:
        """(exercise, misconception, students) of every misconception that was named, the most frequent first."""
        counts = Counter(
            (grade_id, name)
            for record in self.records.values()
            for grade_id, names in record.mistakes.items()
            for name in names
        )
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [(grade_id.removeprefix("test_"), name, count) for (grade_id, name), count in ordered]

    @cached_property
    def look(self) -> dict[str, list[str]]:
        """Who needs a look, and why."""
        return {s: r.remarks for s, r in sorted(self.records.items()) if r.look and s in self.scores}

    @cached_property
    def not_sandboxed(self) -> int:
        """How many ran without a sandbox."""
        return sum(record.mode == PLAIN for record in self.records.values())

    def csv(self) -> str:
        """One row a student, safe to open in a spreadsheet."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [name.removeprefix("test_") for name in self.points]
        writer.writerow(["student", *names, "late penalty", "total", "of", "needs a look", "remarks"])
        for student in sorted(self.scores):
            record = self.records.get(student)
            marks = [number(self.scores[student].get(name, 0.0)) for name in self.points]
            remarks = "; ".join(record.remarks) if record else ""
            look = "yes" if record and record.look else ""
            sums = [number(self.late.get(student, 0.0)), number(self.total(student)), number(self.most)]
            row = [student, *marks, *sums, look, remarks]
            writer.writerow([_cell(value) for value in row])
        return text.getvalue()

    def json(self) -> str:
        """Everything, for machines."""
        data = {
            "lesson": self.lesson,
            "points": self.points,
            "scores": self.scores,
            "bands": self.bands,
            "mistakes": self.mistakes,
            "look": self.look,
            "missing": self.missing,
            "late": self.late,
            "totals": {student: self.total(student) for student in sorted(self.scores)},
            "not_sandboxed": self.not_sandboxed,
        }
        return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True)

    def text(self) -> str:
        """For a terminal."""
        lines = [self._headline()]
        for name, most in self.points.items():
            marks = [scores.get(name, 0.0) for scores in self.scores.values()]
            full = sum(mark >= most for mark in marks)
            lines.append(
                f"  {name.removeprefix('test_'):<28} mean {mean(marks):5.2f} of {most:g}, all right {full}"
            )
        if self.mistakes:
            lines.append("misconceptions named:")
            lines += [f"  {count:>5}  {item}: {words(name)}" for item, name, count in self.mistakes[:15]]
        if self.late:
            lines.append(f"points taken off because it came late: {len(self.late)} students")
        if self.look:
            lines.append("need a look:")
            lines += [f"  {student}: {'; '.join(remarks)}" for student, remarks in self.look.items()]
        if self.missing:
            lines.append(
                f"collected but not graded: {', '.join(self.missing)}; run `specdec autograde {self.lesson}`"
            )
        if self.not_sandboxed:
            lines.append(
                f"NOT SANDBOXED: {self.not_sandboxed} submissions ran without a sandbox; see `specdec doctor`"
            )
        return "\n".join(lines)

    def _headline(self) -> str:
        totals = self.totals
        return (
            f"{self.lesson}: {len(totals)} graded, mean {mean(totals):.2f}, median {median(totals):.2f} "
            f"of {number(self.most)} points; {len(self.look)} need a look"
        )


def words(name: str) -> str:
    """A misconception's id as words."""
    return name.replace("_", " ")


def _cell(value: str) -> str:
    """A value that a spreadsheet takes for text, never for a formula."""
    text = "".join(c if c.isprintable() else " " for c in value)
    return f"'{text}" if value.startswith(DANGEROUS) or text.startswith(DANGEROUS) else text


def read_class(course: Course, lesson: str) -> ClassReport:
    """Read a lesson's class. Raises CourseError where nothing is graded."""
    masters = course.masters(lesson)
    with course.book(lesson, masters) as book:
        scores, late = _scores(book), _late(book)
    store = Store(state_folder(course.root), lesson)
    try:
        records = store.records()
    finally:
        store.close()
    if not scores:
        raise CourseError(f"nothing of {lesson} is graded yet; run `specdec autograde {lesson}`")
    points = {name: most for master in masters.values() for name, most in master.points.items()}
    missing = tuple(student for student in course.submissions(lesson) if student not in scores)
    return ClassReport(lesson, points, scores, records, missing, late)


def _scores(book: Book) -> dict[str, dict[str, float]]:
    """Student -> grade id -> score as nbgrader counts it (a person's mark before ours, extra credit added)."""
    from sqlalchemy import case, func, select

    from .tables import BaseCell, Grade, SubmittedAssignment, SubmittedNotebook

    columns = Grade.c
    score = func.coalesce(columns.manual_score, columns.auto_score, 0.0) + case(
        (
            func.coalesce(columns.manual_score, columns.auto_score).is_not(None),
            func.coalesce(columns.extra_credit, 0.0),
        ),
        else_=0.0,
    )
    query = (
        select(SubmittedAssignment.c.student_id, BaseCell.c.name, score)
        .join(SubmittedNotebook, SubmittedNotebook.c.assignment_id == SubmittedAssignment.c.id)
        .join(Grade, columns.notebook_id == SubmittedNotebook.c.id)
        .join(BaseCell, BaseCell.c.id == columns.cell_id)
        .where(SubmittedAssignment.c.assignment_id == book.assignment_id)
    )
    scores: dict[str, dict[str, float]] = {}
    for student, name, points in book.db.execute(query).all():
        scores.setdefault(student, {})[name] = float(points or 0.0)
    book.db.rollback()
    return scores


def _late(book: Book) -> dict[str, float]:
    """Student -> points that the rule for late submissions takes off, where it takes any."""
    from sqlalchemy import func, select

    from .tables import SubmittedAssignment, SubmittedNotebook

    points = SubmittedNotebook.c.late_submission_penalty
    taken = (  # first those that lose points: nbgrader's table has no index by submission
        select(SubmittedNotebook.c.assignment_id, func.sum(points).label("points"))
        .where(points > 0)
        .group_by(SubmittedNotebook.c.assignment_id)
        .subquery()
    )
    query = (
        select(SubmittedAssignment.c.student_id, taken.c.points)
        .join(taken, taken.c.assignment_id == SubmittedAssignment.c.id)
        .where(SubmittedAssignment.c.assignment_id == book.assignment_id)
        .order_by(SubmittedAssignment.c.student_id)
    )
    late = {student: float(sum_) for student, sum_ in book.db.execute(query).all()}
    book.db.rollback()
    return late


def report(course: Course, lesson: str, csv_file: Path | None, html_file: Path | None, as_json: bool) -> int:
    """Print the report, write what was asked for; returns the exit status."""
    found = read_class(course, lesson)
    from .report_page import class_page

    for path, text in ((csv_file, found.csv), (html_file, lambda: class_page(found))):
        if path is not None:
            part = path.with_name(f".{path.name}.part")
            part.write_text(text(), encoding="utf-8", newline="")
            os.replace(part, path)
    print(found.json() if as_json else found.text())
    return 1 if found.look or found.missing else 0
