"""Lesson 5, When it pays: the visible examples and the misconceptions in words.

All times of the examples are in milliseconds, but for one in seconds: the functions take any unit.
"""

from __future__ import annotations

from .table import Example, Exercise, Mistake, Raises

MISTAKES: dict[str, dict[str, Mistake]] = {
    "throughput": {
        "extra_draft_step": Mistake(
            "k + 1 draft steps are paid",
            "throughput(0.8, 4, 12, 1) gives 0.197741",
            "the cost holds one draft step more than there are drafted tokens",
            "the draft runs k times; the extra token comes out of the verification pass, at no further cost",
        ),
        "accepted_only": Mistake(
            "the target's own token is left out",
            "throughput(0.8, 4, 12, 1) gives 0.1476",
            "only accepted drafts are counted, a + … + a^k",
            "every verification also yields one token of the target: begin the sum with 1",
        ),
        "all_accepted": Mistake(
            "every draft is taken as accepted",
            "throughput(0.8, 4, 12, 1) gives 0.3125",
            "k + 1 tokens a round is right for a = 1 only",
            "use the expected number of tokens, 1 + a + … + a^k",
        ),
        "one_draft_step": Mistake(
            "the draft is paid once instead of k times",
            "throughput(0.8, 4, 12, 1) gives 0.258585",
            "the draft makes its tokens one after the other, so it runs k times a round",
            "a round costs t_verify + k * t_draft",
        ),
        "draft_free": Mistake(
            "the draft is not paid at all",
            "throughput(0.8, 4, 12, 1) gives 0.280133",
            "the tokens are divided by the verification alone",
            "a round costs t_verify + k * t_draft",
        ),
        "time_per_token": Mistake(
            "time per token instead of tokens per time",
            "throughput(0.8, 4, 12, 1) gives 4.75964",
            "the fraction is upside down",
            "throughput is tokens divided by time",
        ),
    },
    "speedup": {
        "target_for_verify": Mistake(
            "t_target is used where t_verify belongs",
            "speedup(0.8, 4, 10, 12, 1) gives 2.40114",
            "a pass over k + 1 positions costs t_verify, which may be more than t_target",
            "t_target belongs in the baseline only: one token every t_target",
        ),
        "tokens_only": Mistake(
            "expected tokens are taken for the speed-up",
            "speedup(0.8, 4, 10, 12, 1) gives 3.3616",
            "tokens per verification say nothing about what a round costs",
            "divide by the cost of the round and multiply by t_target",
        ),
        "gain": Mistake(
            "the gain is reported instead of the ratio",
            "speedup(0.8, 4, 10, 12, 1) gives 1.101",
            "1 was subtracted: 110 % more is a speed-up of 2.1",
            "return the ratio of the two throughputs; 1 means equally fast",
        ),
        "inverse": Mistake(
            "the ratio is upside down",
            "speedup(0.8, 4, 10, 12, 1) gives 0.475964",
            "the baseline was divided by the speculative throughput",
            "speculative throughput over baseline throughput: above 1 means faster",
        ),
        "throughput_only": Mistake(
            "the throughput is not compared with anything",
            "speedup(0.8, 4, 10, 12, 1) gives 0.2101",
            "the baseline, 1 / t_target tokens per unit of time, is missing",
            "divide by 1 / t_target, which is the same as multiplying by t_target",
        ),
        "extra_draft_step": Mistake(
            "k + 1 draft steps are paid",
            "speedup(0.8, 4, 10, 12, 1) gives 1.97741",
            "the cost holds one draft step more than there are drafted tokens",
            "a round costs t_verify + k * t_draft",
        ),
        "plain_at_zero": Mistake(
            "k = 0 is taken for plain decoding",
            "speedup(0.8, 0, 10, 12, 1) gives 1",
            "this function verifies even an empty draft, and that pass costs t_verify",
            "use the same formula for k = 0 (only `best_k` treats k = 0 as plain decoding)",
        ),
    },
    "best_k": {
        "never_zero": Mistake(
            "k = 0 is never the answer",
            "best_k(0.2, 10, 12, 1, 12) gives 1",
            "the best k of 1 … k_max is taken even where it slows decoding down",
            "begin with k = 0 and speed-up 1, and move on only for something larger",
        ),
        "most_tokens": Mistake(
            "the k with the most expected tokens is taken",
            "best_k(0.8, 10, 12, 1, 12) gives 12",
            "expected tokens always grow with k; the cost of the round was left out",
            "compare speed-ups",
        ),
        "formula_at_zero": Mistake(
            "k = 0 goes through the formula",
            "best_k(0.05, 10, 8, 1, 12) gives 0",
            "with k = 0 the formula gives t_target / t_verify, but plain decoding has speed-up exactly 1",
            "use speed-up 1 for k = 0 and the formula from k = 1 on",
        ),
        "later_tie": Mistake(
            "a tie goes to the larger k",
            "best_k(0.5, 16, 10, 2, 8) gives 2",
            "a later k replaces the best one although it is not faster",
            "move on only where the speed-up is really larger",
        ),
        "k_max_left_out": Mistake(
            "k_max itself is not tried",
            "best_k(1, 10, 12, 1, 5) gives 4",
            "range(k_max) ends one before k_max",
            "loop over range(1, k_max + 1)",
        ),
        "stops_early": Mistake(
            "the search stops at the first k that does not improve",
            "best_k(0.9, 10, 19, 1, 12) gives 0",
            "one drafted token may not pay for a dear verification where several do",
            "look at every k from 1 to k_max",
        ),
        "returns_speedup": Mistake(
            "the speed-up is returned instead of k",
            "best_k(0.8, 10, 12, 1, 12) gives 2.19524",
            "the best value was kept, not where it was found",
            "return the k that gave it",
        ),
    },
    "break_even": {
        "one_for_never": Mistake(
            "1.0 is returned where no rate is enough",
            "break_even(2, 10, 12, 12) gives 1",
            "the search ends at a = 1 and nobody asks whether a = 1 pays",
            "first test a = 1: if its speed-up is below 1, return None",
        ),
        "target_for_verify": Mistake(
            "t_target is used where t_verify belongs",
            "break_even(1, 10, 12, 1) gives 0.1",
            "the round was charged t_target + k * t_draft",
            "E[N] must reach (t_verify + k * t_draft) / t_target",
        ),
        "straight_line": Mistake(
            "E[N] is taken for 1 + k a",
            "break_even(4, 10, 12, 1) gives 0.15",
            "later drafts count only if all before them were accepted, so E[N] is no straight line in a",
            "halve the interval [0, 1] again and again with your `speedup`",
        ),
        "ceiling": Mistake(
            "E[N] is taken for its ceiling 1 / (1 - a)",
            "break_even(1, 10, 12, 1) gives 0.230769",
            "1 / (1 - a) is reached with k without bound only",
            "use the finite sum 1 + a + … + a^k, best through your `speedup`",
        ),
        "coarse": Mistake(
            "the grid is too coarse",
            "break_even(4, 10, 12, 1) gives 0.38",
            "the rate is only as exact as the steps that were tried, or it was rounded",
            "halve the interval at least 20 times: 2 ** -20 is below 1e-6",
        ),
        "out_of_bounds": Mistake(
            "a rate outside [0, 1] comes back",
            "break_even(1, 10, 8, 1) gives -0.1",
            "the equation was solved without its bounds",
            "return 0.0 if a = 0 already suffices, and None if a = 1 does not",
        ),
    },
}


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
            Example((0.2, 10, 12, 1, 12), 0, {"never_zero": 1, "formula_at_zero": 1, "most_tokens": 12}),
            Example((0.05, 10, 8, 1, 12), 1, {"formula_at_zero": 0, "most_tokens": 12}),
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
                {"never_zero": 1, "later_tie": 1},
                name="best_k(0.3, 7, 8.1, 1, 12), a tie but for rounding in the 16th digit",
            ),
            Example(
                (0.3, 3, 3.4, 0.5, 12),
                0,
                {"never_zero": 1, "later_tie": 1},
                name="best_k(0.3, 3, 3.4, 0.5, 12), a tie but for rounding",
            ),
            Example((0.8, 10, 12, 1, -1), Raises()),
        ),
        unchanged=False,
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
    ),
}
