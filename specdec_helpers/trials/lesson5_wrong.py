"""Lesson 5: wrong implementations, for the diagnosis of a student's values and for telling draws apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson5 as reference


def mean(a: float, k: int) -> float:
    """E[N], as the wrong ones take it too."""
    return float(sum(float(a) ** i for i in range(k + 1)))


def _speed_with(
    cost: Callable[..., float], tokens: Callable[[float, int], float] = mean
) -> Callable[..., float]:
    return lambda a, k, target, verify, draft: tokens(a, k) * target / cost(k, target, verify, draft)


PAID = _speed_with(lambda k, target, verify, draft: verify + k * draft)
EXTRA = _speed_with(lambda k, target, verify, draft: verify + (k + 1) * draft)
TARGET = _speed_with(lambda k, target, verify, draft: target + k * draft)
_ACCEPTED = _speed_with(lambda k, target, verify, draft: verify + k * draft, lambda a, k: mean(a, k) - 1)


def search(
    speed: Callable[..., float], first: int = 0, later: bool = False, beyond: int = 1
) -> Callable[..., int]:
    """A search for the best k that starts at `first`, takes later ties or not, ends before k_max + beyond."""

    def search(a: float, target: float, verify: float, draft: float, k_max: int) -> int:
        best, top = first, 1.0 if first == 0 else -1.0
        for k in range(1, k_max + beyond):
            value = speed(a, k, target, verify, draft)
            if value > top or (later and value >= top * (1 - 1e-12)):
                best, top = k, value
        return best

    return search


def formula_at_zero(a: float, target: float, verify: float, draft: float, k_max: int) -> int:
    """The formula also where k = 0 stands for plain decoding."""
    return int(np.argmax([PAID(a, k, target, verify, draft) for k in range(k_max + 1)]))


def stops_early(a: float, target: float, verify: float, draft: float, k_max: int) -> int:
    """Climb while the next k is faster."""
    best, top = 0, 1.0
    while best < k_max and (value := PAID(a, best + 1, target, verify, draft)) > top:
        best, top = best + 1, value
    return best


def returns_speedup(a: float, target: float, verify: float, draft: float, k_max: int) -> float:
    """The best speed-up, not its k."""
    return max([1.0, *(PAID(a, k, target, verify, draft) for k in range(1, k_max + 1))])


SLIPS: dict[str, Callable[..., Any]] = {
    "most_tokens": lambda a, target, verify, draft, k_max: k_max,
    "stops_early": stops_early,
    "returns_speedup": returns_speedup,
    "extra": search(EXTRA),
    "target": search(TARGET),
    "accepted": search(_ACCEPTED),
}


def _bisect(reached: Callable[[float], bool], low: float = 0.0, high: float = 1.0) -> float:
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def solve(speed: Callable[..., float], low: float = 0.0, high: float = 1.0) -> Callable[..., float]:
    """A search for the rate that ends at `low` or `high` and never says None."""
    return lambda k, target, verify, draft: _bisect(
        lambda a: speed(a, k, target, verify, draft) >= 1, low, high
    )


def _bounded(rate: float) -> float | None:
    return 0.0 if rate <= 0 else None if rate > 1 else rate


def straight_line(k: int, target: float, verify: float, draft: float) -> float | None:
    """E[N] taken for 1 + k a."""
    return _bounded(((verify + k * draft) / target - 1) / k)


def ceiling(k: int, target: float, verify: float, draft: float) -> float | None:
    """E[N] taken for 1 / (1 - a)."""
    return _bounded(1 - target / (verify + k * draft))


def coarse(k: int, target: float, verify: float, draft: float) -> float | None:
    """The right rate on a grid of hundredths."""
    rate = reference.break_even(k, target, verify, draft)
    return None if rate is None else float(np.ceil(rate * 100 - 1e-9) / 100)
