"""Lesson 6: when a frequency is too surprising to be chance, and slips in the words of the misconceptions."""

from __future__ import annotations

from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Answer
from specdec_helpers.checks.lesson6_mistakes import MISTAKES
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.table import error_advice
from specdec_helpers.checks.values import is_number, is_sequence

SURPRISE = 22.0  # nats: the chance that right code shows one such frequency is below 2·e^-22 = 6e-10


def unlikely(count: int, trials: int, probability: float) -> bool:
    """Whether `count` hits in `trials` draws of a known probability are too surprising to be chance.

    Chernoff: P(share at least this far off, on this side) <= exp(-trials · KL(share || probability)).
    """
    if trials == 0:
        return False
    share, surprise = count / trials, 0.0
    for seen, true in ((share, probability), (1 - share, 1 - probability)):
        if seen > 0:
            if true <= 0:
                return seen > 0
            surprise += seen * float(np.log(seen / true))
    return trials * surprise > SURPRISE


def misfit(counts: np.ndarray, rows: np.ndarray) -> bool:
    """Whether some row of counts (contexts, V) cannot come from that row of probabilities."""
    return any(
        unlikely(int(hits), int(row.sum()), float(probability))
        for row, truth in zip(counts, rows, strict=True)
        for hits, probability in zip(row, truth, strict=True)
    )


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
