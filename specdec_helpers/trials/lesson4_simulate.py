"""Lesson 4: what can be asked of a simulation that may draw its random numbers in any way.

Never a fixed number. A seed repeats; an average of whole rounds times their number is whole; the average of many rounds
is near the expected one; single rounds follow the distribution; where nothing is random the result is exact. A right
simulation fails one of the statistics less than once in 10^8 submissions (7 standard errors: by Chernoff's bound below
10^-10 for two means, and 7·10^-9 for the third, whose rejections are few; chi-square beyond 62 with 4 degrees of
freedom: 10^-12 by its tail, and the rarest cell expects 31 rounds).

Seeds beyond 2**32 - 1 are legal for ``np.random.default_rng`` and not for ``np.random.seed``: so NumPy's global state
shows itself by values alone, which is all that comes out of the sandbox.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from specdec_helpers.checks.ask import Answer, Function, ask
from specdec_helpers.checks.lesson4 import MISTAKES
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.table import error_advice
from specdec_helpers.checks.values import describe, is_number, same
from specdec_helpers.reference import lesson4 as reference

MEAN = "averages near the expected number of tokens"
EXACT = "is exact where nothing is random"
WHOLE = "is an average of whole rounds"
SINGLE = "single rounds follow the distribution"
SEED = "repeats with the same seed, and changes with another"
OWN = "takes any seed that np.random.default_rng takes"

Call = tuple[float, int, int, int]
# Primes: times these, the average of fewer rounds is not a whole number of tokens.
ROUNDS, LONG_ROUNDS = (
    3001,
    2003,
)  # a round in pure Python takes about 2 µs, so all of this stays below a tenth of a second
ERRORS = 7.0
SINGLES, SINGLE_A, SINGLE_K = 300, 0.7, 4
CHI_SQUARE = 62.0


def study(function: Function, rng: np.random.Generator) -> dict[str, Slip | None]:
    """Ask for everything in one batch, then judge each side."""
    seeds = iter(int(seed) for seed in rng.integers(1, 2**31, 400))
    plan: dict[str, list[Call]] = {
        # The last is where a slightly different rate shows most: 0.99 instead of 0.996 gives 9.56, and 1 gives 10.
        MEAN: [
            (a, k, rounds, next(seeds))
            for a, k, rounds in ((0.83, 4, ROUNDS), (0.47, 3, ROUNDS), (0.996, 9, LONG_ROUNDS))
        ],
        EXACT: [
            *((a, k, trials, next(seeds)) for a, k, trials in ((1, 3, 9), (1, 5, 300), (1.0, 6, 4))),
            *((0, 5, 9, 1), (0.0, 2, 1, 2), (0.6, 0, 8, 3)),
        ],
        WHOLE: [(0.8, 4, trials, next(seeds)) for trials in (7, 11, 13, 17, 19, 23)],
        SINGLE: [(SINGLE_A, SINGLE_K, 1, next(seeds)) for _ in range(SINGLES)],
        SEED: [(0.8, 4, 97, seed) for seed in _interleaved([0, *(next(seeds) for _ in range(5))])],
        OWN: [(0.7, 3, 50, 2**33 + next(seeds)), (0.7, 3, 50, 2**70 + next(seeds)), (0.7, 3, 50, 0)],
    }
    calls = [call for part in plan.values() for call in part]
    answers = iter(ask(function, calls))
    found: dict[str, Slip | None] = {}
    long_runs: list[Answer] = []
    for name, part in plan.items():
        got = [next(answers) for _ in part]
        if name == WHOLE:  # the long runs too: they show whether all rounds were made
            part, got = [*part, *plan[MEAN]], [*got, *long_runs]
        elif name == MEAN:
            long_runs = got
        found[name] = _without_number(name, part, got) or JUDGES[name](part, [_number(a) for a in got])
    return found


def _interleaved(seeds: list[int]) -> list[int]:
    """Every seed twice, with others in between."""
    return [*seeds, *seeds]


def _number(answer: Answer) -> float:
    return float(answer.value) if answer.error is None and is_number(answer.value) else math.nan


def _without_number(name: str, calls: Sequence[Call], answers: Sequence[Answer]) -> Slip | None:
    """The slip of the first call that brought no number back."""
    for call, answer in zip(calls, answers, strict=True):
        if answer.error is not None:
            if name == OWN and call[3] > 2**32 and answer.error.is_a("ValueError"):
                return _known("global_state", "an error for a seed beyond 2**32", "a number")
            kind = next(iter(answer.error.kinds), "Exception")
            return Slip("simulate", f"an error: {kind}", "a number", *error_advice(answer))
        if not is_number(answer.value) or math.isinf(float(answer.value)):
            step = "return the average as one number"
            return Slip("simulate", describe(answer.value), "a number", "no number came back", step)
    return None


def _known(key: str, got: str, expected: str, called: str = "simulate") -> Slip:
    mistake = MISTAKES["simulate"][key]
    return Slip(called, got, expected, mistake.cause, mistake.next_step, key)


def standard_error(a: float, k: int, trials: int) -> float:
    """Standard error of the mean of `trials` rounds."""
    p = np.array(reference.accepted_distribution(a, k))
    n = np.arange(k + 1)
    return float(np.sqrt((p @ n**2 - (p @ n) ** 2) / trials))


def _mean(calls: Sequence[Call], numbers: Sequence[float]) -> Slip | None:
    exact = [reference.expected_tokens(a, k) for a, k, _, _ in calls]
    if all(same(number, value) for number, value in zip(numbers, exact, strict=True)):
        return _known("formula", "exactly the formula's values", "averages that stray a little")
    for (a, k, trials, _), number in zip(calls, numbers, strict=True):
        expected, room = reference.expected_tokens(a, k), ERRORS * standard_error(a, k, trials)
        if abs(number - expected) <= room:
            continue
        called = "simulate with some thousand rounds"
        got, wanted = f"an average of {number:.3f}", f"{expected:.3f}, give or take {room:.3f}"
        if number > 2 * (k + 1):
            return _known("total", "far more than k + 1", wanted, called)
        wrong = {"bonus_forgotten": expected - 1, "no_stop": 1 + k * a, "uncapped": 1 / (1 - a)}
        for key, mean in wrong.items():
            if abs(number - mean) <= room:
                return _known(key, got, wanted, called)
        step = "count single rounds by their tokens, and compare with accepted_distribution"
        return Slip(called, got, wanted, "the rounds follow another rule", step)
    return None


def _exact(calls: Sequence[Call], numbers: Sequence[float]) -> Slip | None:
    for (a, k, _, _), number in zip(calls, numbers, strict=True):
        expected = reference.expected_tokens(a, k)
        if not same(number, expected):
            cause = "with a = 1 every round gives k + 1 tokens; with a = 0 or k = 0 every round gives 1"
            step = "try simulate(1, 3, 9, 0), simulate(0, 3, 9, 0) and simulate(0.5, 0, 9, 0)"
            return Slip(
                "simulate with a = 0, a = 1 or k = 0", f"{number:.4g}", f"{expected:.4g}", cause, step
            )
    return None


def _whole(calls: Sequence[Call], numbers: Sequence[float]) -> Slip | None:
    # The room forgives single precision, and finds an average that was rounded to four decimals.
    for (_, k, trials, _), number in zip(calls, numbers, strict=True):
        tokens = number * trials
        off = abs(tokens - round(tokens)) > max(1e-5, 4e-6 * trials)
        if off or not trials <= round(tokens) <= trials * (k + 1):
            return _known("formula", "average times rounds is no possible number of tokens", "a whole number")
    return None


def _single(calls: Sequence[Call], numbers: Sequence[float]) -> Slip | None:
    called = "simulate with a single round, many times"
    if not all(number in range(1, SINGLE_K + 2) for number in numbers):
        return _known("formula", "a number that no single round can give", "1, 2, …, k + 1", called)
    counts = np.bincount([int(number) for number in numbers], minlength=SINGLE_K + 2)[1:]
    due = np.array(reference.accepted_distribution(SINGLE_A, SINGLE_K)) * len(numbers)
    if float(((counts - due) ** 2 / due).sum()) <= CHI_SQUARE:
        return None
    cause = "the counts of 1, 2, …, k + 1 tokens do not follow accepted_distribution"
    step = (
        "draw a fresh number for each draft, stop at the first rejection, and let the seed decide everything"
    )
    return Slip(called, f"counts {counts.tolist()}", f"near {[round(x) for x in due]}", cause, step)


def _seed(calls: Sequence[Call], numbers: Sequence[float]) -> Slip | None:
    half = len(numbers) // 2
    called = "simulate with several seeds, each twice"
    if list(numbers[:half]) != list(numbers[half:]):
        return _known("unseeded", "different numbers for one seed", "the same number again", called)
    if len(set(numbers)) == 1:
        return _known("seed_ignored", "one number for all seeds", "different numbers", called)
    return None


def _own(calls: Sequence[Call], numbers: Sequence[float]) -> Slip | None:
    fine = all(1 <= number <= k + 1 for (_, k, _, _), number in zip(calls, numbers, strict=True))
    return None if fine else _known("global_state", "no possible average", "an average of 1 to k + 1")


JUDGES = {MEAN: _mean, EXACT: _exact, WHOLE: _whole, SINGLE: _single, SEED: _seed, OWN: _own}
