"""Lesson 3, Recover the difference: the visible examples."""

from __future__ import annotations

from functools import partial

import numpy as np

from .lesson3_mistakes import MISTAKES
from .table import Example as AnyExample
from .table import Exercise, Raises
from .table import numbers_example as probabilities

__all__ = ["EXERCISES", "MISTAKES"]

Example = partial(AnyExample, rtol=0, atol=1e-8)  # probabilities, and tokens

_P, _Q = [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]
_ACCEPT = [1, 1, 2 / 3, 0.25]  # min(1, p/q) of the two above
_LAST = [0.2, 0.1, 0.1, 0.6]

EXERCISES: dict[str, Exercise] = {
    "residual": Exercise(
        (
            probabilities(
                (_P, _Q),
                [0.75, 0.25, 0, 0],
                {
                    "not_normalised": [0.3, 0.1, 0, 0],
                    "softmax": [0.302996588284, 0.248072624906, 0.224465393405, 0.224465393405],
                    "turned_round": [0, 0, 0.25, 0.75],
                    "absolute": [0.375, 0.125, 0.125, 0.375],
                    "target_itself": _P,
                    "masked_target": [4 / 7, 3 / 7, 0, 0],
                },
            ),
            probabilities(
                (np.array([0.2, 0.5, 0.3]), np.array([0.2, 0.1, 0.7])),
                [0, 1, 0],
                {"not_normalised": [0, 0.4, 0], "turned_round": [0, 0, 1], "target_itself": [0.2, 0.5, 0.3]},
            ),
            probabilities(([1, 0], [0, 1]), [1, 0], {"turned_round": [0, 1], "absolute": [0.5, 0.5]}),
            probabilities(
                ([0.2, 0.8], [0.2, 0.8]),
                [0.2, 0.8],
                {"zeros_if_equal": [0, 0], "even_if_equal": [0.5, 0.5]},
            ),
            probabilities(
                ([0.3333333, 0.3333333, 0.3333333], [0.5, 0.25, 0.25]),
                [0, 0.5, 0.5],
                name="residual with thirds written as 0.3333333: the sum misses 1 by less than 1e-6",
                atol=1e-5,
            ),
            probabilities(([0.5, 0.5], [0.5, 0.5, 0]), Raises()),
            probabilities(([0.5, 0.5], [1.2, -0.2]), Raises()),
            probabilities(
                ([0.5, 0.500008], [0.5, 0.5]), Raises(), call="residual([0.5, 0.500008], [0.5, 0.5])"
            ),
        )
    ),
    "sample_from": Exercise(
        (
            Example((_P, 0.5), 1, {"likeliest": 0, "single_entries": 3, "counts_from_1": 2}),
            Example((np.array(_P), 0.95), 3, {"likeliest": 0, "counts_from_1": 4}),
            Example((_P, 0.2), 0, {"counts_from_1": 1}),
            Example(([0, 0.5, 0.5], 0.0), 1, {"at_least": 0, "counts_from_1": 2}),
            Example(
                ([0.5, 0.4999995, 0], 0.9999999),
                1,
                {"first_if_none": 0, "last_entry": 2, "past_the_end": 3},
                call="sample_from([0.5, 0.4999995, 0], 0.9999999)",
            ),
            Example(([0.5, 0.6], 0.2), Raises()),
            Example(([1.2, -0.2], 0.2), Raises()),
            Example(([0.5, 0.5], 1), Raises()),
            Example(([0.5, 0.5], -0.1), Raises()),
        )
    ),
    "emitted_distribution": Exercise(
        (
            probabilities(
                ([0.6, 0.4], [0.5, 1], [0.2, 0.8]),
                [0.36, 0.64],
                {
                    "kept_only": [0.3, 0.4],
                    "kept_normalised": [3 / 7, 4 / 7],
                    "unscaled": [0.5, 1.2],
                    "elementwise": [0.36, 0.4],
                    "rejected_by_token": [0.44, 0.88],
                    "unweighted": [0.35, 0.6],
                    "mixed": [0.48, 0.52],
                    "accept_ignored": [0.6, 0.4],
                },
            ),
            probabilities((_Q, _ACCEPT, [0.75, 0.25, 0, 0]), _P, {"kept_only": [0.1, 0.2, 0.2, 0.1]}),
            probabilities((np.array(_Q), np.array(_ACCEPT), np.array(_P)), [0.26, 0.32, 0.28, 0.14]),
            probabilities(([0.5, 0.5], [1, 1], [0, 1]), [0.5, 0.5], {"unscaled": [0.5, 1.5]}),
            probabilities(([0.5, 0.5], [0, 0], [0.3, 0.7]), [0.3, 0.7], {"kept_only": [0, 0]}),
        )
    ),
    "speculative_round": Exercise(
        (
            # Each of the named slips gives another answer here.
            Example(
                ([3], [_P, _P], [_Q], [0.5], 0.65),
                [0],
                {
                    "from_p": [1],
                    "from_softmax": [2],
                    "from_q": [3],
                    "correction_dropped": [],
                    "keeps_going": [0, 1],
                    "rejected_kept": [3, 0],
                    "always_accepted": [3, 1],
                },
                call="speculative_round([3], [P, P], [Q], [0.5], 0.65)",
            ),
            Example(
                ([3], [_P, _P], [_Q], [0.5], 0.8),
                [1],
                {"same_number": [0]},
                call="speculative_round([3], [P, P], [Q], [0.5], 0.8)",
            ),
            Example(
                ([0, 1], np.array([_P, _P, _LAST]), np.array([_Q, _Q]), np.array([0.9, 0.9]), 0.35),
                [0, 1, 2],
                {
                    "bonus_forgotten": [0, 1],
                    "bonus_from_residual": [0, 1, 3],
                    "bonus_from_last_draft_row": [0, 1, 0],
                },
                call="speculative_round([0, 1], np.array([P, P, [0.2, 0.1, 0.1, 0.6]]), np.array([Q, Q]), "
                "np.array([0.9, 0.9]), 0.35)",
            ),
            Example(
                ([1, 3], [_P, [0.1, 0.6, 0.2, 0.1], _LAST], [_Q, [0.1, 0.1, 0.1, 0.7]], [0.9, 0.5], 0.87),
                [1, 2],
                {"row_after": [1, 0], "row_before": [1, 1], "same_number": [1, 1]},
                call="speculative_round([1, 3], [P, [0.1, 0.6, 0.2, 0.1], [0.2, 0.1, 0.1, 0.6]], "
                "[Q, [0.1, 0.1, 0.1, 0.7]], [0.9, 0.5], 0.87)",
            ),
            Example(
                ([3, 0], [_P, _P, _P], [_Q, _Q], [0.5, 0.5], 0.65),
                [0],
                {"keeps_going": [0, 0, 1]},
                call="speculative_round([3, 0], [P, P, P], [Q, Q], [0.5, 0.5], 0.65)",
            ),
            Example(([], [[0.25, 0.75]], [], [], 0.5), [1], {"bonus_forgotten": []}),
            Example(
                ([0], [_P], [_Q], [0.5], 0.5),
                Raises(),
                call="speculative_round([0], [P], [Q], [0.5], 0.5)",
            ),
            Example(
                ([3], [_P, _P], [_Q, _Q], [0.5], 0.5),
                Raises(),
                call="speculative_round([3], [P, P], [Q, Q], [0.5], 0.5)",
            ),
            Example(
                ([3], [_P, _P], [_Q], [0.5, 0.5], 0.5),
                Raises(),
                call="speculative_round([3], [P, P], [Q], [0.5, 0.5], 0.5)",
            ),
        ),
        builds_on=("residual", "sample_from"),
    ),
}
