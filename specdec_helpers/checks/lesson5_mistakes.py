"""Lesson 5, When it pays: the misconceptions in words."""

from __future__ import annotations

from .table import Mistake

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
        "divided_by_time": Mistake(
            "the throughput is divided by t_target",
            "speedup(0.8, 4, 10, 12, 1) gives 0.02101",
            "t_target is a time; the target alone makes 1 / t_target tokens per unit of time",
            "divide by 1 / t_target, which is the same as multiplying by t_target",
            listed=False,
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
            "a later k replaces the best one although it is not faster, or only by rounding",
            "move on only where the speed-up exceeds best · (1 + 1e-12)",
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
