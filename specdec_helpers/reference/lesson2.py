"""Lesson 2, Accept or reject: from logits to distributions, and the rule that keeps a sampled draft token.

Source: Leviathan, Kalman, Matias 2023 (arXiv 2211.17192), sections 2.2, 2.3 and 3; Chen et al. 2023 (arXiv 2302.01318).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

Numbers = Sequence[float] | np.ndarray
Rows = Sequence[Numbers] | np.ndarray

TOLERANCE = 1e-6  # how far a sum of probabilities may be from 1


def to_distribution(logits: ArrayLike, temperature: float, top_k: int | None = None) -> list[float]:
    """The probabilities that a sampler with these settings draws from.

    logits: V real numbers. temperature: 0 puts all mass on the largest logit (the first one on ties), more than
    0 is softmax(logits / temperature). top_k: only the k largest logits keep a chance; None, or k >= V, keeps all.
    Returns V probabilities in vocabulary order. ValueError: no logits, temperature < 0, top_k < 1.

    >>> [round(x, 4) for x in to_distribution([2, 1, 0], 1)]
    [0.6652, 0.2447, 0.09]
    """
    scores = np.asarray(logits, dtype=float)
    if scores.size == 0:
        raise ValueError("logits is empty; give one number for every token of the vocabulary")
    if not temperature >= 0:
        raise ValueError(f"temperature is {temperature}; it must be 0 or more")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}; it must be at least 1, or None to keep all tokens")
    if temperature == 0:
        weights = np.zeros(len(scores))
        weights[int(np.argmax(scores))] = 1.0
        return [float(weight) for weight in weights]
    # The largest logit becomes 0 before the exponential: exp(1000) would overflow.
    weights = np.exp((scores - scores.max()) / temperature)
    if top_k is not None and top_k < len(scores):
        weights[np.argsort(-scores, kind="stable")[top_k:]] = 0.0
    return [float(weight) for weight in weights / weights.sum()]


def accept_probability(p_x: float, q_x: float) -> float:
    """Probability of keeping a draft token: min(1, p(x) / q(x)).

    p_x: what the target gives the token, in [0, 1]. q_x: what the draft gave it, in (0, 1]; a token that was drawn
    has a chance above 0. ValueError outside these bounds. Source: Leviathan et al. 2023, section 2.3.

    >>> accept_probability(0.3, 0.5)
    0.6
    """
    if not 0 < q_x <= 1:
        raise ValueError(f"q_x is {q_x}; a drawn token has a probability above 0 and at most 1")
    if not 0 <= p_x <= 1:
        raise ValueError(f"p_x is {p_x}; a probability lies between 0 and 1")
    return min(1.0, float(p_x) / float(q_x))


def distribution(values: Numbers, name: str) -> list[float]:
    """`values` as a list of floats. ValueError if an entry is negative or the sum is not 1 (within 1e-6)."""
    numbers = [float(value) for value in values]
    for token, number in enumerate(numbers):
        if not number >= 0:
            raise ValueError(f"{name}[{token}] is {number}; a probability is 0 or more")
    total = math.fsum(numbers)
    if not abs(total - 1) <= TOLERANCE:
        raise ValueError(f"{name} sums to {total}; a distribution sums to 1 (within {TOLERANCE})")
    return numbers


def acceptance_rate(p: Numbers, q: Numbers) -> float:
    """The share of draft tokens that is kept: the overlap sum_x min(p(x), q(x)).

    p, q: target and draft distribution over the same V tokens. Equals 1 minus their total variation distance.
    ValueError: different lengths, a negative entry, a sum more than 1e-6 from 1. Source: Leviathan et al. 2023,
    corollary 3.6.

    >>> round(acceptance_rate([0.5, 0.3, 0.2], [0.2, 0.5, 0.3]), 10)
    0.7
    """
    if len(p) != len(q):
        raise ValueError(f"p has {len(p)} entries and q has {len(q)}; both must cover the same vocabulary")
    target, draft = distribution(p, "p"), distribution(q, "q")
    return math.fsum(map(min, target, draft))


def accepted_prefix(draft: Sequence[int] | np.ndarray, p_rows: Rows, q_rows: Rows, u: Numbers) -> int:
    """How many of the k drafted tokens are kept: 0 … k.

    draft: k tokens, draft[i] drawn from q_rows[i]. p_rows, q_rows: k rows of V probabilities. u: k uniforms of [0, 1).
    Token i is kept iff u[i] < accept_probability; the first rejection ends it. ValueError unless all four have the
    same length. Source: Leviathan et al. 2023, algorithm 1.

    >>> accepted_prefix([0, 1], [[0.5, 0.5], [0.7, 0.3]], [[0.4, 0.6], [0.5, 0.5]], [0.9, 0.7])
    1
    """
    k = len(draft)
    if not len(p_rows) == len(q_rows) == len(u) == k:
        raise ValueError(
            f"{k} drafts, {len(p_rows)} target rows, {len(q_rows)} draft rows and {len(u)} uniforms; "
            "each drafted token needs one of each"
        )
    for i in range(k):
        x = int(draft[i])
        if not u[i] < accept_probability(p_rows[i][x], q_rows[i][x]):
            return i
    return k


_P, _Q = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]
_A = acceptance_rate(_P, _Q)

ANSWERS: dict[str, int | float | str] = {
    "keep_chance": accept_probability(0.3, 0.5),
    "overlap": _A,
    "tokens_at_overlap": math.fsum(_A**i for i in range(5)),
    "target_likes_it_more": "B",
}
