"""Lesson 2: the wrong implementations behind the misconceptions of `checks.lesson2.MISTAKES`, under the same ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from specdec_helpers.reference.lesson2 import accepted_prefix, to_distribution

Wrong = Mapping[str, Callable]
Array = Any  # a list or an array


# ---- to_distribution ------------------------------------------------------------------------------------


def _temperature_multiplied(logits: Array, temperature: float, top_k: int | None = None) -> list[float]:
    # At 0 everything is the same: the uniform distribution of softmax(0 * logits).
    return to_distribution(np.asarray(logits, float) * temperature, 1, top_k)


def _temperature_ignored(logits: Array, temperature: float, top_k: int | None = None) -> list[float]:
    return to_distribution(logits, 1, top_k)


def _temperature_after(logits: Array, temperature: float, top_k: int | None = None) -> list[float]:
    return [x / temperature for x in to_distribution(logits, 1, top_k)]


def _unmasked(logits: Array, temperature: float, top_k: int | None = None) -> list[float]:
    return to_distribution(logits, temperature)


def _not_renormalised(logits: Array, temperature: float, top_k: int | None = None) -> Array:
    whole = np.array(to_distribution(logits, temperature))
    if top_k is not None and top_k < len(whole):
        whole[np.argsort(-whole, kind="stable")[top_k:]] = 0
    return whole


def _masked_with_zero(logits: Array, temperature: float, top_k: int | None = None) -> list[float]:
    scores = np.array(logits, float)
    if top_k is not None and top_k < len(scores):
        scores[np.argsort(-scores, kind="stable")[top_k:]] = 0
    return to_distribution(scores, temperature)


def _smallest_kept(logits: Array, temperature: float, top_k: int | None = None) -> list[float]:
    scores = np.array(logits, float)
    if top_k is not None and top_k < len(scores):
        scores[np.argsort(-scores, kind="stable")[: len(scores) - top_k]] = -np.inf
    return to_distribution(scores, temperature)


def _sorted_order(logits: Array, temperature: float, top_k: int | None = None) -> list[float]:
    return sorted(to_distribution(logits, temperature, top_k), reverse=True)


def _logits_divided(logits: Array, temperature: float, top_k: int | None = None) -> Array:
    return np.asarray(logits, float) / np.sum(logits)


def _at_zero(share: Callable[[Array], Array]) -> Callable:
    """Right for every temperature above 0; at 0 the largest logits get what `share` gives them."""

    def wrong(logits: Array, temperature: float, top_k: int | None = None) -> list[float] | Array:
        if temperature > 0:
            return to_distribution(logits, temperature, top_k)
        return share(np.asarray(logits, float) == np.max(logits))

    return wrong


TO_DISTRIBUTION: Wrong = {
    "temperature_multiplied": _temperature_multiplied,
    "temperature_after": _temperature_after,
    "temperature_ignored": _temperature_ignored,
    "unmasked": _unmasked,
    "not_renormalised": _not_renormalised,
    "masked_with_zero": _masked_with_zero,
    "smallest_kept": _smallest_kept,
    "sorted_order": _sorted_order,
    "logits_divided": _logits_divided,
    "ties_shared": _at_zero(lambda best: best / best.sum()),
    "ties_all": _at_zero(lambda best: best.astype(float)),
}


# ---- accept_probability, acceptance_rate ----------------------------------------------------------------


ACCEPT_PROBABILITY: Wrong = {
    "inverted": lambda p_x, q_x: min(1.0, q_x / p_x),
    "no_min": lambda p_x, q_x: p_x / q_x,
    "all_or_nothing": lambda p_x, q_x: float(p_x >= q_x),
    "independent_match": lambda p_x, q_x: p_x * q_x,
    "target_alone": lambda p_x, q_x: p_x,
}


def _mean_of_ratios(p: Array, q: Array) -> float:
    return float(np.mean([min(1.0, a / b) if b else 1.0 for a, b in zip(p, q, strict=True)]))


ACCEPTANCE_RATE: Wrong = {
    "matches": lambda p, q: float(np.dot(p, q)),
    "distance": lambda p, q: 1 - float(np.minimum(p, q).sum()),
    "no_half": lambda p, q: 1 - float(np.abs(np.subtract(p, q)).sum()),
    "mean_of_ratios": _mean_of_ratios,
    "only_where_p_wins": lambda p, q: float(sum(b for a, b in zip(p, q, strict=True) if a >= b)),
    "maximum": lambda p, q: float(np.maximum(p, q).sum()),
}


# ---- accepted_prefix ------------------------------------------------------------------------------------


def _kept(draft: Array, p_rows: Array, q_rows: Array, u: Array) -> list[bool]:
    return [
        accepted_prefix([x], [p], [q], [v]) == 1 for x, p, q, v in zip(draft, p_rows, q_rows, u, strict=True)
    ]


def _prefix(flags: Sequence[bool]) -> int:
    return next((n for n, kept in enumerate(flags) if not kept), len(flags))


def _less_or_equal(draft: Array, p_rows: Array, q_rows: Array, u: Array) -> int:
    rows = zip(draft, p_rows, q_rows, u, strict=True)
    return _prefix([v <= min(1.0, p[x] / q[x]) for x, p, q, v in rows])


def _ratio_inverted(draft: Array, p_rows: Array, q_rows: Array, u: Array) -> int:
    rows = zip(draft, p_rows, q_rows, u, strict=True)
    return _prefix([v * p[x] < q[x] for x, p, q, v in rows])


def _only_more_likely(draft: Array, p_rows: Array, q_rows: Array, u: Array) -> int:
    return _prefix([p[x] >= q[x] for x, p, q in zip(draft, p_rows, q_rows, strict=True)])


def _target_alone(draft: Array, p_rows: Array, q_rows: Array, u: Array) -> int:
    return _prefix([v < p[x] for x, p, v in zip(draft, p_rows, u, strict=True)])


def _greater(draft: Array, p_rows: Array, q_rows: Array, u: Array) -> int:
    return _prefix([not kept for kept in _kept(draft, p_rows, q_rows, u)])


def _first_row(draft: Array, p_rows: Array, q_rows: Array, u: Array) -> int:
    k = len(draft)
    return accepted_prefix(draft, list(p_rows[:1]) * k, list(q_rows[:1]) * k, u)


def _one_u(draft: Array, p_rows: Array, q_rows: Array, u: Array) -> int:
    return accepted_prefix(draft, p_rows, q_rows, list(u[:1]) * len(draft))


ACCEPTED_PREFIX: Wrong = {
    "counts_all_kept": lambda *case: sum(_kept(*case)),
    "counts_the_rejected": lambda *case: min(accepted_prefix(*case) + 1, len(case[0])),
    "counts_the_extra": lambda *case: accepted_prefix(*case) + 1,
    "tokens_returned": lambda draft, *case: [int(x) for x in draft[: accepted_prefix(draft, *case)]],
    "ratio_inverted": _ratio_inverted,
    "only_more_likely": _only_more_likely,
    "ignores_q": _target_alone,
    "comparison_turned": _greater,
    "less_or_equal": _less_or_equal,
    "first_row": _first_row,
    "one_u": _one_u,
}
