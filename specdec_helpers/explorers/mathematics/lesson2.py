"""Lesson 2 for drawing: the accept rule, the overlap of two distributions, and a draft with a chosen overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

# The target of the second picture, over five tokens, and a guess that lies wholly beside it.
TARGET: Vector = np.array([0.5, 0.3, 0.2, 0.0, 0.0])
ELSEWHERE: Vector = np.array([0.0, 0.0, 0.0, 0.6, 0.4])


def acceptance(p_x: float, q_x: float) -> float:
    """Return the probability of keeping a token: all of it where the target gives it at least as much."""
    return 1.0 if p_x >= q_x else p_x / q_x


def overlap(p: Vector, q: Vector) -> float:
    """Return the kept share, 1 minus the total variation distance."""
    return float(1 - np.abs(p - q).sum() / 2)


def draft_with_overlap(a: float) -> Vector:
    """Return q_a = a·p + (1 - a)·r with r on tokens that p never uses: its overlap with p is exactly a."""
    q: Vector = a * TARGET + (1 - a) * ELSEWHERE
    return q
