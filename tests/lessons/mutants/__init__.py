"""Wrong and unusual-but-right implementations, and what the hidden trials make of them.

Each lesson has a module `lessonN.py` beside this one with two tables of plain functions:

    WRONG = {"verify_greedy": {"the bonus token is missing": implementation, ...}, ...}   # at least 8 each
    RIGHT = {"verify_greedy": {"recursion": implementation, ...}, ...}                    # at least 4 each

`outcomes()` tries them all; `python -m tests.lessons.mutants` prints the table (`make mutants`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from specdec_helpers import checks, trials
from specdec_helpers.checks.report import Slip
from specdec_helpers.trials.base import earned

LESSONS = checks.LESSONS


@dataclass(frozen=True)
class Mutant:
    """One implementation of a graded function."""

    lesson: str
    function: str
    name: str
    right: bool
    implementation: Callable[..., Any]

    def __str__(self) -> str:
        return f"{self.function}: {self.name}"


@dataclass(frozen=True)
class Outcome:
    """What the trials made of a mutant: its share of the points, and the slips in the order of the trials."""

    mutant: Mutant
    share: float
    slips: tuple[Slip, ...]
    visible: str  # the status of the student's own visible check

    @property
    def as_planned(self) -> bool:
        """A right one earns everything, a wrong one less."""
        return (self.share == 1) == self.mutant.right

    @property
    def message(self) -> str:
        """The first slip, in one line."""
        return f"{self.slips[0].got}: {self.slips[0].cause}" if self.slips else ""


def module(lesson: str) -> ModuleType | None:
    """The module with a lesson's mutants; None while it has none."""
    name = f"{__name__}.{lesson}"
    return import_module(name) if find_spec(name) else None


def mutants(*lessons: str) -> Iterator[Mutant]:
    """All mutants of the lessons (of every lesson when none is named), in the order of the tables."""
    for lesson in lessons or LESSONS:
        found = module(lesson)
        for right, table in ((False, "WRONG"), (True, "RIGHT")):
            for function, implementations in getattr(found, table, {}).items():
                for name, implementation in implementations.items():
                    yield Mutant(lesson, function, name, right, implementation)


def try_out(mutant: Mutant, seed: int = 0, visible: bool = False) -> Outcome:
    """Run the hidden trials, and the visible check where it is asked for, on one mutant."""
    item = trials.item(mutant.function)
    if item is None:
        raise ValueError(
            f"{mutant.function!r} of {mutant.lesson} has no hidden trials; correct the table's key"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a wrong implementation may divide by zero
        results = trials.run_item(item, mutant.implementation, np.random.default_rng([seed, 7]))
        status = ""
        if visible:
            status = checks.check_function(mutant.lesson, mutant.function, mutant.implementation).status
    return Outcome(mutant, earned(results), tuple(r.slip for r in results if r.slip), status)
