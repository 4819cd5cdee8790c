"""What the build reads of the house: the tables of checks and trials, the answers, and the way to seal notes.

Nothing here is imported with `authoring` itself: a lesson's tables are data that the build asks for by the
lesson's name, so that a broken table of lesson 5 is reported as such and the other modules stay importable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from .course import BuildError
from .notes import Seals

PACKAGE = "specdec_helpers"


@dataclass(frozen=True)
class Tables:
    """One lesson's tables.

    exercises : functions with visible checks; trials : items with hidden trials; answers : numbers and choices of the
    reference; mistakes : {function: [(name, cause, next step)]}, in the table's order
    """

    exercises: frozenset[str] = frozenset()
    trials: frozenset[str] = frozenset()
    answers: Mapping[str, Any] = field(default_factory=dict)
    mistakes: Mapping[str, list[tuple[str, str, str]]] = field(default_factory=dict)

    def lacking(self, kind: str, name: str) -> list[str]:
        """Return the files of the house that miss an entry for an exercise of this kind; empty when all is there."""
        if kind != "code":
            return [] if name in self.answers else ["ANSWERS of reference"]
        places = {"EXERCISES of checks": self.exercises, "ITEMS of trials": self.trials}
        return [place for place, names in places.items() if name not in names]


def _module(part: str, assignment: str) -> ModuleType | None:
    name = f"{PACKAGE}.{part}.{assignment}"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            return None
        raise BuildError(
            f"{part}/{assignment}.py cannot be imported: {error}; mend it, then build"
        ) from error
    except Exception as error:
        raise BuildError(
            f"{part}/{assignment}.py cannot be imported: {error!r}; mend it, then build"
        ) from error


def tables(assignment: str) -> Tables:
    """Return the tables of "lesson1" …; those of a module that does not exist yet are empty."""
    checks, trials, reference = (_module(part, assignment) for part in ("checks", "trials", "reference"))
    mistakes = {
        function: [(m.name, m.cause, m.next_step) for m in known.values() if m.listed]
        for function, known in getattr(checks, "MISTAKES", {}).items()
    }
    return Tables(
        exercises=frozenset(getattr(checks, "EXERCISES", {})),
        trials=frozenset(getattr(trials, "ITEMS", {})),
        answers=dict(getattr(reference, "ANSWERS", {})),
        mistakes=mistakes,
    )


def seals() -> Seals:
    """Return the module that seals notes."""
    return cast(Seals, import_module(f"{PACKAGE}.checks.sealed"))
