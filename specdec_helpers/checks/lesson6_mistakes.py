"""Lesson 6: the misconceptions in words."""

from __future__ import annotations

from .table import Mistake

MISTAKES: dict[str, dict[str, Mistake]] = {
    "draft_block": {
        "greedy_draft": Mistake(
            "the draft is picked greedily, but its sampling rows are handed on",
            "with q = (.8, .2) and p = (.6, .4) the output is (.75, .25) instead of (.6, .4)",
            "tokens are taken by the largest entry, while rows[i] claims that they were drawn",
            "draw tokens[i] from rows[i] with `rng`; at temperature 0 the row itself is all on one token",
        ),
        "prefix_only": Mistake(
            "every draft is made from the prefix alone",
            "all k rows are the same",
            "the drafted tokens are not appended before the next call of draft_model",
            "call draft_model with prefix + the tokens drafted so far",
        ),
        "row_shifted": Mistake(
            "rows and tokens are out of step",
            "rows[i] is the distribution of another position",
            "the row is asked for again after the token was appended, or stored in another order",
            "ask once, draw from that row, and store both",
        ),
        "prefix_included": Mistake(
            "the prefix is part of the result",
            "k + len(prefix) tokens come back",
            "the whole sequence is returned instead of the drafts",
            "return only the k drafted tokens",
        ),
        "own_generator": Mistake(
            "another source of random numbers is used",
            "two runs from the same seed differ",
            "`np.random` or a new generator is used instead of the argument",
            "take every random number from `rng`",
        ),
    },
    "speculative_decode": {
        "greedy_draft": Mistake(
            "the draft is picked greedily, but judged as if it were drawn",
            "the output leans to one side, although every rule is right",
            "tokens are the largest entries of their rows, so q(x) is not the chance that x was drafted",
            "let draft_block draw, and judge by the rows it drew from",
        ),
        "rows_shifted": Mistake(
            "the target's rows are read one place off",
            "p_rows[i + 1] judges draft i",
            "row 0 belongs to the first draft: it is the distribution after everything so far",
            "judge drafts[i] by p_rows[i]; only the bonus comes from p_rows[k]",
        ),
        "no_draft": Mistake(
            "the draft is never used",
            "the right text, but one target pass for every token",
            "the target alone generates the text, so nothing is saved",
            "in each verification draft k tokens, then judge them with one target pass",
        ),
        "many_passes": Mistake(
            "the target runs more than once in a verification",
            "k + 1 passes of one row instead of one pass of k + 1 rows",
            "target_pass is called for each position",
            "call target_pass(seq + drafts, k + 1) once, and index its rows",
        ),
        "other_m": Mistake(
            "the pass asks for another number of rows",
            "m is not k + 1",
            "m counts the drafts only, or shrinks with the tokens still wanted",
            "always ask for k + 1 rows: one for each draft and the bonus row",
        ),
        "extra_drafts": Mistake(
            "more than k tokens are drafted",
            "the draft model runs k + 1 times a verification",
            "drafting goes on for the bonus position, or starts anew after a rejection",
            "draft exactly k tokens before each target pass",
        ),
        "seq_wrong": Mistake(
            "the target does not see the text so far",
            "a pass over the drafts alone, or with rejected drafts still in it",
            "the rejected drafts are not removed, or the sequence is put together wrongly",
            "pass everything emitted so far (prompt first), then the k drafts",
        ),
        "bonus_counted": Mistake(
            "the bonus token is counted as accepted",
            "the log holds k + 1",
            "the target's own token was not drafted, so it cannot be accepted",
            "log the number of accepted drafts: 0 … k",
        ),
        "log_wrong": Mistake(
            "the log does not tell what was accepted",
            "a log entry and the text disagree",
            "the log holds emitted tokens or rejections instead of accepted drafts",
            "log the number of accepted drafts of each verification",
        ),
        "log_cut": Mistake(
            "the last log entry is cut with the text",
            "the last verification seems to accept fewer drafts than it did",
            "the log is shortened to what was still wanted",
            "log first, cut the text afterwards",
        ),
        "too_many": Mistake(
            "the last verification overshoots",
            "asked for 5 tokens, it returns 7",
            "a verification can emit up to k + 1 tokens, more than are still wanted",
            "cut the text: return exactly the first n_tokens tokens",
        ),
        "too_few": Mistake(
            "too few tokens come back",
            "asked for 5 tokens, it returns 4",
            "the loop counts verifications or prompt tokens instead of generated tokens",
            "go on until n_tokens tokens follow the prompt",
        ),
        "prompt_included": Mistake(
            "the prompt is part of the result",
            "the result begins with the prompt's tokens",
            "the whole sequence is returned instead of what was generated",
            "return tokens[len(prompt):len(prompt) + n_tokens]",
        ),
        "accepts_too_many": Mistake(
            "drafts are accepted too often",
            "the text leans towards what the draft likes",
            "the acceptance test is missing, or does not compare with p(x)/q(x)",
            "accept drafts[i] only if a fresh uniform number is below p_rows[i][x] / q_rows[i][x]",
        ),
        "accepts_too_few": Mistake(
            "drafts are accepted too seldom",
            "the text is right, but more passes are needed",
            "an independent match with the target's own draw, or p >= q, is asked for",
            "accept with probability min(1, p(x)/q(x)): nothing exact keeps more",
        ),
        "residual_wrong": Mistake(
            "the replacement comes from the wrong distribution",
            "for p = (.4, .3, .2, .1) and q reversed, drawing it from p gives (.26, .32, .28, .14)",
            "after a rejection the token is drawn from p, from q, or with the number that decided the rejection",
            "draw from max(0, p - q) of the rejected position, with a new random number",
        ),
        "bonus_wrong": Mistake(
            "the bonus token is not drawn from the last row",
            "after k accepted drafts the next token does not follow the target",
            "nothing was rejected, so no residual is due, and row k - 1 is the last draft's",
            "draw the bonus token from p_rows[k]",
        ),
        "own_generator": Mistake(
            "another source of random numbers is used",
            "two runs from the same seed differ",
            "`np.random` or a new generator is used instead of the argument",
            "take every random number from `rng`",
        ),
    },
    "run_statistics": {
        "accepted_over_drafted": Mistake(
            "accepted / drafted is taken for the acceptance rate",
            "run_statistics([4, 0], 4) gives an acceptance rate of 0.5 instead of 0.8",
            "drafts behind a rejection were never tested, so they say nothing about a",
            "divide by accepted + rejections: the drafts that were tested",
        ),
        "bonus_counted": Mistake(
            "the bonus token is counted as accepted",
            "run_statistics([4, 0], 4) gives 5 accepted",
            "the target's own token was not drafted",
            "sum the log as it is",
        ),
        "target_token_forgotten": Mistake(
            "the target's own token is left out of the yield",
            "run_statistics([4, 0], 4) gives 2 tokens per verification instead of 3",
            "each verification yields its accepted drafts and one token of the target",
            "add 1",
        ),
        "rejection_everywhere": Mistake(
            "every verification is taken to end in a rejection",
            "run_statistics([4, 0], 4) gives an acceptance rate of 0.667 instead of 0.8",
            "a verification that accepts all k drafts rejects none",
            "count a rejection only where fewer than k drafts were accepted",
        ),
    },
    "choose_k": {
        "never_zero": Mistake(
            "plain decoding is never chosen",
            "k = 1 comes back although it is slower than no speculation",
            "the search begins at k = 1 and keeps the best of those",
            "start with k = 0 and a speed-up of exactly 1",
        ),
        "tokens_only": Mistake(
            "only the tokens are compared, not the time",
            "the largest k always wins",
            "E[N] grows with every k, but so does the cost of a round",
            "compare E[N] · t_target / (t_verify[k] + k · t_draft)",
        ),
        "draft_free": Mistake(
            "drafting is taken to cost nothing",
            "a k too large for a costly draft",
            "the k draft steps are missing from the cost of the round",
            "add k · t_draft to t_verify[k]",
        ),
        "pass_too_short": Mistake(
            "the time of a shorter pass is used",
            "t_verify[k - 1] stands for k drafts",
            "a verification of k drafts passes over k + 1 positions, and t_verify[k] is its time",
            "index t_verify with k itself",
        ),
        "one_pass_time": Mistake(
            "every pass is taken to cost as much as the shortest",
            "t_verify[0] stands for every k",
            "verification is cheap, not free: its measured time grows with k",
            "use t_verify[k]",
        ),
        "accepted_only": Mistake(
            "the target's own token is left out of the yield",
            "a + … + a^k instead of 1 + a + … + a^k",
            "each verification also yields one token of the target",
            "use E[N] = 1 + a + … + a^k",
        ),
    },
}
