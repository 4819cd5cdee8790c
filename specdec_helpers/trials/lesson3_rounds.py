"""Lesson 3: the inputs that the hidden trials of speculative_round draw."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Case
from specdec_helpers.reference.lesson3 import residual

from .lesson2_inputs import position, probabilities, two_uneven
from .lesson3_inputs import BESIDE_STEPS, FINE, Row, inside

Generator = np.random.Generator

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
        ([_L, _S] * 5, "draft"),
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
    drawn = [(row, inside(rng, row, token)) for token in (0, 3)]
    return [([], [row], [], [], u) for row, u in [*drawn, *((FINE, u) for u in BESIDE_STEPS[:2])]]


def edges(rng: Generator) -> list[Case]:
    """A token that the target never picks is rejected even by u = 0; rare tokens; p and q that hardly differ."""
    v = float(rng.uniform(0.2, 0.8))
    return [
        ([1], [[1.0, 0.0], [0.0, 1.0]], [[v, 1 - v]], [0.0], 0.5),
        ([0], [[0.3, 0.7], [0.9, 0.1]], [[0.8, 0.2]], [0.0], 0.6),
        ([0, 0], [[0.5, 0.5], [0, 1], [1, 0]], [[0.4, 0.6], [v, 1 - v]], [0.999, 0.0], 0.99),
        ([2], [[0.2, 0.5, 0.3], [0, 0, 1]], [[0.2, 0.1, 0.7]], [0.9], 0.0),
        ([0, 0], [[1e-5, 0.99999], [1e-5, 0.99999], [v, 1 - v]], [[4e-5, 0.99996]] * 2, [0.2, 0.3], 0.5),
        ([0], [[0.5, 0.3, 0.2], [0, 0, 1]], [[0.50001, 0.29999, 0.2]], [0.99999], 0.1),
    ]


def uneven(rng: Generator) -> list[Case]:
    """One of the four is too long or too short, or two are; the first token is kept, or rejected at once."""
    cases: list[Case] = []
    for kinds in ([_S, _L, _S], [_U, _S]):
        whole: tuple[Any, ...] = _rows(rng, kinds)
        for i in range(4):
            for part in (whole[i][:-1], [*whole[i], whole[i][-1]]):
                cases.append((*whole[:i], part, *whole[i + 1 :], 0.5))
        cases += [(*parts, 0.5) for parts in two_uneven(whole, kinds[0] == _U)]
    arrays = tuple(map(np.array, _rows(rng, [_S, _S])))
    return [
        *cases,
        (*arrays[:3], arrays[3][:1], 0.5),
        ([], [], [], [], 0.5),
        ([], [[1.0]], [], [0.5], 0.5),
        ([0], [[1.0]] * 5, [[1.0]], [0.5], 0.5),
    ]
