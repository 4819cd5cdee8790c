"""Lesson 2, Accept or reject: the misconceptions in words."""

from __future__ import annotations

from .table import Mistake

MISTAKES: dict[str, dict[str, Mistake]] = {
    "to_distribution": {
        "temperature_multiplied": Mistake(
            "the logits are multiplied by the temperature",
            "to_distribution([2, 1, 0], 0.5) gives the values of temperature 2",
            "a high temperature flattens: it must make the differences between logits smaller",
            "divide the logits by the temperature, then take the softmax",
        ),
        "temperature_after": Mistake(
            "the probabilities are divided by the temperature",
            "to_distribution([2, 1, 0], 0.5) gives numbers that sum to 2",
            "the division comes after the softmax instead of before it",
            "divide the logits, not the probabilities",
            listed=False,
        ),
        "temperature_ignored": Mistake(
            "the temperature has no effect",
            "to_distribution([2, 1, 0], 0.5) gives the values of temperature 1",
            "the softmax works on the plain logits (a factor after it cancels when you normalise)",
            "divide the logits by the temperature first",
        ),
        "unmasked": Mistake(
            "top_k has no effect",
            "to_distribution([2, 1, 0], 1, 2) gives the third token 0.09",
            "the other tokens are never ruled out",
            "give every token outside the k largest logits probability 0, and normalise what is left",
            listed=False,
        ),
        "not_renormalised": Mistake(
            "after top-k the sum is below 1",
            "to_distribution([2, 1, 0], 1, 2) gives [0.6652, 0.2447, 0]",
            "tokens are set to 0 after the softmax, and their mass is lost",
            "divide by the sum of what is left, or rule tokens out before the softmax",
        ),
        "masked_with_zero": Mistake(
            "a token is ruled out with logit 0",
            "to_distribution([-1, -3, -2], 1, 2) gives the worst token the largest share",
            "0 is a logit like any other: exp(0) is 1, so the token keeps a chance",
            "set its probability to 0, or its logit to minus infinity",
        ),
        "smallest_kept": Mistake(
            "top_k keeps the smallest logits",
            "to_distribution([2, 1, 0], 1, 2) gives [0, 0.7311, 0.2689]",
            "the sort is ascending, and its first k are taken",
            "sort in descending order, or take the last k",
            listed=False,
        ),
        "sorted_order": Mistake(
            "the probabilities come back sorted",
            "to_distribution([0, 2, 1], 2) gives [0.5065, 0.3072, 0.1863]",
            "after sorting, entry i is no longer the probability of token i",
            "keep the order of the vocabulary; sort only to find out who stays",
        ),
        "logits_divided": Mistake(
            "the logits themselves are normalised",
            "to_distribution([2, 1, 0], 1) gives [0.6667, 0.3333, 0]",
            "the exponential is missing",
            "softmax: exp(logit / temperature), divided by the sum of all of them",
            listed=False,
        ),
        "ties_shared": Mistake(
            "at temperature 0 a tie is shared",
            "to_distribution([1, 3, 3], 0) gives [0, 0.5, 0.5]",
            "every largest logit gets a part",
            "put all mass on the first of them, so that greedy decoding stays deterministic",
        ),
        "ties_all": Mistake(
            "at temperature 0 every largest logit gets 1",
            "to_distribution([1, 3, 3], 0) gives [0, 1, 1]",
            "all tokens that equal the maximum are marked",
            "mark one position only: the first largest",
            listed=False,
        ),
    },
    "accept_probability": {
        "inverted": Mistake(
            "the ratio is upside down",
            "accept_probability(0.5, 0.3) gives 0.6",
            "q / p is used: it keeps too often what the draft over-proposed",
            "divide the target's probability by the draft's: p / q",
        ),
        "no_min": Mistake(
            "the minimum with 1 is forgotten",
            "accept_probability(0.5, 0.3) gives 1.667",
            "p / q exceeds 1 where the target likes the token more than the draft does",
            "a probability stops at 1: min(1, p / q)",
        ),
        "all_or_nothing": Mistake(
            "a token is kept only if p >= q",
            "accept_probability(0.3, 0.5) gives 0",
            "an over-proposed token is never kept, although the target wants it some of the time",
            "keep it a fraction p / q of the time",
        ),
        "independent_match": Mistake(
            "two independent draws are compared",
            "accept_probability(0.3, 0.5) gives 0.15",
            "p times q is the chance that both models draw this token; the draft has drawn it already",
            "the token is there: only p / q matters",
            listed=False,
        ),
        "target_alone": Mistake(
            "the draft's probability is left out",
            "accept_probability(0.3, 0.5) gives 0.3",
            "the token is kept with p(x) alone, as if the draft had proposed every token always",
            "divide by q: the draft has proposed it only a fraction q of the time",
            listed=False,
        ),
    },
    "acceptance_rate": {
        "matches": Mistake(
            "the chance of an independent match",
            "for (.5, .3, .2) and (.2, .5, .3) it gives 0.31 instead of 0.7",
            "p times q is summed; accepting only when the target's own draw agrees would be correct but wasteful, "
            "31 % instead of 70 % for (.5, .3, .2) and (.2, .5, .3)",
            "sum min(p, q), the overlap",
        ),
        "distance": Mistake(
            "the rejection rate is returned",
            "for (.5, .3, .2) and (.2, .5, .3) it gives 0.3",
            "the total variation distance is 1 minus the overlap",
            "return the overlap itself, sum of min(p, q)",
        ),
        "no_half": Mistake(
            "the distance is counted twice",
            "for (.5, .3, .2) and (.2, .5, .3) it gives 0.4",
            "the differences |p - q| sum to twice the rejection rate",
            "1 - 0.5 * sum |p - q|, or simply sum of min(p, q)",
            listed=False,
        ),
        "mean_of_ratios": Mistake(
            "all tokens count the same",
            "for (.5, .3, .2) and (.2, .5, .3) it gives 0.7556",
            "the accept probabilities are averaged over the vocabulary, as if the draft proposed all tokens equally",
            "weight them with q: the sum of q * min(1, p / q) is the sum of min(p, q)",
            listed=False,
        ),
        "only_where_p_wins": Mistake(
            "over-proposed tokens do not count",
            "for (.5, .3, .2) and (.2, .5, .3) it gives 0.2",
            "only tokens with p >= q are summed; the others are kept a fraction p / q of the time",
            "sum min(p, q) over all tokens",
        ),
        "maximum": Mistake(
            "the larger probability is summed",
            "for (.5, .3, .2) and (.2, .5, .3) it gives 1.3, more than 1",
            "max where min belongs",
            "kept mass is what both supply: min(p, q)",
            listed=False,
        ),
        "temperature_one_side": Mistake(
            "temperature on one side only",
            "logits [2, 1, 0] in both models, temperature 0.5 for one of them: 0.7984 instead of 1",
            "a setting is left out of p or of q; few drafts are kept, and if the tokens are sampled with it after all, "
            "the output is wrong as well",
            "p and q are what is sampled from: apply temperature and top-k to the logits of both models first",
        ),
    },
    "accepted_prefix": {
        "counts_all_kept": Mistake(
            "counting goes on behind a rejection",
            "a round that is rejected at its first position gives 2",
            "later tokens were drafted after a token that is now gone",
            "return at the first rejection",
        ),
        "counts_the_rejected": Mistake(
            "the rejected token is counted",
            "a round that is rejected at its third position gives 3",
            "the counter goes up before the test, or the target's own token is counted too",
            "count a token only after it has passed its test; the extra token is no draft",
        ),
        "counts_the_extra": Mistake(
            "the extra token is counted as accepted",
            "every count is one too large",
            "the target's own token comes after the accepted ones, and is no draft",
            "return the number of accepted drafts alone",
            listed=False,
        ),
        "tokens_returned": Mistake(
            "the tokens are returned instead of their number",
            "a list comes back",
            "the accepted tokens themselves are collected",
            "return how many there are, an int",
            listed=False,
        ),
        "ratio_inverted": Mistake(
            "the ratio is upside down",
            "over-proposed tokens always pass",
            "u is compared with q / p",
            "compare u[i] with min(1, p / q) of the drafted token",
            listed=False,
        ),
        "only_more_likely": Mistake(
            "a token is kept only if p >= q",
            "rounds with an over-proposed token give too small a count",
            "u is not used; with p = (.4, .3, .2, .1) and q = (.1, .2, .3, .4) the output becomes (.625, .375, 0, 0)",
            "keep token i whenever u[i] < p / q",
        ),
        "ignores_q": Mistake(
            "u is compared with p alone",
            "a token with p = 0.5 and q = 0.2 is rejected by u = 0.9",
            "the draft's probability is left out",
            "compare u[i] with min(1, p / q)",
        ),
        "comparison_turned": Mistake(
            "the comparison is turned round",
            "the tokens that should stay are rejected",
            "a token is kept if u is large; its chance is then 1 - p / q",
            "keep it if u[i] is less than the accept probability",
            listed=False,
        ),
        "less_or_equal": Mistake(
            "u = 0 lets an impossible token pass",
            "a token with p = 0 is kept when u = 0",
            "the test is u <= p / q; u can be exactly 0",
            "use u < p / q",
        ),
        "first_row": Mistake(
            "every position uses the first row",
            "rounds whose rows differ give another count",
            "p_rows[0] and q_rows[0] are used throughout",
            "position i has its own rows: p_rows[i] and q_rows[i]",
            listed=False,
        ),
        "one_u": Mistake(
            "every position uses the first uniform",
            "the positions of a round are accepted or rejected together",
            "u[0] is used throughout, so the tests are not independent",
            "position i has its own u[i]",
            listed=False,
        ),
        "greedy_draft": Mistake(
            "a greedy draft with a sampling q",
            "q = (.8, .2) and p = (.6, .4) give the output (.75, .25)",
            "the draft proposes its likeliest token, but q is the whole distribution: with q = (.8, .2) and "
            "p = (.6, .4) the output becomes (.75, .25)",
            "draw the draft from q, or pass the one-hot q of a greedy draft",
        ),
    },
}
