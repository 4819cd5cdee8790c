"""Lesson 4: implementations that must lose points, and unusual ones that must not."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial, reduce
from itertools import accumulate
from math import comb, fsum
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson4 as reference

expected = reference.expected_tokens
distribution = reference.accepted_distribution


def validate(a: float, k: int) -> None:
    if a < 0 or a > 1 or k < 0:
        raise ValueError("bad input")


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its input validated: only its own slip is left."""

    def wrapped(a, k):
        validate(a, k)
        return function(a, k)

    return wrapped


def closed(a, k):
    return (1 - a ** (k + 1)) / (1 - a)


def closed_with(a, k, near):
    return k + 1 if abs(1 - a) < near else closed(a, k)


def one_first(a, k):
    if a == 1:
        return k + 1
    validate(a, k)
    return closed(a, k)


# ---- expected_tokens, right ------------------------------------------------------------------------------


def recursive(a, k):
    validate(a, k)
    return 1 if k == 0 else 1 + a * recursive(a, k - 1)


def powers(a, k):
    validate(a, k)
    return np.sum(np.power(float(a), np.arange(k + 1)))


def fractions(a, k):
    validate(a, k)
    return sum(Fraction(a) ** i for i in range(k + 1))


def decimals(a, k):
    validate(a, k)
    return sum((Decimal(a) ** i if i else Decimal(1) for i in range(k + 1)), Decimal(0))


class OutOfRangeError(ValueError):
    pass


def own_error(a, k):
    if not 0 <= a <= 1 or k < 0:
        raise OutOfRangeError(a, k)
    return fsum(accumulate([1.0] + [a] * k, lambda x, y: x * y))


def zero_dimensional(a, k):
    validate(a, k)
    return np.array(reduce(lambda total, _: 1 + a * total, range(k), 1.0))


# ---- simulate --------------------------------------------------------------------------------------------


def simulated(
    rounds: Callable[[Any, float, int], int], make: Callable[[int], Any] = np.random.default_rng
) -> Any:
    """A loop over rounds, with the round exchanged."""

    def simulate(a, k, trials, seed):
        rng = make(seed)
        return sum(rounds(rng, a, k) for _ in range(trials)) / trials

    return simulate


def honest_round(rng, a, k):
    n = 0
    while n < k and rng.random() < a:
        n += 1
    return n + 1


def no_stop(rng, a, k):
    return 1 + sum(rng.random() < a for _ in range(k))


def one_draw(rng, a, k):
    return 1 + (k if rng.random() < a else 0)


def uncapped(rng, a, k):
    if a >= 1 or k == 0:
        return k + 1
    return int(rng.geometric(1 - a))


def one_draft_short(rng, a, k):
    return honest_round(rng, a, max(0, k - 1))


def first_for_free(rng, a, k):
    return min(k, honest_round(rng, a, max(0, k - 1))) + 1 if k and a else 1


def inverted(rng, a, k):
    return honest_round(rng, 1 - a, k)


def legacy_global(a, k, trials, seed):
    np.random.seed(seed)  # noqa: NPY002
    return float(np.mean([honest_round(np.random, a, k) for _ in range(trials)]))


def legacy_unseeded(a, k, trials, seed):
    return float(np.mean([honest_round(np.random, a, k) for _ in range(trials)]))


_SHARED = np.random.default_rng(5)


def shared_generator(a, k, trials, seed):
    return simulated(honest_round, lambda _: _SHARED)(a, k, trials, seed)


def fresh_generator_each_round(a, k, trials, seed):
    """The same seed for every round: all rounds are alike."""
    return float(np.mean([honest_round(np.random.default_rng(seed), a, k) for _ in range(trials)]))


def noisy_formula(a, k, trials, seed):
    noise = np.random.default_rng(seed).normal() / trials**0.5 if 0 < a < 1 and k else 0
    return expected(a, k) + noise


def off_by_one_trial(a, k, trials, seed):
    return simulated(honest_round)(a, k, max(1, trials - 1), seed)


def divides_wrongly(a, k, trials, seed):
    return simulated(honest_round)(a, k, trials, seed) * trials / (trials + 1)


def by_numbers(a, k, trials, seed):
    counts = np.random.default_rng(seed).choice(k + 1, size=trials, p=distribution(a, k))
    return np.mean(counts + 1)


def by_geometric(a, k, trials, seed):
    rng = np.random.default_rng(seed)
    waits = rng.geometric(max(1 - a, 1e-300), size=trials)
    return np.minimum(np.where(waits < 0, k + 1, waits), k + 1).mean()


def by_inverse(a, k, trials, seed):
    u = np.random.default_rng(seed).random(trials)
    survival = np.array([float(a) ** n for n in range(1, k + 1)])
    return 1 + (u[:, None] < survival).sum() / trials


def by_multinomial(a, k, trials, seed):
    counts = np.random.default_rng(seed).multinomial(trials, distribution(a, k))
    return Fraction(int(counts @ np.arange(1, k + 2)), trials)


def by_binomials(a, k, trials, seed):
    """Round after round of drafts: of the rounds still running, a binomial number goes on."""
    rng, alive, total = np.random.default_rng(seed), trials, trials
    for _ in range(k):
        alive = rng.binomial(alive, a)
        total += alive
    return total / trials


def seeds_for_rounds(a, k, trials, seed):
    children = np.random.SeedSequence(seed).spawn(trials)
    return float(np.mean([honest_round(np.random.default_rng(child), a, k) for child in children]))


def seeing_rate(function: Callable[..., Any], see: Callable[[float], float]) -> Callable[..., Any]:
    """The function, which takes another rate for a; bad input is refused as it should be."""

    def seen(a, k):
        function(a, k)
        return function(see(a), k)

    return seen


def rate_tolerance(a, k, off=1e-5):
    """Forgives a rate just outside 0 … 1."""
    return expected(min(max(a, 0), 1) if -off < a < 1 + off else a, k)


def early_stop(a, k):
    """Adds powers until they are small."""
    validate(a, k)
    return 1 + sum(power for power in (a**i for i in range(1, k + 1)) if power > 1e-5)


ENDS: dict[str, Callable[[float], float]] = {
    "a near 0 taken for 0": lambda a: 0.0 if a < 1e-5 else a,
    "a near 1 taken for 1": lambda a: 1.0 if a > 1 - 1e-5 else a,
    "a below 0.05 taken for 0": lambda a: 0.0 if a < 0.05 else a,
    "a above 0.99 taken for 1": lambda a: 1.0 if a > 0.99 else a,
}


def percents(a, k, trials, seed):
    """Draws whole percents."""
    draws = np.random.default_rng(seed).integers(100, size=(trials, k))
    return float(1 + np.cumprod(draws < int(a * 100), axis=1).sum() / trials)


def no_seed_zero(a, k, trials, seed):
    """`seed or None`: seed 0 is none at all."""
    return float(
        1 + np.cumprod(np.random.default_rng(seed or None).random((trials, k)) < a, axis=1).sum() / trials
    )


def shifted_rate(by: float) -> Callable[..., Any]:
    return simulated(lambda rng, a, k: honest_round(rng, a + by if 0 < a < 1 else a, k))


WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "expected_tokens": {
        **{name: seeing_rate(expected, see) for name, see in ENDS.items()},
        "rates a little outside": rate_tolerance,
        "small powers left out": early_stop,
        "closed form, a = 1 divides by zero": checked(closed),
        "nan at a = 1": checked(lambda a, k: float("nan") if a == 1 else closed(a, k)),
        "one power short": checked(lambda a, k: sum(a**i for i in range(k))),
        "one power too many": checked(lambda a, k: sum(a**i for i in range(k + 2))),
        "accepted only": checked(lambda a, k: sum(a**i for i in range(1, k + 1))),
        "k at a = 1": checked(lambda a, k: k if a == 1 else closed(a, k)),
        "1 at a = 1": checked(lambda a, k: 1 if a == 1 else closed(a, k)),
        "the ceiling": checked(lambda a, k: k + 1 if a == 1 else 1 / (1 - a)),
        "1 + k a": checked(lambda a, k: 1 + k * a),
        "rounded": checked(lambda a, k: round(expected(a, k), 4)),
        "single precision": checked(lambda a, k: np.float32(expected(a, k) * (1 + 3e-7))),
        "a near 1 taken for 1": checked(partial(closed_with, near=1e-3)),
        "no validation": lambda a, k: sum(a**i for i in range(k + 1)),
        "a not validated above": lambda a, k: expected(a, k) if a <= 1 else sum(a**i for i in range(k + 1)),
        "a not validated below": lambda a, k: expected(a, k) if a >= 0 else sum(a**i for i in range(k + 1)),
        "k not validated": lambda a, k: expected(a, max(k, 0)),
        "a = 1 answered before k is looked at": one_first,
        "refuses a = 0": lambda a, k: expected(a, k) if a > 0 else expected(-1, k),
        "refuses a = 1": lambda a, k: expected(a, k) if a < 1 else expected(2, k),
        "refuses k = 0": lambda a, k: expected(a, k) if k else expected(a, -1),
        "asserts instead": lambda a, k: closed_with(a, k, 1e-12) if 0 <= a <= 1 and k >= 0 else [][0],
        "returns None for bad input": lambda a, k: expected(a, k) if 0 <= a <= 1 and k >= 0 else None,
        "returns the error": lambda a, k: expected(a, k) if 0 <= a <= 1 and k >= 0 else ValueError(a),
        "arguments swapped": checked(lambda a, k: sum(k**i for i in range(int(a) + 1))),
        "a table of the page's values": checked(lambda a, k: {1: 5, 0.8: 3.3616, 0.5: 1.9375}.get(a, 1)),
        "in a list": checked(lambda a, k: [expected(a, k)]),
        "prints": checked(lambda a, k: print(expected(a, k))),
    },
    "accepted_distribution": {
        **{name: seeing_rate(distribution, see) for name, see in ENDS.items()},
        "rare counts are impossible": lambda a, k: [x if x > 1e-6 else 0 for x in distribution(a, k)],
        "last with a factor too many": lambda a, k: [a**n * (1 - a) for n in range(k + 1)],
        "the same, made to sum to 1": lambda a, k: [
            x / max(1e-9, 1 - a ** (k + 1)) for x in (a**n * (1 - a) for n in range(k + 1))
        ],
        "at least n": lambda a, k: [a**n for n in range(k + 1)],
        "binomial": lambda a, k: [comb(k, n) * a**n * (1 - a) ** (k - n) for n in range(k + 1)],
        "no entry for all": lambda a, k: [a**n * (1 - a) for n in range(k)],
        "no entry for none": lambda a, k: distribution(a, k)[1:],
        "one entry too many": lambda a, k: [*distribution(a, k), 0.0],
        "backwards": lambda a, k: distribution(a, k)[::-1],
        "powers from 1": lambda a, k: [a ** (n + 1) * (1 - a) for n in range(k)] + [a**k],
        "a and 1 - a swapped": lambda a, k: distribution(1 - a, k),
        "last entry makes it 1, one power off": lambda a, k: (
            [a**n * (1 - a) for n in range(k)] + [a ** (k + 1)]
        ),
        "rounded": lambda a, k: [round(p, 4) for p in distribution(a, k)],
        "cumulative": lambda a, k: np.cumsum(distribution(a, k)),
        "uniform": lambda a, k: [1 / (k + 1)] * (k + 1),
        "a dict": lambda a, k: dict(enumerate(distribution(a, k))),
        "a column": lambda a, k: np.array(distribution(a, k))[:, None],
        "a = 1 divides": lambda a, k: [p * (1 - a) / (1 - a) for p in distribution(a, k)],
        "k = 0 is empty": lambda a, k: distribution(a, k) if k else [],
        "0 to the power 0 avoided": lambda a, k: distribution(a, k) if a else [0.0] * (k + 1),
        "percent": lambda a, k: [100 * p for p in distribution(a, k)],
        "a text": lambda a, k: str(distribution(a, k)),
    },
    "expected_from_distribution": {
        **{name: seeing_rate(expected, see) for name, see in ENDS.items()},
        "without the one": lambda a, k: expected(a, k) - 1,
        "one too many": lambda a, k: expected(a, k) + 1,
        "last left out": lambda a, k: 1 + sum(n * p for n, p in enumerate(distribution(a, k)[:-1])),
        "mean of the entries": lambda a, k: 1 + np.mean(distribution(a, k)),
        "the most likely count": lambda a, k: 1 + int(np.argmax(distribution(a, k))),
        "n from 1": lambda a, k: 1 + sum(n * p for n, p in enumerate(distribution(a, k), 1)),
        "at least instead of exactly": lambda a, k: 1 + sum(n * a**n for n in range(k + 1)),
        "sum of probabilities": lambda a, k: 1 + sum(distribution(a, k)),
        "rounded": lambda a, k: round(expected(a, k), 3),
        "truncated": lambda a, k: int(expected(a, k)),
        "squares": lambda a, k: 1 + sum(n * p * p for n, p in enumerate(distribution(a, k))),
        "a = 1 fails": lambda a, k: closed(a, k),
        "k = 0 gives 0": lambda a, k: expected(a, k) if k else 0,
        "a list of terms": lambda a, k: [n * p for n, p in enumerate(distribution(a, k))],
        "nothing": lambda a, k: None,
    },
    "simulate": {
        "whole percents": percents,
        "seed 0 is no seed": no_seed_zero,
        "a little too often": shifted_rate(0.02),
        "a little too rarely": shifted_rate(-0.02),
        "accepted only": simulated(lambda rng, a, k: honest_round(rng, a, k) - 1),
        "no stop": simulated(no_stop),
        "one draw a round": simulated(one_draw),
        "no end at k": simulated(uncapped),
        "one draft short": simulated(one_draft_short),
        "first draft for free": simulated(first_for_free),
        "a and 1 - a swapped": simulated(inverted),
        "the total": lambda a, k, trials, seed: simulated(honest_round)(a, k, trials, seed) * trials,
        "np.random.seed": legacy_global,
        "np.random without a seed": legacy_unseeded,
        "a generator without the seed": simulated(honest_round, lambda seed: np.random.default_rng()),
        "a fixed seed": simulated(honest_round, lambda seed: np.random.default_rng(42)),
        "a generator outside the function": shared_generator,
        "the same round every time": fresh_generator_each_round,
        "the formula": lambda a, k, trials, seed: expected(a, k),
        "the formula with noise": noisy_formula,
        "rounded": lambda *call: round(simulated(honest_round)(*call), 4),
        "one round short": off_by_one_trial,
        "a thousand rounds at most": lambda a, k, trials, seed: simulated(honest_round)(
            a, k, min(trials, 1000), seed
        ),
        "a capped at 0.99": lambda a, k, trials, seed: simulated(honest_round)(min(a, 0.99), k, trials, seed),
        "divides by trials + 1": divides_wrongly,
        "a list of rounds": lambda a, k, trials, seed: (
            [honest_round(np.random.default_rng(seed), a, k)] * trials
        ),
        "capped seeds": lambda a, k, trials, seed: simulated(honest_round, np.random.RandomState)(
            a, k, trials, seed
        ),
        "nothing": lambda *call: None,
        "arguments swapped": lambda a, k, trials, seed: simulated(honest_round)(a, k, seed % 50 + 1, trials),
    },
}

RIGHT: dict[str, dict[str, Callable[..., Any]]] = {
    "expected_tokens": {
        "sum of powers": checked(lambda a, k: sum(a**i for i in range(k + 1))),
        "closed form with a = 1": checked(lambda a, k: k + 1 if a == 1 else closed(a, k)),
        "closed form with a ≈ 1": checked(partial(closed_with, near=1e-12)),
        "recursion": recursive,
        "NumPy powers": powers,
        "fractions": fractions,
        "decimals": decimals,
        "an own ValueError": own_error,
        "a 0-d array": zero_dimensional,
        "polyval": checked(lambda a, k: np.polyval(np.ones(k + 1), a)),
        "memoised": cache(recursive),
        "an extra default": checked(lambda a, k, terms=None: reference.expected_tokens(a, k)),
    },
    "accepted_distribution": {
        "a tuple": lambda a, k: tuple(distribution(a, k)),
        "an array": lambda a, k: np.append(float(a) ** np.arange(k) * (1 - a), float(a) ** k),
        "differences of the survival": lambda a, k: -np.diff([*(float(a) ** n for n in range(k + 1)), 0]),
        "a generator": lambda a, k: (p for p in distribution(a, k)),
        "the rest for the last": lambda a, k: (
            (first := [a**n * (1 - a) for n in range(k)]) + [1 - sum(first)]
        ),
        "fractions": lambda a, k: (
            [Fraction(a) ** n * (1 - Fraction(a)) for n in range(k)] + [Fraction(a) ** k]
        ),
        "a loop of products": lambda a, k: np.append(
            np.multiply([*accumulate([1.0] + [a] * k, lambda x, y: x * y)][:k], 1 - a), a**k
        ),
        "NumPy scalars": lambda a, k: [np.float64(p) for p in distribution(a, k)],
    },
    "expected_from_distribution": {
        "dot product": lambda a, k: 1 + np.dot(np.arange(k + 1), distribution(a, k)),
        "weights n + 1": lambda a, k: sum((n + 1) * p for n, p in enumerate(distribution(a, k))),
        "np.average": lambda a, k: np.average(np.arange(1, k + 2), weights=distribution(a, k)),
        "fractions": lambda a, k: 1 + sum(n * Fraction(p) for n, p in enumerate(distribution(a, k))),
        "sum of the tail": lambda a, k: 1 + sum(sum(distribution(a, k)[n:]) for n in range(1, k + 1)),
        "the formula": expected,
        "a 0-d array": lambda a, k: np.array(expected(a, k)),
    },
    "simulate": {
        "a loop": simulated(honest_round),
        "the reference's matrix": reference.simulate,
        "choice from the distribution": by_numbers,
        "capped geometric": by_geometric,
        "one uniform, inverted": by_inverse,
        "multinomial, a fraction": by_multinomial,
        "binomials": by_binomials,
        "a spawned generator a round": seeds_for_rounds,
        "a Generator of another kind": simulated(
            honest_round, lambda seed: np.random.Generator(np.random.Philox(seed))
        ),
        "the standard library's generator": simulated(honest_round, random.Random),
        "single precision": lambda *call: np.float32(reference.simulate(*call)),
    },
}
