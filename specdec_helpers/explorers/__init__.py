"""One interactive explorer a lesson, on one shared base.

A lesson's cell says `explore("lesson1")` and shows widgets; nothing is returned, so the cell leaves no stray
text. Each lesson has a module here, `lesson1.py` … `lesson6.py`, with a class `Lesson` made from
`base.Explorer`. The explorers compute what they draw in `mathematics/`: a second implementation on purpose,
held against the reference by a test.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specdec_helpers.explorers.base import Explorer

LESSONS = ("lesson1", "lesson2", "lesson3", "lesson4", "lesson5", "lesson6")

last: Explorer | None = None  # the explorer shown last, for whoever wants to drive it from code


def lesson_name(lesson: object) -> str:
    """Return "lesson1" … "lesson6" for that name or its number; ValueError for anything else."""
    if isinstance(lesson, int) and not isinstance(lesson, bool) and f"lesson{lesson}" in LESSONS:
        return f"lesson{lesson}"
    if isinstance(lesson, str) and lesson in LESSONS:
        return lesson
    raise ValueError(f'no explorer for {lesson!r}: choose "lesson1" to "lesson6", as in explore("lesson1")')


def build(lesson: str | int) -> Explorer:
    """Make a lesson's explorer without showing it.

    Args:
        lesson: "lesson1" … "lesson6", or its number.

    Returns:
        The explorer, with `set(...)`, `preset(name)`, `reset()` and its widget in `.widget`.
    """
    module = import_module(f"specdec_helpers.explorers.{lesson_name(lesson)}")
    explorer: Explorer = module.Lesson()
    return explorer


def explore(lesson: str | int) -> None:
    """Show a lesson's explorer below the cell. `explorers.last` is the one shown last.

    Nothing is drawn while a notebook is graded (environment variable SPECDEC_GRADING=1): nobody looks there.

    Args:
        lesson: "lesson1" … "lesson6", or its number.

    Raises:
        ValueError: for any other lesson.
    """
    global last
    name = lesson_name(lesson)
    if os.environ.get("SPECDEC_GRADING") == "1":
        return
    last = build(name)
    last.show()
