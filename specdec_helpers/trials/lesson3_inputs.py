"""Lesson 3: the inputs that the hidden trials draw."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Case
from specdec_helpers.reference.lesson3 import residual

from .lesson2_inputs import position, probabilities, spoiled

Generator = np.random.Generator
Row = list[float]


# ---- residual -------------------------------------------------------------------------------------------


def pairs(rng: Generator) -> list[Case]:
    """Two distributions of the same length that differ somewhere, also by very little."""
    drawn: list[Case] = [(probabilities(rng, size), probabilities(rng, size)) for size in (2, 3, 5, 8)]
    near = probabilities(rng, 4)
    moved = [near[0] + 0.0003, near[1] - 0.0003, *near[2:]]
    fixed: list[Case] = [
        ([0.7, 0.1, 0.2], [0.3, 0.3, 0.4]),
        ([0.5, 0.4, 0.1], [0.3, 0.3, 0.4]),
        ([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]),
        (moved, near),
        (near, moved),
    ]
    return [*drawn, *fixed]


def extreme_pairs(rng: Generator) -> list[Case]:
    """No common token, ints, zeros in both."""
    return [
        ([1, 0], [0, 1]),
        ([0, 0.25, 0.75], [1, 0, 0]),
        ([0.5, 0, 0.5, 0], [0.2, 0, 0.3, 0.5]),
        ([0, 1], [0.5, 0.5]),
    ]


def identical_pairs(rng: Generator) -> list[Case]:
    """Nothing is missing."""
    p = probabilities(rng, 4)
    return [(p, list(p)), ([0.2, 0.8], [0.2, 0.8]), ([1], [1]), ([0, 1.0, 0], [0, 1.0, 0])]


def rounded_pairs(rng: Generator) -> list[Case]:
    """Sums that miss 1 by 4e-7 at most."""
    p = probabilities(rng, 3)
    return [
        ([0.3333333] * 3, [p[0] / 2, p[1] / 2, 1 - p[0] / 2 - p[1] / 2]),
        (p, [0.6666667, 0.3333334, 0.0000003]),
    ]


# ---- sample_from ----------------------------------------------------------------------------------------


def inside(rng: Generator, probs: Sequence[float], token: int) -> float:
    """A uniform that selects `token`, a tenth of its width away from both of its edges at least."""
    low = float(np.sum(probs[:token]))
    return low + float(probs[token]) * float(rng.uniform(0.1, 0.9))


def every_token(rng: Generator) -> list[Case]:
    """Every token of drawn distributions is selected once, in random order; neighbours share a distribution."""
    cases: list[Case] = []
    for size in (2, 4, 6):
        probs = probabilities(rng, size)
        cases += [(probs, inside(rng, probs, int(token))) for token in rng.permutation(size)]
    fine = [0.303, 0.45, 0.247]  # a little below and above each step: nothing may be rounded
    cases += [(fine, u) for u in (0.3026, 0.3034, 0.7526, 0.7534)]
    # 0.4 + 0.3 + 0.2 + 0.1 is not quite 1 in floating point.
    return [*cases, ([0.25, 0.75], 0), ([1], 0.5), ([1.0], np.float64(0.99)), ([0.4, 0.3, 0.2, 0.1], 0.8)]


def with_zeros(rng: Generator) -> list[Case]:
    """Tokens of probability 0 at the front, in the middle and at the end; u = 0 and u just below 1."""
    v = float(rng.uniform(0.3, 0.7))
    return [
        ([0, v, 1 - v], 0.0),
        ([0, 0, 1], 0),
        ([v, 0, 0, 1 - v], v + (1 - v) / 2),
        ([v, 0, 1 - v], v / 2),
        ([v, 1 - v, 0, 0], 0.9999999),
        ([0, 1, 0], 0.999999),
        ([0.0, v, 0.0, 1 - v, 0.0], 0.0),
    ]


def below_u(rng: Generator) -> list[Case]:
    """Rounding leaves the whole sum at or below u: the last token with a chance is due."""
    last = float(np.nextafter(1, 0))
    return [
        ([0.5, 0.4999995], 0.9999999),
        ([0.4, 0.5999995, 0.0, 0.0], 0.9999999),
        ([0.1] * 10, last),
        ([*[0.1] * 10, 0.0], last),
        ([0.3333333, 0.3333333, 0.3333333, 0], 0.99999995),
    ]


def no_distributions(rng: Generator) -> list[Case]:
    """A negative entry, or a wrong sum; the selected token itself would often be fine."""
    bad = spoiled(rng)
    rows = [*bad["negative"], *bad["sum"]]
    return [
        *((row, float(rng.uniform(0, 0.4))) for row in rows),
        (np.array(bad["negative"][0]), 0.3),
        (np.array(bad["sum"][0]), 0.3),
    ]


def outside(rng: Generator) -> list[Case]:
    """u below 0, at 1, above 1."""
    p = probabilities(rng, 3)
    return [(p, 1), (p, 1.0), (p, -0.01), (p, 1.3), (np.array(p), -1), ([1.0], 1)]


# ---- emitted_distribution -------------------------------------------------------------------------------


def positions(rng: Generator) -> list[Case]:
    """Any accept probabilities and any replacement."""
    cases: list[Case] = [
        (
            probabilities(rng, size),
            [float(x) for x in rng.uniform(0.05, 0.95, size)],
            probabilities(rng, size),
        )
        for size in (2, 3, 4, 6)
    ]
    return [*cases, ([0.5, 0.25, 0.25], [1, 0.5, 0], [0, 0, 1]), ([0.2, 0.8], [0, 1], [0.5, 0.5])]


def one_sided(rng: Generator) -> list[Case]:
    """Everything kept, or everything replaced."""
    q, r = probabilities(rng, 4), probabilities(rng, 4)
    return [(q, [1, 1, 1, 1], r), (q, [0, 0, 0, 0], r), ([1], [1], [1]), (q, [1.0] * 4, [0, 0, 0, 1])]


def proofs(rng: Generator) -> list[Case]:
    """The rule of lesson 2 with the residual: what comes out is p."""
    cases: list[Case] = []
    for size in (2, 4, 5):
        p, q = probabilities(rng, size), probabilities(rng, size)
        accept = [min(1.0, p_x / q_x) for p_x, q_x in zip(p, q, strict=True)]
        cases += [(q, accept, residual(p, q)), (q, accept, p)]
    return cases


# ---- speculative_round ----------------------------------------------------------------------------------

Rule = Callable[[Sequence[Row], Sequence[Row], int], Row]


def softmaxed(row: Any) -> Row:
    """The softmax of max(0, p - q): a wrong way to make a distribution of it."""
    weights = np.exp(row)
    return [float(w) for w in weights / weights.sum()]


# What a wrong round draws its extra token from, after a rejection at n. u_extra is chosen so that it shows.
INSTEAD: dict[str, Rule] = {
    "p": lambda p, q, n: p[n],
    "q": lambda p, q, n: q[n],
    "softmax": lambda p, q, n: softmaxed(np.clip(np.subtract(p[n], q[n]), 0, None)),
    "turned": lambda p, q, n: residual(q[n], p[n]),
    "row after": lambda p, q, n: residual(p[n + 1], q[n]),
    "row before": lambda p, q, n: residual(p[n - 1], q[n - 1]),
    "bonus row": lambda p, q, n: p[-1],
}
INSTEAD_OF_BONUS: dict[str, Rule] = {
    "residual": lambda p, q, k: residual(p[k], q[k - 1]),
    "row before": lambda p, q, k: p[k - 1],
    "first row": lambda p, q, k: p[0],
    "draft": lambda p, q, k: q[k - 1],
}


def _telling(rng: Generator, right: Row, wrong: Sequence[float], and_not: float | None = None) -> float:
    """A uniform that selects another token from `right` than from `wrong` (and than `and_not` selects)."""
    steps, others = list(accumulate(right)), list(accumulate(wrong))
    last = 0.5
    for u in rng.uniform(0.01, 0.99, 200).tolist():
        if min(abs(step - u) for step in steps) < 0.005:
            continue
        last, token = u, bisect_right(steps, u)
        if token != bisect_right(others, u) and (and_not is None or token != bisect_right(steps, and_not)):
            break
    return last


def _rows(rng: Generator, kinds: Sequence[str]) -> tuple[list[int], list[Row], list[Row], Row]:
    columns = list(zip(*(position(rng, kind) for kind in kinds), strict=True)) or [(), (), (), ()]
    draft, p_rows, q_rows, u = map(list, columns)
    return draft, [*p_rows, probabilities(rng, 5)], q_rows, u


_S, _L, _U = "sure", "lucky", "unlucky"


def rejected(rng: Generator) -> list[Case]:
    """Rounds with a rejection at every place, kept tokens behind it, and for each wrong rule a u_extra that tells."""
    plans: list[tuple[list[str], str]] = [
        ([_U], "p"),
        ([_U, _S], "row after"),
        ([_S, _U], "row before"),
        ([_L, _U, _L], "p"),
        ([_U, _U], "q"),
        ([_S, _L, _U, _S], "softmax"),
        ([_L, _S, _S, _L, _U], "turned"),
        ([_S, _U, _L], "bonus row"),
        ([_U, _L, _S], "softmax"),
        ([_L, _U, _U], "row before"),
        ([_L, _L, _U], "q"),
    ]
    cases: list[Case] = []
    for kinds, instead in plans:
        draft, p_rows, q_rows, u = _rows(rng, kinds)
        n = kinds.index(_U)
        right = residual(p_rows[n], q_rows[n])
        wrong = INSTEAD[instead](p_rows, q_rows, n)
        # u[n] must select another token wherever that can be: the same number may not serve twice.
        reused = u[n] if len(cases) % 2 else None
        cases.append((draft, p_rows, q_rows, u, _telling(rng, right, wrong, reused)))
    return cases


def all_kept(rng: Generator) -> list[Case]:
    """Rounds without a rejection: the bonus comes from the target's last row, as it is."""
    plans: list[tuple[list[str], str]] = [
        ([_S], "residual"),
        ([_L, _S], "row before"),
        ([_S, _L], "first row"),
        ([_L, _S, _L, _S], "draft"),
        ([_S, _S, _L], "residual"),
        ([_L], "draft"),
        ([_L, _L], "residual"),
    ]
    cases: list[Case] = []
    for kinds, instead in plans:
        draft, p_rows, q_rows, u = _rows(rng, kinds)
        wrong = INSTEAD_OF_BONUS[instead](p_rows, q_rows, len(draft))
        reused = u[-1] if len(cases) % 2 else None
        cases.append((draft, p_rows, q_rows, u, _telling(rng, p_rows[-1], wrong, reused)))
    return cases


def without_drafts(rng: Generator) -> list[Case]:
    """k = 0: one token of the target."""
    row = probabilities(rng, 4)
    return [([], [row], [], [], inside(rng, row, token)) for token in (0, 2, 3)]


def edges(rng: Generator) -> list[Case]:
    """A token that the target never picks is rejected even by u = 0; a residual with one token needs no luck."""
    v = float(rng.uniform(0.2, 0.8))
    return [
        ([1], [[1.0, 0.0], [0.0, 1.0]], [[v, 1 - v]], [0.0], 0.5),
        ([0], [[0.3, 0.7], [0.9, 0.1]], [[0.8, 0.2]], [0.0], 0.6),
        ([0, 0], [[0.5, 0.5], [0, 1], [1, 0]], [[0.4, 0.6], [v, 1 - v]], [0.999, 0.0], 0.99),
        ([2], [[0.2, 0.5, 0.3], [0, 0, 1]], [[0.2, 0.1, 0.7]], [0.9], 0.0),
    ]


def uneven(rng: Generator) -> list[Case]:
    """One of the four is too long or too short, or two are; the first token is kept, or rejected at once."""
    cases: list[Case] = []
    for kinds in ([_S, _L, _S], [_U, _S]):
        whole: tuple[Any, ...] = _rows(rng, kinds)
        for i in range(4):
            for part in (whole[i][:-1], [*whole[i], whole[i][-1]]):
                cases.append((*whole[:i], part, *whole[i + 1 :], 0.5))
        for pair in ((0, 1), (0, 2), (0, 3)):  # two fit each other, and the other two do
            cases.append((*([*part, part[-1]] if i in pair else part for i, part in enumerate(whole)), 0.5))
    arrays = tuple(map(np.array, _rows(rng, [_S, _S])))
    return [*cases, (*arrays[:3], arrays[3][:1], 0.5), ([], [], [], [], 0.5), ([], [[1.0]], [], [0.5], 0.5)]
