"""Lesson 4 for drawing: expected tokens, accepted counts, and a running average."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

SEED, TRIALS, LONGEST = 8, 1000, 12


def expected(a: ArrayLike, k: int) -> NDArray[np.float64]:
    """Return 1 + a + … + a^k for one a or an array of them, by Horner's rule: exact at a = 1 too."""
    a = np.asarray(a, dtype=float)
    total: NDArray[np.float64] = np.ones_like(a)
    for _ in range(k):
        total = 1 + a * total
    return total


def over_k(a: float, longest: int = LONGEST) -> NDArray[np.float64]:
    """Return E[N] for k = 0 … longest."""
    tokens: NDArray[np.float64] = np.cumsum(np.power(float(a), np.arange(longest + 1)))
    return tokens


def accepted(a: float, k: int) -> NDArray[np.float64]:
    """Return the probabilities of exactly 0 … k accepted drafts: the falls of the survival function a^n."""
    survival = np.power(float(a), np.arange(k + 1))  # P(at least n accepted)
    falls: NDArray[np.float64] = survival - np.append(survival[1:], 0.0)
    return falls


def ceiling(a: float) -> float:
    """Return the limit of E[N] for long drafts, 1 / (1 - a); infinity at a = 1."""
    return np.inf if a >= 1 else 1 / (1 - a)


def running_average(a: float, k: int, seed: int = SEED, trials: int = TRIALS) -> NDArray[np.float64]:
    """Return the average tokens per verification after 1 … trials simulated rounds.

    The same uniforms serve every a and k, so that the picture moves smoothly under the slider.
    """
    agrees = np.random.default_rng(seed).random((trials, LONGEST))[:, :k] < a
    tokens = 1 + np.cumprod(agrees, axis=1).sum(axis=1)
    average: NDArray[np.float64] = np.cumsum(tokens) / np.arange(1, trials + 1)
    return average
