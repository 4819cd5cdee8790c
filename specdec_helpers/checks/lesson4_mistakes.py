"""Lesson 4, Expected progress: the misconceptions in words."""

from __future__ import annotations

from .table import Mistake

MISTAKES: dict[str, dict[str, Mistake]] = {
    "expected_tokens": {
        "bonus_forgotten": Mistake(
            "only the accepted drafts are counted",
            "expected_tokens(0.8, 4) gives 2.3616",
            "the token that the target always supplies is missing: the sum starts at a instead of 1",
            "start the sum with a^0 = 1",
        ),
        "power_short": Mistake(
            "the sum is one power short",
            "expected_tokens(0.8, 4) gives 2.952",
            "the sum ends at a^(k-1), as in (1 - a^k) / (1 - a)",
            "k drafts give k + 1 terms: the last one is a^k, the numerator is 1 - a^(k+1)",
        ),
        "ceiling": Mistake(
            "the limit for endless drafts is returned",
            "expected_tokens(0.8, 4) gives 5",
            "1 / (1 - a) is the sum of all powers of a; k does not occur in it",
            "stop the sum at a^k: only k tokens are drafted",
            listed=False,
        ),
        "linear": Mistake(
            "every draft is counted as accepted with probability a",
            "expected_tokens(0.8, 4) gives 4.2",
            "1 + k·a forgets that a later draft counts only if all before it were accepted",
            "draft number n is kept with probability a^n: add these powers",
            listed=False,
        ),
        "rounded": Mistake(
            "the result is rounded",
            "expected_tokens(0.3, 5) gives 1.4275",
            "the number is rounded inside the function",
            "return the full number; round only where you print it",
            listed=False,
        ),
        "no_limit": Mistake(
            "a = 1 divides by zero",
            "expected_tokens(1, 4) stops with ZeroDivisionError, or gives nan",
            "the closed form (1 - a^(k+1)) / (1 - a) is 0 / 0 at a = 1",
            "treat a = 1 on its own (the answer is k + 1), or add the powers one by one",
        ),
    },
    "accepted_distribution": {
        "last_too_small": Mistake(
            "the last entry has a factor too many",
            "accepted_distribution(0.8, 4) ends with 0.08192",
            "after k accepted drafts nothing is left to reject, so there is no factor 1 - a",
            "the last entry is a^k; then the list sums to 1",
        ),
        "at_least": Mistake(
            "at least n instead of exactly n",
            "accepted_distribution(0.8, 4) gives [1, 0.8, 0.64, 0.512, 0.4096]",
            "a^n is the probability that the first n drafts are accepted, whatever comes next",
            "for exactly n < k the next draft must be rejected: multiply by 1 - a",
        ),
        "binomial": Mistake(
            "accepted drafts are counted anywhere in the block",
            "accepted_distribution(0.8, 4) gives [0.0016, 0.0256, 0.1536, 0.4096, 0.4096]",
            "the binomial formula also counts agreements behind a rejection, but these are discarded",
            "exactly n accepted means: the first n accepted, number n + 1 rejected",
            listed=False,
        ),
        "entry_missing": Mistake(
            "the case of all k accepted is missing",
            "accepted_distribution(0.8, 4) has four entries",
            "n runs from 0 to k: these are k + 1 cases",
            "append a^k, the probability that all k are accepted",
            listed=False,
        ),
    },
    "expected_from_distribution": {
        "one_forgotten": Mistake(
            "the target's own token is left out",
            "expected_from_distribution(0.8, 4) gives 2.3616",
            "the sum of n · P(n) is the number of accepted drafts only",
            "tokens produced = accepted + 1: add 1",
        ),
        "one_too_many": Mistake(
            "the extra token is added twice",
            "expected_from_distribution(0.8, 4) gives 4.3616",
            "(n + 1) · P(n) already contains the extra token, and 1 is added again",
            "use either 1 + sum of n · P(n) or the sum of (n + 1) · P(n)",
            listed=False,
        ),
        "last_left_out": Mistake(
            "the case of all k accepted is left out",
            "expected_from_distribution(0.8, 4) gives 1.7232",
            "the sum runs over n < k only",
            "let n run over all k + 1 entries of the distribution",
        ),
        "plain_mean": Mistake(
            "the entries are averaged instead of weighted",
            "expected_from_distribution(0.8, 4) gives 1.2",
            "the mean of the k + 1 probabilities says nothing about counts",
            "weight each count n with its probability: n · P(n)",
            listed=False,
        ),
    },
    "simulate": {
        "bonus_forgotten": Mistake(
            "only the accepted drafts are counted",
            "simulate(1, 4, 10, 0) gives 4",
            "the token that the target always supplies is missing in every round",
            "count accepted drafts plus one for each round",
        ),
        "no_stop": Mistake(
            "a round goes on after a rejection",
            "simulate(0.8, 4, …) comes near 4.2 instead of 3.36",
            "drafts behind a rejection are counted, or one random number decides about all k drafts",
            "draw a fresh number for each draft and stop the round at the first rejection",
        ),
        "uncapped": Mistake(
            "a round accepts more than k drafts",
            "simulate(0.8, 4, …) comes near 5 instead of 3.36",
            "drafts are accepted until the first rejection, however late it comes",
            "stop a round after k accepted drafts",
            listed=False,
        ),
        "total": Mistake(
            "the total is returned instead of the average",
            "simulate(1, 4, 10, 0) gives 50",
            "the tokens of all rounds are added up",
            "divide by trials",
            listed=False,
        ),
        "unseeded": Mistake(
            "the seed does not repeat the result",
            "two calls with the same seed give different numbers",
            "the generator is made without the seed, or lives outside the function",
            "begin the function with rng = np.random.default_rng(seed) and draw only from rng",
        ),
        "seed_ignored": Mistake(
            "every seed gives the same result",
            "simulate(0.8, 4, 97, seed) is the same for all seeds",
            "the seed is fixed inside the function, or nothing is drawn at all",
            "pass the argument on: np.random.default_rng(seed)",
            listed=False,
        ),
        "formula": Mistake(
            "the result is no average of whole rounds",
            "simulate(0.8, 4, 7, 0) times 7 is not a whole number",
            "a formula is returned, or the average is rounded",
            "simulate trials rounds, add up their whole numbers of tokens, divide by trials",
            listed=False,
        ),
        "global_state": Mistake(
            "NumPy's global random state is used",
            "np.random.seed changes the random numbers of everybody else in the program",
            "np.random.seed or np.random.random serves all code at once, and takes no seed beyond 2**32 - 1",
            "make a generator of your own, rng = np.random.default_rng(seed), and draw with rng.random()",
        ),
    },
}
