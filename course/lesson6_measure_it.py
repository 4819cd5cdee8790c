# %% [markdown] generated="header"
# # Measure it
#
# **Objective.** Trace draft-and-verify decoding, explain distribution-preserving acceptance, and calculate a
# simplified speedup.
#
# **Lesson goal.** Run the complete algorithm with real, tiny language models; measure a, tokens per verification and
# speed-up; compare with the formula; choose k from measured times.
#
# **Where you are.** You have built the greedy verifier (lesson 1), the rule that accepts (2), the residual that
# recovers (3), the expected tokens per verification (4) and the cost model (5). Here you put them together, with a
# clock. It is the last lesson.

# %% setup
from specdec_helpers import check, explore, measure, measure_k, measure_losses, show_models, start, write

start("lesson6")

# %% [markdown]
# ## What you will learn
#
# - write the complete algorithm: draft a block, verify it in one pass, recover, go on;
# - read a run's log: acceptance rate, tokens per verification, draft efficiency;
# - choose k from measured times, and lay the formula of lesson 5 over your own clock;
# - see speculation win, and lose in three different ways, on your machine.

# %% [markdown]
# ## The idea
#
# ### Trust the clock, explain it with the formula
#
# One pass of this lesson's target over k + 1 positions costs about 1.3 to 1.7 single passes, not k + 1. That is the
# opening through which speculation wins.

# %% [markdown]
# Whether it is wide enough depends on the draft: how often it is right (a), and what a draft step costs. You measure
# both. Then the formula must explain the speed-up that the clock shows. If it does not, one of them hides something.

# %% [markdown]
# ### Notation
#
# | symbol | meaning |
# |---|---|
# | p, q | the target model, the draft model |
# | a | acceptance rate: the chance that a tested draft is accepted |
# | k | number of tokens drafted for each verification |
# | E[N] | expected tokens per verification, 1 + a + … + a^k |
# | log | drafts accepted in each verification of a run, each 0 … k |
#
# Papers differ: Leviathan et al. write α for a and γ for k; Chen et al. swap p and q.

# %% [markdown]
# ### The models
#
# They read and write characters, 65 different ones, and learnt from six novels by Jane Austen.
#
# | model | what it is |
# |---|---|
# | target | transformer, 8 layers, width 64, about 400,000 weights |
# | draft A | table: what followed the last 4 characters |
# | draft B | table: what followed the last character |
# | draft C | transformer, 1 layer, width 32, about 25,000 weights |

# %% [markdown]
# The file `specdec_helpers/lm/transformer.py` holds both transformers, in plain NumPy. It is meant to be read.

# %% label="Explore" minutes=2
show_models("It is a truth universally acknowledged, that a single man in p")

# %% [markdown]
# ### See it happen
#
# Left: the formula's E[N] over k for your a, and what three real drafts brought. Right: predicted against measured
# speed-up; on the diagonal the formula is exact.
#
# Press *Measure here* to replace the shipped points by those of your own machine (about ten seconds). Then move a until
# the curve runs through the points of draft A.

# %% label="Explore" minutes=4
explore("lesson6")

# %% [markdown]
# ## Predict first
#
# If checking 5 positions cost as much as 5 single passes, could speculation ever win?
#
# Write down your guess, `"yes"` or `"no"`, and remember your reason. It is not graded.

# %% ungraded="prediction_five_passes" label="Predict" minutes=1
my_guess_five_passes = None

# %% [markdown]
# ## Chapter context
#
# A cheap draft proposes several tokens and a target model verifies them with parallel work. The opportunity comes
# from amortizing an expensive target step, but drafting, verification and rejection recovery all cost time.
#
# This lesson measures each of these times. Seconds are never graded: they differ from machine to machine, and that is
# the point.

# %% [markdown]
# ## Part 1 · Hands-on
#
# A run with k = 4 made ten verifications. Its log, the number of accepted drafts in each:
#
# **4 2 0 4 1 3 0 4 2 4**
#
# Measured times: a plain step of the target takes **0.26 ms**, a pass over 5 positions **0.36 ms**, a draft step
# **0.005 ms**.

# %% [markdown]
# ### Tokens per verification
#
# **How many tokens did one verification yield, on average?** Replace `None` by a number with one decimal.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# Each verification emits its accepted drafts and one token more.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# tokens per verification = 1 + accepted / verifications
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Log 2 0 1: three verifications accepted 3 drafts and emitted 6 tokens, 2 each.
#
# </details>

# %% number="log_tokens_per_verification" places=1 points=1 minutes=2 difficulty="easy"
log_tokens_per_verification = 3.4
# note 3.4: Yes. 24 accepted drafts and 10 tokens of the target, in 10 verifications.
# note 2.4: You counted the accepted drafts only. Each verification also yields one token of the target.
# note 24: That is the number of accepted drafts in the whole run. Divide by the verifications, and add the target's
#         token.
# note 34: That is the number of tokens in the whole run. Divide it by the ten verifications.
# note 2.8: You added a token only where all four drafts were accepted. After a rejection the target supplies a
#         token too.
# note 5: Five is the most that k = 4 can yield. Most verifications here stopped earlier.
# note 3.8: You counted two tokens of the target where all four drafts were accepted. It supplies exactly one in every
#         verification.

# %% [markdown]
# ### The acceptance rate
#
# The a of the formula is the chance that a draft is accepted **when it is tested**. A verification tests its drafts
# one after the other and stops at the first rejection. What was drafted behind it is never tested.
#
# **Estimate a = accepted / tested from the log.** One decimal.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# How many drafts were tested in a verification that accepted 2 of 4? Two were accepted and one was rejected: three.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# tested = accepted + rejected, and each verification with fewer than k accepted drafts has exactly one rejection
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# k = 4, log 4 1: accepted 5; tested 4 + 2 = 6; a is about 0.83.
#
# </details>

# %% number="log_acceptance_rate" places=1 points=1 minutes=3 difficulty="medium"
log_acceptance_rate = 0.8
# note 0.8: Yes. 24 accepted, 6 rejected: 24 of 30 tested drafts.
# note 0.6: You divided by all 40 drafted tokens. Ten of them stood behind a rejection and were never tested, so they
#         say nothing about a.
# note 0.7: You counted a rejection in every verification, 24/34. In four of them all drafts were accepted.
# note 0.9: Did you count the bonus tokens as accepted? They were not drafted: 24 accepted drafts.
# note 0.4: That is the share of verifications that accepted all four drafts. Count drafts, not verifications.
# note 0.2: That is the share of rejected drafts, 6 of 30. The accepted ones are asked for.
# note 2.4: That is the number of accepted drafts in a verification. A rate is a share: accepted out of tested.

# %% [markdown]
# ### The speed-up that this predicts
#
# **From your first answer and the times: by which factor should this run be faster than plain decoding?** Two
# decimals.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# How long does plain decoding take for 3.4 tokens, and how long does a round take?
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# speed-up = tokens per verification · t_target / (t_verify + k · t_draft)
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# 2.5 tokens per verification and a draft step of 0.05 ms: 2.5 · 0.26 / (0.36 + 0.2) = 1.16.
#
# </details>

# %% number="log_predicted_speedup" places=2 points=1 minutes=2 difficulty="easy"
log_predicted_speedup = 2.33
# note 2.33: Yes. 3.4 · 0.26 ms = 0.884 ms of plain decoding in a round of 0.38 ms.
# note 2.30: Close. Either you took E[N] = 3.3616 for a = 0.8 (the log itself says 3.4), or you paid for five draft
#         steps (four are drafted), or you rounded to one decimal.
# note 2.46: You left out the four draft steps. Each costs 0.005 ms.
# note 2.42: You paid for one draft step. Four tokens are drafted, one after the other.
# note 1.64: You left out the target's own token: 3.4 tokens per verification, not 2.4.
# note 3.16: You charged 0.26 ms for the verification. The pass over 5 positions takes 0.36 ms.
# note 8.95: That is tokens per millisecond. Compare it with plain decoding, which makes 1/0.26 of them.
# note 0.43: The ratio is upside down: the time of plain decoding over the time of the round.
# note 1.33: That is the gain. The speed-up is the ratio of the two times.

# %% [markdown]
# ## Part 2 · Code
#
# Four functions: the first two are the algorithm, the last two make sense of a run. They work with any models: a draft
# model is a function `seq -> V probabilities`, one for each token; a target pass is a function `(seq, m) -> m rows` of V
# probabilities, for the m positions at the end.

# %% [markdown]
# Random numbers come from the argument `rng`. Here is a way to draw a token. It takes weights of any sum, so a
# residual need not be divided first.

# %%
import numpy as np


def draw(row, rng):
    """Draw a token: each is as likely as its entry in row, divided by the row's sum."""
    cumulative = np.cumsum(row)
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))


# %% [markdown]
# ### Drafting a block
#
# `draft_block(draft_model, prefix, k, rng)`: draft k tokens, one after the other. Call `draft_model` k times; each
# call sees the prefix **and the tokens drafted before**. Draw each token from the row that came back, and keep that
# row: the acceptance rule will need to know what the token was drawn from.
#
# Return the two lists `(tokens, rows)`, k entries each. Leave `prefix` as it was.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# Work on a copy of the prefix and let it grow. What is appended last is what the next call sees.
#
# </details>
#
# <details>
# <summary>Hint: the steps of a turn</summary>
#
# 1. row: the draft model's answer for prefix + tokens
# 2. token: a draw from row
# 3. append row to rows and token to tokens
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Prefix 5, k = 2. Call for 5, draw 3; call for 5 3, draw 8. Return 3 8 with both rows.
#
# </details>

# %% code="draft_block" points=3 minutes=8 difficulty="easy"
def draft_block(draft_model, prefix, k, rng):
    """Return (tokens, rows): k drafted tokens, and the rows they were drawn from.

    draft_model: function, sequence -> probabilities of the next token
    prefix: list of tokens; rng: NumPy generator, the only source of chance

    >>> count_up = lambda seq: [float(t == (seq[-1] + 1) % 4) for t in range(4)]
    >>> draft_block(count_up, [1], 2, np.random.default_rng(0))[0]
    [2, 3]
    """
    ### BEGIN SOLUTION
    tokens, rows = [], []
    for _ in range(k):
        rows.append(draft_model([*prefix, *tokens]))
        tokens.append(draw(rows[-1], rng))
    return tokens, rows
    ### END SOLUTION


# %% [markdown]
# ### The whole algorithm
#
# `speculative_decode(draft_model, target_pass, prompt, n_tokens, k, rng)`. Until at least `n_tokens` tokens follow
# the prompt:
#
# 1. draft a block of k tokens;
# 2. verify it with **exactly one** call `target_pass(everything so far + drafts, k + 1)`: row i is the target's p for
#    draft i, row k comes after the last draft;
# 3. accept drafts from the left, each with probability min(1, p(x)/q(x)), up to the first rejection;
# 4. add one token: from max(0, p − q) of the rejected position, or from row k if nothing was rejected;
# 5. note the number of accepted drafts in the log.

# %% [markdown]
# Return `(tokens, log)`: exactly the first `n_tokens` tokens after the prompt, and the log as it was *before* the text
# was cut. Also the last verification drafts k tokens and asks for k + 1 rows.

# %% [markdown]
# The text must follow the same distribution as if the target had been sampled alone. At temperature 0, where every
# row is all on one token, it must be the same text.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# It is one while loop. The only thing that outlives a turn is the sequence so far (and the log). Rejected drafts must
# never get into it.
#
# </details>
#
# <details>
# <summary>Hint: the tests</summary>
#
# - accept draft i: a fresh `rng.random()` is below p[x] / q[x], with p = p_rows[i], q = q_rows[i], x = drafts[i]
# - n counts the accepted drafts; the loop stops at n = k or at the first rejection
# - the weights of the residual: `np.maximum(0, np.subtract(p, q))`
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Prompt 5, k = 2, drafts 3 8. Draft 3 is accepted, 8 is rejected, and 6 is drawn from the residual of row 1. The
# sequence is now 5 3 6, the log has a 1. The next round drafts after 5 3 6.
#
# </details>

# %% code="speculative_decode" points=6 minutes=25 difficulty="hard"
def speculative_decode(draft_model, target_pass, prompt, n_tokens, k, rng):
    """Return (tokens, log): n_tokens tokens after prompt, and the drafts accepted per verification.

    target_pass: function, (sequence, m) -> rows after the last m prefixes of it

    >>> up = lambda seq: [float(t == (seq[-1] + 1) % 4) for t in range(4)]
    >>> rows = lambda seq, m: [up(seq[: len(seq) - m + 1 + i]) for i in range(m)]
    >>> speculative_decode(up, rows, [0], 5, 2, np.random.default_rng(0))
    ([1, 2, 3, 0, 1], [2, 2])
    """
    ### BEGIN SOLUTION
    seq, log = list(prompt), []
    while len(seq) < len(prompt) + n_tokens:
        drafts, q_rows = draft_block(draft_model, seq, k, rng)
        p_rows = target_pass(seq + drafts, k + 1)
        n = 0
        while n < k and rng.random() < p_rows[n][drafts[n]] / q_rows[n][drafts[n]]:
            n += 1
        if n < k:
            extra = draw(np.maximum(0, np.subtract(p_rows[n], q_rows[n])), rng)
        else:
            extra = draw(p_rows[k], rng)
        seq += [*drafts[:n], extra]
        log.append(n)
    return seq[len(prompt) : len(prompt) + n_tokens], log
    ### END SOLUTION


# %% [markdown]
# ### Let it write
#
# Your decoder, the real models. What the draft guessed right is plain; tokens recovered after a rejection are bold on
# orange; bonus tokens are underlined on blue. The text is the target's, whatever the draft: try `draft_name="B"` in a
# cell of your own, or another `prompt`, `k`, `temperature` or `seed`.

# %% label="Explore" minutes=3
write(speculative_decode)

# %% [markdown]
# ### What a log says
#
# `run_statistics(log, k)`: a dict with exactly six entries.
#
# | key | value |
# |---|---|
# | `verifications` | how many there were |
# | `drafted` | k for each of them |
# | `accepted` | the sum of the log |
# | `tokens_per_verification` | 1 + accepted / verifications |
# | `acceptance_rate` | accepted / (accepted + verifications that ended in a rejection) |
# | `draft_efficiency` | accepted / drafted |
#
# Raise a `ValueError` for k < 1, an empty log, or a count outside 0 … k.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# You computed all of this by hand in Part 1. Test the input first, so that nothing is divided by 0.
#
# </details>
#
# <details>
# <summary>Hint: the rejections</summary>
#
# A verification ended in a rejection exactly if its count is below k.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Log 4 0 with k = 4: accepted 4, one rejection, so a = 4/5; drafted 8, efficiency 1/2; 3 tokens per verification.
#
# </details>

# %% code="run_statistics" points=3 minutes=8 difficulty="easy"
def run_statistics(log, k):
    """Return what the log of a run with k drafts per verification says.

    log: list of accepted drafts, one count (0 … k) a verification

    >>> run_statistics([4, 0], 4)["acceptance_rate"]
    0.8
    """
    ### BEGIN SOLUTION
    if k < 1 or len(log) == 0 or any(not 0 <= count <= k for count in log):
        raise ValueError(f"a log of counts in 0..k with k >= 1 is needed, got {log} and k = {k}")
    accepted, drafted = sum(log), k * len(log)
    rejections = sum(count < k for count in log)
    return {
        "verifications": len(log),
        "drafted": drafted,
        "accepted": accepted,
        "tokens_per_verification": 1 + accepted / len(log),
        "acceptance_rate": accepted / (accepted + rejections),
        "draft_efficiency": accepted / drafted,
    }
    ### END SOLUTION


# %% [markdown]
# ### Against the clock
#
# Now the race: your decoder against plain decoding with the same target, several times in turns. The first run is
# thrown away: it is cold, and would blame your code for loading memory. Of the others the medians count.

# %% label="Explore" minutes=3
measure(speculative_decode, draft_name="A", k=4)

# %% [markdown]
# The formula's column takes the measured a and the measured times. How far is it off? It leaves out what your Python
# does between the passes, and a is not the same at every position.

# %% [markdown]
# ### Choosing k from measured times
#
# `choose_k(a, t_target, t_verify, t_draft)`: here `t_verify` is a list (or an array) of measured times: `t_verify[k]`
# is the time of a pass over k + 1 positions, for k = 0 … len(t_verify) − 1. Return the k with the largest predicted
# speed-up E[N] · t_target / (t_verify[k] + k · t_draft).

# %% [markdown]
# k = 0 stands for plain decoding, with speed-up exactly 1. Of equally fast k (to one part in 10¹²) take the smaller.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# It is lesson 5's search for the best k, with a measured time for every k in place of one t_verify.
#
# </details>
#
# <details>
# <summary>Hint: the rule for ties</summary>
#
# Move on to a later k only if its speed-up is larger than best · (1 + 1e-12).
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# a = 0.9, t_target = 10, t_verify = 10 11 30, t_draft = 0.5. k = 1: 1.9 · 10 / 11.5 = 1.65. k = 2: 2.71 · 10 / 31 =
# 0.87. The best k is 1.
#
# </details>

# %% code="choose_k" points=3 minutes=10 difficulty="medium"
def choose_k(a, t_target, t_verify, t_draft):
    """Return the k with the largest predicted speed-up; 0 is plain decoding.

    a: acceptance rate; t_target, t_draft: times of one step, in one unit
    t_verify: list or array; t_verify[k] is the time of a pass over k + 1 positions

    >>> choose_k(0.9, 10, [10, 11, 30, 31], 0.5)
    1
    """
    ### BEGIN SOLUTION
    best, best_speed, tokens = 0, 1, 1
    for k in range(1, len(t_verify)):
        tokens += a**k
        speed = tokens * t_target / (t_verify[k] + k * t_draft)
        if speed > best_speed * (1 + 1e-12):
            best, best_speed = k, speed
    return best
    ### END SOLUTION


# %% [markdown]
# ### Which k, which draft?
#
# Your `choose_k` gets the times of your machine. Draft A first, then draft C, which agrees about as often but is a
# network itself.

# %% label="Explore" minutes=3
measure_k(speculative_decode, choose_k, draft_name="A")

# %% label="Explore" minutes=3
measure_k(speculative_decode, choose_k, draft_name="C")

# %% [markdown]
# ### Three ways to lose
#
# Draft B, the bigram table, with k = 4 wins a little. Each of three changes turns that into a loss:
#
# - **A low acceptance rate for so long a draft**: k = 12. Most guesses are thrown away, but the long pass is paid for.
# - **A costly draft**: the target drafting for itself. It is always right, and nothing is gained.
# - **A big batch**: 32 texts at once. One text leaves the processor waiting; 32 keep it busy, and every rejected
#   draft is work.

# %% label="Explore" minutes=3
measure_losses(speculative_decode)

# %% [markdown]
# ## Check your understanding
#
# k = 4, ten verifications, 24 of 40 drafted tokens accepted, four verifications accepted all four. Which estimate of a
# belongs in the formula?
#
# - **A.** 24/40 = 0.6
# - **B.** 24/30 = 0.8, only tested tokens count
# - **C.** 34/40 = 0.85
#
# Type the letter in quotes.

# %% choice="acceptance_estimate" points=1 minutes=1 difficulty="easy"
acceptance_estimate = "B"
# note A: That is the draft efficiency. Ten of the 40 tokens stood behind a rejection: the target never judged them. With
#         0.6 in the formula, E[N] would be 2.31, but the run yielded 3.4.
# note B: Yes. Six verifications ended in a rejection, so 24 + 6 = 30 drafts were tested. E[N] for 0.8 is 3.36, close to
#         the 3.4 that the run yielded.
# note C: 34 counts the target's own tokens, one a verification, as accepted. Nobody drafted them.

# %% [markdown] ungraded="reflection_measure_it" label="Reflect" minutes=3
# Look back at your guess under *Predict first*. Then answer in one or two sentences of your own: on your machine, which
# of the three losses was the worst, and which number in the formula explains it?
#
# *Double-click here and write.*

# %% [markdown]
# ## What next
#
# You have written exact speculative decoding and measured it. Real systems change the draft, not the rule. Where to
# read on:

# %% [markdown]
# - Leviathan, Kalman, Matias, *Fast inference from transformers via speculative decoding* (arXiv 2211.17192), section
#   3: where the formulas of lessons 4 and 5 come from.
# - Chen et al., *Accelerating large language model decoding with speculative sampling* (arXiv 2302.01318), algorithm 2:
#   your function, with p and q swapped.
# - Li et al., *EAGLE-3* (arXiv 2503.01840), table 5: batch size against speed-up, measured.
