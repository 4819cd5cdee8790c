"""A class of lesson 4: right in unusual ways, half right, each named misconception, and nothing at all."""

from __future__ import annotations

from . import SOLUTION, Planned

NUMBERS = {
    "tokens_if_always_accepted": 5,
    "tokens_at_rate_08": 3.3616,
    "tokens_at_rate_05": 1.9375,
    "ideal_produced_count": "B",
}
FUNCTIONS = dict.fromkeys(
    ("expected_tokens", "accepted_distribution", "expected_from_distribution", "simulate"), SOLUTION
)
ALL = {**NUMBERS, **FUNCTIONS}
POINTS = {
    "tokens_if_always_accepted": 1,
    "tokens_at_rate_08": 1,
    "tokens_at_rate_05": 1,
    "expected_tokens": 3,
    "accepted_distribution": 3,
    "expected_from_distribution": 2,
    "simulate": 4,
    "ideal_produced_count": 1,
}

CLOSED_FORM = """
def expected_tokens(a, k):
    if a < 0 or a > 1: raise ValueError("a must lie in [0, 1]")
    if k < 0: raise ValueError("k must not be negative")
    return k + 1 if a == 1 else (1 - a ** (k + 1)) / (1 - a)
"""
NO_LIMIT = """
def expected_tokens(a, k):
    if not 0 <= a <= 1 or k < 0:
        raise ValueError
    return (1 - a ** (k + 1)) / (1 - a)
"""
NO_VALIDATION = """
def expected_tokens(a, k):
    return sum(a ** i for i in range(k + 1))
"""
ACCEPTED_ONLY = """
def expected_tokens(a, k):
    if not 0 <= a <= 1 or k < 0:
        raise ValueError
    return sum(a ** i for i in range(1, k + 1))
"""
ROUNDED = """
def expected_tokens(a, k):
    if not 0 <= a <= 1 or k < 0:
        raise ValueError
    return round(sum(a ** i for i in range(k + 1)), 4)
"""
FRACTIONS = """
from fractions import Fraction
def accepted_distribution(a, k):
    a = Fraction(a)
    return tuple(a ** n * (1 - a) for n in range(k)) + (a ** k,)
"""
ARRAY = """
def accepted_distribution(a, k):
    survival = np.append(float(a) ** np.arange(k + 1), 0)
    return survival[:-1] - survival[1:]
"""
FACTOR_TOO_MANY = """
def accepted_distribution(a, k):
    return [a ** n * (1 - a) for n in range(k + 1)]
"""
AT_LEAST = """
def accepted_distribution(a, k):
    return [a ** n for n in range(k + 1)]
"""
FROM_ITSELF = """
def expected_from_distribution(a, k):
    return np.dot(np.arange(1, k + 2), [a ** n * (1 - a) for n in range(k)] + [a ** k])
"""
ONE_FORGOTTEN = """
def expected_from_distribution(a, k):
    return sum(n * p for n, p in enumerate(accepted_distribution(a, k)))
"""
VECTORISED = """
def simulate(a, k, trials, seed):
    kept = np.random.default_rng(seed).random((trials, k)) < a
    return np.mean(1 + np.logical_and.accumulate(kept, axis=1).sum(axis=1))
"""
BY_CHOICE = """
def simulate(a, k, trials, seed):
    rng = np.random.default_rng(seed)
    return float(np.mean(1 + rng.choice(k + 1, trials, p=accepted_distribution(a, k))))
"""
GLOBAL_STATE = """
def simulate(a, k, trials, seed):
    np.random.seed(seed)
    kept = np.random.rand(trials, k) < a
    return float(np.mean(1 + np.cumprod(kept, axis=1).sum(axis=1)))
"""
UNSEEDED = """
rng = np.random.default_rng()
def simulate(a, k, trials, seed):
    kept = rng.random((trials, k)) < a
    return float(np.mean(1 + np.cumprod(kept, axis=1).sum(axis=1)))
"""
NO_STOP = """
def simulate(a, k, trials, seed):
    rng = np.random.default_rng(seed)
    return float(np.mean(1 + (rng.random((trials, k)) < a).sum(axis=1)))
"""
THE_FORMULA = """
def simulate(a, k, trials, seed):
    return expected_tokens(a, k)
"""
TOTAL = """
def simulate(a, k, trials, seed):
    rng = np.random.default_rng(seed)
    return int((1 + np.cumprod(rng.random((trials, k)) < a, axis=1).sum(axis=1)).sum())
"""


def but(**changes: float) -> dict[str, float]:
    """The full points with some of them changed."""
    return {**POINTS, **changes}


PLANNED = [
    Planned("the course's own answers", ALL, POINTS),
    Planned("nothing done", {}),
    Planned(
        "closed form, fractions, vectorised",
        {**ALL, "expected_tokens": CLOSED_FORM, "accepted_distribution": FRACTIONS, "simulate": VECTORISED},
        POINTS,
    ),
    Planned(
        "arrays, drawn from the distribution",
        {
            **ALL,
            "accepted_distribution": ARRAY,
            "simulate": BY_CHOICE,
            "expected_from_distribution": FROM_ITSELF,
        },
        POINTS,
    ),
    Planned(
        "numbers computed, not typed",
        {
            **ALL,
            "tokens_at_rate_08": "tokens_at_rate_08 = sum(0.8**i for i in range(5))",
            "tokens_at_rate_05": "from fractions import Fraction\ntokens_at_rate_05 = Fraction(31, 16)",
            "tokens_if_always_accepted": 5.0,
            "ideal_produced_count": "Five: four accepted drafts plus the extra token from the same verification pass.",
        },
        POINTS,
    ),
    Planned(
        "every number a misconception",
        {
            **FUNCTIONS,
            "tokens_if_always_accepted": 4,
            "tokens_at_rate_08": 2.952,
            "tokens_at_rate_05": 2,
            "ideal_produced_count": "C",
        },
        {name: POINTS[name] for name in FUNCTIONS},
    ),
    Planned(
        "too few decimals",
        {**ALL, "tokens_at_rate_08": 3.36, "tokens_at_rate_05": 1.94},
        but(tokens_at_rate_08=0, tokens_at_rate_05=0),
    ),
    Planned("part 1 only", NUMBERS, dict.fromkeys(NUMBERS, 1)),
    Planned("no limit at a = 1", {**ALL, "expected_tokens": NO_LIMIT}, but(expected_tokens=2.25)),
    Planned("no validation", {**ALL, "expected_tokens": NO_VALIDATION}, but(expected_tokens=2.25)),
    Planned("accepted drafts only", {**ALL, "expected_tokens": ACCEPTED_ONLY}, but(expected_tokens=0)),
    Planned("rounded inside", {**ALL, "expected_tokens": ROUNDED}, but(expected_tokens=2.75)),
    Planned(
        "a factor too many, carried on",
        {**ALL, "accepted_distribution": FACTOR_TOO_MANY},
        but(accepted_distribution=0, expected_from_distribution=0),
    ),
    Planned(
        "at least instead of exactly",
        {**ALL, "accepted_distribution": AT_LEAST, "expected_from_distribution": FROM_ITSELF},
        but(accepted_distribution=0),
    ),
    Planned(
        "the extra token forgotten",
        {**ALL, "expected_from_distribution": ONE_FORGOTTEN},
        but(expected_from_distribution=0),
    ),
    Planned("NumPy's global state", {**ALL, "simulate": GLOBAL_STATE}, but(simulate=3.5)),
    Planned("the seed unused", {**ALL, "simulate": UNSEEDED}, but(simulate=3.5)),
    Planned("no stop at a rejection", {**ALL, "simulate": NO_STOP}, but(simulate=0)),
    Planned("the formula as a simulation", {**ALL, "simulate": THE_FORMULA}, but(simulate=0)),
    Planned("the total", {**ALL, "simulate": TOTAL}, but(simulate=0)),
    Planned(
        "stops half way",
        {**NUMBERS, "expected_tokens": SOLUTION, "accepted_distribution": SOLUTION},
        but(expected_from_distribution=0, simulate=0),
    ),
]
