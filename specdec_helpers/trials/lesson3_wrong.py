"""Lesson 3: the wrong implementations behind the misconceptions of `checks.lesson3.MISTAKES`, under the same ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson3 as right

Wrong = Mapping[str, Callable]
Array = Any  # a list or an array


# ---- residual -------------------------------------------------------------------------------------------


def _missing(p: Array, q: Array) -> np.ndarray:
    return np.asarray(np.clip(np.subtract(p, q), 0, None))


def _softmax(p: Array, q: Array) -> np.ndarray:
    weights = np.exp(_missing(p, q))
    return np.asarray(weights / weights.sum())


def _absolute(p: Array, q: Array) -> np.ndarray:
    parts = np.abs(np.subtract(p, q))
    return parts / parts.sum() if parts.any() else np.array(p, float)


def _masked_target(p: Array, q: Array) -> np.ndarray:
    kept = np.where(np.greater(p, q), p, 0.0)
    return kept / kept.sum() if kept.any() else np.array(p, float)


def _zeros_if_equal(p: Array, q: Array) -> list[float]:
    return [0.0] * len(p) if np.array_equal(p, q) else right.residual(p, q)


def _even_if_equal(p: Array, q: Array) -> list[float]:
    return [1 / len(p)] * len(p) if np.array_equal(p, q) else right.residual(p, q)


# The first that explains a whole trial is named: what is wrong in one place only comes first.
RESIDUAL: Wrong = {
    "zeros_if_equal": _zeros_if_equal,
    "even_if_equal": _even_if_equal,
    "not_normalised": _missing,
    "softmax": _softmax,
    "turned_round": lambda p, q: right.residual(q, p),
    "absolute": _absolute,
    "target_itself": lambda p, q: [float(x) for x in p],
    "masked_target": _masked_target,
}


# ---- sample_from ----------------------------------------------------------------------------------------


def _at_least(probs: Array, u: float) -> int:
    return int(np.argmax(np.cumsum(probs) >= u))


def _single_entries(probs: Array, u: float) -> int:
    return next((i for i, x in enumerate(probs) if x > u), len(probs) - 1)


def _last_entry(probs: Array, u: float) -> int:
    return min(int(np.searchsorted(np.cumsum(probs), u, side="right")), len(probs) - 1)


def _past_the_end(probs: Array, u: float) -> int:
    return int(np.searchsorted(np.cumsum(probs), u, side="right"))


def _first_if_none(probs: Array, u: float) -> int:
    return int(np.argmax(np.cumsum(probs) > u))


SAMPLE_FROM: Wrong = {
    "first_if_none": _first_if_none,
    "last_entry": _last_entry,
    "past_the_end": _past_the_end,
    "likeliest": lambda probs, u: int(np.argmax(probs)),
    "single_entries": _single_entries,
    "counts_from_1": lambda probs, u: right.sample_from(probs, u) + 1,
    "at_least": _at_least,
}


# ---- emitted_distribution -------------------------------------------------------------------------------


def _kept(q: Array, accept: Array) -> np.ndarray:
    return np.asarray(np.multiply(q, accept))


def _elementwise(q: Array, accept: Array, replacement: Array) -> np.ndarray:
    return np.asarray(_kept(q, accept) + (np.asarray(q) - _kept(q, accept)) * np.asarray(replacement))


EMITTED: Wrong = {
    "kept_only": lambda q, accept, replacement: _kept(q, accept),
    "kept_normalised": lambda q, accept, replacement: _kept(q, accept) / max(_kept(q, accept).sum(), 1e-300),
    "unscaled": lambda q, accept, replacement: _kept(q, accept) + np.asarray(replacement),
    "elementwise": _elementwise,
    "rejected_by_token": lambda q, accept, replacement: (
        _kept(q, accept) + (1 - _kept(q, accept)) * np.asarray(replacement)
    ),
    "unweighted": lambda q, accept, replacement: (
        _kept(q, accept) + (1 - np.mean(accept)) * np.asarray(replacement)
    ),
    "mixed": lambda q, accept, replacement: (
        np.asarray(q) * _kept(q, accept).sum() + (1 - _kept(q, accept).sum()) * np.asarray(replacement)
    ),
    "accept_ignored": lambda q, accept, replacement: [float(x) for x in q],
}


# ---- speculative_round ----------------------------------------------------------------------------------


def _accepted(draft: Array, p_rows: Array, q_rows: Array, u: Array) -> int:
    for n, x in enumerate(draft):
        if u[n] * q_rows[n][x] >= p_rows[n][x]:
            return n
    return len(draft)


Extra = Callable[[Array, Array, int, int, Array, float], list[int]]


def _round(extra: Extra) -> Callable[..., list[int]]:
    """A round whose extra tokens come from extra(p_rows, q_rows, n, k, u, u_extra), n = number accepted."""

    def wrong(draft: Array, p_rows: Array, q_rows: Array, u: Array, u_extra: float) -> list[int]:
        n, k = _accepted(draft, p_rows, q_rows, u), len(draft)
        return [*(int(x) for x in draft[:n]), *extra(p_rows, q_rows, n, k, u, u_extra)]

    return wrong


def _replaced(source: Callable[[Array, Array, int], Array]) -> Callable[..., list[int]]:
    """Right but for what a rejected token is replaced from."""
    return _round(
        lambda p, q, n, k, u, v: [right.sample_from(source(p, q, n) if n < k else p[k], v)],
    )


def _bonus(source: Callable[[Array, Array, int], list[float]]) -> Callable[..., list[int]]:
    """Right but for the bonus token's distribution."""
    return _round(
        lambda p, q, n, k, u, v: [
            right.sample_from(right.residual(p[n], q[n]) if n < k else source(p, q, k), v)
        ],
    )


def _same_number(p_rows: Array, q_rows: Array, n: int, k: int, u: Array, u_extra: float) -> list[int]:
    if n == k:
        return [right.sample_from(p_rows[k], u_extra)]
    return [right.sample_from(right.residual(p_rows[n], q_rows[n]), u[n])]


def _likeliest(p_rows: Array, q_rows: Array, n: int, k: int, u: Array, u_extra: float) -> list[int]:
    return [int(np.argmax(right.residual(p_rows[n], q_rows[n]) if n < k else p_rows[k]))]


def _keeps_going(draft: Array, p_rows: Array, q_rows: Array, u: Array, u_extra: float) -> list[int]:
    out = []
    for n, x in enumerate(draft):
        kept = u[n] * q_rows[n][x] < p_rows[n][x]
        out.append(int(x) if kept else right.sample_from(right.residual(p_rows[n], q_rows[n]), u_extra))
    return [*out, right.sample_from(p_rows[len(draft)], u_extra)]


def _rejected_kept(draft: Array, p_rows: Array, q_rows: Array, u: Array, u_extra: float) -> list[int]:
    n = _accepted(draft, p_rows, q_rows, u)
    emitted = right.speculative_round(draft, p_rows, q_rows, u, u_extra)
    return [*(int(x) for x in draft[: n + 1]), emitted[-1]]


def _always_accepted(draft: Array, p_rows: Array, q_rows: Array, u: Array, u_extra: float) -> list[int]:
    return [*(int(x) for x in draft), right.sample_from(p_rows[len(draft)], u_extra)]


ROUND: Wrong = {
    "from_p": _replaced(lambda p, q, n: p[n]),
    "from_q": _replaced(lambda p, q, n: q[n]),
    "from_softmax": _replaced(lambda p, q, n: _softmax(p[n], q[n])),
    "row_after": _replaced(lambda p, q, n: right.residual(p[n + 1], q[n])),
    "row_before": _replaced(
        lambda p, q, n: right.residual(p[n - 1], q[n - 1]) if n else right.residual(p[0], q[0])
    ),
    "same_number": _round(_same_number),
    "likeliest_extra": _round(_likeliest),
    "bonus_forgotten": _round(
        lambda p, q, n, k, u, v: [right.sample_from(right.residual(p[n], q[n]), v)] if n < k else []
    ),
    "correction_dropped": _round(lambda p, q, n, k, u, v: [right.sample_from(p[k], v)] if n == k else []),
    "bonus_from_residual": _bonus(lambda p, q, k: right.residual(p[k], q[k - 1]) if k else p[0]),
    "bonus_from_last_draft_row": _bonus(lambda p, q, k: p[max(k - 1, 0)]),
    "keeps_going": _keeps_going,
    "rejected_kept": _rejected_kept,
    "always_accepted": _always_accepted,
}
