"""Lesson 6, Measure it: the complete algorithm, the statistics of a run, and k chosen from measured times.

Sources: Leviathan, Kalman, Matias 2023 (arXiv 2211.17192), algorithm 1 and section 3; Chen et al. 2023
(arXiv 2302.01318), algorithm 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

DraftModel = Callable[[list[int]], Any]  # a sequence -> V probabilities
TargetPass = Callable[[list[int], int], Any]  # a sequence and m -> m rows of V probabilities


def draft_block(
    draft_model: DraftModel, prefix: Sequence[int], k: int, rng: np.random.Generator
) -> tuple[list[int], list[Any]]:
    """Draft k tokens, one after the other.

    Returns (tokens, rows): rows[i] is the distribution that tokens[i] was drawn from. Each of the k calls of
    `draft_model` sees the prefix and the tokens drafted before. The prefix is left as it was.
    """
    seq, rows = list(prefix), []
    for _ in range(k):
        row = draft_model(seq)
        rows.append(row)
        seq.append(_draw(row, rng))
    return seq[len(prefix) :], rows


def speculative_decode(
    draft_model: DraftModel,
    target_pass: TargetPass,
    prompt: Sequence[int],
    n_tokens: int,
    k: int,
    rng: np.random.Generator,
) -> tuple[list[int], list[int]]:
    """The first n_tokens tokens of a text distributed exactly as if the target had been sampled.

    Returns (tokens, log): log[j] counts the drafts accepted in verification j, before the text is cut. Each
    verification is one call `target_pass(everything so far + k drafts, k + 1)`; its row i judges draft i, and row
    k is the bonus row.
    """
    seq, log = list(prompt), []
    end = len(seq) + n_tokens
    while len(seq) < end:
        drafts, q_rows = draft_block(draft_model, seq, k, rng)
        p_rows = target_pass(seq + drafts, k + 1)
        n = 0
        while n < k and rng.random() * q_rows[n][drafts[n]] < p_rows[n][drafts[n]]:
            n += 1
        extra = _draw(_residual(p_rows[n], q_rows[n]) if n < k else p_rows[k], rng)
        seq += [*drafts[:n], extra]
        log.append(n)
    return seq[len(prompt) : end], log


def run_statistics(log: Sequence[int], k: int) -> dict[str, float]:
    """What the log of a run says: how many drafts were accepted, and of how many that were tested.

    A verification tests its drafts up to the first rejection; those behind it say nothing about the acceptance
    rate. So a = accepted / (accepted + rejections), the maximum-likelihood estimate for a constant a.
    ValueError: k < 1, an empty log, a count outside 0..k.
    """
    if k < 1:
        raise ValueError(f"k = {k} must be at least 1: without drafts there is nothing to count")
    counts = [int(count) for count in log]
    if not counts:
        raise ValueError("the log is empty; run at least one verification")
    for place, count in enumerate(counts):
        if not 0 <= count <= k:
            raise ValueError(f"verification {place} accepted {count} drafts, outside 0..{k}")
    verifications, accepted = len(counts), sum(counts)
    rejections = sum(count < k for count in counts)
    return {
        "verifications": verifications,
        "drafted": k * verifications,
        "accepted": accepted,
        "tokens_per_verification": 1 + accepted / verifications,
        "acceptance_rate": accepted / (accepted + rejections),
        "draft_efficiency": accepted / (k * verifications),
    }


def choose_k(a: float, t_target: float, t_verify: Sequence[float], t_draft: float) -> int:
    """The k with the largest predicted speed-up, given measured times in one unit.

    t_verify[k] is the time of one target pass over k + 1 positions, k = 0 … len - 1. k = 0 stands for plain
    decoding, with a speed-up of exactly 1. Ties (equal to 1e-12 relative) go to the smaller k.
    """
    best, best_speed, tokens = 0, 1.0, 1.0
    for k in range(1, len(t_verify)):
        tokens += a**k
        speed = tokens * t_target / (t_verify[k] + k * t_draft)
        if speed > best_speed * (1 + 1e-12):
            best, best_speed = k, speed
    return best


def _draw(row: Any, rng: np.random.Generator) -> int:
    """A token drawn from a row of weights, which need not sum to 1."""
    cumulative = np.cumsum(row)
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))


def _residual(p: Any, q: Any) -> np.ndarray:
    """The weights max(0, p - q); p itself where rounding leaves nothing."""
    p = np.asarray(p, dtype=float)
    rest: np.ndarray = np.maximum(p - np.asarray(q, dtype=float), 0)
    return rest if rest.any() else p


_LOG, _K = [4, 2, 0, 4, 1, 3, 0, 4, 2, 4], 4
_SEEN = run_statistics(_LOG, _K)

ANSWERS: dict[str, int | float | str] = {
    "log_tokens_per_verification": _SEEN["tokens_per_verification"],
    "log_acceptance_rate": _SEEN["acceptance_rate"],
    "log_predicted_speedup": _SEEN["tokens_per_verification"] * 0.26 / (0.36 + _K * 0.005),
    "acceptance_estimate": "B",
}
