"""Implementations of lessons 2 and 3 that are right but for a threshold, a cap or a rounding.

They agree with the reference on every input of usual size. What finds them are inputs near the contract's own edges:
a rare token, two numbers that almost agree, a sum just too far from 1, more tokens than in any example.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson2, lesson3

Table = dict[str, dict[str, Callable]]


# ---- to_distribution -------------------------------------------------------------------------------------


def greedy_below(limit: float) -> Callable:
    return lambda z, t, k=None: lesson2.to_distribution(z, 0 if 0 <= t < limit else t, k)


def greedy_seen(by: Callable) -> Callable:
    """At temperature 0, looks at the logits through `by`."""
    return lambda z, t, k=None: lesson2.to_distribution([*map(by, z)] if t == 0 else z, t, k)


def top_k_seen(by: Callable) -> Callable:
    """Rules logits out by what `by` makes of them."""

    def to_distribution(z, t, k=None):
        weights = np.array(lesson2.to_distribution(z, t, k))
        if t > 0 and k is not None and k < len(z):
            weights = np.array(lesson2.to_distribution(z, t))
            weights[np.argsort([-by(x) for x in z], kind="stable")[k:]] = 0
        return weights / weights.sum()

    return to_distribution


def without_rare(z, t, k=None):
    return [x if x > 1e-6 else 0.0 for x in lesson2.to_distribution(z, t, k)]


# ---- one or two distributions ----------------------------------------------------------------------------


def tolerant(function: Callable, off: float, below: float = 0.0) -> Callable:
    """Refuses sums from `off` on and entries from `-below` on; what is between, it repairs."""

    def repaired(row):
        row = [float(x) for x in row]
        if min(row) < -below or abs(sum(row) - 1) > off:
            raise ValueError
        clipped = [max(0.0, x) for x in row]
        return [x / sum(clipped) for x in clipped]

    return lambda p, q: function(repaired(p), repaired(q)) if len(p) == len(q) else function(p, q)


def sums_together(function: Callable) -> Callable:
    def checked(p, q):
        if abs(sum(p) + sum(q) - 2) > 2e-6 or min(p) < 0 or min(q) < 0:
            raise ValueError
        return function(np.divide(p, sum(p)), np.divide(q, sum(q)))

    return checked


def equal_if_near(function: Callable, near: float) -> Callable:
    """Takes p for q where no entry differs by more than `near`."""

    def seen(p, q):
        value = function(p, q)
        return function(p, p) if max(abs(np.subtract(p, q))) <= near else value

    return seen


# ---- accepting -------------------------------------------------------------------------------------------

Accepts = Callable[[float, float, float], bool]  # p, q, u

ACCEPTS: dict[str, Accepts] = {
    "accepts a little too rarely": lambda p, q, u: u < p / q - 1e-4,
    "accepts a little too often": lambda p, q, u: u < p / q + 1e-4,
    "rounds the ratio": lambda p, q, u: u < round(p / q, 4),
    "rounds u": lambda p, q, u: round(u, 4) < p / q,
    "half floats": lambda p, q, u: bool(np.float16(u) < np.float16(min(1, p / q))),
    "never quite sure": lambda p, q, u: u < min(0.999, p / q),
    "rejects rare tokens": lambda p, q, u: p > 1e-3 and u < p / q,
    "accepts rare drafts": lambda p, q, u: q < 1e-3 or u < p / q,
}


def prefix(accepts: Accepts, longest: int = 10**6) -> Callable:
    def accepted_prefix(draft, p_rows, q_rows, u):
        lesson2.accepted_prefix(draft, p_rows, q_rows, u)  # refuses what is uneven
        n = 0
        while n < min(len(draft), longest) and accepts(p_rows[n][draft[n]], q_rows[n][draft[n]], u[n]):
            n += 1
        return n

    return accepted_prefix


def lengths_in_sum(draft, p_rows, q_rows, u):
    if len(p_rows) + len(q_rows) + len(u) != 3 * len(draft):
        raise ValueError
    k = min(map(len, (draft, p_rows, q_rows, u)))
    return lesson2.accepted_prefix(draft[:k], p_rows[:k], q_rows[:k], u[:k])


def one_round(accepts: Accepts, see: Callable[[float], float] = float, near: float = 0.0) -> Callable:
    """A round with its own rule of acceptance, that sees u_extra through `see`."""

    def speculative_round(draft, p_rows, q_rows, u, u_extra):
        lesson3.speculative_round(draft, p_rows, q_rows, u, u_extra)  # refuses what is uneven
        for i, x in enumerate(draft):
            if not accepts(p_rows[i][x], q_rows[i][x], u[i]):
                row = equal_if_near(lesson3.residual, near)(p_rows[i], q_rows[i])
                return [*draft[:i], lesson3.sample_from(row, see(u_extra))]
        return [*draft, lesson3.sample_from(p_rows[-1], see(u_extra))]

    return speculative_round


def counts_in_sum(draft, p_rows, q_rows, u, u_extra):
    if len(p_rows) + len(q_rows) + len(u) != 3 * len(draft) + 1:
        raise ValueError
    k = min(len(draft), len(p_rows) - 1, len(q_rows), len(u))
    return lesson3.speculative_round(draft[:k], p_rows[: k + 1], q_rows[:k], u[:k], u_extra)


# ---- drawing ---------------------------------------------------------------------------------------------


def drawing(
    off: float = 1e-6, below: float = 0.0, rare: float = 0.0, see: Callable[[float], float] = float
) -> Callable:
    """sample_from with its own tolerances; tokens of `rare` or less are never drawn."""

    def sample_from(probs, u):
        row = [float(x) for x in probs]
        if min(row) < -below or abs(sum(row) - 1) > off or not -below <= u < 1:
            raise ValueError
        total = 0.0
        for i, x in enumerate(row):
            total += x
            if total > see(u) and x > rare:
                return i
        return max(i for i, x in enumerate(row) if x > rare)

    return sample_from


def emitted(see_accept: Callable = float, see_q: Callable = float, see_r: Callable = float) -> Callable:
    return lambda q, accept, r: lesson3.emitted_distribution(
        [see_q(x) for x in q], [see_accept(x) for x in accept], [see_r(x) for x in r]
    )


def no_rare(x: float) -> float:
    return float(x) if x > 1e-3 else 0.0


LESSON2: Table = {
    "to_distribution": {
        "low temperatures are greedy": greedy_below(1e-3),
        "at most 16 tokens": lambda z, t, k=None: lesson2.to_distribution(z, t, k)[:16],
        "at least three tokens": lambda z, t, k=None: ([*lesson2.to_distribution(z, t, k), 0.0, 0.0])[
            : max(3, len(z))
        ],
        "top_k of 10 at most": lambda z, t, k=None: lesson2.to_distribution(z, t, k and min(k, 10)),
        "greedy by whole numbers": greedy_seen(int),
        "greedy by rounded logits": greedy_seen(lambda x: round(x, 3)),
        "greedy in single precision": greedy_seen(np.float32),
        "top_k by rounded logits": top_k_seen(lambda x: round(x, 1)),
        "top_k by half floats": top_k_seen(np.float16),
        "rare tokens are impossible": without_rare,
    },
    "accept_probability": {
        "rare drafts held above 1e-8": lambda p, q: lesson2.accept_probability(
            p, max(q, 1e-8) if q > 0 else q
        ),
        "rare drafts refused": lambda p, q: lesson2.accept_probability(p, q if q > 1e-9 else 0),
        "rare targets never kept": lambda p, q: lesson2.accept_probability(p if abs(p) > 1e-9 else 0, q),
        "almost equal is kept": lambda p, q: (
            1.0 if np.isclose(p, q, atol=1e-6) and q > 1e-5 else lesson2.accept_probability(p, q)
        ),
        "q up to 1 + 1e-6": lambda p, q: lesson2.accept_probability(p, min(q, 1) if q < 1 + 1e-6 else q),
        "p up to 1 + 1e-6": lambda p, q: lesson2.accept_probability(min(p, 1) if p < 1 + 1e-6 else p, q),
        "p down to -1e-6": lambda p, q: lesson2.accept_probability(max(p, 0) if p > -1e-6 else p, q),
        "q down to -1e-6": lambda p, q: lesson2.accept_probability(p, 0.1 if -1e-6 < q < 0 else q),
    },
    "acceptance_rate": {
        "sums to 2e-6": tolerant(lesson2.acceptance_rate, 2e-6 - 1e-7),
        "sums to 5e-7": tolerant(lesson2.acceptance_rate, 5e-7),
        "entries down to -1e-6": tolerant(lesson2.acceptance_rate, 1e-6, 1e-6),
        "the sums together": sums_together(lesson2.acceptance_rate),
        "almost equal is equal": equal_if_near(lesson2.acceptance_rate, 1e-3),
        "the first 16 tokens": lambda p, q: (
            lesson2.acceptance_rate(p, q) and float(np.minimum(p[:16], q[:16]).sum())
        ),
    },
    "accepted_prefix": {
        **{name: prefix(accepts) for name, accepts in ACCEPTS.items()},
        "at most 8": prefix(lambda p, q, u: u < p / q, 8),
        "lengths only in sum": lengths_in_sum,
    },
}

LESSON3: Table = {
    "residual": {
        "sums to 2e-6": tolerant(lesson3.residual, 2e-6 - 1e-7),
        "sums to 5e-7": tolerant(lesson3.residual, 5e-7),
        "entries down to -1e-6": tolerant(lesson3.residual, 1e-6, 1e-6),
        "the sums together": sums_together(lesson3.residual),
        "almost identical is identical": equal_if_near(lesson3.residual, 1e-5),
        "the first 16 tokens": lambda p, q: list(lesson3.residual(p, q))[:16],
    },
    "sample_from": {
        "sums to 2e-6": drawing(off=2e-6 - 1e-7),
        "sums to 5e-7": drawing(off=5e-7),
        "a little below 0": drawing(below=1e-6),
        "sums never above 1": lambda probs, u: drawing()(
            probs, u if sum(map(float, probs)) <= 1 + 1e-7 else -1
        ),
        "rare tokens are impossible": drawing(rare=1e-5),
        "u rounded": drawing(see=lambda u: round(u, 5)),
        "u a little higher": drawing(see=lambda u: u + 1e-5),
        "the first 16 tokens": lambda probs, u: min(lesson3.sample_from(probs, u), 15),
    },
    "emitted_distribution": {
        "almost sure is sure": emitted(see_accept=lambda x: 1.0 if x > 0.999 else x),
        "almost never is never": emitted(see_accept=no_rare),
        "rare drafts are impossible": emitted(see_q=no_rare),
        "rare replacements are impossible": emitted(see_r=no_rare),
        "the first 16 tokens": lambda q, accept, r: list(lesson3.emitted_distribution(q, accept, r))[:16],
    },
    "speculative_round": {
        **{name: one_round(accepts) for name, accepts in ACCEPTS.items()},
        "u_extra rounded": one_round(lambda p, q, u: u < p / q, lambda u: round(u, 3)),
        "u_extra a little smaller": one_round(lambda p, q, u: u < p / q, lambda u: u * (1 - 1e-5)),
        "almost identical is identical": one_round(lambda p, q, u: u < p / q, near=1e-3),
        "counts only in sum": counts_in_sum,
    },
}


def add(table: dict[str, dict[str, Any]], more: Table) -> None:
    """Put the implementations of `more` into a lesson's table."""
    for function, implementations in more.items():
        table[function].update(implementations)
