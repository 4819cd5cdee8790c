"""Lesson 6: hidden trials of draft_block, speculative_decode, run_statistics and choose_k.

The sampled functions are judged three ways. Models log their calls, so that what was drafted, and what the target was
asked, is known and not claimed. At temperature 0 everything is exact. And where tokens are drawn, their frequencies
must fit: `lesson6_chance.unlikely` bounds the chance of failing right code, for any sample size, below one in a
million for a whole submission (Chernoff's bound, no normal approximation).
"""

from __future__ import annotations

import numpy as np

from specdec_helpers.checks.ask import Case
from specdec_helpers.checks.lesson6_mistakes import MISTAKES
from specdec_helpers.reference import lesson6 as reference

from .base import Cases, Custom, Item, Refuses
from .lesson6_block import drafts_are_drawn, drafts_in_order
from .lesson6_decode import greedy, on_shipped_models, structure
from .lesson6_sampling import follows_the_target
from .lesson6_wrong import WRONG

Generator = np.random.Generator


def _log(rng: Generator, k: int, length: int) -> Case:
    return rng.binomial(k, rng.uniform(0.2, 0.9), length).tolist(), k


def _logs(rng: Generator) -> list[Case]:
    """Logs of both kinds; also more drafts than in any example, and more than 255 accepted."""
    mixed = [([k, 0, *log[0]], k) for k in (1, 2, 4, 5, 20) for log in [_log(rng, k, 12)]]
    return [*mixed, _log(rng, 3, 30), ([6] * 60 + _log(rng, 6, 60)[0], 6), ([2, 0, 3, 1], 5)]


def _one_sided(rng: Generator) -> list[Case]:
    return [([4, 4, 4], 4), ([0, 0], 3), ([2], 2), ([0], 1), ([1], 1), ([1, 1, 1, 1], 4)]


def _bad_logs(rng: Generator) -> list[Case]:
    return [([], 4), ([1, 2], 0), ([0], 0), ([3, 5], 4), ([2, -1, 3], 4), ([0, 0], -1), ([4, 4, 9], 4)]


def _times(rng: Generator, a: float, draft_share: float, growth: float, length: int) -> Case:
    """Times of a machine: t_verify grows with the positions, with a little noise."""
    t_target = float(rng.uniform(0.2, 30))
    t_verify = t_target * (1 + growth * np.arange(length) + rng.uniform(0, 0.02, length))
    return a, t_target, t_verify.tolist(), t_target * draft_share


def _decided(case: Case) -> bool:
    """Whether the best k wins by enough that rounding cannot change it."""
    a, t_target, t_verify, t_draft = case
    speeds = [1.0] + [
        sum(a**i for i in range(k + 1)) * t_target / (t_verify[k] + k * t_draft)
        for k in range(1, len(t_verify))
    ]
    top = sorted(speeds)[-2:]
    return len(top) < 2 or top[1] - top[0] > 1e-6


def _machines(rng: Generator) -> list[Case]:
    cases = [
        _times(rng, a, draft_share, growth, length)
        for a in (0.45, 0.6, 0.75, 0.9)
        for draft_share in (0.01, 0.1, 0.25)
        for growth, length in ((0.05, 9), (0.12, 13))
    ]
    uneven = [
        (0.8, 10.0, [10.0, 11.0, 19.0, 12.0, 30.0, 13.5, 40.0], 0.5),
        (0.7, 1.0, [1.0, 1.2, 1.3, 1.3, 2.6], 0.02),
        (0.97, 10.0, [10.0 + 0.1 * k + 5.0 * (k > 20) for k in range(25)], 0.1),  # k = 20
        (
            0.9,
            1e-5,
            [1e-5, *[9.9e-5] * 17, 2e-5, *[9.9e-5] * 3],
            2e-7,
        ),  # k = 18, after nothing but losses; in seconds
    ]
    return [case for case in [*cases, *uneven] if _decided(case)]


def _losing(rng: Generator) -> list[Case]:
    """Nothing pays: a low, drafts dear, or a pass that costs as much as its positions."""
    cases = [_times(rng, 0.1, 0.3, 0.1, 9), _times(rng, 0.7, 0.9, 0.2, 7), _times(rng, 0.9, 0.05, 1.0, 8)]
    near = (0.3, 10.0, [12.0, 13.0, 15.0], 0.5)  # a pass over one position is dearer than plain decoding
    return [*cases, near, (0.8, 2.0, [2.0], 0.1), (0.0, 2.0, [2.0, 2.5, 3.0], 0.0)]


def _edges(rng: Generator) -> list[Case]:
    """a = 0 and a = 1, a free draft, exact ties, and what almost ties."""
    return [
        (1.0, 10.0, [10.0, 12.0, 14.0, 16.0], 1.0),
        (0.5, 2.0, [2.0, 2.0, 2.5], 1.0),  # k = 1: 1.5 · 2 / 3 = 1, a tie with plain decoding
        (0.5, 4.0, [4.0, 2.0, 2.0], 1.0),  # k = 1: 2; k = 2: 1.75
        (1.0, 8.0, [8.0, 4.0, 6.0, 8.0], 0.0),  # 4, 4, 4: three equal ones, the smallest wins
        (1, 6, [6, 7, 8], 0),
        (0.5, 10.0, [9.0, 13.3, 20.0], 1.0),  # k = 1: 1.05, though t_target / t_verify[0] is 1.11
        (0.6, 7.0, [7.0, 11.0], 0.2),  # k = 1: 1, and a little more by rounding: a tie
        (0.3, 9.0, [9.0, 11.5, 14.0], 0.2),  # the same
        # No ties: the larger k is faster, by 2 and by 7 parts in 10^8. What math.isclose takes for equal (10^-9) is
        # left alone. The decimals are few, so that fractions of them stay exact.
        (0.50053, 10.0007, [10.0007, 14.00635], 1.0),
        (0.5, 9.0, [9.0, 6.000003, 7.000003], 0.0),
        (0.0, 8.0, [8.0, 4.0, 6.0], 1.0),  # k = 1: nothing is accepted, but the pass is cheap enough
    ]


ITEMS: dict[str, Item] = {
    "draft_block": Item(
        "draft_block",
        "lesson6",
        reference.draft_block,
        (
            Custom("drafts k tokens, each after the ones before", 0.6, drafts_in_order, core=True),
            Custom("draws every token from its row, with the given generator", 0.4, drafts_are_drawn),
        ),
        mistakes=MISTAKES["draft_block"],
        unchanged=False,
    ),
    "speculative_decode": Item(
        "speculative_decode",
        "lesson6",
        reference.speculative_decode,
        (
            Custom("one target pass a verification, and a log that fits", 0.2, structure, core=True),
            Custom("equals plain greedy decoding at temperature 0", 0.25, greedy, core=True),
            Custom("follows the target's distribution", 0.45, follows_the_target),
            Custom("works with the shipped models", 0.1, on_shipped_models),
        ),
        mistakes=MISTAKES["speculative_decode"],
        unchanged=False,
    ),
    "run_statistics": Item(
        "run_statistics",
        "lesson6",
        reference.run_statistics,
        (
            Cases(
                "counts what was accepted and what was tested",
                0.5,
                "run_statistics with a mixed log",
                _logs,
                core=True,
            ),
            Cases(
                "works where all or none were accepted",
                0.2,
                "run_statistics with a one-sided log",
                _one_sided,
            ),
            Refuses(
                "refuses an impossible log",
                0.3,
                "run_statistics with k < 1, an empty log, or a count outside 0..k",
                _bad_logs,
            ),
        ),
        wrong=WRONG["run_statistics"],
        mistakes=MISTAKES["run_statistics"],
    ),
    "choose_k": Item(
        "choose_k",
        "lesson6",
        reference.choose_k,
        (
            Cases(
                "finds the k with the largest speed-up",
                0.6,
                "choose_k with measured times",
                _machines,
                core=True,
                arrays=True,
            ),
            Cases(
                "says 0 where nothing pays", 0.25, "choose_k where speculation loses", _losing, arrays=True
            ),
            Cases(
                "works at a = 0 and a = 1, and on ties",
                0.15,
                "choose_k at a = 0 or a = 1, or where several k are (almost) equal",
                _edges,
            ),
        ),
        wrong=WRONG["choose_k"],
        mistakes=MISTAKES["choose_k"],
    ),
}
