"""Lesson 5: implementations that must lose points, and unusual ones that must not."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache, partial, reduce
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson5 as reference
from specdec_helpers.trials import lesson5_wrong as slips

throughput, speedup = reference.throughput, reference.speedup
best_k, break_even = reference.best_k, reference.break_even
mean = slips.mean
Rate = Callable[[Any, Any], Any]


def made(
    tokens: Rate, *, a=True, k=True, verify=True, draft=True, cost=lambda k, v, d: v + k * d
) -> Callable:
    """A throughput with another E[N] or cost, that asks for all bounds but those switched off."""

    def function(a_, k_, v, d):
        if (a and not 0 <= a_ <= 1) or (k and k_ < 0) or (verify and v <= 0) or (draft and d < 0):
            raise ValueError("out of bounds")
        return tokens(a_, k_) / cost(k_, v, d)

    return function


def closed(a, k):
    return k + 1 if a == 1 else (1 - a ** (k + 1)) / (1 - a)


def sped(inner: Callable, **bounds: bool) -> Callable:
    """A speed-up made from a throughput."""

    def function(a, k, t, v, d):
        if bounds.get("target", True) and t <= 0:
            raise ValueError("t_target")
        return inner(a, k, v, d) * t

    return function


def refuses(function: Callable, bad: Callable[..., bool]) -> Callable:
    """The function, refusing also some input that is legal."""

    def wrapped(*args):
        if bad(*args):
            raise ValueError("refused")
        return function(*args)

    return wrapped


def checked(function: Callable) -> Callable:
    """A best_k that refuses a negative k_max."""
    return refuses(function, lambda a, t, v, d, k_max: k_max < 0)


def prints(function: Callable) -> Callable:
    return lambda *args: print(function(*args))


def hides(function: Callable) -> Callable:
    def wrapped(*args):
        try:
            return function(*args)
        except ValueError:
            return None

    return wrapped


def other_error(function: Callable) -> Callable:
    """A function that asserts its bounds instead of raising a ValueError."""

    def wrapped(*args):
        try:
            return function(*args)
        except ValueError as error:
            raise AssertionError(str(error)) from None

    return wrapped


def remembers_the_first(function: Callable) -> Callable:
    seen: dict[tuple[Any, ...], Any] = {}

    def wrapped(*args):
        return seen.setdefault(args[:2], function(*args))

    return wrapped


VISIBLE = {
    (0.8, 4, 12, 1): 0.2101,
    (0.8, 4, 0.012, 0.001): 210.1,
    (1, 4, 12, 1): 0.3125,
    (0.3, 2, 12, 4): 0.0695,
}


def from_a_table(a, k, v, d):
    reference.throughput(a, k, v, d)
    return VISIBLE.get((a, k, v, d), 0.2101)


# ---- best_k ----------------------------------------------------------------------------------------------


def naive_ties(a, t, v, d, k_max):
    """Without room for rounding: 1.3 * 7 / 9.1 is a little more than 1 here."""
    best, top = 0, 1.0
    for k in range(1, k_max + 1):
        value = mean(a, k) / (v + k * d) * t
        if value > top:
            best, top = k, value
    return best


def generous_ties(a, t, v, d, k_max):
    """Takes what np.isclose takes for equal: 1e-5 apart."""
    values = [1.0, *(mean(a, k) / (v + k * d) * t for k in range(1, k_max + 1))]
    return int(np.argmax(np.isclose(values, max(values))))


def ends_at_first_loss(a, t, v, d, k_max):
    best, top = 0, 1.0
    for k in range(1, k_max + 1):
        value = speedup(a, k, t, v, d)
        if value < 1:
            break
        if value > top * (1 + 1e-12):
            best, top = k, value
    return best


def index_from_one(a, t, v, d, k_max):
    values = [1.0] + [speedup(a, k, t, v, d) for k in range(1, k_max + 1)]
    return int(np.argmax(np.round(values, 11))) + 1


def coarse_ties(a, t, v, d, k_max):
    """Speed-ups rounded to one decimal count as equal."""
    values = [1.0] + [round(speedup(a, k, t, v, d), 1) for k in range(1, k_max + 1)]
    return values.index(max(values))


def beyond(a, t, v, d, k_max):
    return best_k(a, t, v, d, k_max + 1)


def by_numpy(a, t, v, d, k_max):
    k = np.arange(1, k_max + 1)
    values = np.concatenate([[1.0], np.cumsum(float(a) ** np.arange(k_max + 1))[1:] * t / (v + k * d)])
    return np.flatnonzero(values >= values.max() * (1 - 1e-12))[0]


def by_recursion(a, t, v, d, k_max):
    if k_max == 0:
        return 0
    before = by_recursion(a, t, v, d, k_max - 1)
    best = speedup(a, before, t, v, d) if before else 1
    return k_max if speedup(a, k_max, t, v, d) > best * (1 + 1e-12) else before


def by_max_key(a, t, v, d, k_max):
    return max(range(k_max + 1), key=lambda k: (round(speedup(a, k, t, v, d) if k else 1.0, 11), -k))


def by_time_per_token(a, t, v, d, k_max):
    times = {0: t} | {k: (v + k * d) / closed(a, k) for k in range(1, k_max + 1)}
    return min(times, key=lambda k: (times[k] > min(times.values()) * (1 + 1e-12), k))


def by_exact_fractions(a, t, v, d, k_max):
    a, t, v, d = (Fraction(str(x)) for x in (a, t, v, d))
    values = [Fraction(1)] + [sum(a**i for i in range(k + 1)) * t / (v + k * d) for k in range(1, k_max + 1)]
    return values.index(max(values))


def downwards(a, t, v, d, k_max):
    best, top = None, 0.0
    for k in range(k_max, -1, -1):
        value = speedup(a, k, t, v, d) if k else 1.0
        if value >= top * (1 - 1e-12):
            best, top = k, max(value, top)
    return np.int64(best)


# ---- break_even ------------------------------------------------------------------------------------------


def with_ends(search: Callable) -> Callable:
    """A search for the rate, with the two special answers in place."""

    def function(k, t, v, d):
        if (v + k * d) <= t:
            return 0.0
        if (v + k * d) > t * (k + 1):
            return None
        return search(k, t, v, d)

    return function


def root(k, t, v, d):
    polynomial = np.ones(k + 1)
    polynomial[-1] -= (v + k * d) / t
    roots = np.roots(polynomial)
    return min(r.real for r in roots if abs(r.imag) < 1e-9 and r.real > -1e-9)


def newton(k, t, v, d):
    a, goal = 1.0, (v + k * d) / t
    for _ in range(80):
        a -= (mean(a, k) - goal) / sum(i * a ** (i - 1) for i in range(1, k + 1))
    return a


def by_digits(k, t, v, d):
    a = 0.0
    for step in (10.0**-n for n in range(1, 10)):
        while a + step <= 1 and speedup(min(a + step, 1.0), k, t, v, d) < 1:
            a += step
    return a


def on_a_grid(k, t, v, d):
    a = np.linspace(0, 1, 1_000_001)
    tokens = np.polyval(np.ones(k + 1), a)
    return a[np.argmax(tokens * t >= v + k * d)]


def recursive(k, t, v, d, low=0.0, high=1.0):
    middle = (low + high) / 2
    if high - low < 1e-8:
        return middle
    return recursive(k, t, v, d, *((low, middle) if speedup(middle, k, t, v, d) >= 1 else (middle, high)))


def few_halvings(k, t, v, d):
    low, high = 0.0, 1.0
    for _ in range(10):
        middle = (low + high) / 2
        low, high = (low, middle) if speedup(middle, k, t, v, d) >= 1 else (middle, high)
    return high


def rounded(digits: int) -> Callable:
    return lambda *args: None if break_even(*args) is None else round(break_even(*args), digits)


def instead_of_none(value: Any) -> Callable:
    return lambda *args: value if break_even(*args) is None else break_even(*args)


def raises_for_never(*args):
    rate = break_even(*args)
    if rate is None:
        raise ValueError("never pays")
    return rate


class Solver:
    def __init__(self, halvings: int) -> None:
        self.halvings = halvings

    def __call__(self, k, t_target, t_verify, t_draft):
        return break_even(k, t_target, t_verify, t_draft)


def by_mistake(table: str) -> dict[str, Callable]:
    """The wrong implementations that the diagnosis knows, under their names."""
    from specdec_helpers.trials.lesson5 import ITEMS

    return {f"known: {name}": wrong for name, wrong in ITEMS[table].wrong.items()}


def with_ceiling(a, k):
    """A long draft's tokens are the ceiling's."""
    return mean(a, k) if k <= 20 or a == 1 else 1 / (1 - a)


# What a throughput does wrong at the edges of its arguments; a speed-up made from it does the same.
EDGES: dict[str, Callable[..., Any]] = {
    "rates near the ends": made(lambda a, k: mean(0 if a < 1e-5 else 1 if a > 1 - 1e-5 else a, k)),
    "at most 12 drafts": made(lambda a, k: mean(a, min(k, 12))),
    "a ceiling for long drafts": made(with_ceiling),
    "rates a little outside": lambda a, k, v, d: throughput(
        min(max(a, 0), 1) if -1e-4 < a < 1 + 1e-4 else a, k, v, d
    ),
    "short times refused": refuses(throughput, lambda a, k, v, d: v < 1e-6),
    "short drafts free": lambda a, k, v, d: throughput(a, k, v, d if d > 1e-5 or d < 0 else 0),
    "drafts a little negative": lambda a, k, v, d: throughput(a, k, v, max(d, 0) if d > -1e-3 else d),
    "passes a little negative": lambda a, k, v, d: throughput(a, k, 1e-9 if -1e-3 < v < 0 else v, d),
    "k < 0 forgotten at a = 1": lambda a, k, v, d: (
        max(1, k + 1) / (v + k * d) if a == 1 and v > 0 else throughput(a, k, v, d)
    ),
    "True where it is 1": lambda *args: True if throughput(*args) == 1 else throughput(*args),
    "times in hundredths": lambda a, k, v, d: throughput(a, k, v, d) and mean(a, k) / round(v + k * d, 2),
}


def tolerant_ties(tolerance: float) -> Callable:
    """Ties within a tolerance of its own."""

    def function(a, t, v, d, k_max):
        best, top = 0, 1.0
        for k in range(1, k_max + 1):
            if slips.PAID(a, k, t, v, d) > top * (1 + tolerance):
                best, top = k, slips.PAID(a, k, t, v, d)
        return best

    return checked(function)


def gives_up(after: int) -> Callable:
    """Ends the search when `after` values of k in a row bring nothing."""

    def function(a, t, v, d, k_max):
        best, top = 0, 1.0
        for k in range(1, k_max + 1):
            if slips.PAID(a, k, t, v, d) > top * (1 + 1e-12):
                best, top = k, slips.PAID(a, k, t, v, d)
            elif k - best >= after:
                break
        return best

    return checked(function)


def within(low: float, high: float, near: float = 0.0) -> Callable:
    """A search between low and high, that asks at the ends for a speed-up of almost 1 only."""

    def function(k, t, v, d):
        if slips.PAID(0, k, t, v, d) >= 1 - near:
            return 0.0
        return (
            None if slips.PAID(1, k, t, v, d) < 1 - near else min(max(break_even(k, t, v, d) or 1, low), high)
        )

    return function


def one_is_too_late(k, t, v, d):
    """a = 1 must be faster, not just as fast."""
    return None if slips.PAID(1, k, t, v, d) <= 1 else break_even(k, t, v, d)


WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "throughput": {
        **EDGES,
        **by_mistake("throughput"),
        "no bound on t_verify": made(mean, verify=False),
        "no bound on t_draft": made(mean, draft=False),
        "no bound on a": made(mean, a=False),
        "no bound on k": made(mean, k=False),
        "t_verify = 0 allowed": lambda a, k, v, d: math.inf if v == 0 else throughput(a, k, v, d),
        "a free draft refused": refuses(throughput, lambda a, k, v, d: d <= 0),
        "a dear draft refused": refuses(throughput, lambda a, k, v, d: d > v),
        "k = 0 refused": refuses(throughput, lambda a, k, v, d: k == 0),
        "a = 0 refused": refuses(throughput, lambda a, k, v, d: a == 0),
        "a = 1 refused": refuses(throughput, lambda a, k, v, d: a == 1),
        "closed form without a = 1": made(lambda a, k: (1 - a ** (k + 1)) / (1 - a)),
        "a is clipped": lambda a, k, v, d: throughput(min(max(a, 0), 1), k, v, d),
        "sum to k - 1": made(lambda a, k: mean(a, k - 1)),
        "sum to k + 1": made(lambda a, k: mean(a, k + 1)),
        "1 + k a": made(lambda a, k: 1 + k * a),
        "ceiling 1 / (1 - a)": made(lambda a, k: 1 / (1 - a) if a < 1 else k + 1),
        "swapped times": lambda a, k, v, d: throughput(a, k, d, v) if d > 0 else throughput(a, k, v, d),
        "verification paid k times": made(mean, cost=lambda k, v, d: max(k, 1) * (v + d)),
        "per second": lambda a, k, v, d: 1000 * throughput(a, k, v, d),
        "rounded to 4 decimals": lambda *args: round(throughput(*args), 4),
        "whole tokens": made(lambda a, k: round(mean(a, k))),
        "integer division": lambda *args: throughput(*args) // 0.01 * 0.01,
        "a table of the visible examples": from_a_table,
        "prints": prints(throughput),
        "hides its errors": hides(throughput),
        "returns a list": lambda *args: [throughput(*args)],
        "returns a text": lambda *args: f"{throughput(*args):.4f}",
        "remembers by a and k": remembers_the_first(throughput),
        "another kind of error": other_error(throughput),
        "nothing": lambda *args: None,
    },
    "speedup": {
        **{name: sped(inner) for name, inner in EDGES.items() if name != "True where it is 1"},
        "targets a little negative": lambda a, k, t, v, d: speedup(a, k, 1e-9 if -1e-3 < t < 0 else t, v, d),
        **by_mistake("speedup"),
        "no bound on t_target": sped(throughput, target=False),
        "t_target = 0 allowed": lambda a, k, t, v, d: 0.0 if t == 0 else speedup(a, k, t, v, d),
        "no bound on a": sped(made(mean, a=False)),
        "no bound on k": sped(made(mean, k=False)),
        "no bound on t_verify": sped(made(mean, verify=False)),
        "no bound on t_draft": sped(made(mean, draft=False)),
        "a = 0 refused": refuses(speedup, lambda a, *rest: a == 0),
        "a = 1 refused": refuses(speedup, lambda a, *rest: a == 1),
        "k = 0 refused": refuses(speedup, lambda a, k, *rest: k == 0),
        "verification at least as dear as a step": lambda a, k, t, v, d: speedup(a, k, t, max(v, t * 1.2), d),
        "a free draft refused": refuses(speedup, lambda a, k, t, v, d: d == 0),
        "a dear draft refused": refuses(speedup, lambda a, k, t, v, d: d > v),
        "rounded to 6 decimals": lambda *args: round(speedup(*args), 6),
        "never below 1": lambda *args: max(1.0, speedup(*args)),
        "percent": lambda *args: 100 * speedup(*args),
        "time saved": lambda *args: 1 - 1 / speedup(*args),
        "accepted only": lambda a, k, t, v, d: speedup(a, k, t, v, d) - t / (v + k * d),
        "divided by t_target": lambda a, k, t, v, d: speedup(a, k, t, v, d) / t / t,
        "baseline pays the verification": lambda a, k, t, v, d: speedup(a, k, t, v, d) * v / t,
        "one draft step": lambda a, k, t, v, d: speedup(a, k, t, v + d - k * d if v + d > k * d else v, d),
        "rounded to 3 decimals": lambda *args: round(speedup(*args), 3),
        "hides its errors": hides(speedup),
        "another kind of error": other_error(speedup),
        "prints": prints(speedup),
    },
    "best_k": {
        "ties within 1e-7": tolerant_ties(1e-7),
        "gives up after three": gives_up(3),
        "gives up after five": gives_up(5),
        "k_max of 20 at most": lambda a, t, v, d, k_max: best_k(a, t, v, d, min(k_max, 20)),
        "a = 1 drafts all it may": lambda a, t, v, d, k_max: (
            k_max if a == 1 and k_max >= 0 else best_k(a, t, v, d, k_max)
        ),
        "a draft dearer than a step never pays": lambda a, t, v, d, k_max: best_k(
            a, t, v, d, k_max if d < t or k_max < 0 else 0
        ),
        **by_mistake("best_k"),
        "no bound on k_max": lambda *args: 0 if args[4] < 0 else best_k(*args),
        "k_max = 0 refused": refuses(best_k, lambda a, t, v, d, k_max: k_max <= 0),
        "rounding breaks ties": checked(naive_ties),
        "np.isclose calls ties": checked(generous_ties),
        "one draft step too many": checked(slips.SLIPS["extra"]),
        "t_target for t_verify": checked(slips.SLIPS["target"]),
        "accepted drafts only": checked(slips.SLIPS["accepted"]),
        "ends at the first loss": checked(ends_at_first_loss),
        "one too high": checked(index_from_one),
        "speed-ups rounded to one decimal": checked(coarse_ties),
        "tries k_max + 1": checked(beyond),
        "k and speed-up": lambda *args: (best_k(*args), 1.0),
        "as a text": lambda *args: str(best_k(*args)),
        "always 0": checked(lambda *args: 0),
        "always 6": checked(lambda *args: 6),
        "None for plain decoding": lambda *args: best_k(*args) or None,
        "False for plain decoding": lambda *args: best_k(*args) or False,
        "prints": prints(best_k),
    },
    "break_even": {
        "no rate below 1e-5": within(1e-5, 1.0),
        "no rate above 0.9999": within(0.0, 0.9999),
        "almost 1 at the ends": within(0.0, 1.0, 1e-4),
        "just as fast at a = 1 is too late": one_is_too_late,
        **by_mistake("break_even"),
        "ten halvings": with_ends(few_halvings),
        "rounded to 4 decimals": rounded(4),
        "rounded to 5 decimals": rounded(5),
        "nan for never": instead_of_none(math.nan),
        "inf for never": instead_of_none(math.inf),
        "0.0 for never": instead_of_none(0.0),
        "False for never": instead_of_none(False),
        "a ValueError for never": raises_for_never,
        "None for always": lambda *args: break_even(*args) or None,
        "percent": lambda *args: None if break_even(*args) is None else 100 * break_even(*args),
        "k + 1 draft steps": lambda k, t, v, d: break_even(k, t, v + d, d),
        "k + 1 terms": with_ends(lambda k, t, v, d: break_even(k + 1, t, v - d, d) if v > d else 0.5),
        "only k = 1": with_ends(lambda k, t, v, d: (v + k * d) / t - 1),
        "forgets t_target": lambda k, t, v, d: break_even(k, 1, v, d),
        "the last rate below": lambda *args: break_even(*args) and max(0.0, break_even(*args) - 1e-5),
        "a pair": lambda *args: (break_even(*args), break_even(*args)),
        "prints": prints(break_even),
    },
}

RIGHT: dict[str, dict[str, Callable[..., Any]]] = {
    "throughput": {
        "closed form": made(closed),
        "Horner": made(lambda a, k: reduce(lambda total, _: 1 + a * total, range(k), 1)),
        "NumPy": made(lambda a, k: np.sum(np.power(float(a), np.arange(k + 1)))),
        "polyval": made(lambda a, k: np.polyval(np.ones(k + 1), a)),
        "from the distribution of lesson 4": made(
            lambda a, k: 1 + sum(n * a**n * (1 - a) for n in range(k)) + k * a**k
        ),
        "fractions": lambda a, k, v, d: float(
            Fraction(mean(a, k)) / (Fraction(v) + k * Fraction(d)) if throughput(a, k, v, d) else 0
        ),
        "a Fraction comes back": lambda *args: Fraction(throughput(*args)),
        "a Decimal comes back": lambda *args: Decimal(throughput(*args)),
        "a NumPy number": lambda *args: np.float64(throughput(*args)),
        "a 0-d array": lambda *args: np.array(throughput(*args)),
        "memoised": cache(throughput),
        "float32": lambda *args: np.float32(throughput(*args)),
        "one over the time per token": made(lambda a, k: 1 / (1 / mean(a, k))),
    },
    "speedup": {
        "ratio of two throughputs": lambda a, k, t, v, d: throughput(a, k, v, d) / throughput(0, 0, t, 0),
        "ratio of two times": lambda a, k, t, v, d: (
            t / (1 / throughput(a, k, v, d)) if t > 0 else speedup(a, k, t, v, d)
        ),
        "with c as in the paper": lambda a, k, t, v, d: (
            speedup(a, k, t, v, d) and closed(a, k) / (v / t + k * (d / t))
        ),
        "closed form": sped(made(closed)),
        "partial": partial(speedup),
        "lru_cache": lru_cache(maxsize=None)(speedup),
        "through throughput": sped(throughput),
        "long double": lambda *args: float(np.longdouble(speedup(*args))),
    },
    "best_k": {
        "ties as math.isclose has them": tolerant_ties(1e-9),
        "NumPy": checked(by_numpy),
        "recursion": checked(by_recursion),
        "max with a key": checked(by_max_key),
        "time per token": checked(by_time_per_token),
        "exact fractions": checked(by_exact_fractions),
        "from k_max down": checked(downwards),
        "a float that is whole": lambda *args: float(best_k(*args)),
        "memoised": cache(best_k),
    },
    "break_even": {
        "roots of the polynomial": with_ends(root),
        "Newton": with_ends(newton),
        "digit by digit": with_ends(by_digits),
        "a grid of a millionth": with_ends(on_a_grid),
        "recursion": with_ends(recursive),
        "0 as a whole number": lambda *args: 0 if break_even(*args) == 0 else break_even(*args),
        "a callable object": Solver(40),
        "a NumPy number": lambda *args: None if break_even(*args) is None else np.float64(break_even(*args)),
        "a nearly zero": lambda *args: 1e-9 if break_even(*args) == 0 else break_even(*args),
    },
}
