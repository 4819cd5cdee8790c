"""Lesson 5, When it pays: the visible examples.

All times of the examples are in milliseconds, but for one in seconds: the functions take any unit.
"""

from __future__ import annotations

from .lesson5_mistakes import MISTAKES
from .table import Example, Exercise, Raises

__all__ = ["EXERCISES", "MISTAKES"]

EXERCISES: dict[str, Exercise] = {
    "throughput": Exercise(
        (
            Example(
                (0.8, 4, 12, 1),
                3.3616 / 16,
                {
                    "extra_draft_step": 3.3616 / 17,
                    "accepted_only": 2.3616 / 16,
                    "all_accepted": 5 / 16,
                    "one_draft_step": 3.3616 / 13,
                    "draft_free": 3.3616 / 12,
                    "time_per_token": 16 / 3.3616,
                },
            ),
            Example((0.8, 4, 0.012, 0.001), 210.1, name="the same in seconds: 210.1 tokens/s"),
            Example((0.3, 2, 12, 4), 1.39 / 20, {"draft_free": 1.39 / 12, "one_draft_step": 1.39 / 16}),
            Example((1, 4, 12, 1), 5 / 16, {"extra_draft_step": 5 / 17, "accepted_only": 4 / 16}),
            Example((0, 3, 12, 1), 1 / 15, {"accepted_only": 0.0, "all_accepted": 4 / 15}),
            Example((0.5, 0, 12, 1), 1 / 12, {"extra_draft_step": 1 / 13, "accepted_only": 0.0}),
            Example(
                (0.8, 4, 12, 0), 3.3616 / 12, name="throughput(0.8, 4, 12, 0), a draft that costs nothing"
            ),
            Example((0.8, 4, 0, 1), Raises()),
            Example((0.8, 4, 12, -1), Raises()),
            Example((1.2, 4, 12, 1), Raises()),
            Example((0.8, -1, 12, 1), Raises()),
        ),
        unchanged=False,
    ),
    "speedup": Exercise(
        (
            Example(
                (0.8, 4, 10, 12, 1),
                2.101,
                {
                    "target_for_verify": 33.616 / 14,
                    "tokens_only": 3.3616,
                    "gain": 1.101,
                    "inverse": 16 / 33.616,
                    "throughput_only": 3.3616 / 16,
                    "divided_by_time": 3.3616 / 160,
                    "extra_draft_step": 33.616 / 17,
                },
            ),
            Example(
                (0.3, 4, 10, 12, 1),
                0.8906875,
                {"target_for_verify": 14.251 / 14, "gain": -0.1093125},
                name="speedup(0.3, 4, 10, 12, 1), a slow-down",
            ),
            Example((0.8, 0, 10, 12, 1), 10 / 12, {"plain_at_zero": 1.0, "extra_draft_step": 10 / 13}),
            Example((1, 4, 0.01, 0.012, 0.001), 3.125, name="speedup(1, 4, 0.01, 0.012, 0.001), in seconds"),
            Example((0, 4, 10, 12, 1), 0.625, {"tokens_only": 1.0, "target_for_verify": 10 / 14}),
            Example((0.8, 4, 0, 12, 1), Raises()),
            Example((0.8, 4, 10, 0, 1), Raises()),
            Example((0.8, 4, 10, 12, -1), Raises()),
            Example((-0.1, 4, 10, 12, 1), Raises()),
            Example((0.8, -1, 10, 12, 1), Raises()),
        ),
        unchanged=False,
        builds_on=("throughput",),
    ),
    "best_k": Exercise(
        (
            Example(
                (0.8, 10, 12, 1, 12),
                6,
                {"most_tokens": 12, "returns_speedup": 2.1952355555555556},
            ),
            Example((0.9, 10, 12, 1, 12), 11, {"most_tokens": 12, "returns_speedup": 3.1198715805173913}),
            Example((0.6, 10, 12, 1, 12), 3, {"most_tokens": 12, "returns_speedup": 1.4506666666666668}),
            Example((0.8, 10, 12, 4, 12), 3, {"most_tokens": 12, "returns_speedup": 1.23}),
            # Before the next one, where a k that is never 0 gives the same number.
            Example((0.05, 10, 8, 1, 12), 1, {"formula_at_zero": 0, "most_tokens": 12}),
            Example((0.2, 10, 12, 1, 12), 0, {"never_zero": 1, "formula_at_zero": 1, "most_tokens": 12}),
            Example((0.9, 10, 19, 1, 12), 12, {"stops_early": 0, "k_max_left_out": 11}),
            Example((1, 10, 12, 1, 5), 5, {"k_max_left_out": 4}),
            Example((0.8, 10, 12, 1, 0), 0),
            Example(
                (0.5, 16, 10, 2, 8),
                1,
                {"later_tie": 2},
                name="best_k(0.5, 16, 10, 2, 8), where k = 1 and k = 2 tie",
            ),
            Example(
                (0.3, 10, 12, 1, 12),
                0,
                {"never_zero": 1, "later_tie": 1},
                name="best_k(0.3, 10, 12, 1, 12), where k = 0 and k = 1 tie",
            ),
            Example(
                (0.3, 7, 8.1, 1, 12),
                0,
                {"later_tie": 1},
                name="best_k(0.3, 7, 8.1, 1, 12), a tie but for rounding in the 16th digit",
            ),
            Example(
                (0.3, 3, 3.4, 0.5, 12),
                0,
                {"later_tie": 1},
                name="best_k(0.3, 3, 3.4, 0.5, 12), a tie but for rounding",
            ),
            Example((0.8, 10, 12, 1, -1), Raises()),
        ),
        unchanged=False,
        builds_on=("speedup",),
    ),
    "break_even": Exercise(
        (
            Example(
                (1, 10, 12, 1),
                0.3,
                {"target_for_verify": 0.1, "ceiling": 1 - 1 / 1.3},
                rtol=0,
                atol=1.5e-6,
            ),
            Example(
                (4, 10, 12, 1),
                0.3799488670,
                {"straight_line": 0.15, "coarse": 0.38, "ceiling": 0.375, "target_for_verify": 0.2871078},
                rtol=0,
                atol=1.5e-6,
            ),
            Example(
                (8, 10, 12, 1), 0.5009941779, {"straight_line": 0.125, "ceiling": 0.5}, rtol=0, atol=1.5e-6
            ),
            Example(
                (1, 10, 8, 1),
                0.0,
                {"out_of_bounds": -0.1},
                rtol=0,
                atol=1.5e-6,
                name="break_even(1, 10, 8, 1), where a = 0 already suffices",
            ),
            Example(
                (2, 10, 12, 12),
                None,
                {"one_for_never": 1.0, "out_of_bounds": 1.1881943},
                rtol=0,
                atol=1.5e-6,
                name="break_even(2, 10, 12, 12), where even a = 1 is too slow",
            ),
        ),
        unchanged=False,
        builds_on=("speedup",),
    ),
}
