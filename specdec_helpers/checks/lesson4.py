"""Lesson 4, Expected progress: the visible examples, and probes for what an example cannot say."""

from __future__ import annotations

import math

import numpy as np

from .ask import Function, Remote, ask
from .lesson4_mistakes import MISTAKES
from .report import Slip
from .table import Example, Exercise, Probe, Raises, error_advice, error_text
from .values import is_number, show_value

__all__ = ["EXERCISES", "MISTAKES"]


def _known(key: str, call: str, got: str, expected: str) -> Slip:
    mistake = MISTAKES["simulate"][key]
    return Slip(call, got, expected, mistake.cause, mistake.next_step, key)


def _numbers(function: Function, calls: list[tuple[float, int, int, int]]) -> list[float] | Slip:
    """The numbers that the calls give, or the slip of the first call that gives none."""
    numbers = []
    for call, answer in zip(calls, ask(function, list(calls)), strict=True):
        text = f"simulate{show_value(call)}"
        if answer.error is not None:
            return Slip(text, error_text(answer), "a number", *error_advice(answer))
        if not is_number(answer.value):
            step = "return the average as one number"
            return Slip(text, show_value(answer.value), "a number", "no number came back", step)
        numbers.append(float(answer.value))
    return numbers


def _repeats(function: Function) -> Slip | None:
    calls = [(0.8, 4, 97, seed) for seed in (1, 2, 3, 1, 4, 5)]
    numbers = _numbers(function, calls)
    if isinstance(numbers, Slip):
        return numbers
    shown = ", ".join(show_value(number) for number in numbers)
    if numbers[0] != numbers[3]:
        got = f"{show_value(numbers[0])}, then {show_value(numbers[3])}"
        return _known("unseeded", "simulate(0.8, 4, 97, 1), twice", got, "twice the same number")
    if len(set(numbers)) == 1:
        return _known("seed_ignored", "simulate(0.8, 4, 97, seed) for seeds 1 … 5", shown, "not all the same")
    return None


def _whole(function: Function) -> Slip | None:
    calls = [(0.8, 4, trials, 0) for trials in (7, 11, 13)]
    numbers = _numbers(function, calls)
    if isinstance(numbers, Slip):
        return numbers
    for (a, k, trials, seed), number in zip(calls, numbers, strict=True):
        tokens = number * trials
        if not math.isfinite(tokens) or abs(tokens - round(tokens)) > 1e-5:
            call = f"simulate({a}, {k}, {trials}, {seed}) times {trials}"
            return _known("formula", call, show_value(tokens), "a whole number of tokens")
    return None


def _average(function: Function) -> Slip | None:
    # One fixed seed could be unlucky for one way of drawing: 6 standard errors of 2000 rounds are 0.21.
    numbers = _numbers(function, [(0.8, 4, 2000, 1)])
    if isinstance(numbers, Slip):
        return numbers
    (number,) = numbers
    if abs(number - 3.3616) <= 0.21:
        return None
    call = "simulate(0.8, 4, 2000, 1)"
    wrong = {"bonus_forgotten": 2.3616, "no_stop": 4.2, "uncapped": 5.0}
    key = next((key for key, mean in wrong.items() if abs(number - mean) <= 0.21), "")
    if number > 5.5:
        key = "total"
    if key:
        return _known(key, call, show_value(number), "a number near 3.3616")
    step = "print the tokens of single rounds, and compare with the table of accepted counts"
    return Slip(call, show_value(number), "a number near 3.3616", "the rounds follow another rule", step)


def _leaves_numpy_alone(function: Function) -> Slip | None:
    if isinstance(function, Remote):
        return None  # only the student's own notebook can look at its random state
    own = np.random.get_state(legacy=False)  # noqa: NPY002 - the state is what this looks at
    try:
        # A state that no call before has left behind: np.random.seed(0), say, would change nothing a second time.
        np.random.seed(20_260_717)  # noqa: NPY002
        before = np.random.get_state(legacy=False)  # noqa: NPY002
        numbers = _numbers(function, [(0.8, 4, 7, 0)])
        after = np.random.get_state(legacy=False)  # noqa: NPY002
    finally:
        np.random.set_state(own)  # noqa: NPY002
    if isinstance(numbers, Slip):
        return numbers
    if before["state"]["pos"] == after["state"]["pos"] and np.array_equal(
        before["state"]["key"], after["state"]["key"]
    ):
        return None
    got = "np.random's global state is another one afterwards"
    return _known("global_state", "simulate(0.8, 4, 7, 0)", got, "the state as it was")


PROBES: tuple[tuple[str, Probe], ...] = (
    ("the average comes near the expected number", _average),
    ("the average is one of whole rounds", _whole),
    ("the same seed repeats the result, another one changes it", _repeats),
    ("NumPy's global random state is left alone", _leaves_numpy_alone),
)

EXERCISES: dict[str, Exercise] = {
    "expected_tokens": Exercise(
        (
            Example(
                (0.8, 4),
                3.3616,
                {"bonus_forgotten": 2.3616, "power_short": 2.952, "ceiling": 5.0, "linear": 4.2},
            ),
            Example((0.5, 4), 1.9375, {"bonus_forgotten": 0.9375, "power_short": 1.875, "linear": 3.0}),
            Example((0.3, 5), 1.42753, {"rounded": 1.4275}),
            Example(
                (1, 4),
                5.0,
                {"bonus_forgotten": 4.0, "power_short": 4.0, "no_limit": Raises("ZeroDivisionError")},
            ),
            Example((0, 3), 1.0, {"bonus_forgotten": 0.0}),
            Example((0.7, 0), 1.0, {"bonus_forgotten": 0.0, "power_short": 0.0}),
            Example((1.5, 4), Raises()),
            Example((-0.1, 4), Raises()),
            Example((0.5, -1), Raises()),
        )
    ),
    "accepted_distribution": Exercise(
        (
            Example(
                (0.8, 4),
                [0.2, 0.16, 0.128, 0.1024, 0.4096],
                {
                    "last_too_small": [0.2, 0.16, 0.128, 0.1024, 0.08192],
                    "at_least": [1, 0.8, 0.64, 0.512, 0.4096],
                    "binomial": [0.0016, 0.0256, 0.1536, 0.4096, 0.4096],
                    "entry_missing": [0.2, 0.16, 0.128, 0.1024],
                },
            ),
            Example((0.5, 2), [0.5, 0.25, 0.25], {"last_too_small": [0.5, 0.25, 0.125]}),
            Example((1, 3), [0.0, 0.0, 0.0, 1.0], {"last_too_small": [0, 0, 0, 0]}),
            Example((0, 2), [1.0, 0.0, 0.0]),
            Example((0.3, 0), [1.0], {"entry_missing": [], "last_too_small": [0.7]}),
        )
    ),
    "expected_from_distribution": Exercise(
        (
            Example(
                (0.8, 4),
                3.3616,
                {"one_forgotten": 2.3616, "one_too_many": 4.3616, "last_left_out": 1.7232, "plain_mean": 1.2},
            ),
            Example((0.5, 4), 1.9375, {"one_forgotten": 0.9375, "one_too_many": 2.9375}),
            Example((1, 4), 5.0, {"one_forgotten": 4.0, "one_too_many": 6.0, "last_left_out": 1.0}),
            Example((0, 3), 1.0, {"one_forgotten": 0.0, "one_too_many": 2.0}),
            Example((0.6, 0), 1.0, {"one_forgotten": 0.0, "one_too_many": 2.0}),
        ),
        builds_on=("accepted_distribution",),
    ),
    "simulate": Exercise(
        (
            Example((1, 4, 10, 0), 5.0, {"bonus_forgotten": 4.0, "total": 50.0}),
            Example((0, 4, 10, 0), 1.0, {"bonus_forgotten": 0.0, "total": 10.0}),
            Example((0.5, 0, 10, 3), 1.0, {"bonus_forgotten": 0.0, "total": 10.0}),
        ),
        PROBES,
    ),
}
