"""Lesson 6: when a frequency is too surprising to be chance, and slips in the words of the misconceptions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Answer
from specdec_helpers.checks.lesson6_mistakes import MISTAKES
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.table import error_advice
from specdec_helpers.checks.values import is_number, is_sequence

SURPRISE = 22.0  # nats: the chance that right code shows one such frequency is below 2·e^-22 = 6e-10
# Samples grow while a frequency is suspicious: (how many times the plan, the nats below which all is well). Right code
# goes on to a second sample once in ten times, to the third once in three hundred. A rule that is wrong enough to
# show 4.5 nats in the first shows SURPRISE in all three, which alone fails, at any of these looks.
STAGES = ((1, 4.5), (1, 7.0), (4, math.inf))


def surprise(counts: Sequence[int] | np.ndarray, row: Sequence[float] | np.ndarray) -> float:
    """How much `counts` (V) surprise if they are draws from `row` (V): the largest of all its frequencies, in nats.

    Chernoff: P(share at least this far off, on this side) <= exp(-nats), where
    nats = draws · KL(share || probability). Infinite where something impossible was seen.
    """
    trials = int(sum(counts))
    if trials == 0:
        return 0.0
    return max(
        trials * _divergence(int(hits) / trials, float(probability))
        for hits, probability in zip(counts, row, strict=True)
    )


def _divergence(share: float, probability: float) -> float:
    """KL(share || probability) of two coins."""
    nats = 0.0
    for seen, true in ((share, probability), (1 - share, 1 - probability)):
        if seen > 0:
            if true <= 1e-12:  # 0, but for rounding
                return math.inf
            nats += seen * math.log(seen / true)
    return nats


def unlikely(counts: Sequence[int] | np.ndarray, row: Sequence[float] | np.ndarray) -> bool:
    """Whether `counts` are too surprising to be chance: then right code fails less than once in 10^8 times."""
    return surprise(counts, row) > SURPRISE


def alike(order: np.ndarray) -> np.ndarray:
    """place[before, token]: the entry of a row that `token` has after `before`; here whatever `before` is."""
    return np.tile(order, (len(order), 1))


def circle(order: np.ndarray) -> np.ndarray:
    """place[before, token]: how far `token` is from the one after `before`, on a circle through all tokens."""
    place: np.ndarray = (order[None, :] - order[:, None] - 1) % len(order)
    return place


def slip_of(
    function: str, kind: str, got: str, expected: str, key: str, cause: str = "", step: str = ""
) -> Slip:
    """A slip in the words of a known misconception, or in those given."""
    if key:
        mistake = MISTAKES[function][key]
        cause, step = mistake.cause, mistake.next_step
    cause = cause or "the result does not have the form that the contract asks for"
    step = step or "compare with the docstring: what is returned, and in which order"
    return Slip(kind, got, expected, cause, step, key)


def error_slip(kind: str, answer: Answer, expected: str) -> Slip:
    """The slip of a call that raised: the built-in kind of its error, and nothing of its text."""
    assert answer.error is not None
    return Slip(
        kind, f"an error: {next(iter(answer.error.kinds), 'Exception')}", expected, *error_advice(answer)
    )


def tokens_of(value: Any) -> list[int] | None:
    """A plain sequence of whole numbers as a list; None for anything else."""
    if not is_sequence(value) or not all(
        is_number(item) and item % 1 == 0 for item in value
    ):  # inf % 1 is nan
        return None
    return [int(item) for item in value]
