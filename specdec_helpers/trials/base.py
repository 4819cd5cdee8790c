"""How a function is tried: named checks on drawn inputs, compared with the reference.

An `Item` is one graded function. Its trials are `Cases` (values against the reference), `Refuses` (bad input must
raise), `Custom` (anything a comparison cannot say) or `Study` (the same, judged from several sides: a log of model
calls, a distribution). Every check has a name, which the student reads, and a share of the points.

Two rules keep the points honest. Points of an item count only if all its `core` trials pass, so that a function
which is wrong everywhere earns nothing for raising a ValueError. And all `Cases` and `Refuses` of an item travel to
the sandbox in one round trip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Answer, Case, Function, ask, copied
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.table import Mistake, changed_slip, error_advice, value_advice
from specdec_helpers.checks.values import describe, is_number, is_sequence, same

UNCHANGED_SHARE = 0.1  # what leaving the arguments alone is worth, out of 1

Draw = Callable[[np.random.Generator], Sequence[Case]]


@dataclass(frozen=True)
class Cases:
    """Drawn inputs whose results must equal the reference's. `kind` says in words what is called."""

    name: str
    share: float
    kind: str
    draw: Draw
    core: bool = False
    rtol: float = 1e-7
    atol: float = 1e-8
    zeros: bool = False  # an exact 0 of the reference must be exactly 0, not nearly
    arrays: bool = False  # give every second case's number lists as arrays (where the contract says so)
    cause: str = ""  # what to say when no known misconception explains the values
    next_step: str = ""


@dataclass(frozen=True)
class Refuses:
    """Drawn inputs that must raise `error`, or a subclass of it."""

    name: str
    share: float
    kind: str
    draw: Draw
    error: str = "ValueError"
    core: bool = False


@dataclass(frozen=True)
class Custom:
    """A trial with a procedure of its own: None where it passes, else a Slip."""

    name: str
    share: float
    run: Callable[[Function, np.random.Generator], Slip | None]
    core: bool = False


@dataclass(frozen=True)
class Part:
    """One named check of a `Study`."""

    name: str
    share: float
    core: bool = False


@dataclass(frozen=True)
class Study:
    """Several named checks on what one procedure saw: it runs once, and says {part's name: None or a Slip}."""

    parts: tuple[Part, ...]
    run: Callable[[Function, np.random.Generator], Mapping[str, Slip | None]]


Trial = Cases | Refuses | Custom | Study


def _named(trial: Trial) -> tuple[Cases | Refuses | Custom | Part, ...]:
    """The named checks that a trial consists of."""
    return trial.parts if isinstance(trial, Study) else (trial,)


@dataclass(frozen=True)
class Item:
    """One graded function.

    wrong: {mistake id: implementation}. The ids are those of `checks.lessonN.MISTAKES`; when a student's values equal
    those of a wrong implementation on every case, that mistake is named as the likely cause.
    """

    name: str
    lesson: str
    reference: Callable[..., Any]
    trials: tuple[Trial, ...]
    wrong: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    mistakes: Mapping[str, Mistake] = field(default_factory=dict)
    unchanged: bool = True

    def __post_init__(self) -> None:
        total = sum(check.share for check in self.checks)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"the shares of {self.name}'s trials add up to {total:g}; they must add up to 1")
        if len({check.name for check in self.checks}) < len(self.checks):
            raise ValueError(f"two checks of {self.name} have one name; give each its own")
        if not any(check.core for check in self.checks):
            raise ValueError(f"{self.name} has no core trial; mark at least one with core=True")

    @cached_property
    def checks(self) -> tuple[Cases | Refuses | Custom | Part, ...]:
        """The named checks, in the order in which a student reads them."""
        return tuple(check for trial in self.trials for check in _named(trial))

    @cached_property
    def batched(self) -> tuple[Cases | Refuses, ...]:
        """The trials whose calls go out together."""
        return tuple(trial for trial in self.trials if isinstance(trial, Cases | Refuses))


@dataclass(frozen=True)
class Result:
    """How one trial went."""

    name: str
    share: float
    core: bool
    slip: Slip | None = None


def run_item(item: Item, function: Function, rng: np.random.Generator) -> list[Result]:
    """Try a student's function; one Result per trial, in the item's order."""
    drawn = [[_as_given(trial, n, case) for n, case in enumerate(trial.draw(rng))] for trial in item.batched]
    calls = [case for cases in drawn for case in cases]
    answers = ask(function, calls) if calls else []
    results: dict[str, Result] = {}
    start = 0
    for trial, cases in zip(item.batched, drawn, strict=True):
        got = answers[start : start + len(cases)]
        start += len(cases)
        judged = (
            _judge_cases(item, trial, cases, got) if isinstance(trial, Cases) else _judge_refusals(trial, got)
        )
        results[trial.name] = Result(trial.name, trial.share, trial.core, judged)
    for custom in item.trials:
        if isinstance(custom, Custom):
            results[custom.name] = Result(custom.name, custom.share, custom.core, custom.run(function, rng))
        elif isinstance(custom, Study):
            slips = custom.run(function, rng)
            for part in custom.parts:
                results[part.name] = Result(part.name, part.share, part.core, slips[part.name])
    ordered = [results[check.name] for check in item.checks]
    if not item.unchanged:
        return ordered
    scaled = [replace(result, share=result.share * (1 - UNCHANGED_SHARE)) for result in ordered]
    slip = changed_slip(item.name) if any(answer.changed for answer in answers) else None
    return [*scaled, Result("leaves its arguments as they were", UNCHANGED_SHARE, False, slip)]


def earned(results: Sequence[Result]) -> float:
    """The share of the points that the results earn: 0 … 1. Nothing counts while a core trial fails."""
    if any(result.core and result.slip for result in results):
        return 0.0
    return min(1.0, round(sum(result.share for result in results if result.slip is None), 6))


def _as_given(trial: Cases | Refuses, n: int, case: Case) -> Case:
    """Every second case of an `arrays` trial with arrays in place of lists of numbers."""
    if not (isinstance(trial, Cases) and trial.arrays and n % 2):
        return case
    return tuple(np.array(argument) if isinstance(argument, list) else argument for argument in case)


def _reference(item: Item, case: Case) -> Any:
    return item.reference(*map(copied, case))


def _judge_cases(item: Item, trial: Cases, cases: Sequence[Case], answers: Sequence[Answer]) -> Slip | None:
    for case, answer in zip(cases, answers, strict=True):
        expected = _reference(item, case)
        if answer.error is None and same(answer.value, expected, trial.rtol, trial.atol):
            if trial.zeros and any(g != 0 for g, e in zip(answer.value, expected, strict=True) if e == 0):
                return Slip(trial.kind, "nearly 0", "exactly 0", *_advice(trial, answer.value, expected))
            continue
        if answer.error is not None:
            return Slip(
                trial.kind, f"an error: {_public_kind(answer)}", describe(expected), *error_advice(answer)
            )
        key = diagnose(item, trial, cases, answers)
        if key:
            mistake = item.mistakes[key]
            return Slip(
                trial.kind, describe(answer.value), "other values", mistake.cause, mistake.next_step, key
            )
        return Slip(
            trial.kind,
            describe(answer.value),
            _wanted(answer.value, expected),
            *_advice(trial, answer.value, expected),
        )
    return None


def _wanted(got: Any, expected: Any) -> str:
    """What is due, where that differs in kind or length from what came back. A list and an array are one kind."""
    if is_sequence(got) and is_sequence(expected) and getattr(got, "ndim", 1) == 1:
        return "other values" if describe(list(got)) == describe(list(expected)) else describe(expected)
    return "other values" if describe(got) == describe(expected) else describe(expected)


def _advice(trial: Cases, got: Any, expected: Any) -> tuple[str, str]:
    """(likely cause, next step) for hidden values that no known misconception explains."""
    if got is None or is_sequence(got) != is_sequence(expected) or is_number(got) != is_number(expected):
        return value_advice(got, expected)  # the kind of value is wrong: that may be said
    return (
        trial.cause or "the values differ from the reference's",
        trial.next_step or "try small inputs of this kind by hand, beside your code",
    )


def _public_kind(answer: Answer) -> str:
    """The exception's built-in type. A name or message of the student's making could carry hidden inputs out."""
    assert answer.error is not None
    if answer.error.kind == "UnsupportedValue":
        return "the value that came back is no number or plain sequence"
    return next(iter(answer.error.kinds), "Exception")


def _judge_refusals(trial: Refuses, answers: Sequence[Answer]) -> Slip | None:
    for answer in answers:
        if answer.error is None:
            return Slip(
                trial.kind,
                f"{describe(answer.value)}, no error",
                f"a {trial.error}",
                "invalid input is not refused",
                f'test for it first and `raise {trial.error}("…")`',
            )
        if not answer.error.is_a(trial.error):
            return Slip(
                trial.kind,
                f"an error: {_public_kind(answer)}",
                f"a {trial.error}",
                "another error comes first",
                f'test for this input before anything else and `raise {trial.error}("…")`',
            )
    return None


def diagnose(item: Item, trial: Cases, cases: Sequence[Case], answers: Sequence[Answer]) -> str:
    """The id of the wrong implementation that gives the student's values on every case; "" if none does."""
    for key, wrong in item.wrong.items():
        if key in item.mistakes and all(
            _gives(wrong, case, answer, trial) for case, answer in zip(cases, answers, strict=True)
        ):
            return key
    return ""


def _gives(wrong: Callable[..., Any], case: Case, answer: Answer, trial: Cases) -> bool:
    """Whether a wrong implementation does what the student's did: the same value, or an error of the same kind."""
    try:
        with np.errstate(all="ignore"):
            value = wrong(*map(copied, case))
    except Exception as error:
        return answer.error is not None and answer.error.is_a(type(error).__name__)
    return answer.error is None and same(answer.value, value, trial.rtol, trial.atol)
