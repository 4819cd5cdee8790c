"""Lesson 3 for drawing: one position under the right rule and under wrong ones, and where E[N] comes from."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]

RIGHT = "from p − q (right)"
RULES = (RIGHT, "from p", "from q", "always accept", "softmax of p − q")


def recovery(p: Vector, q: Vector, rule: str) -> Vector:
    """Return the distribution that the replacement is drawn from under a rule."""
    missing: Vector = np.clip(p - q, 0, None)
    if rule == "from p":
        return p
    if rule == "from q":
        return q
    if rule == "softmax of p − q":
        weights: Vector = np.exp(missing)
        even: Vector = weights / weights.sum()
        return even
    if not missing.any():
        return p  # nothing is missing, so nothing is ever redrawn
    shares: Vector = missing / missing.sum()
    return shares


def position(p: Vector, q: Vector, rule: str) -> tuple[Vector, Vector]:
    """Return what is kept of q and what the replacement adds; their sum is the output of one position.

    Args:
        p: the target's distribution.
        q: the draft's.
        rule: one of RULES.
    """
    if rule == "always accept":
        return q, np.zeros_like(q)
    kept: Vector = np.minimum(p, q)
    added: Vector = (1 - kept.sum()) * recovery(p, q, rule)
    return kept, added


def error(output: Vector, p: Vector) -> float:
    """Return the share of outputs that fall on the wrong token: the total variation distance from p."""
    return float(np.abs(output - p).sum() / 2)


def sources(a: ArrayLike, k: int) -> tuple[Vector, Vector, Vector]:
    """Return the parts of E[N]: accepted drafts a + … + a^k, recovery 1 - a^k, bonus a^k."""
    rate: Vector = np.asarray(a, dtype=float)
    accepted: Vector = np.zeros_like(rate)
    for _ in range(k):
        accepted = rate * (1 + accepted)
    bonus: Vector = rate**k
    return accepted, 1 - bonus, bonus
