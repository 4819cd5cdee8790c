"""Lesson 4, Expected progress: the visible examples and the misconceptions in words."""

from __future__ import annotations

import math

import numpy as np

from .ask import Function, Remote, ask
from .report import Slip
from .table import Example, Exercise, Mistake, Probe, Raises, error_advice, error_text
from .values import is_number, show_value

MISTAKES: dict[str, dict[str, Mistake]] = {
    "expected_tokens": {
        "bonus_forgotten": Mistake(
            "only the accepted drafts are counted",
            "expected_tokens(0.8, 4) gives 2.3616",
            "the token that the target always supplies is missing: the sum starts at a instead of 1",
            "start the sum with a^0 = 1",
        ),
        "power_short": Mistake(
            "the sum is one power short",
            "expected_tokens(0.8, 4) gives 2.952",
            "the sum ends at a^(k-1), as in (1 - a^k) / (1 - a)",
            "k drafts give k + 1 terms: the last one is a^k, the numerator is 1 - a^(k+1)",
        ),
        "ceiling": Mistake(
            "the limit for endless drafts is returned",
            "expected_tokens(0.8, 4) gives 5",
            "1 / (1 - a) is the sum of all powers of a; k does not occur in it",
            "stop the sum at a^k: only k tokens are drafted",
        ),
        "linear": Mistake(
            "every draft is counted as accepted with probability a",
            "expected_tokens(0.8, 4) gives 4.2",
            "1 + k·a forgets that a later draft counts only if all before it were accepted",
            "draft number n is kept with probability a^n: add these powers",
        ),
        "rounded": Mistake(
            "the result is rounded",
            "expected_tokens(0.3, 5) gives 1.4275",
            "the number is rounded inside the function",
            "return the full number; round only where you print it",
        ),
        "no_limit": Mistake(
            "a = 1 divides by zero",
            "expected_tokens(1, 4) stops with ZeroDivisionError, or gives nan",
            "the closed form (1 - a^(k+1)) / (1 - a) is 0 / 0 at a = 1",
            "treat a = 1 on its own (the answer is k + 1), or add the powers one by one",
        ),
    },
    "accepted_distribution": {
        "last_too_small": Mistake(
            "the last entry has a factor too many",
            "accepted_distribution(0.8, 4) ends with 0.08192",
            "after k accepted drafts nothing is left to reject, so there is no factor 1 - a",
            "the last entry is a^k; then the list sums to 1",
        ),
        "at_least": Mistake(
            "at least n instead of exactly n",
            "accepted_distribution(0.8, 4) gives [1, 0.8, 0.64, 0.512, 0.4096]",
            "a^n is the probability that the first n drafts are accepted, whatever comes next",
            "for exactly n < k the next draft must be rejected: multiply by 1 - a",
        ),
        "binomial": Mistake(
            "accepted drafts are counted anywhere in the block",
            "accepted_distribution(0.8, 4) gives [0.0016, 0.0256, 0.1536, 0.4096, 0.4096]",
            "the binomial formula also counts agreements behind a rejection, but these are discarded",
            "exactly n accepted means: the first n accepted, number n + 1 rejected",
        ),
        "entry_missing": Mistake(
            "the case of all k accepted is missing",
            "accepted_distribution(0.8, 4) has four entries",
            "n runs from 0 to k: these are k + 1 cases",
            "append a^k, the probability that all k are accepted",
        ),
    },
    "expected_from_distribution": {
        "one_forgotten": Mistake(
            "the target's own token is left out",
            "expected_from_distribution(0.8, 4) gives 2.3616",
            "the sum of n · P(n) is the number of accepted drafts only",
            "tokens produced = accepted + 1: add 1",
        ),
        "one_too_many": Mistake(
            "the extra token is added twice",
            "expected_from_distribution(0.8, 4) gives 4.3616",
            "(n + 1) · P(n) already contains the extra token, and 1 is added again",
            "use either 1 + sum of n · P(n) or the sum of (n + 1) · P(n)",
        ),
        "last_left_out": Mistake(
            "the case of all k accepted is left out",
            "expected_from_distribution(0.8, 4) gives 1.7232",
            "the sum runs over n < k only",
            "let n run over all k + 1 entries of the distribution",
        ),
        "plain_mean": Mistake(
            "the entries are averaged instead of weighted",
            "expected_from_distribution(0.8, 4) gives 1.2",
            "the mean of the k + 1 probabilities says nothing about counts",
            "weight each count n with its probability: n · P(n)",
        ),
    },
    "simulate": {
        "bonus_forgotten": Mistake(
            "only the accepted drafts are counted",
            "simulate(1, 4, 10, 0) gives 4",
            "the token that the target always supplies is missing in every round",
            "count accepted drafts plus one for each round",
        ),
        "no_stop": Mistake(
            "a round goes on after a rejection",
            "simulate(0.8, 4, …) comes near 4.2 instead of 3.36",
            "drafts behind a rejection are counted, or one random number decides about all k drafts",
            "draw a fresh number for each draft and stop the round at the first rejection",
        ),
        "uncapped": Mistake(
            "a round accepts more than k drafts",
            "simulate(0.8, 4, …) comes near 5 instead of 3.36",
            "drafts are accepted until the first rejection, however late it comes",
            "stop a round after k accepted drafts",
        ),
        "total": Mistake(
            "the total is returned instead of the average",
            "simulate(1, 4, 10, 0) gives 50",
            "the tokens of all rounds are added up",
            "divide by trials",
        ),
        "unseeded": Mistake(
            "the seed does not repeat the result",
            "two calls with the same seed give different numbers",
            "the generator is made without the seed, or lives outside the function",
            "begin the function with rng = np.random.default_rng(seed) and draw only from rng",
        ),
        "seed_ignored": Mistake(
            "every seed gives the same result",
            "simulate(0.8, 4, 97, seed) is the same for all seeds",
            "the seed is fixed inside the function, or nothing is drawn at all",
            "pass the argument on: np.random.default_rng(seed)",
        ),
        "formula": Mistake(
            "the result is no average of whole rounds",
            "simulate(0.8, 4, 7, 0) times 7 is not a whole number",
            "a formula is returned, or the average is rounded",
            "simulate trials rounds, add up their whole numbers of tokens, divide by trials",
        ),
        "global_state": Mistake(
            "NumPy's global random state is used",
            "np.random.seed changes the random numbers of everybody else in the program",
            "np.random.seed or np.random.random serves all code at once, and takes no seed beyond 2**32 - 1",
            "make a generator of your own, rng = np.random.default_rng(seed), and draw with rng.random()",
        ),
    },
}


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
    before = np.random.get_state(legacy=False)  # noqa: NPY002 - the state is what this looks at
    numbers = _numbers(function, [(0.8, 4, 7, 0)])
    after = np.random.get_state(legacy=False)  # noqa: NPY002
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
            Example((1, 4), 5.0, {"bonus_forgotten": 4.0, "power_short": 4.0}),
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
