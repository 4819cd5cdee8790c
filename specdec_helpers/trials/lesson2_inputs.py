"""Lesson 2: the inputs that the hidden trials draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Case

Generator = np.random.Generator


def probabilities(rng: Generator, size: int) -> list[float]:
    """A distribution whose entries all differ; up to size 8, none is below about 0.02."""
    weights = rng.permutation(size) + rng.uniform(0.4, 0.9, size)
    return [float(w) for w in weights / weights.sum()]


# ---- to_distribution ------------------------------------------------------------------------------------


def logits(rng: Generator, size: int, scale: float = 1.0) -> list[float]:
    """Logits in random order, at least 0.3 * scale apart, of both signs."""
    return [
        float(x) * scale for x in rng.permutation(size) * 0.6 + rng.uniform(-0.1, 0.1, size) - 0.27 * size
    ]


def softened(rng: Generator) -> list[Case]:
    """Temperatures above 0: drawn logits, ints, one token alone, ties."""
    drawn: list[Case] = [
        (logits(rng, size), float(t)) for size, t in zip((3, 5, 40, 4), rng.uniform(0.3, 2.5, 4), strict=True)
    ]
    again = drawn[-1][0]  # the same logits at another temperature: a cache must know the difference
    return [*drawn, (again, 3.5), ([3, -13, 0, 2], 1), ([-2, -5, -3], 2), ([7.5], 0.7), ([1, 1, 0.5, 1], 0.5)]


def greedy(rng: Generator) -> list[Case]:
    """Temperature 0: drawn logits, ties, almost ties, all of them negative, together with top_k; an int, a float."""
    low = [x - 9.0 for x in logits(rng, 5)]
    almost = float(rng.uniform(2.1, 2.9))
    return [
        (low, 0),
        (logits(rng, 4), 0.0),
        ([1, 4, 4, 0], 0),
        ([-3, -3, -3], 0),
        (logits(rng, 4), 0, 2),
        ([almost, almost + 1e-9], 0),  # no tie: nothing may be rounded
    ]


def extreme(rng: Generator) -> list[Case]:
    """What overflows or underflows without the shift by the largest logit."""
    a, b = (float(x) for x in rng.uniform(0.1, 3, 2))
    return [
        ([1000, 1000 - a, -1000], 1),
        ([-1000 - a, -1000, -1000 - b], 0.5),
        ([1000.0, 0.0, -1000.0, 1000.0 - b], 2.0, 3),
        ([a, 0.0, a + 2e-5], 1e-5),
        ([-1000, 1000, -1000.0], 1),  # the mean is far below the largest
        ([-1001, -1040.0, -1000, -1002], 1, 3),  # whoever rules a logit out by -100 makes it the largest
        ([1000.0, 0, -1000], 1000),  # such differences count where the temperature is high
    ]


def top_k(rng: Generator) -> list[Case]:
    """Fewer tokens than V, in random order, also with all logits negative, or almost equal."""
    negative = [x - 5.0 for x in logits(rng, 6)]
    return [
        (logits(rng, 6), 1, 2),
        (negative, 0.7, 3),
        (logits(rng, 5), 4.0, 1),
        (logits(rng, 26), 8.0, 25),
        ([0.5, -1, 2, 0.50004], 2, 2),
    ]


def top_k_of_all(rng: Generator) -> list[Case]:
    """top_k = V, above V, or None."""
    return [(logits(rng, 4), 1, 4), (logits(rng, 3), 0.5, 50), (logits(rng, 5), 1.3, None)]


# ---- accept_probability ---------------------------------------------------------------------------------


def over_proposed(rng: Generator) -> list[Case]:
    """p below q: the ratio counts."""
    drawn: list[Case] = [
        (float(q * f), float(q))
        for q, f in zip(rng.uniform(0.2, 0.95, 4), rng.uniform(0.05, 0.9, 4), strict=True)
    ]
    # 2/3 in single precision is off by 2e-8. A rare token is a token like any other, and almost 1 is not 1.
    return [*drawn, (0.6, 0.9), (np.float64(0.1), np.float64(0.4)), (2e-11, 5e-11), (0.5 - 4e-7, 0.5)]


def under_proposed(rng: Generator) -> list[Case]:
    """p at or above q: always kept."""
    drawn: list[Case] = [
        (float(p), float(p * f))
        for p, f in zip(rng.uniform(0.2, 0.95, 4), rng.uniform(0.05, 0.9, 4), strict=True)
    ]
    return [*drawn, (0.5, 0.5), (np.float64(0.75), np.float64(0.5))]


def bounds(rng: Generator) -> list[Case]:
    """0 and 1 are probabilities, as ints and as floats."""
    v = float(rng.uniform(0.1, 0.9))
    return [(0, 1), (0.0, v), (v, 1), (v, 1.0), (1, 1), (1, v), (1.0, 0.01)]


# ---- acceptance_rate ------------------------------------------------------------------------------------


def pairs(rng: Generator) -> list[Case]:
    """Two distributions of the same length; each is sometimes the larger one."""
    drawn: list[Case] = [(probabilities(rng, size), probabilities(rng, size)) for size in (2, 3, 5, 30)]
    fixed: list[Case] = [
        ([0.7, 0.1, 0.2], [0.3, 0.3, 0.4]),
        ([0.1, 0.2, 0.3, 0.4], [0.1003, 0.1997, 0.3, 0.4]),
        ([0.5, 0.5, 0], [0, 0.25, 0.75]),
    ]
    return [*drawn, *fixed]


def extreme_pairs(rng: Generator) -> list[Case]:
    """The same distribution twice, no common token, one token alone."""
    p = probabilities(rng, 4)
    return [(p, p), ([1, 0, 0], [0, 0.5, 0.5]), ([1], [1]), ([1, 0], [0.2, 0.8]), ([0, 1.0], [0, 1.0])]


def rounded_pairs(rng: Generator) -> list[Case]:
    """Sums that miss 1 by rounding, by 8e-7 at most: they are distributions."""
    p = probabilities(rng, 3)
    return [
        ([0.1] * 10, [0.1] * 9 + [0.0999992]),
        ([0.3333333] * 3, p),
        (p, [0.6666667, 0.3333334, 0.0000007]),
    ]


def other_length(rng: Generator) -> list[Case]:
    """Two distributions of different lengths, also such that differ by a token of probability 0."""
    p = probabilities(rng, 4)
    cases: list[Case] = [([*p, 0.0], p), (p, [*p, 0.0]), ([0.5, 0.5], [1.0]), ([1.0], p), (p, [0.25, 0.75])]
    return [*cases, tuple(map(np.array, cases[0])), tuple(map(np.array, cases[4]))]


def spoiled(rng: Generator, size: int = 4) -> dict[str, list[list[float]]]:
    """What is no distribution: with a negative entry (sum 1), and with a wrong sum (no negative entry)."""
    p = probabilities(rng, size)
    low, high = int(np.argmin(p)), int(np.argmax(p))
    negative = list(p)
    negative[low], negative[high] = -p[low], p[high] + 2 * p[low]
    return {
        "negative": [negative, [-0.5, 1.5, *[0.0] * (size - 2)], [*[0.0] * (size - 2), 1 + 8e-7, -8e-7]],
        "sum": [[x * f for x in p] for f in (1 + 1.5e-6, 1 - 1.5e-6, float(rng.uniform(1.1, 2)), 0.5)]
        + [[0.0] * size],
    }


def spoiled_pairs(kind: str) -> Any:
    """Pairs in which p, q or both are no distribution, for the given reason."""

    def draw(rng: Generator) -> list[Case]:
        good = probabilities(rng, 4)
        cases: list[Case] = [
            pair for bad in spoiled(rng)[kind] for pair in ((bad, good), (good, bad), (bad, bad))
        ]
        if kind == "sum":  # what p has too much, q has too little
            cases.append(([x * 1.2 for x in good], [x * 0.8 for x in good]))
        return [*cases, (np.array(cases[0][0]), np.array(good)), (np.array(good), np.array(cases[0][0]))]

    return draw


# ---- accepted_prefix ------------------------------------------------------------------------------------


def position(rng: Generator, kind: str) -> tuple[int, list[float], list[float], float]:
    """(token, p row, q row, u) of one position.

    kind: "sure" the target gives the token more than the draft did, and u is near 1; "lucky" less, with u below the
    ratio; "unlucky" less, with u above it: by about a millionth of it.
    """
    p, q = (probabilities(rng, 5) for _ in range(2))
    x = int(rng.integers(5))
    more, less = float(rng.uniform(0.5, 0.7)), float(rng.uniform(0.15, 0.35))
    p, q = _with(p, x, more if kind == "sure" else less), _with(q, x, less if kind == "sure" else more)
    ratio = p[x] / q[x]
    u = {
        "sure": 1 - rng.uniform(1e-5, 1e-4),
        "lucky": ratio * (1 - rng.uniform(5e-7, 1.2e-6)),
        "unlucky": ratio * (1 + rng.uniform(5e-7, 1.2e-6)),
    }[kind]
    return x, p, q, float(u)


def _with(row: list[float], x: int, mass: float) -> list[float]:
    """The row with probability `mass` at x, the other entries scaled to fit."""
    scale = (1 - mass) / (1 - row[x])
    return [mass if token == x else value * scale for token, value in enumerate(row)]


def _round(rng: Generator, kinds: Sequence[str]) -> Case:
    columns = list(zip(*(position(rng, kind) for kind in kinds), strict=True)) or [(), (), (), ()]
    draft, p_rows, q_rows, u = map(list, columns)
    return draft, p_rows, q_rows, u


_S, _L, _U = "sure", "lucky", "unlucky"


def rejected(rng: Generator) -> list[Case]:
    """Rounds with a rejection at every place, and kept tokens behind it."""
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


def all_kept(rng: Generator) -> list[Case]:
    """Rounds without a rejection."""
    return [
        _round(rng, kinds) for kinds in ([_S], [_L], [_L, _S], [_S, _S, _L], [_L, _L, _L, _S], [_L, _S] * 8)
    ]


def edges(rng: Generator) -> list[Case]:
    """A token that the target never picks is rejected even by u = 0; any other is kept by u = 0, however rare it is."""
    v = float(rng.uniform(0.2, 0.8))
    return [
        ([1], [[1.0, 0.0]], [[v, 1 - v]], [0.0]),
        ([0, 1], [[0.1, 0.9], [1, 0]], [[0.9, 0.1], [v, 1 - v]], [0.0, 0.0]),
        ([0], [[0.01, 0.99]], [[0.9, 0.1]], [0.0]),
        ([0], [[0.1, 0.9]], [[0.9, 0.1]], [v]),
        ([0, 0], [[1e-5, 0.99999]] * 2, [[4e-5, 0.99996]] * 2, [0.2, 0.3]),
        ([0], [[0.48, 0.52]], [[0.5, 0.5]], [0.97]),
        ([1, 1], [[0, 1], [0, 1]], [[0, 1], [v, 1 - v]], [0.999, 0.999]),
    ]


def two_uneven(whole: tuple[Any, ...], in_sum: bool) -> list[Case]:
    """Two of the four are spoiled: they still fit each other, or (`in_sum`) all lengths together seem right."""
    if in_sum:
        pairs = ((1, 2), (2, 3), (1, 3))
        changed = [{longer: [*whole[longer], whole[longer][-1]], i: whole[i][:-1]} for longer, i in pairs]
    else:
        changed = [{i: [*whole[i], whole[i][-1]] for i in (0, other)} for other in (1, 2, 3)]
    return [tuple(parts.get(i, part) for i, part in enumerate(whole)) for parts in changed]


def uneven(rng: Generator) -> list[Case]:
    """One of the four is too long or too short, or two are; the first token is kept, or rejected at once."""
    cases: list[Case] = []
    for kinds in ([_S, _L, _S], [_U, _S]):
        whole = _round(rng, kinds)
        for i in range(4):
            for part in (whole[i][:-1], [*whole[i], whole[i][-1]]):
                cases.append((*whole[:i], part, *whole[i + 1 :]))
        cases += two_uneven(whole, kinds[0] == _U)
    arrays = tuple(map(np.array, _round(rng, [_S, _S])))
    return [*cases, (*arrays[:3], arrays[3][:1]), ([], [], [], [0.5]), ([], [[1.0]], [], [])]
