"""Lesson 2: hidden trials of to_distribution, accept_probability, acceptance_rate and accepted_prefix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Case
from specdec_helpers.checks.lesson2 import MISTAKES
from specdec_helpers.reference import lesson2 as reference

from . import wrong_lesson2 as wrong
from .base import Cases, Item, Refuses

Generator = np.random.Generator


def _probabilities(rng: Generator, size: int) -> list[float]:
    """A distribution with no entry below about 0.02, its entries all different."""
    weights = rng.permutation(size) + rng.uniform(0.4, 0.9, size)
    return [float(w) for w in weights / weights.sum()]


# ---- to_distribution ------------------------------------------------------------------------------------


def _logits(rng: Generator, size: int, scale: float = 1.0) -> list[float]:
    """Logits in random order, at least 0.3 * scale apart, of both signs."""
    return [
        float(x) * scale for x in rng.permutation(size) * 0.6 + rng.uniform(-0.1, 0.1, size) - 0.27 * size
    ]


def _softened(rng: Generator) -> list[Case]:
    drawn: list[Case] = [
        (_logits(rng, size), float(t)) for size, t in zip((3, 5, 8, 4), rng.uniform(0.3, 2.5, 4), strict=True)
    ]
    return [*drawn, ([3, -1, 0, 2], 1), ([-2, -5, -3], 2), ([7.5], 0.7), ([1, 1, 0.5, 1], 0.5)]


def _greedy(rng: Generator) -> list[Case]:
    """Temperature 0: drawn logits, ties, all of them negative, together with top_k; 0 as an int and as a float."""
    low = [x - 9.0 for x in _logits(rng, 5)]
    return [(low, 0), (_logits(rng, 4), 0.0), ([1, 4, 4, 0], 0), ([-3, -3, -3], 0), (_logits(rng, 4), 0, 2)]


def _extreme(rng: Generator) -> list[Case]:
    a, b = (float(x) for x in rng.uniform(0.1, 3, 2))
    return [
        ([1000, 1000 - a, -1000], 1),
        ([-1000 - a, -1000, -1000 - b], 0.5),
        ([1000.0, 0.0, -1000.0, 1000.0 - b], 2.0, 3),
        ([a, 0.0, b + 2], 0.002),
    ]


def _top_k(rng: Generator) -> list[Case]:
    negative = [x - 5.0 for x in _logits(rng, 6)]
    return [
        (_logits(rng, 6), 1, 2),
        (negative, 0.7, 3),
        (_logits(rng, 5), 4.0, 1),
        (_logits(rng, 7), 1.5, np.int64(6)),
        ([0.5, -1, 2, 1], 2, 2),
    ]


def _top_k_of_all(rng: Generator) -> list[Case]:
    return [(_logits(rng, 4), 1, 4), (_logits(rng, 3), 0.5, 50), (_logits(rng, 5), 1.3, None)]


# ---- accept_probability ---------------------------------------------------------------------------------


def _over_proposed(rng: Generator) -> list[Case]:
    drawn: list[Case] = [
        (float(q * f), float(q))
        for q, f in zip(rng.uniform(0.2, 0.95, 4), rng.uniform(0.05, 0.9, 4), strict=True)
    ]
    return [
        *drawn,
        (0, 1),
        (0.0, float(rng.uniform(0.1, 0.9))),
        (0.25, 1),
        (np.float64(0.1), np.float64(0.4)),
    ]


def _under_proposed(rng: Generator) -> list[Case]:
    drawn: list[Case] = [
        (float(p), float(p * f))
        for p, f in zip(rng.uniform(0.2, 0.95, 4), rng.uniform(0.05, 0.9, 4), strict=True)
    ]
    return [*drawn, (1, 1), (1, 0.01), (0.5, 0.5), (np.float64(0.75), np.float64(0.5))]


# ---- acceptance_rate ------------------------------------------------------------------------------------


def _pairs(rng: Generator) -> list[Case]:
    drawn: list[Case] = [(_probabilities(rng, size), _probabilities(rng, size)) for size in (2, 3, 5, 8)]
    fixed: list[Case] = [
        ([0.7, 0.1, 0.2], [0.3, 0.3, 0.4]),
        ([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]),
        ([0.5, 0.5, 0], [0, 0.25, 0.75]),
    ]
    return [*drawn, *fixed]


def _extreme_pairs(rng: Generator) -> list[Case]:
    p = _probabilities(rng, 4)
    return [(p, p), ([1, 0, 0], [0, 0.5, 0.5]), ([1], [1]), ([1, 0], [0.2, 0.8]), ([0, 1.0], [0, 1.0])]


def _rounded_pairs(rng: Generator) -> list[Case]:
    """Sums that miss 1 by rounding, by 4e-7 at most: they are distributions."""
    p = _probabilities(rng, 3)
    return [
        ([0.1] * 10, [0.1] * 10),
        ([0.3333333] * 3, p),
        (p, [0.6666667, 0.3333334, 0.0000003]),
    ]


def _other_length(rng: Generator) -> list[Case]:
    p = _probabilities(rng, 4)
    cases: list[Case] = [([*p, 0.0], p), (p, [*p, 0.0]), ([0.5, 0.5], [1.0]), ([1.0], p), (p, [0.25, 0.75])]
    return [*cases, tuple(map(np.array, cases[0])), tuple(map(np.array, cases[4]))]


def spoiled(rng: Generator, size: int = 4) -> dict[str, list[list[float]]]:
    """What is no distribution: with a negative entry (sum 1), and with a wrong sum (no negative entry)."""
    p = _probabilities(rng, size)
    low, high = int(np.argmin(p)), int(np.argmax(p))
    negative = list(p)
    negative[low], negative[high] = -p[low], p[high] + 2 * p[low]
    return {
        "negative": [negative, [-0.5, 1.5, *[0.0] * (size - 2)]],
        "sum": [[x * f for x in p] for f in (1 + 8e-6, 1 - 8e-6, float(rng.uniform(1.1, 2)), 0.5)]
        + [[0.0] * size],
    }


def _spoiled_pairs(kind: str) -> Any:
    def draw(rng: Generator) -> list[Case]:
        good = _probabilities(rng, 4)
        cases: list[Case] = [
            pair for bad in spoiled(rng)[kind] for pair in ((bad, good), (good, bad), (bad, bad))
        ]
        return [*cases, (np.array(cases[0][0]), np.array(good)), (np.array(good), np.array(cases[0][0]))]

    return draw


# ---- accepted_prefix ------------------------------------------------------------------------------------


def _position(rng: Generator, kind: str) -> tuple[int, list[float], list[float], float]:
    """(token, p row, q row, u) of one position.

    kind: "sure" the target gives the token more than the draft did, and u is near 1; "lucky" less, with u below the
    ratio; "unlucky" less, with u above it. u keeps a distance of 2 % and more from p / q.
    """
    p, q = (_probabilities(rng, 5) for _ in range(2))
    x = int(rng.integers(5))
    more, less = float(rng.uniform(0.5, 0.7)), float(rng.uniform(0.15, 0.35))
    p, q = _with(p, x, more if kind == "sure" else less), _with(q, x, less if kind == "sure" else more)
    ratio = p[x] / q[x]
    u = {
        "sure": rng.uniform(0.9, 0.999),
        "lucky": ratio * rng.uniform(0.5, 0.95),
        "unlucky": ratio + (1 - ratio) * rng.uniform(0.05, 0.3),
    }[kind]
    return x, p, q, float(u)


def _with(row: list[float], x: int, mass: float) -> list[float]:
    """The row with probability `mass` at x, the other entries scaled to fit."""
    scale = (1 - mass) / (1 - row[x])
    return [mass if token == x else value * scale for token, value in enumerate(row)]


def _round(rng: Generator, kinds: Sequence[str]) -> Case:
    columns = list(zip(*(_position(rng, kind) for kind in kinds), strict=True)) or [(), (), (), ()]
    draft, p_rows, q_rows, u = map(list, columns)
    return draft, p_rows, q_rows, u


_S, _L, _U = "sure", "lucky", "unlucky"


def _rejected(rng: Generator) -> list[Case]:
    patterns = (
        [_U],
        [_U, _S],
        [_S, _U],
        [_L, _U, _L],
        [_S, _L, _U, _S, _S],
        [_L, _S, _L, _U, _U],
        [_U, _L, _S],
    )
    return [_round(rng, kinds) for kinds in patterns]


def _all_kept(rng: Generator) -> list[Case]:
    return [_round(rng, kinds) for kinds in ([_S], [_L], [_L, _S], [_S, _S, _L], [_L, _L, _L, _S], [_L] * 6)]


def _edges(rng: Generator) -> list[Case]:
    """A token that the target never picks is rejected even by u = 0; any other is kept by u = 0."""
    v = float(rng.uniform(0.2, 0.8))
    return [
        ([1], [[1.0, 0.0]], [[v, 1 - v]], [0.0]),
        ([0, 1], [[0.1, 0.9], [1, 0]], [[0.9, 0.1], [v, 1 - v]], [0.0, 0.0]),
        ([0], [[0.01, 0.99]], [[0.9, 0.1]], [0.0]),
        ([0], [[0.1, 0.9]], [[0.9, 0.1]], [v]),
        ([1, 1], [[0, 1], [0, 1]], [[0, 1], [v, 1 - v]], [0.999, 0.999]),
    ]


def _uneven(rng: Generator) -> list[Case]:
    """One of the four is too long or too short; the first token is kept, or rejected at once."""
    cases: list[Case] = []
    for kinds in ([_S, _L, _S], [_U, _S]):
        whole = _round(rng, kinds)
        for i in range(4):
            for part in (whole[i][:-1], [*whole[i], whole[i][-1]]):
                cases.append((*whole[:i], part, *whole[i + 1 :]))
    arrays = tuple(map(np.array, _round(rng, [_S, _S])))
    return [*cases, (*arrays[:3], arrays[3][:1]), ([], [], [], [0.5]), ([], [[1.0]], [], [])]


ITEMS: dict[str, Item] = {
    "to_distribution": Item(
        "to_distribution",
        "lesson2",
        reference.to_distribution,
        (
            Cases(
                "softens with the temperature",
                0.3,
                "to_distribution with a temperature above 0",
                _softened,
                core=True,
                arrays=True,
            ),
            Cases(
                "puts all mass on one token at temperature 0",
                0.15,
                "to_distribution with temperature 0",
                _greedy,
                arrays=True,
            ),
            Cases(
                "survives logits of ±1000",
                0.15,
                "to_distribution with logits near ±1000, or a tiny temperature",
                _extreme,
                arrays=True,
                cause="exp() of a large number overflows, of very negative ones alone it gives 0 / 0",
                next_step="subtract the largest logit from all of them before exp(); the result is the same",
            ),
            Cases("keeps the top k only", 0.15, "to_distribution with top_k < V", _top_k, arrays=True),
            Cases(
                "keeps all when top_k is V or more", 0.05, "to_distribution with top_k >= V", _top_k_of_all
            ),
            Refuses(
                "refuses empty logits",
                0.05,
                "to_distribution without logits",
                lambda rng: [([], 1.0), (np.array([]), 0.5), ([], 0)],
            ),
            Refuses(
                "refuses a negative temperature",
                0.05,
                "to_distribution with temperature < 0",
                lambda rng: [
                    (_logits(rng, 3), -1),
                    (_logits(rng, 3), -0.01),
                    (np.array([1.0, 2.0]), -2.5, 1),
                ],
            ),
            Refuses(
                "refuses top_k below 1",
                0.1,
                "to_distribution with top_k < 1",
                lambda rng: [(_logits(rng, 3), 1, 0), (_logits(rng, 3), 0.5, -2), (_logits(rng, 3), 0, 0)],
            ),
        ),
        wrong=wrong.TO_DISTRIBUTION,
        mistakes=MISTAKES["to_distribution"],
    ),
    "accept_probability": Item(
        "accept_probability",
        "lesson2",
        reference.accept_probability,
        (
            Cases(
                "keeps an over-proposed token with p / q",
                0.4,
                "accept_probability with p_x < q_x",
                _over_proposed,
                core=True,
            ),
            Cases(
                "always keeps a token with p >= q", 0.3, "accept_probability with p_x >= q_x", _under_proposed
            ),
            Refuses(
                "refuses a q_x outside (0, 1]",
                0.15,
                "accept_probability with q_x <= 0 or q_x > 1",
                lambda rng: [(0.5, 0), (0, 0.0), (0.3, -0.2), (0.4, 1.2), (1, 1.5)],
            ),
            Refuses(
                "refuses a p_x outside [0, 1]",
                0.15,
                "accept_probability with p_x < 0 or p_x > 1",
                lambda rng: [(-0.1, 0.5), (1.1, 0.5), (-0.3, 1), (2, 1)],
            ),
        ),
        wrong=wrong.ACCEPT_PROBABILITY,
        mistakes=MISTAKES["accept_probability"],
    ),
    "acceptance_rate": Item(
        "acceptance_rate",
        "lesson2",
        reference.acceptance_rate,
        (
            Cases(
                "sums the overlap",
                0.45,
                "acceptance_rate of two distributions",
                _pairs,
                core=True,
                arrays=True,
            ),
            Cases(
                "is 1 for equal, 0 for disjoint distributions",
                0.1,
                "acceptance_rate of equal or disjoint p and q",
                _extreme_pairs,
                arrays=True,
            ),
            Cases(
                "takes a sum that misses 1 by rounding",
                0.1,
                "acceptance_rate with a sum off by less than 1e-6",
                _rounded_pairs,
                rtol=0,
                atol=1e-6,
            ),
            Refuses("refuses different lengths", 0.1, "acceptance_rate with len(p) != len(q)", _other_length),
            Refuses(
                "refuses a negative entry",
                0.1,
                "acceptance_rate with an entry below 0, in p or in q",
                _spoiled_pairs("negative"),
            ),
            Refuses(
                "refuses a sum that is not 1",
                0.15,
                "acceptance_rate with a sum off by more than 1e-6, in p or in q",
                _spoiled_pairs("sum"),
            ),
        ),
        wrong=wrong.ACCEPTANCE_RATE,
        mistakes=MISTAKES["acceptance_rate"],
    ),
    "accepted_prefix": Item(
        "accepted_prefix",
        "lesson2",
        reference.accepted_prefix,
        (
            Cases(
                "stops at the first rejection",
                0.4,
                "accepted_prefix with a rejection somewhere",
                _rejected,
                core=True,
                arrays=True,
            ),
            Cases(
                "counts all when none is rejected",
                0.25,
                "accepted_prefix without a rejection",
                _all_kept,
                arrays=True,
            ),
            Cases(
                "treats p = 0 and u = 0 right",
                0.1,
                "accepted_prefix with u = 0, or p = 0 for the token",
                _edges,
            ),
            Cases(
                "works without drafts",
                0.05,
                "accepted_prefix([], [], [], [])",
                lambda rng: [([], [], [], [])],
            ),
            Refuses(
                "refuses different lengths", 0.2, "accepted_prefix with one list of another length", _uneven
            ),
        ),
        wrong=wrong.ACCEPTED_PREFIX,
        mistakes=MISTAKES["accepted_prefix"],
    ),
}
