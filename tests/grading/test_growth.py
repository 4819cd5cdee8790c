"""Nothing asked of the gradebook takes longer the more submissions it holds: the database's own plans say so.

A plan may go through a table once, as its outermost loop (the class report reads every row). It may not go through one
inside another loop, and writing a submission may not go through any table that grows with the class.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from classroom import Classroom
from grading_sample import RIGHT, release
from sqlalchemy import event
from sqlalchemy.engine import Engine

from specdec_helpers.grading.course import Course
from specdec_helpers.grading.gradebook import Entry
from specdec_helpers.grading.report import read_class

GROWING = ("submitted_assignment", "submitted_notebook", "grade", "comment", "student")


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    """Everything that goes to a database meanwhile, with its parameters."""
    seen: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, text: str, parameters: Any, context: Any, many: bool) -> None:
        seen.append((text, parameters[0] if many else parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def plans(database: Path, of: Callable[[], Any]) -> list[list[str]]:
    """The steps of the plan of every statement that `of` makes."""
    with statements() as seen:
        of()
    with sqlite3.connect(database) as db:
        kinds = ("SELECT", "INSERT", "UPDATE", "DELETE")
        asked = [(text, parameters) for text, parameters in seen if text.lstrip().upper().startswith(kinds)]
        assert asked
        return [
            [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {text}", parameters)]
            for text, parameters in asked
        ]


def scanned(step: str) -> str:
    """The growing table that a step of a plan goes through from end to end."""
    words = step.split()
    return words[1] if words[0] == "SCAN" and words[1] in GROWING and "INDEX" not in words else ""


def test_no_plan_grows_faster_than_the_class(tmp_path: Path, warm: None) -> None:
    room = Classroom(tmp_path / "course")
    for student in ("ada", "bob"):
        room.submit(student, release(**RIGHT))
    room.stock("autograde", "lesson1")
    course, database = Course.here(str(room.folder)), room.folder / "gradebook.db"
    masters = course.masters("lesson1")
    entries = {name: Entry(dict(master.points), {}) for name, master in masters.items()}
    with course.book("lesson1", masters) as book:
        for student in ("ada", "new"):
            for plan in plans(database, lambda student=student: book.write(student, entries)):
                assert not any(map(scanned, plan)), plan
        for plan in plans(database, book.rows):
            assert not any(map(scanned, plan[1:])), plan
    for plan in plans(database, lambda: read_class(course, "lesson1")):
        # What a subquery has put together may be gone through again; a table of the gradebook may not.
        loops = [step for step in plan if step.split()[0] in ("SCAN", "SEARCH")]
        assert not any(map(scanned, loops[1:])), plan
