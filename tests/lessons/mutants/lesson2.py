"""Lesson 2: plausible wrong implementations that must lose points, and unusual right ones that must not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson2 as reference
from specdec_helpers.trials import lesson2_wrong

from . import fine


def careful(right: Callable, wrong: Callable) -> Callable:
    """Refuse what the reference refuses, then be wrong: the slip must show in the values alone."""

    def function(*args: Any) -> Any:
        right(*args)
        with np.errstate(all="ignore"):
            return wrong(*args)

    return function


def known(name: str, table: Mapping[str, Callable]) -> dict[str, Callable]:
    return {key: careful(getattr(reference, name), wrong) for key, wrong in table.items()}


def fails_with(error: type[Exception], function: Callable) -> Callable:
    """The function, but its ValueErrors are of another type."""

    def changed(*args: Any) -> Any:
        try:
            return function(*args)
        except ValueError as caught:
            raise error(str(caught)) from None

    return changed


def silent(function: Callable, value: Any) -> Callable:
    """The function, but an error becomes a value."""

    def changed(*args: Any) -> Any:
        try:
            return function(*args)
        except ValueError:
            return value

    return changed


class OddError(ValueError):
    pass


def own_error(function: Callable) -> Callable:
    return fails_with(OddError, function)


# ---- to_distribution ------------------------------------------------------------------------------------


def softmax(scores: Any) -> np.ndarray:
    scores = np.asarray(scores, float)
    weights = np.exp(scores - np.max(scores))
    return weights / weights.sum()


def dist(
    logits: Any,
    temperature: float,
    top_k: int | None = None,
    *,
    empty: bool = True,
    cold: bool = True,
    least: float = 1,
    zero: bool = True,
    mask: float = -np.inf,
    soft: Callable = softmax,
) -> Any:
    """A student's version with its parts to spoil."""
    if empty and len(logits) == 0:
        raise ValueError("no logits")
    if cold and temperature < 0:
        raise ValueError("temperature")
    if top_k is not None and top_k < least:
        raise ValueError("top_k")
    scores = np.array(logits, float)
    if zero and temperature == 0:
        out = np.zeros(len(scores))
        out[scores.argmax()] = 1
        return out
    if top_k is not None:
        out_of = np.argsort(-scores, kind="stable")[int(top_k) :]
        scores[out_of] = mask
    with np.errstate(all="ignore"):
        return soft(scores / temperature)


def naive_softmax(scores: Any) -> np.ndarray:
    weights = np.exp(scores)
    return weights / weights.sum()


def abs_softmax(scores: Any) -> np.ndarray:
    return naive_softmax(scores / np.max(np.abs(scores)))


def mean_softmax(scores: Any) -> np.ndarray:
    return naive_softmax(scores - np.mean(scores))


def clipped(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    shifted = np.asarray(logits, float) - np.max(logits, initial=-np.inf)
    return dist(np.clip(shifted, -50, 0), temperature, top_k)


def floored(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    return np.clip(dist(logits, temperature, top_k), 1e-12, 1)


def last_tie(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    if temperature == 0:
        out = [0.0] * len(logits)
        out[len(logits) - 1 - int(np.argmax(list(logits)[::-1]))] = 1.0
        reference.to_distribution(logits, 0, top_k)
        return out
    return reference.to_distribution(logits, temperature, top_k)


def changes_input(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    out = reference.to_distribution(logits, temperature, top_k)
    if isinstance(logits, list):
        best = max(logits)
        for i, value in enumerate(logits):
            logits[i] = value - best
    elif logits.dtype.kind == "f":
        logits -= logits.max()
    return out


def sorts_input(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    out = reference.to_distribution(logits, temperature, top_k)
    logits.sort()
    return out


def early_zero(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    if temperature == 0:
        return [float(i == np.argmax(logits)) for i in range(len(logits))]
    return reference.to_distribution(logits, temperature, top_k)


def falsy_k(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    return reference.to_distribution(logits, temperature, top_k or None)


def only_kept(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    return [x for x in reference.to_distribution(logits, temperature, top_k) if x > 0]


def tiny_temperature(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    return dist(logits, max(temperature, 0.1) if temperature >= 0 else temperature, top_k, zero=False)


def refuses_large_k(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    if top_k is not None and top_k > len(logits):
        raise ValueError("top_k is larger than the vocabulary")
    return reference.to_distribution(logits, temperature, top_k)


def refuses_zero_temperature(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    if temperature <= 0:
        raise ValueError("temperature")
    return reference.to_distribution(logits, temperature, top_k)


def off_by_one_k(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    reference.to_distribution(logits, temperature, top_k)
    return reference.to_distribution(logits, temperature, None if top_k is None else top_k + 1)


def top_values(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    """Threshold at the (k + 1)-th largest: keeps one too many."""
    out = np.array(reference.to_distribution(logits, temperature))
    if top_k is not None:
        reference.to_distribution(logits, temperature, top_k)
        floor = sorted(out)[-min(int(top_k) + 1, len(out))]
        out[out < floor] = 0
    return out / out.sum()


def table_of_examples(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    answers = {((2, 1, 0), 1): [0.665240955775, 0.244728471055, 0.09003057317], ((1, 3, 3), 0): [0, 1, 0]}
    reference.to_distribution(logits, temperature, top_k)
    return answers.get((tuple(logits), temperature), [1.0] + [0.0] * (len(logits) - 1))


_last: list[Any] = []


def stale(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    """A cache whose key forgets the temperature."""
    for key, value in _last:
        if key == (tuple(logits), top_k):
            return value
    _last[:] = [((tuple(logits), top_k), reference.to_distribution(logits, temperature, top_k))]
    return _last[0][1]


def loop_dist(logits: Any, temperature: float, top_k: int | None = None) -> list[float]:
    """No NumPy, ranks counted."""
    values = [float(x) for x in logits]
    if not values or temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError("bad input")
    best = max(values)
    keep = [top_k is None or sum(other > x for other in values) < top_k for x in values]
    if temperature == 0:
        first = values.index(best)
        return [1.0 if i == first else 0.0 for i in range(len(values))]
    weights = [math.exp((x - best) / temperature) if k else 0.0 for x, k in zip(values, keep, strict=True)]
    return [w / sum(weights) for w in weights]


def log_sum_exp(logits: Any, temperature: float, top_k: int | None = None) -> np.ndarray:
    reference.to_distribution(logits, temperature, top_k)
    if temperature == 0:
        return np.eye(len(logits))[int(np.argmax(logits))]
    scores = np.array(logits, dtype=np.float64) / temperature
    if top_k is not None and top_k < len(scores):
        scores = np.where(scores >= np.sort(scores)[-top_k], scores, -np.inf)
    return np.exp(scores - np.logaddexp.reduce(scores))


def sigmoid_style(logits: Any, temperature: float, top_k: int | None = None) -> list[float]:
    """1 / sum of exp of the differences: no maximum needed, exp may become inf on the way."""
    if len(logits) == 0 or temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError("bad input")
    if temperature == 0:
        temperature, top_k = 1.0, 1
    x = np.asarray(logits, float)
    kept = sorted(range(len(x)), key=lambda i: (-x[i], i))[: None if top_k is None else int(top_k)]
    with np.errstate(over="ignore"):
        shares = {i: 1 / np.exp((x[kept] - x[i]) / temperature).sum() for i in kept}
    return [shares.get(i, 0) for i in range(len(x))]


class Sampler:
    """A callable object."""

    def __call__(self, logits: Any, temperature: float, top_k: int | None = None) -> tuple[float, ...]:
        return tuple(reference.to_distribution(logits, temperature, top_k))


def generator_dist(logits: Any, temperature: float, top_k: int | None = None) -> Any:
    return (np.float64(x) for x in reference.to_distribution(logits, temperature, top_k))


def masked_after(logits: Any, temperature: float, top_k: int | None = None) -> np.ndarray:
    """Softmax, then mask, then normalise again."""
    out = np.array(dist(logits, temperature))
    if top_k is not None:
        if top_k < 1:
            raise ValueError("top_k")
        if temperature > 0:
            out[np.argsort(-np.asarray(logits, float))[top_k:]] = 0
    return out / out.sum()


# ---- accept_probability ---------------------------------------------------------------------------------


def acc(
    p_x: float,
    q_x: float,
    *,
    q_low: bool = True,
    q_high: bool = True,
    p_low: bool = True,
    p_high: bool = True,
) -> float:
    if (q_low and q_x <= 0) or (q_high and q_x > 1) or (p_low and p_x < 0) or (p_high and p_x > 1):
        raise ValueError("not a probability")
    return min(1.0, p_x / q_x) if q_x else 1.0


def strict_acc(p_x: float, q_x: float, edge: str) -> float:
    """Refuses a boundary that is legal."""
    if (edge == "p0" and p_x == 0) or (edge == "p1" and p_x == 1) or (edge == "q1" and q_x == 1):
        raise ValueError("boundary")
    return reference.accept_probability(p_x, q_x)


# ---- acceptance_rate ------------------------------------------------------------------------------------


def rate(
    p: Any, q: Any, *, lengths: bool = True, negative: str = "pq", sums: str = "pq", off: float = 1e-6
) -> float:
    p, q = [float(x) for x in p], [float(x) for x in q]
    if lengths and len(p) != len(q):
        raise ValueError("lengths")
    for name, row in (("p", p), ("q", q)):
        if name in negative and any(x < 0 for x in row):
            raise ValueError("negative")
        if name in sums and abs(sum(row) - 1) > off:
            raise ValueError("sum")
    return sum(min(a, b) for a, b in zip(p, q, strict=False))


def asserting(p: Any, q: Any) -> float:
    assert len(p) == len(q)
    assert abs(sum(p) - 1) < 1e-6
    assert abs(sum(q) - 1) < 1e-6
    assert min(*p, *q) >= 0
    return sum(map(min, p, q))


def normalises(p: Any, q: Any) -> float:
    """Makes a distribution of anything instead of refusing it."""
    if len(p) != len(q):
        raise ValueError("lengths")
    a, b = np.abs(np.asarray(p, float)), np.abs(np.asarray(q, float))
    return float(np.minimum(a / max(a.sum(), 1e-9), b / max(b.sum(), 1e-9)).sum())


def isclose_rate(p: Any, q: Any) -> float:
    """np.isclose's default tolerance is 1e-5: ten times too wide."""
    if not (np.isclose(np.sum(p), 1) and np.isclose(np.sum(q), 1)):
        raise ValueError("sum")
    return rate(p, q, sums="")


def first_checked(p: Any, q: Any) -> float:
    if p[0] < 0 or q[0] < 0:
        raise ValueError("negative")
    return rate(p, q, negative="")


def last_unchecked(p: Any, q: Any) -> float:
    if min(*p[:-1], *q[:-1], 0) < 0:
        raise ValueError("negative")
    return rate(p, q, negative="")


def recursive_rate(p: Any, q: Any) -> float:
    def go(i: int) -> float:
        return 0.0 if i == len(p) else min(float(p[i]), float(q[i])) + go(i + 1)

    reference.acceptance_rate(p, q)
    return go(0)


# ---- accepted_prefix ------------------------------------------------------------------------------------


def prefix(draft: Any, p_rows: Any, q_rows: Any, u: Any, *, checked: str = "pqu") -> int:
    """A student's version whose length checks can be left out one by one; missing entries end the loop."""
    k = len(draft)
    if any(name in checked and len(part) != k for name, part in (("p", p_rows), ("q", q_rows), ("u", u))):
        raise ValueError("lengths")
    n = 0
    for x, p, q, v in zip(draft, p_rows, q_rows, u, strict=False):
        if v >= min(1, p[x] / q[x]):
            break
        n += 1
    return n


def pairs_checked(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    """Each length is compared with one other."""
    if len(draft) != len(p_rows) or len(q_rows) != len(u):
        raise ValueError("lengths")
    return prefix(draft, p_rows, q_rows, u, checked="")


def late_check(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    """Lengths are looked at only when the loop reaches the end."""
    for i, x in enumerate(draft):
        if i >= min(len(p_rows), len(q_rows), len(u)):
            raise ValueError("lengths")
        if u[i] >= p_rows[i][x] / q_rows[i][x]:
            return i
    if not len(p_rows) == len(q_rows) == len(u) == len(draft):
        raise ValueError("lengths")
    return len(draft)


def lazy_zip(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    """zip(strict=True) speaks up at the end of the loop, which a rejection never reaches."""
    n = 0
    for x, p, q, v in zip(draft, p_rows, q_rows, u, strict=True):
        if v >= p[x] / q[x]:
            break
        n += 1
    return n


def longer_only(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    if len(draft) > min(len(p_rows), len(q_rows), len(u)):
        raise ValueError("lengths")
    return prefix(draft, p_rows, q_rows, u, checked="")


def index_error(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    """No check at all: a short list raises IndexError."""
    for i in range(len(draft)):
        x = draft[i]
        if u[i] >= p_rows[i][x] / q_rows[i][x]:
            return i
    return len(draft)


def own_randomness(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    reference.accepted_prefix(draft, p_rows, q_rows, u)
    return reference.accepted_prefix(draft, p_rows, q_rows, np.random.default_rng().random(len(draft)))


def position_as_token(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    return reference.accepted_prefix([i % len(p_rows[i]) for i in range(len(draft))], p_rows, q_rows, u)


def empty_refused(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    if len(draft) == 0:
        raise ValueError("no drafts")
    return reference.accepted_prefix(draft, p_rows, q_rows, u)


def pops_input(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    n = reference.accepted_prefix(draft, p_rows, q_rows, u)
    if isinstance(u, list) and u:
        u.pop(0)
    return n


def last_rejection(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    flags = [u[i] < p_rows[i][x] / q_rows[i][x] for i, x in enumerate(draft)]
    return max((i for i, kept in enumerate(flags) if not kept), default=len(flags))


def vectorised_prefix(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> Any:
    k = len(draft)
    if {len(p_rows), len(q_rows), len(u)} != {k}:
        raise OddError("lengths")
    if k == 0:
        return 0
    x = np.asarray(draft, int)[:, None]
    p, q = (np.take_along_axis(np.asarray(rows, float), x, 1)[:, 0] for rows in (p_rows, q_rows))
    return np.cumprod(np.asarray(u) < np.minimum(1, p / q)).sum()


def recursive_prefix(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    if not len(draft) == len(p_rows) == len(q_rows) == len(u):
        raise ValueError("lengths")
    if len(draft) == 0 or u[0] * q_rows[0][draft[0]] >= p_rows[0][draft[0]]:
        return 0
    return 1 + recursive_prefix(draft[1:], p_rows[1:], q_rows[1:], u[1:])


def while_prefix(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> Any:
    try:
        rows = list(zip(draft, p_rows, q_rows, u, strict=True))
    except ValueError as error:
        raise ValueError("four sequences of the same length are needed") from error
    n = 0
    while n < len(rows) and rows[n][3] < Fraction(float(rows[n][1][rows[n][0]])) / Fraction(
        float(rows[n][2][rows[n][0]])
    ):
        n += 1
    return np.array(n)


@cache
def _memo_prefix(draft: tuple, p: tuple, q: tuple, u: tuple) -> int:
    return reference.accepted_prefix(draft, p, q, u)


def memoised_prefix(draft: Any, p_rows: Any, q_rows: Any, u: Any) -> int:
    return _memo_prefix(tuple(draft), tuple(map(tuple, p_rows)), tuple(map(tuple, q_rows)), tuple(u))


WRONG: dict[str, dict[str, Callable]] = {
    "to_distribution": {
        **known("to_distribution", lesson2_wrong.TO_DISTRIBUTION),
        "naive_exp": partial(dist, soft=naive_softmax),
        "scaled_by_largest": partial(dist, soft=abs_softmax),
        "mean_subtracted": partial(dist, soft=mean_softmax),
        "clipped": clipped,
        "never_quite_0": floored,
        "mask_of_minus_100": partial(dist, mask=-100.0),
        "last_tie": last_tie,
        "zero_temperature_crashes": partial(dist, zero=False),
        "clamped_temperature": tiny_temperature,
        "accepts_empty": partial(dist, empty=False, soft=lambda s: softmax(s) if len(s) else s),
        "accepts_negative_temperature": partial(dist, cold=False),
        "accepts_top_k_0": partial(dist, least=0),
        "accepts_negative_top_k": lambda x, t, k=None: dist(x, t, None if k is not None and k < 0 else k),
        "falsy_top_k": falsy_k,
        "top_k_unchecked_at_0": early_zero,
        "refuses_k_above_v": refuses_large_k,
        "refuses_temperature_0": refuses_zero_temperature,
        "k_plus_1_kept": off_by_one_k,
        "threshold_one_too_low": top_values,
        "only_the_kept_returned": only_kept,
        "weak_mask": partial(dist, mask=-10.0),
        "changes_input": changes_input,
        "sorts_input": sorts_input,
        "hard_coded": table_of_examples,
        "stale_cache": stale,
        "rounds": lambda *a: [round(x, 4) for x in reference.to_distribution(*a)],
        "float32": lambda *a: np.float32(reference.to_distribution(*a)),
        "column": lambda *a: np.array(reference.to_distribution(*a))[:, None],
        "type_error": fails_with(TypeError, reference.to_distribution),
        "returns_none_for_bad": silent(reference.to_distribution, None),
    },
    "accept_probability": {
        **known("accept_probability", lesson2_wrong.ACCEPT_PROBABILITY),
        "accepts_q_0": partial(acc, q_low=False),
        "accepts_q_above_1": partial(acc, q_high=False),
        "accepts_p_below_0": partial(acc, p_low=False),
        "accepts_p_above_1": partial(acc, p_high=False),
        "checks_nothing": lambda p_x, q_x: min(1, p_x / q_x),
        "refuses_p_0": partial(strict_acc, edge="p0"),
        "refuses_p_1": partial(strict_acc, edge="p1"),
        "refuses_q_1": partial(strict_acc, edge="q1"),
        "max_for_min": careful(reference.accept_probability, lambda p, q: max(1, p / q)),
        "difference": careful(reference.accept_probability, lambda p, q: min(1, 1 + p - q)),
        "share_of_both": careful(reference.accept_probability, lambda p, q: p / (p + q)),
        "square_root": careful(reference.accept_probability, lambda p, q: min(1, (p / q) ** 0.5)),
        "random_bool": careful(
            reference.accept_probability, lambda p, q: bool(np.random.default_rng().random() < p / q)
        ),
        "always": careful(reference.accept_probability, lambda p, q: 1.0),
        "rounds": lambda p, q: round(reference.accept_probability(p, q), 4),
        "float32": lambda p, q: np.float32(reference.accept_probability(p, q)),
        "prints": lambda p, q: print(end=""),
        "nan_for_bad": silent(reference.accept_probability, float("nan")),
        "key_error": fails_with(KeyError, reference.accept_probability),
    },
    "acceptance_rate": {
        **known("acceptance_rate", lesson2_wrong.ACCEPTANCE_RATE),
        "checks_no_lengths": partial(rate, lengths=False),
        "checks_p_only": partial(rate, negative="p", sums="p"),
        "checks_q_only": partial(rate, negative="q", sums="q"),
        "accepts_negative": partial(rate, negative=""),
        "looks_at_the_first_entry": first_checked,
        "overlooks_the_last_entry": last_unchecked,
        "accepts_any_sum": partial(rate, sums=""),
        "exact_sum": partial(rate, off=0.0),
        "tolerance_too_small": partial(rate, off=1e-9),
        "tolerance_too_wide": isclose_rate,
        "asserts": asserting,
        "normalises": normalises,
        "larger_sums_only": lambda p, q: (
            rate(p, q, sums="") if max(sum(p), sum(q)) <= 1 + 1e-6 else reference.acceptance_rate(p, q)
        ),
        "list_of_minima": lambda p, q: (
            [reference.acceptance_rate(p, q)] and [min(a, b) for a, b in zip(p, q, strict=True)]
        ),
        "product_of_sums": careful(reference.acceptance_rate, lambda p, q: sum(p) * sum(q)),
        "minimum_of_all": careful(reference.acceptance_rate, lambda p, q: min(map(min, p, q))),
        "zero_for_bad": silent(reference.acceptance_rate, 0.0),
        "rounds": lambda p, q: round(reference.acceptance_rate(p, q), 4),
        "p_weighted": careful(
            reference.acceptance_rate,
            lambda p, q: sum(a * min(1, a / b if b else 1) for a, b in zip(p, q, strict=True)),
        ),
        "skips_last": careful(reference.acceptance_rate, lambda p, q: sum(map(min, p[:-1], q[:-1]))),
    },
    "accepted_prefix": {
        **known("accepted_prefix", lesson2_wrong.ACCEPTED_PREFIX),
        "p_rows_unchecked": partial(prefix, checked="qu"),
        "q_rows_unchecked": partial(prefix, checked="pu"),
        "u_unchecked": partial(prefix, checked="pq"),
        "nothing_checked": partial(prefix, checked=""),
        "pairs_checked": pairs_checked,
        "pairs_checked_otherwise": lambda d, p, q, u: (
            pairs_checked(d, q, p, u) * 0 + prefix(d, p, q, u, checked="")
        ),
        "checked_at_the_end": late_check,
        "lazy_zip": lazy_zip,
        "only_short_ones_refused": longer_only,
        "index_error": index_error,
        "own_randomness": own_randomness,
        "position_as_token": careful(reference.accepted_prefix, position_as_token),
        "empty_refused": empty_refused,
        "pops_input": pops_input,
        "last_rejection": careful(reference.accepted_prefix, last_rejection),
        "rows_swapped": careful(reference.accepted_prefix, lambda d, p, q, u: prefix(d, q, p, u)),
        "uniforms_reversed": careful(reference.accepted_prefix, lambda d, p, q, u: prefix(d, p, q, u[::-1])),
        "next_row": careful(reference.accepted_prefix, lambda d, p, q, u: prefix(d, [*p[1:], *p[:1]], q, u)),
        "rejected_ones": careful(
            reference.accepted_prefix, lambda d, *a: len(d) - reference.accepted_prefix(d, *a)
        ),
        "list_of_flags": lambda *a: [True] * reference.accepted_prefix(*a),
        "minus_one_when_none": lambda *a: reference.accepted_prefix(*a) or -1,
    },
}

RIGHT: dict[str, dict[str, Callable]] = {
    "to_distribution": {
        "numpy": dist,
        "plain_loop": loop_dist,
        "log_sum_exp": log_sum_exp,
        "pairwise_differences": sigmoid_style,
        "callable_object": Sampler(),
        "generator": generator_dist,
        "masked_after_softmax": masked_after,
        "own_error": own_error(reference.to_distribution),
        "very_low_mask": partial(dist, mask=-1e12),
        "extra_default": lambda logits, temperature, top_k=None, verbose=False: dist(
            logits, temperature, top_k
        ),
    },
    "accept_probability": {
        "student": acc,
        "if_else": lambda p, q: 1 if reference.accept_probability(p, q) == 1 else p / q,
        "numpy_0d": lambda p, q: np.array(reference.accept_probability(p, q)),
        "numpy_scalar": lambda p, q: np.float64(reference.accept_probability(p, q)),
        "fraction": lambda p, q: Fraction(reference.accept_probability(p, q)),
        "clip": lambda p, q: np.clip(reference.accept_probability(p, q), 0, 1),
        "overlap_over_q": lambda p, q: reference.accept_probability(p, q) and min(p, q) / q,
        "own_error": own_error(reference.accept_probability),
    },
    "acceptance_rate": {
        "student": rate,
        "recursive": recursive_rate,
        "one_minus_distance": lambda p, q: (
            0 * reference.acceptance_rate(p, q) + 1 - 0.5 * np.abs(np.subtract(p, q)).sum()
        ),
        "identity_of_min": lambda p, q: (
            0 * reference.acceptance_rate(p, q)
            + sum((a + b - abs(a - b)) / 2 for a, b in zip(p, q, strict=True))
        ),
        "q_weighted": lambda p, q: (
            0 * reference.acceptance_rate(p, q)
            + sum(b * min(1, a / b) for a, b in zip(p, q, strict=True) if b > 0)
        ),
        "numpy": lambda p, q: np.float64(reference.acceptance_rate(np.array(p), np.array(q))),
        "fractions": lambda p, q: (
            0 * reference.acceptance_rate(p, q)
            + sum(min(Fraction(float(a)), Fraction(float(b))) for a, b in zip(p, q, strict=True))
        ),
        "own_error": own_error(reference.acceptance_rate),
    },
    "accepted_prefix": {
        "student": prefix,
        "vectorised": vectorised_prefix,
        "recursive": recursive_prefix,
        "while_fractions_0d": while_prefix,
        "memoised": memoised_prefix,
        "as_float": lambda *a: float(reference.accepted_prefix(*a)),
        "own_error": own_error(reference.accepted_prefix),
        "int64": lambda *a: np.int64(reference.accepted_prefix(*a)),
    },
}

fine.add(WRONG, fine.LESSON2)
