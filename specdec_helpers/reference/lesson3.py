"""Lesson 3, Recover the difference: what replaces a rejected token, and one whole round of speculative sampling.

Source: Leviathan, Kalman, Matias 2023 (arXiv 2211.17192), section 2.3, algorithm 1 and appendix A.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Numbers = Sequence[float] | np.ndarray
Rows = Sequence[Numbers] | np.ndarray

TOLERANCE = 1e-6  # how far a sum of probabilities may be from 1


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


def residual(p: Numbers, q: Numbers) -> list[float]:
    """What the draft under-supplied: max(0, p - q) divided by its sum.

    p, q: target and draft distribution over the same V tokens. Returns a new list of V probabilities; where p and
    q are identical nothing is missing, and p itself is returned (as a copy). ValueError: different lengths, a
    negative entry, a sum more than 1e-6 from 1.

    >>> [round(x, 10) for x in residual([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4])]
    [0.75, 0.25, 0.0, 0.0]
    """
    if len(p) != len(q):
        raise ValueError(f"p has {len(p)} entries and q has {len(q)}; both must cover the same vocabulary")
    target, draft = distribution(p, "p"), distribution(q, "q")
    missing = [max(0.0, p_x - q_x) for p_x, q_x in zip(target, draft, strict=True)]
    total = math.fsum(missing)
    if total == 0:
        return target
    return [part / total for part in missing]


def sample_from(probs: Numbers, u: float) -> int:
    """The token that the uniform number u selects: the smallest i with probs[0] + … + probs[i] > u.

    probs: V probabilities. u: a number in [0, 1). A token of probability 0 is never returned; where rounding leaves
    the whole sum at or below u, the last token with a chance is. ValueError: probs is no distribution (a negative
    entry, a sum more than 1e-6 from 1), or u lies outside [0, 1).

    >>> sample_from([0.5, 0.3, 0.2], 0.6)
    1
    """
    numbers = distribution(probs, "probs")
    if not 0 <= u < 1:
        raise ValueError(f"u is {u}; it must be at least 0 and less than 1")
    total, last = 0.0, 0
    for token, number in enumerate(numbers):
        if number > 0:
            total += number
            last = token
            if total > u:
                return token
    return last


def emitted_distribution(q: Numbers, accept: Numbers, replacement: Numbers) -> list[float]:
    """Distribution of the token that one position emits.

    A token x is drawn from q and kept with probability accept[x]; a rejected one is replaced by a draw from
    `replacement`. All three have V entries. Returns q·accept + (1 - sum(q·accept))·replacement.

    >>> [round(x, 10) for x in emitted_distribution([0.5, 0.5], [1, 0.2], [1, 0])]
    [0.9, 0.1]
    """
    kept = [float(q_x) * float(keep) for q_x, keep in zip(q, accept, strict=True)]
    rejected = 1.0 - math.fsum(kept)
    return [part + rejected * float(other) for part, other in zip(kept, replacement, strict=True)]


def speculative_round(
    draft: Sequence[int] | np.ndarray, p_rows: Rows, q_rows: Rows, u: Numbers, u_extra: float
) -> list[int]:
    """The tokens that one round of speculative sampling emits: the accepted drafts, then exactly one more.

    draft: k tokens, draft[i] drawn from q_rows[i]. p_rows: k + 1 target rows; q_rows: k draft rows. u: k uniforms for
    the acceptance tests (keep token i iff u[i] < min(1, p / q)); u_extra: one more, for the extra token. It is drawn
    from residual(p_rows[n], q_rows[n]) if position n was rejected, and from p_rows[k] if none was. ValueError if the
    counts do not fit. Source: Leviathan et al. 2023, algorithm 1.

    >>> speculative_round([0], [[0.2, 0.8], [0.5, 0.5]], [[0.9, 0.1]], [0.5], 0.3)
    [1]
    """
    k = len(draft)
    if len(p_rows) != k + 1 or len(q_rows) != k or len(u) != k:
        raise ValueError(
            f"{k} drafts need {k + 1} target rows, {k} draft rows and {k} uniforms; "
            f"got {len(p_rows)}, {len(q_rows)} and {len(u)}"
        )
    tokens = [int(token) for token in draft]
    for n, x in enumerate(tokens):
        if not u[n] * q_rows[n][x] < p_rows[n][x]:  # u < p / q, without the division
            return [*tokens[:n], sample_from(residual(p_rows[n], q_rows[n]), u_extra)]
    return [*tokens, sample_from(p_rows[k], u_extra)]


_P, _Q = [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]
_ACCEPT = [min(1.0, p_x / q_x) for p_x, q_x in zip(_P, _Q, strict=True)]

ANSWERS: dict[str, int | float | str] = {
    "rejection_chance": 1.0 - math.fsum(map(min, _P, _Q)),
    "residual_first": residual(_P, _Q)[0],
    "biased_first": emitted_distribution(_Q, _ACCEPT, _P)[0],
    "replacement_source": "B",
}
