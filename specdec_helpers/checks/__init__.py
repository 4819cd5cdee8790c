"""Visible checks: what a student runs in the notebook, with messages that teach.

`check(name=value)` looks the name up in the course: a function is tried on the visible examples, a number or a
choice is compared through its sealed notes. `start(lesson)` opens a lesson.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import replace
from functools import cache
from importlib import import_module, resources
from types import CodeType, ModuleType
from typing import Any

from . import progress, sealed
from .report import Card, Line, NotYet, Slip, in_notebook, show
from .start import start
from .table import Exercise, run_exercise
from .values import is_number, show_value

__all__ = ["check", "start"]

LESSONS = ("lesson1", "lesson2", "lesson3", "lesson4", "lesson5", "lesson6")


@cache
def table(lesson: str) -> ModuleType:
    """The module with a lesson's examples and misconceptions."""
    if lesson not in LESSONS:
        raise ValueError(f'lesson {lesson!r} is not one of {", ".join(LESSONS)}; write it like "lesson1"')
    return import_module(f"{__name__}.{lesson}")


@cache
def notes() -> dict[str, dict[str, Any]]:
    """The sealed notes of all numbers and choices: {item: {lesson, kind, places | options, notes}}."""
    text = resources.files(__name__).joinpath("notes.json").read_text(encoding="utf-8")
    data: dict[str, dict[str, Any]] = json.loads(text)
    return data


@cache
def lesson_of(item: str) -> str:
    """The lesson that an item belongs to. ValueError, with the nearest known name, for an unknown one."""
    if item in notes():
        return str(notes()[item]["lesson"])
    for lesson in LESSONS:
        if item in table(lesson).EXERCISES:
            return lesson
    known = [*notes(), *(name for lesson in LESSONS for name in table(lesson).EXERCISES)]
    near = difflib.get_close_matches(item, known, 1)
    raise ValueError(
        f"check() knows no exercise called {item!r}"
        + (f"; did you mean {near[0]!r}?" if near else "; use the name that the exercise's cell defines")
    )


def check(**items: Any) -> NotYet | None:
    """Check one exercise (or several): ``check(verify_greedy=verify_greedy)``.

    Shows a card for each; never raises for a wrong answer. Returns None when everything passes, else an
    object that nbgrader's Validate counts as not passed. ValueError for a name that is no exercise.
    """
    if not items:
        raise ValueError(
            "check() was given nothing; write check(name=name), for example check(verify_greedy=verify_greedy)"
        )
    short = []
    for name, value in items.items():
        lesson = lesson_of(name)
        card = check_answer(name, value) if name in notes() else check_function(lesson, name, value)
        show(card)
        progress.record(lesson, name, card.status == "pass")
        if card.status != "pass":
            short.append(card.title)
    return NotYet(f"not passed yet: {', '.join(short)}") if short else None


def check_function(lesson: str, name: str, function: Any) -> Card:
    """The card of a function: every visible example, and the first slip explained."""
    if not callable(function) and not hasattr(function, "ask_batch"):
        slip = Slip(
            name,
            show_value(function),
            "a function",
            f"`{name}` was given another value",
            f"run the cell with `def {name}(…)` again",
        )
        return Card(name, "fail", "not a function", (Line(f"{name} is a function", slip),))
    exercise = table(lesson).EXERCISES[name]
    lines = run_exercise(name, function, exercise, table(lesson).MISTAKES.get(name, {}))
    if lines is None:
        return Card(name, "unstarted", _which_stub(lesson, function))
    good = sum(line.slip is None for line in lines)
    if good == len(lines):
        return Card(name, "pass", f"all {good} visible checks pass", tuple(lines))
    # One slip at a time is read; three are skimmed. The others stay as plain crosses.
    first = next(i for i, line in enumerate(lines) if line.slip)
    lines[first] = _after_its_base(lesson, exercise, lines[first])
    shown = tuple(
        line if line.slip is None or i == first else Line(line.name, None, "fail")
        for i, line in enumerate(lines)
    )
    return Card(name, "partial" if good else "fail", f"{good} of {len(lines)} visible checks pass", shown)


def _which_stub(lesson: str, function: Any) -> str:
    """The words for a function that only raises NotImplementedError: itself the stub, or one that it calls?"""
    own = "replace the stub with your code, then run this cell again"
    code = getattr(function, "__code__", None)
    if code is None:  # in grading the code is out of reach
        return "not started: this function, or one that it calls, still raises NotImplementedError"
    used = _names_in(code)
    if "NotImplementedError" in used:
        return f"not started: {own}"
    calls = [item for item in table(lesson).EXERCISES if item in used]
    stub = " or ".join(f"`{item}`" for item in calls) or "another function"
    return f"not yet: your code calls {stub}, which is still the stub; write that first and run its cell"


def _names_in(code: CodeType) -> set[str]:
    """The global names and attributes that a function's code uses, its inner functions included."""
    inner = (_names_in(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)


def _after_its_base(lesson: str, exercise: Exercise, line: Line) -> Line:
    """The line, sending the reader first to an earlier function that has not passed and that this one may call."""
    passed = progress.load().get(lesson, {}) if in_notebook() else {}
    base = next((item for item in exercise.builds_on if passed.get(item) is False), None)
    if base is None or line.slip is None:
        return line
    step = f"first make `{base}` pass its check, if this function calls it; then: {line.slip.next_step}"
    return replace(line, slip=replace(line.slip, next_step=step))


def check_answer(name: str, value: Any) -> Card:
    """The card of a number or a choice: right, a known misconception, or not yet."""
    entry = notes()[name]
    if value is None:
        return Card(name, "unstarted", "not started: replace None with your answer")
    if entry["kind"] == "choice":
        answer = sealed.canonical_choice(value, entry["options"])
        hint = f'type one of the letters {", ".join(sorted(entry["options"]))} in quotes, for example {name} = "A"'
    else:
        answer = sealed.canonical_number(value, entry["places"])
        hint = "type a plain number, without quotes" if not is_number(value) else "type a finite number"
    if answer is None:
        return Card(name, "fail", f"{show_value(value, 60)} cannot be read as an answer: {hint}")
    note = sealed.unseal(name, answer, entry["notes"])
    if note is None:
        places = entry.get("places", 0)
        hint = (
            f"Look at the hint above. {places} decimal{' is' if places == 1 else 's are'} enough."
            if places
            else "Trace it once more, or open the hint above."
        )
        return Card(name, "fail", f"{show_value(value, 60)} is not it yet. {hint}")
    right, text = note
    return Card(name, "pass" if right else "fail", f"{show_value(value, 60)} — {text}")


def known_items(lesson: str) -> list[str]:
    """The names of a lesson's graded exercises, in the notebook's order: numbers, functions, choices."""
    mine = {item: entry["kind"] for item, entry in notes().items() if entry["lesson"] == lesson}
    numbers, choices = (
        [item for item, kind in mine.items() if kind == wanted] for wanted in ("number", "choice")
    )
    return [*numbers, *table(lesson).EXERCISES, *choices]
