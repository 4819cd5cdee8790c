"""Lesson 4: hidden trials of expected_tokens, accepted_distribution, expected_from_distribution and simulate."""

from __future__ import annotations

from math import comb

import numpy as np

from specdec_helpers.checks.ask import Case
from specdec_helpers.checks.lesson4 import MISTAKES
from specdec_helpers.reference import lesson4 as reference

from . import lesson4_simulate as rounds
from .base import Cases, Item, Part, Refuses, Study

Generator = np.random.Generator


def _inside(rng: Generator) -> list[Case]:
    """Rates inside 0 … 1, also near its ends; short and long drafts, one so long that only the ceiling is left."""
    rates = rng.uniform((0.1, 0.35, 0.6, 0.8, 0.9), (0.3, 0.55, 0.75, 0.88, 0.97))
    cases: list[Case] = [(float(a), int(k)) for a, k in zip(rates, (1, 2, 3, 7, 12), strict=True)]
    return [
        *cases,
        (float(rates[1]), 5),
        (float(rates[3]), 2),
        (0.95, 200),
        (0.5, 30),
        (2e-6, 3),
        (1 - 2e-6, 6),
    ]


def _always(rng: Generator) -> list[Case]:
    return [(a, k) for a in (1, 1.0) for k in (1, 2, 4, 9, 30)]


def _never(rng: Generator) -> list[Case]:
    """Nothing is accepted, or nothing drafted: the target's token is all there is."""
    return [(a, k) for a in (0, 0.0) for k in (0, 1, 5)] + [
        (a, 0) for a in (float(rng.uniform(0.2, 0.8)), 1, 1.0)
    ]


def _close_to_one(rng: Generator) -> list[Case]:
    """So near to 1 that the closed form loses digits, hence the wide tolerance; far enough to keep five."""
    return [(1 - gap, k) for gap in (1e-4, 1e-6, 1e-8, 1e-10) for k in (1, 4, 12)]


def _bad_rates(rng: Generator) -> list[Case]:
    above, below = float(rng.uniform(1.01, 3)), -float(rng.uniform(0.01, 2))
    return [(a, k) for a in (above, below, 1 + 1e-6, -1e-6, 2, -1) for k in (0, 3)]


def _bad_lengths(rng: Generator) -> list[Case]:
    """k below 0 with every kind of rate: a = 1 and a = 0 are often answered before k is looked at."""
    k = -int(rng.integers(2, 9))
    return [(a, bad) for a in (float(rng.uniform(0.2, 0.8)), 0, 1, 1.0) for bad in (-1, k)]


def _ends(rng: Generator) -> list[Case]:
    return [*_always(rng), *_never(rng)]


ROUGH = 1e-3  # right but for rounding


def _full_precision(name: str) -> Cases:
    return Cases(
        "gives all digits",
        0.1,
        f"{name}(a, k) with 0 < a < 1, compared to eight digits",
        _inside,
        cause="the digits end early: something is rounded, or computed in single precision",
        next_step="return the full number; round only where you print it",
    )


# ---- wrong implementations, by the id of their misconception ---------------------------------------------


def _last_too_small(a: float, k: int) -> list[float]:
    return [a**n * (1 - a) for n in range(k + 1)]


def _binomial(a: float, k: int) -> list[float]:
    return [comb(k, n) * a**n * (1 - a) ** (k - n) for n in range(k + 1)]


def _last_left_out(a: float, k: int) -> float:
    return 1 + sum(n * p for n, p in enumerate(reference.accepted_distribution(a, k)[:k]))


ITEMS: dict[str, Item] = {
    "expected_tokens": Item(
        "expected_tokens",
        "lesson4",
        reference.expected_tokens,
        (
            Cases(
                "adds the powers of a from 1 to a^k",
                0.3,
                "expected_tokens(a, k) with 0 < a < 1",
                _inside,
                core=True,
                rtol=ROUGH,
                cause="the value differs from 1 + a + … + a^k",
                next_step="add the k + 1 powers a^0, a^1, …, a^k in a loop and compare",
            ),
            _full_precision("expected_tokens"),
            Cases(
                "handles a = 1",
                0.15,
                "expected_tokens(1, k)",
                _always,
                cause="at a = 1 every draft is accepted",
                next_step="return k + 1 for a = 1",
            ),
            Cases(
                "handles a = 0 and k = 0",
                0.1,
                "expected_tokens(0, k) or expected_tokens(a, 0)",
                _never,
                cause="with nothing accepted or nothing drafted, one token is left: the target's own",
                next_step="test your sum for a = 0 and for k = 0; both must give 1",
            ),
            Cases(
                "stays accurate close to a = 1",
                0.1,
                "expected_tokens(a, k) with a just below 1",
                _close_to_one,
                rtol=1e-5,
                cause="values near 1 are treated as if they were 1, or digits are lost",
                next_step="treat only a == 1 on its own, or add the powers one by one",
            ),
            Refuses("refuses a outside 0 … 1", 0.15, "expected_tokens with a below 0 or above 1", _bad_rates),
            Refuses("refuses k below 0", 0.1, "expected_tokens with a negative k", _bad_lengths),
        ),
        wrong={
            "bonus_forgotten": lambda a, k: reference.expected_tokens(a, k) - 1,
            "power_short": lambda a, k: reference.expected_tokens(a, k) - a**k,
            "ceiling": lambda a, k: 1 / (1 - a),
            "linear": lambda a, k: 1 + a * k,
            "rounded": lambda a, k: round(reference.expected_tokens(a, k), 4),
        },
        mistakes=MISTAKES["expected_tokens"],
        unchanged=False,
    ),
    "accepted_distribution": Item(
        "accepted_distribution",
        "lesson4",
        reference.accepted_distribution,
        (
            Cases(
                "gives the probability of each count",
                0.6,
                "accepted_distribution(a, k) with 0 < a < 1",
                _inside,
                core=True,
                rtol=ROUGH,
                atol=ROUGH,
                cause="some entry is not a^n (1 - a) for n < k, or the last one is not a^k",
                next_step="print the list and its sum for a = 0.8, k = 4, beside the explorer's table",
            ),
            _full_precision("accepted_distribution"),
            Cases(
                "handles a = 0, a = 1 and k = 0",
                0.3,
                "accepted_distribution with a = 0, a = 1 or k = 0",
                _ends,
                cause="a power, a factor or an entry is missing where a is 0 or 1, or where nothing is drafted",
                next_step="for k = 0 the list is [1]; for a = 1 all probability is in the last entry",
            ),
        ),
        wrong={
            "last_too_small": _last_too_small,
            "at_least": lambda a, k: [a**n for n in range(k + 1)],
            "binomial": _binomial,
            "entry_missing": lambda a, k: [a**n * (1 - a) for n in range(k)],
        },
        mistakes=MISTAKES["accepted_distribution"],
        unchanged=False,
    ),
    "expected_from_distribution": Item(
        "expected_from_distribution",
        "lesson4",
        reference.expected_from_distribution,
        (
            Cases(
                "weights each count with its probability",
                0.6,
                "expected_from_distribution(a, k) with 0 < a < 1",
                _inside,
                core=True,
                rtol=ROUGH,
                cause="the value differs from 1 + sum of n · P(n); is accepted_distribution right?",
                next_step="pass the check of accepted_distribution first, then compare with expected_tokens",
            ),
            _full_precision("expected_from_distribution"),
            Cases(
                "handles a = 0, a = 1 and k = 0",
                0.3,
                "expected_from_distribution with a = 0, a = 1 or k = 0",
                _ends,
                cause="an entry is left out where a is 0 or 1, or where nothing is drafted",
                next_step="for a = 1 the result is k + 1; for a = 0 or k = 0 it is 1",
            ),
        ),
        wrong={
            "one_forgotten": lambda a, k: reference.expected_tokens(a, k) - 1,
            "one_too_many": lambda a, k: reference.expected_tokens(a, k) + 1,
            "last_left_out": _last_left_out,
            "plain_mean": lambda a, k: 1 + 1 / (k + 1),
        },
        mistakes=MISTAKES["expected_from_distribution"],
        unchanged=False,
    ),
    "simulate": Item(
        "simulate",
        "lesson4",
        reference.simulate,
        (
            Study(
                (
                    Part(rounds.MEAN, 0.35, core=True),
                    Part(rounds.EXACT, 0.1),
                    Part(rounds.WHOLE, 0.15),
                    Part(rounds.SINGLE, 0.15),
                    Part(rounds.SEED, 0.15),
                    Part(rounds.OWN, 0.1),
                ),
                rounds.study,
            ),
        ),
        mistakes=MISTAKES["simulate"],
        unchanged=False,
    ),
}
