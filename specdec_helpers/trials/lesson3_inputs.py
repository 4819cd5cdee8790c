"""Lesson 3: the inputs that the hidden trials of residual, sample_from and emitted_distribution draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specdec_helpers.checks.ask import Case
from specdec_helpers.reference.lesson3 import residual

from .lesson2_inputs import probabilities, spoiled

Generator = np.random.Generator
Row = list[float]


# ---- residual -------------------------------------------------------------------------------------------


def pairs(rng: Generator) -> list[Case]:
    """Two distributions of the same length that differ somewhere, also by very little."""
    drawn: list[Case] = [(probabilities(rng, size), probabilities(rng, size)) for size in (2, 3, 5, 30)]
    near, moved = [0.25] * 4, [0.25 + 8e-7, 0.25 + 1.2e-6, 0.25 - 2e-6, 0.25]
    fixed: list[Case] = [
        ([0.7, 0.1, 0.2], [0.3, 0.3, 0.4]),
        ([0.5, 0.4, 0.1], [0.3, 0.3, 0.4]),
        ([0.7, 0.1, 0.2], [0.4, 0.0, 0.6]),  # the same p, the same q: either alone says nothing
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
    """Sums that miss 1 by 8e-7 at most."""
    p = probabilities(rng, 3)
    return [
        ([0.3333333] * 3, [p[0] / 2, p[1] / 2, 1 - p[0] / 2 - p[1] / 2]),
        (p, [0.6666667, 0.3333334, 0.0000007]),
    ]


# ---- sample_from ----------------------------------------------------------------------------------------


FINE = [0.3030004, 0.45, 0.2469996]
BESIDE_STEPS = (
    0.3030002,
    0.3030006,
    0.7530002,
    0.7530006,
)  # below and above each step: nothing may be rounded


def inside(rng: Generator, probs: Sequence[float], token: int) -> float:
    """A uniform that selects `token`, a tenth of its width away from both of its edges at least."""
    low = float(np.sum(probs[:token]))
    return low + float(probs[token]) * float(rng.uniform(0.1, 0.9))


def every_token(rng: Generator) -> list[Case]:
    """Tokens of drawn distributions are selected in random order, the last one too; neighbours share a distribution."""
    cases: list[Case] = []
    for size in (2, 4, 20):
        probs = probabilities(rng, size)
        tokens = [*rng.permutation(size - 1)[:4], size - 1]
        cases += [(probs, inside(rng, probs, int(token))) for token in tokens]
    cases += [(FINE, u) for u in BESIDE_STEPS]
    cases.append(([0.3, 5e-7, 0.6999995], 0.30000025))  # a rare token is a token like any other
    cases.append(([0.25, 0.7500008], 0.5))  # a sum a little above 1 is rounding too
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
        ([0.4, 0.5999992, 1e-7, 0.0], 0.99999995),
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
    return [(p, 1), (p, 1.0), (p, -5e-7), (p, 1.3), (np.array(p), -1), ([1.0], 1)]


# ---- emitted_distribution -------------------------------------------------------------------------------


def positions(rng: Generator) -> list[Case]:
    """Any accept probabilities and any replacement."""
    cases: list[Case] = [
        (
            probabilities(rng, size),
            [float(x) for x in rng.uniform(0.05, 0.95, size)],
            probabilities(rng, size),
        )
        for size in (2, 3, 4, 24)
    ]
    return [*cases, ([0.5, 0.25, 0.25], [1, 0.5, 0], [0, 0, 1]), ([0.2, 0.8], [0, 1], [0.5, 0.5])]


def one_sided(rng: Generator) -> list[Case]:
    """Everything kept, or everything replaced; or almost."""
    q, r = probabilities(rng, 4), probabilities(rng, 4)
    return [
        (q, [1, 1, 1, 1], r),
        (q, [0, 0, 0, 0], r),
        ([1], [1], [1]),
        (q, [1.0] * 4, [0, 0, 0, 1]),
        ([0.4, 0.6], [0.999999, 1], [0.3, 0.7]),
        ([1e-6, 0.4, 0.599999], [0.9, 1e-6, 1e-6], [1e-6, 0.5, 0.499999]),
    ]


def proofs(rng: Generator) -> list[Case]:
    """The rule of lesson 2 with the residual: what comes out is p."""
    cases: list[Case] = []
    for size in (2, 4, 5):
        p, q = probabilities(rng, size), probabilities(rng, size)
        accept = [min(1.0, p_x / q_x) for p_x, q_x in zip(p, q, strict=True)]
        cases += [(q, accept, residual(p, q)), (q, accept, p)]
    return cases
