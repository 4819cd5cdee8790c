"""Lesson 4, Expected progress: how many tokens one verification yields when drafts are accepted independently.

Source: the course's page "Expected progress" (E7.4); Leviathan, Kalman, Matias 2023 (arXiv 2211.17192), section 3.1,
equation 1 (their α is our a, their γ our k).
"""

from __future__ import annotations

import numpy as np


def expected_tokens(a: float, k: int) -> float:
    """Expected tokens per verification, 1 + a + a² + … + a^k.

    a: acceptance rate, 0 … 1; k: drafted tokens, k >= 0. ValueError outside. Horner's rule: unlike the closed form
    (1 - a^(k+1)) / (1 - a) it loses no digits near a = 1, where the sum is k + 1.
    """
    if not 0 <= a <= 1:
        raise ValueError(f"the acceptance rate a is {a}; it must lie between 0 and 1")
    if k < 0:
        raise ValueError(f"k is {k}; the number of drafted tokens cannot be negative")
    total = 1.0
    for _ in range(k):
        total = 1 + a * total
    return total


def accepted_distribution(a: float, k: int) -> list[float]:
    """Probabilities of exactly 0, 1, …, k accepted draft tokens: a list of k + 1 numbers that sums to 1.

    n < k drafts are accepted and the next one is rejected: a^n (1 - a). All k are accepted: a^k.
    """
    a = float(a)
    return [a**n * (1 - a) for n in range(k)] + [a**k]


def expected_from_distribution(a: float, k: int) -> float:
    """Expected tokens per verification, from the distribution: tokens produced = accepted + 1."""
    return 1 + sum(n * p for n, p in enumerate(accepted_distribution(a, k)))


def simulate(a: float, k: int, trials: int, seed: int) -> float:
    """Average tokens per verification over `trials` random rounds, drawn from ``np.random.default_rng(seed)``."""
    accepted = np.random.default_rng(seed).random((trials, k)) < a
    produced = 1 + np.cumprod(accepted, axis=1).sum(axis=1)  # a round stops at its first rejection
    return float(produced.mean())


ANSWERS: dict[str, int | float | str] = {
    "tokens_if_always_accepted": expected_tokens(1, 4),
    "tokens_at_rate_08": expected_tokens(0.8, 4),
    "tokens_at_rate_05": expected_tokens(0.5, 4),
    "ideal_produced_count": "B",
}
