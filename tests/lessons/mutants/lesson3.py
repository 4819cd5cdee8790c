"""Lesson 3: plausible wrong implementations that must lose points, and unusual right ones that must not."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson3 as reference
from specdec_helpers.trials import lesson3_wrong

from . import fine
from .lesson2 import OddError, careful, fails_with, own_error, silent


def known(name: str, table: Mapping[str, Callable]) -> dict[str, Callable]:
    return {key: careful(getattr(reference, name), wrong) for key, wrong in table.items()}


def check(row: Any, *, negative: bool = True, sums: bool = True, off: float = 1e-6) -> list[float]:
    row = [float(x) for x in row]
    if negative and any(x < 0 for x in row):
        raise ValueError("negative")
    if sums and abs(sum(row) - 1) > off:
        raise ValueError("sum")
    return row


# ---- residual -------------------------------------------------------------------------------------------


def res(p: Any, q: Any, *, lengths: bool = True, rows: str = "pq", **checks: Any) -> list[float]:
    """A student's version with its checks to leave out."""
    if lengths and len(p) != len(q):
        raise ValueError("lengths")
    p = check(p, **checks) if "p" in rows else [float(x) for x in p]
    q = check(q, **checks) if "q" in rows else [float(x) for x in q]
    missing = [max(0.0, a - b) for a, b in zip(p, q, strict=False)]
    total = sum(missing)
    return [m / total for m in missing] if total > 0 else p


def tolerant(p: Any, q: Any) -> list[float]:
    """Takes a small difference for none."""
    reference.residual(p, q)
    return list(p) if np.allclose(p, q, atol=0.01) else reference.residual(p, q)


def small_differences_dropped(p: Any, q: Any) -> list[float]:
    out = reference.residual(p, q)
    return list(p) if np.maximum(0, np.subtract(p, q)).sum() < 1e-3 else out


def last_unchecked(p: Any, q: Any) -> list[float]:
    if min(*p[:-1], *q[:-1], 0) < 0:
        raise ValueError("negative")
    return res(p, q, negative=False)


def divides_by_zero(p: Any, q: Any) -> list[float]:
    if list(p) == list(q):
        return [1 / 0 for _ in p]
    return reference.residual(p, q)


def nan_if_equal(p: Any, q: Any) -> Any:
    reference.residual(p, q)
    with np.errstate(all="ignore"):
        missing = np.clip(np.subtract(p, q), 0, None)
        return missing / missing.sum()


def subtracts_in_place(p: Any, q: Any) -> Any:
    out = reference.residual(p, q)
    for i in range(len(p)):
        p[i] = max(0, p[i] - q[i])
    return out


def only_positive(p: Any, q: Any) -> list[float]:
    return [x for x in reference.residual(p, q) if x > 0]


def array_residual(p: Any, q: Any) -> np.ndarray:
    reference.residual(p, q)
    p, q = np.array(p, float), np.array(q, float)
    missing = np.where(p > q, p - q, 0)
    return missing / missing.sum() if missing.sum() > 0 else p


def fraction_residual(p: Any, q: Any) -> tuple[Fraction, ...]:
    reference.residual(p, q)
    exact = [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(p, q, strict=True)]
    missing = [max(Fraction(0), x) for x in exact]
    return tuple(m / sum(missing) for m in missing) if any(missing) else tuple(Fraction(float(x)) for x in p)


def by_rejection(p: Any, q: Any) -> list[float]:
    """Divides by 1 - sum(min) instead of by the sum of the parts: the same number."""
    reference.residual(p, q)
    p, q = [float(x) for x in p], [float(x) for x in q]
    if p == q:
        return list(p)
    rejected = 1 - sum(map(min, p, q))
    return [(a - min(a, b)) / rejected for a, b in zip(p, q, strict=True)]


# ---- sample_from ----------------------------------------------------------------------------------------


def draw(probs: Any, u: float, *, low: bool = True, high: bool = True, **checks: Any) -> int:
    """A student's version with its checks to leave out."""
    row = check(probs, **checks)
    if (low and u < 0) or (high and u >= 1):
        raise ValueError("u")
    total = 0.0
    for token, x in enumerate(row):
        total += x
        if total > u:
            return token
    return max(token for token, x in enumerate(row) if x > 0)


def rounded_totals(probs: Any, u: float) -> int:
    last = reference.sample_from(probs, u)
    return next((i for i, total in enumerate(np.cumsum(probs)) if round(total, 2) > u), last)


def blurred_steps(probs: Any, u: float) -> int:
    """A tolerance that is wider than rounding."""
    last = reference.sample_from(probs, u)
    return next((i for i, total in enumerate(np.cumsum(probs)) if total > u + 1e-3), last)


def one_allowed(probs: Any, u: float) -> int:
    """u = 1 is taken for legal."""
    return max(i for i, x in enumerate(probs) if x > 0) if u == 1 else reference.sample_from(probs, u)


def zero_refused(probs: Any, u: float) -> int:
    if not 0 < u < 1:
        raise ValueError("u")
    return reference.sample_from(probs, u)


def own_generator(probs: Any, u: float) -> int:
    reference.sample_from(probs, u)
    p = np.array(probs, float)
    return int(np.random.default_rng(int(u * 1e9)).choice(len(p), p=p / p.sum()))


def none_below(probs: Any, u: float) -> Any:
    """The loop ends without a return."""
    reference.sample_from(probs, u)
    total = 0.0
    for token, x in enumerate(probs):
        total += x
        if total > u:
            return token
    return None


def skips_zeros(probs: Any, u: float) -> int:
    """Throws impossible tokens away, and with them the numbering."""
    return reference.sample_from([x for x in probs if x > 0], u) if min(probs) >= 0 else draw(probs, u)


def sorted_first(probs: Any, u: float) -> int:
    return reference.sample_from(sorted(map(float, probs), reverse=True), u)


def from_the_end(probs: Any, u: float) -> int:
    return len(probs) - 1 - reference.sample_from(list(probs)[::-1], u)


def by_bisection(probs: Any, u: float) -> int:
    row = check(probs)
    if not 0 <= u < 1:
        raise OddError("u")
    token = bisect.bisect_right(list(itertools.accumulate(row)), u)
    while token >= len(row) or row[token] == 0:
        token -= 1
    return token


def vectorised_draw(probs: Any, u: float) -> Any:
    row = np.array(check(probs))
    if u < 0 or u >= 1:
        raise ValueError("u")
    possible = np.flatnonzero(row)
    steps = np.cumsum(row[possible])
    return possible[min(np.searchsorted(steps, u, side="right"), len(possible) - 1)]


def normalising_draw(probs: Any, u: float) -> int:
    """Divides by the sum first: then the last step is 1."""
    row = check(probs)
    if not 0 <= u < 1:
        raise ValueError("u")
    steps = [s / sum(row) for s in itertools.accumulate(row)]
    return next((i for i, s in enumerate(steps) if s > u), max(i for i, x in enumerate(row) if x > 0))


def recursive_draw(probs: Any, u: float) -> int:
    row = check(probs)
    if not 0 <= u < 1:
        raise ValueError("u")

    def go(i: int, left: float) -> int:
        if left < row[i] or not any(row[i + 1 :]):
            return i
        return go(i + 1, left - row[i])

    return go(0, u)


def subtracting_draw(probs: Any, u: float) -> np.int64:
    reference.sample_from(probs, u)
    left, last = u, 0
    for token, x in enumerate(probs):
        if x == 0:
            continue
        last = token
        left -= x
        if left < 0:
            break
    return np.int64(last)


# ---- emitted_distribution -------------------------------------------------------------------------------


def emitted_loop(q: Any, accept: Any, replacement: Any) -> list[float]:
    out = []
    for x in range(len(q)):
        mass = q[x] * accept[x]
        for y in range(len(q)):
            mass += q[y] * (1 - accept[y]) * replacement[x]
        out.append(mass)
    return out


def emitted_matrix(q: Any, accept: Any, replacement: Any) -> np.ndarray:
    """As a Markov step: from the drafted token to the emitted one."""
    a = np.array(accept, float)
    step = np.diag(a) + np.outer(1 - a, np.array(replacement, float))
    return np.array(q, float) @ step


def in_place_emitted(q: Any, accept: Any, replacement: Any) -> Any:
    out = reference.emitted_distribution(q, accept, replacement)
    for i in range(len(q)):
        q[i] = q[i] * accept[i]
    return out


def normalised_emitted(q: Any, accept: Any, replacement: Any) -> np.ndarray:
    """Normalising at the end hides the missing factor."""
    out = np.multiply(q, accept) + np.asarray(replacement)
    return out / out.sum()


# ---- speculative_round ----------------------------------------------------------------------------------


def rnd(
    draft: Any,
    p_rows: Any,
    q_rows: Any,
    u: Any,
    u_extra: float,
    *,
    checked: str = "pqu",
    rest: Callable = reference.residual,
    pick: Callable = reference.sample_from,
) -> list[int]:
    """A student's version with its parts to spoil."""
    k = len(draft)
    wanted = {"p": (p_rows, k + 1), "q": (q_rows, k), "u": (u, k)}
    if any(name in checked and len(part) != n for name, (part, n) in wanted.items()):
        raise ValueError("counts")
    out: list[int] = []
    for i, x in enumerate(draft):
        if u[i] >= p_rows[i][x] / q_rows[i][x]:
            out.append(pick(rest(p_rows[i], q_rows[i]), u_extra))
            return out
        out.append(int(x))
    out.append(pick(p_rows[k], u_extra))
    return out


def unnormalised_rest(p: Any, q: Any) -> list[float]:
    return [max(0.0, float(a) - float(b)) for a, b in zip(p, q, strict=True)]


def loose_pick(probs: Any, u: float) -> int:
    total = 0.0
    for token, x in enumerate(probs):
        total += x
        if total > u:
            return token
    return len(probs) - 1


def at_least_pick(probs: Any, u: float) -> int:
    return int(np.argmax(np.cumsum(probs) >= u))


def p_rows_of_k(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> list[int]:
    """Wants k target rows and so never draws a bonus."""
    if not len(p_rows) == len(q_rows) == len(u) == len(draft):
        raise ValueError("counts")
    return rnd(draft, [*p_rows, p_rows[-1]], q_rows, u, u_extra)


def less_or_equal(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> list[int]:
    out = reference.speculative_round(draft, p_rows, q_rows, u, u_extra)
    for i, x in enumerate(draft):
        if u[i] > p_rows[i][x] / q_rows[i][x]:
            return out
        if i + 1 == len(out):
            return [*out[:-1], int(x), reference.sample_from(p_rows[i + 1], u_extra)]
    return out


def inverted_ratio(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> list[int]:
    reference.speculative_round(draft, p_rows, q_rows, u, u_extra)
    for i, x in enumerate(draft):
        if u[i] * p_rows[i][x] >= q_rows[i][x]:
            return [
                *map(int, draft[:i]),
                reference.sample_from(reference.residual(p_rows[i], q_rows[i]), u_extra),
            ]
    return [*map(int, draft), reference.sample_from(p_rows[-1], u_extra)]


def only_if_p_larger(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> list[int]:
    reference.speculative_round(draft, p_rows, q_rows, u, u_extra)
    return reference.speculative_round(
        draft, p_rows, q_rows, [0.999999 if len(draft) else v for v in u], u_extra
    )


def count_too(*case: Any) -> tuple[list[int], int]:
    out = reference.speculative_round(*case)
    return out, len(out) - 1


def extra_only(*case: Any) -> list[int]:
    return reference.speculative_round(*case)[-1:]


def fresh_uniform(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> list[int]:
    reference.speculative_round(draft, p_rows, q_rows, u, u_extra)
    return reference.speculative_round(draft, p_rows, q_rows, u, np.random.default_rng().random())


def pops_draft(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> list[int]:
    out = reference.speculative_round(draft, p_rows, q_rows, u, u_extra)
    if isinstance(draft, list) and draft:
        draft[:] = out
    elif len(draft):
        draft[0] += 1
    return out


def redraws_until_accepted(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> list[int]:
    """After a rejection asks the draft again, with u_extra, until something passes."""
    out = reference.speculative_round(draft, p_rows, q_rows, u, u_extra)
    n = len(out) - 1
    if n == len(draft):
        return out
    return [*out[:-1], reference.sample_from(q_rows[n], u_extra)]


def vectorised_round(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> np.ndarray:
    x = np.array(draft, dtype=np.int64)
    k = len(x)
    if (len(p_rows), len(q_rows), len(u)) != (k + 1, k, k):
        raise ValueError("counts")
    p, q = np.array(p_rows, float), np.array(q_rows, float)
    at = np.arange(k)
    n = int(np.cumprod(np.asarray(u) < p[at, x] / q[at, x]).sum()) if k else 0
    rest = p[n].copy()
    if n < k:
        rest = np.maximum(0, p[n] - q[n])
        rest /= rest.sum()
    steps = np.cumsum(rest)
    return np.append(x[:n], min(np.searchsorted(steps, u_extra, "right"), np.flatnonzero(rest)[-1]))


def padded_round(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> tuple[int, ...]:
    """A row of zeros for the draft after its last token makes the bonus a residual of p and nothing."""
    k = len(draft)
    if len(p_rows) != k + 1 or len(q_rows) != k or len(u) != k:
        raise OddError("counts")
    rows = [*map(list, q_rows), [0.0] * len(p_rows[0])]
    n = 0
    while n < k and u[n] * rows[n][draft[n]] < p_rows[n][draft[n]]:
        n += 1
    missing = np.clip(np.subtract(p_rows[n], rows[n]), 0, None)
    return (*map(int, draft[:n]), reference.sample_from(missing / missing.sum(), u_extra))


def recursive_round(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> list[int]:
    if len(p_rows) != len(draft) + 1 or len(q_rows) != len(draft) or len(u) != len(draft):
        raise ValueError("counts")
    if len(draft) == 0:
        return [reference.sample_from(p_rows[0], u_extra)]
    x = draft[0]
    if u[0] < min(1, p_rows[0][x] / q_rows[0][x]):
        return [x, *recursive_round(draft[1:], p_rows[1:], q_rows[1:], u[1:], u_extra)]
    return [reference.sample_from(reference.residual(p_rows[0], q_rows[0]), u_extra)]


def generator_round(*case: Any) -> Any:
    yield from reference.speculative_round(*case)


@cache
def _memo(draft: tuple, p: tuple, q: tuple, u: tuple, u_extra: float) -> list[int]:
    return reference.speculative_round(draft, p, q, u, u_extra)


def memoised_round(draft: Any, p_rows: Any, q_rows: Any, u: Any, u_extra: float) -> list[int]:
    return _memo(tuple(draft), tuple(map(tuple, p_rows)), tuple(map(tuple, q_rows)), tuple(u), u_extra)


WRONG: dict[str, dict[str, Callable]] = {
    "residual": {
        **known("residual", lesson3_wrong.RESIDUAL),
        "nan_if_equal": nan_if_equal,
        "zero_division_if_equal": divides_by_zero,
        "tolerant": tolerant,
        "lengths_unchecked": partial(res, lengths=False),
        "p_unchecked": partial(res, rows="q"),
        "q_unchecked": partial(res, rows="p"),
        "negative_unchecked": partial(res, negative=False),
        "sums_unchecked": partial(res, sums=False),
        "sums_exact": partial(res, off=0.0),
        "tolerance_too_wide": partial(res, off=1e-5),
        "nothing_checked": partial(res, rows="", lengths=False),
        "overlooks_the_last_entry": last_unchecked,
        "small_differences_dropped": small_differences_dropped,
        "subtracts_in_place": subtracts_in_place,
        "only_positive_entries": only_positive,
        "rounds": lambda p, q: [round(x, 4) for x in reference.residual(p, q)],
        "float32": lambda p, q: np.float32(reference.residual(p, q)),
        "row_vector": lambda p, q: np.array([reference.residual(p, q)]),
        "ratio": careful(reference.residual, lambda p, q: np.array(p) / np.maximum(q, 1e-9)),
        "minimum": careful(reference.residual, lambda p, q: np.minimum(p, q) / np.minimum(p, q).sum()),
        "type_error": fails_with(TypeError, reference.residual),
        "none_for_bad": silent(reference.residual, None),
    },
    "sample_from": {
        **known("sample_from", lesson3_wrong.SAMPLE_FROM),
        "u_below_0_unchecked": partial(draw, low=False),
        "u_above_1_unchecked": partial(draw, high=False),
        "u_of_1_allowed": one_allowed,
        "u_rounded": lambda probs, u: reference.sample_from(probs, round(u, 2) if 0 <= u < 0.99 else u),
        "totals_rounded": rounded_totals,
        "steps_blurred": blurred_steps,
        "u_of_0_refused": zero_refused,
        "negative_unchecked": partial(draw, negative=False),
        "sums_unchecked": partial(draw, sums=False),
        "sums_exact": partial(draw, off=0.0),
        "own_generator": own_generator,
        "none_below": none_below,
        "skips_zeros": skips_zeros,
        "sorted_first": sorted_first,
        "from_the_end": from_the_end,
        "probability_returned": lambda probs, u: float(probs[reference.sample_from(probs, u)]),
        "list_of_one": lambda probs, u: [reference.sample_from(probs, u)],
        "scaled_index": careful(reference.sample_from, lambda probs, u: int(u * len(probs))),
        "index_error": fails_with(IndexError, reference.sample_from),
        "minus_one_for_bad": silent(reference.sample_from, -1),
    },
    "emitted_distribution": {
        **known("emitted_distribution", lesson3_wrong.EMITTED),
        "normalised_at_the_end": normalised_emitted,
        "sum_of_accept": lambda q, a, r: np.multiply(q, a) + (1 - np.sum(a)) * np.asarray(r),
        "rejected_part_only": lambda q, a, r: (1 - np.dot(q, a)) * np.asarray(r),
        "accept_turned": lambda q, a, r: reference.emitted_distribution(q, np.subtract(1, a), r),
        "total_only": lambda q, a, r: sum(reference.emitted_distribution(q, a, r)),
        "q_and_replacement_swapped": lambda q, a, r: reference.emitted_distribution(r, a, q),
        "minimum_rule": lambda q, a, r: np.minimum(q, a) + (1 - np.minimum(q, a).sum()) * np.asarray(r),
        "in_place": in_place_emitted,
        "rounds": lambda q, a, r: np.round(reference.emitted_distribution(q, a, r), 3),
        "float32": lambda q, a, r: np.float32(reference.emitted_distribution(q, a, r)),
        "refuses_accept_1": lambda q, a, r: [][0] if max(a) >= 1 else reference.emitted_distribution(q, a, r),
    },
    "speculative_round": {
        **known("speculative_round", lesson3_wrong.ROUND),
        "not_normalised": partial(rnd, rest=unnormalised_rest, pick=loose_pick),
        "turned_round": partial(rnd, rest=lambda p, q: reference.residual(q, p)),
        "absolute": partial(rnd, rest=lambda p, q: lesson3_wrong.RESIDUAL["absolute"](p, q)),
        "at_least_pick": partial(rnd, pick=at_least_pick),
        "wants_k_target_rows": p_rows_of_k,
        "p_rows_unchecked": partial(rnd, checked="qu"),
        "q_rows_unchecked": partial(rnd, checked="pu"),
        "u_unchecked": partial(rnd, checked="pq"),
        "nothing_checked": partial(rnd, checked=""),
        "pairs_checked": lambda d, p, q, u, v: (
            rnd(d, p, q, u, v, checked="p")
            if len(q) == len(u)
            else reference.speculative_round(d, p, q, u, v)
        ),
        "pairs_checked_otherwise": lambda d, p, q, u, v: (
            rnd(d, p, q, u, v, checked="u")
            if len(p) == len(q) + 1
            else reference.speculative_round(d, p, q, u, v)
        ),
        "less_or_equal": less_or_equal,
        "ratio_inverted": inverted_ratio,
        "only_if_p_larger": only_if_p_larger,
        "count_returned_too": count_too,
        "extra_only": extra_only,
        "fresh_uniform": fresh_uniform,
        "pops_draft": pops_draft,
        "asks_the_draft_again": redraws_until_accepted,
        "index_error": fails_with(IndexError, reference.speculative_round),
        "empty_for_bad": silent(reference.speculative_round, []),
        "text": lambda *case: " ".join(map(str, reference.speculative_round(*case))),
    },
}

RIGHT: dict[str, dict[str, Callable]] = {
    "residual": {
        "student": res,
        "array": array_residual,
        "fractions": fraction_residual,
        "divided_by_the_rejection_rate": by_rejection,
        "own_error": own_error(reference.residual),
        "generator": lambda p, q: (x for x in reference.residual(p, q)),
        "average_of_both": lambda p, q: [
            0.5 * (x + y) for x, y in zip(reference.residual(p, q), res(p, q), strict=True)
        ],
        "as_array": lambda p, q: np.array(reference.residual(p, q)),
    },
    "sample_from": {
        "student": draw,
        "bisection": by_bisection,
        "vectorised": vectorised_draw,
        "normalising": normalising_draw,
        "recursive": recursive_draw,
        "subtracting": subtracting_draw,
        "zero_d": lambda probs, u: np.array(reference.sample_from(probs, u)),
        "float": lambda probs, u: float(reference.sample_from(probs, u)),
        "own_error": own_error(reference.sample_from),
    },
    "emitted_distribution": {
        "double_loop": emitted_loop,
        "matrix": emitted_matrix,
        "numpy": lambda q, a, r: np.multiply(q, a) + (1 - np.dot(q, a)) * np.asarray(r),
        "tuple": lambda q, a, r: tuple(reference.emitted_distribution(q, a, r)),
        "rejections_summed": lambda q, a, r: [
            x * y + sum(b - b * c for b, c in zip(q, a, strict=True)) * z
            for x, y, z in zip(q, a, r, strict=True)
        ],
        "fractions": lambda q, a, r: [Fraction(float(x)) for x in reference.emitted_distribution(q, a, r)],
    },
    "speculative_round": {
        "student": rnd,
        "vectorised": vectorised_round,
        "row_of_zeros": padded_round,
        "recursive": recursive_round,
        "generator": lambda *case: generator_round(*case) if reference.speculative_round(*case) else None,
        "memoised": memoised_round,
        "array_of_floats": lambda *case: np.array(reference.speculative_round(*case), float),
        "own_error": own_error(reference.speculative_round),
    },
}

fine.add(WRONG, fine.LESSON3)
