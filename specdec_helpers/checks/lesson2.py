"""Lesson 2, Accept or reject: the visible examples."""

from __future__ import annotations

from functools import partial

import numpy as np

from .lesson2_mistakes import MISTAKES
from .table import Example as AnyExample
from .table import Exercise, Raises
from .table import numbers_example as probabilities

__all__ = ["EXERCISES", "MISTAKES"]

Example = partial(AnyExample, rtol=0, atol=1e-8)  # probabilities, and numbers of tokens

_P, _Q = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]

EXERCISES: dict[str, Exercise] = {
    "to_distribution": Exercise(
        (
            probabilities(
                ([2, 1, 0], 1),
                [0.665240955775, 0.244728471055, 0.090030573170],
                {"logits_divided": [2 / 3, 1 / 3, 0]},
            ),
            probabilities(
                ([2, 1, 0], 0.5),
                [0.866813332197, 0.117310427826, 0.015876239976],
                {
                    "temperature_multiplied": [0.506480391056, 0.307195885718, 0.186323723226],
                    "temperature_after": [1.33048191155, 0.48945694211, 0.180061146341],
                    "temperature_ignored": [0.665240955775, 0.244728471055, 0.090030573170],
                },
            ),
            probabilities(
                (np.array([0.0, 2.0, 1.0]), 2),
                [0.186323723226, 0.506480391056, 0.307195885718],
                {
                    "sorted_order": [0.506480391056, 0.307195885718, 0.186323723226],
                    "temperature_multiplied": [0.015876239976, 0.866813332197, 0.117310427826],
                    "temperature_ignored": [0.090030573170, 0.665240955775, 0.244728471055],
                },
            ),
            probabilities(
                ([-1, -3, -2], 1, 2),
                [0.731058578630, 0, 0.268941421370],
                {
                    "unmasked": [0.665240955775, 0.090030573170, 0.244728471055],
                    "not_renormalised": [0.665240955775, 0, 0.244728471055],
                    "smallest_kept": [0, 0.268941421370, 0.731058578630],
                    "sorted_order": [0.731058578630, 0.268941421370, 0],
                    "masked_with_zero": [0.244728471055, 0.665240955775, 0.090030573170],
                },
            ),
            probabilities(
                ([2, 1, 0], 1, 2),
                [0.731058578630, 0.268941421370, 0],
                {
                    "unmasked": [0.665240955775, 0.244728471055, 0.090030573170],
                    "not_renormalised": [0.665240955775, 0.244728471055, 0],
                    "smallest_kept": [0, 0.731058578630, 0.268941421370],
                },
            ),
            probabilities(([2, 1, 0], 1, 5), [0.665240955775, 0.244728471055, 0.090030573170]),
            probabilities(
                ([1, 3, 3], 0),
                [0, 1, 0],
                {
                    "ties_shared": [0, 0.5, 0.5],
                    "ties_all": [0, 1, 1],
                    "temperature_multiplied": [1 / 3, 1 / 3, 1 / 3],
                },
            ),
            probabilities(([1000, 0, -1000], 1), [1, 0, 0]),
            probabilities(([-1000, -1000], 0.5), [0.5, 0.5]),
            probabilities(([], 1), Raises()),
            probabilities(([2, 1, 0], -1), Raises()),
            probabilities(([2, 1, 0], 0, 0), Raises()),
        )
    ),
    "accept_probability": Exercise(
        (
            Example(
                (0.3, 0.5),
                0.6,
                {"inverted": 1.0, "all_or_nothing": 0.0, "independent_match": 0.15, "target_alone": 0.3},
            ),
            Example((0.5, 0.3), 1.0, {"no_min": 0.5 / 0.3, "inverted": 0.6, "target_alone": 0.5}),
            Example((0, 0.4), 0.0),
            Example((1, 1), 1.0),
            Example((0.3, 0), Raises()),
            Example((0.3, 1.2), Raises()),
            Example((-0.1, 0.5), Raises()),
            Example((1.2, 0.5), Raises()),
        )
    ),
    "acceptance_rate": Exercise(
        (
            Example(
                (_P, _Q),
                0.7,
                {
                    "matches": 0.31,
                    "distance": 0.3,
                    "no_half": 0.4,
                    "mean_of_ratios": 0.755555555556,
                    "only_where_p_wins": 0.2,
                    "maximum": 1.3,
                },
            ),
            Example(
                (np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.1, 0.2, 0.3, 0.4])),
                0.6,
                {"matches": 0.2, "distance": 0.4, "no_half": 0.2, "only_where_p_wins": 0.3, "maximum": 1.4},
            ),
            Example(([1, 0], [0, 1]), 0.0, {"distance": 1.0, "no_half": -1.0, "maximum": 2.0}),
            Example(([0.8, 0.2], [0.8, 0.2]), 1.0, {"matches": 0.68, "distance": 0.0}),
            Example(
                ([0.3333333, 0.3333333, 0.3333333], [0.25, 0.25, 0.5]),
                0.8333333,
                name="acceptance_rate with thirds written as 0.3333333: the sum misses 1 by less than 1e-6",
                atol=1e-6,
            ),
            Example(([0.5, 0.5], [0.5, 0.5, 0]), Raises()),
            Example(([1.2, -0.2], [0.5, 0.5]), Raises()),
            Example(
                ([0.5, 0.5], [0.5, 0.500008]), Raises(), call="acceptance_rate([0.5, 0.5], [0.5, 0.500008])"
            ),
        )
    ),
    "accepted_prefix": Exercise(
        (
            # Each of the named slips gives a number of its own here.
            Example(
                ([0, 1, 1, 0, 2], [_P] * 5, [_Q] * 5, [0.3, 0.2, 0.4, 0.9, 0.8]),
                4,
                {
                    "comparison_turned": 0,
                    "only_more_likely": 1,
                    "ignores_q": 2,
                    "ratio_inverted": 3,
                    "counts_the_rejected": 5,
                    "tokens_returned": [0, 1, 1, 0],
                },
                call="accepted_prefix([0, 1, 1, 0, 2], [P] * 5, [Q] * 5, [0.3, 0.2, 0.4, 0.9, 0.8])",
            ),
            Example(
                ([1, 0, 2], [_P, _P, _P], [_Q, _Q, _Q], [0.7, 0.1, 0.1]),
                0,
                {
                    "counts_all_kept": 2,
                    "counts_the_rejected": 1,
                    "tokens_returned": [],
                    "comparison_turned": 1,
                },
                call="accepted_prefix([1, 0, 2], [P] * 3, [Q] * 3, [0.7, 0.1, 0.1])",
            ),
            Example(
                ([0, 0, 1], np.array([_P, _P, _P]), np.array([_Q, _Q, _Q]), np.array([0.9, 0.99, 0.5])),
                3,
                {"counts_the_extra": 4, "ignores_q": 0, "comparison_turned": 0},
                call="accepted_prefix([0, 0, 1], np.array([P] * 3), np.array([Q] * 3), np.array([0.9, 0.99, 0.5]))",
            ),
            Example(
                ([1, 1], [[0.2, 0.8], [0.9, 0.1]], [[0.4, 0.6], [0.2, 0.8]], [0.5, 0.3]),
                1,
                {"first_row": 2, "counts_the_extra": 2, "ratio_inverted": 2},
            ),
            Example(([0], [[0, 1]], [[0.5, 0.5]], [0.0]), 0, {"less_or_equal": 1, "counts_the_extra": 1}),
            Example(([], [], [], []), 0, {"counts_the_extra": 1}),
            Example(
                ([0, 1], [_P, _P], [_Q, _Q], [0.5]),
                Raises(),
                call="accepted_prefix([0, 1], [P] * 2, [Q] * 2, [0.5])",
            ),
            # Token 1 is rejected at once, and still the lengths are wrong.
            Example(
                ([1, 0], [_P, _P, _P], [_Q, _Q], [0.9, 0.5]),
                Raises(),
                call="accepted_prefix([1, 0], [P] * 3, [Q] * 2, [0.9, 0.5])",
            ),
        ),
        builds_on=("accept_probability",),
    ),
}
