# %% [markdown] generated="header"
# # When it pays
#
# **Objective.** Trace draft-and-verify decoding, explain distribution-preserving acceptance, and calculate a
# simplified speedup.
#
# **Lesson goal.** Turn expected tokens into throughput and speed-up with a cost model; choose k; find the break-even
# acceptance rate.
#
# **Where you are.** You have built the verifier (lesson 1), the rule that accepts and recovers without changing the
# output (2 and 3) and the expected tokens per verification (4). Here they meet the clock. Lesson 6 then measures it
# all on real models.

# %% setup
from specdec_helpers import check, explore, start

start("lesson5")

# %% [markdown]
# ## What you will learn
#
# - turn expected tokens into throughput and speed-up with a small cost model;
# - choose k, and see why the best one is sometimes 0;
# - find the acceptance rate at which drafting breaks even;
# - say why a draft that agrees more often can be the slower one, and why a full batch spoils the win.

# %% [markdown]
# ## The idea
#
# ### Divide by what the round costs
#
# One round costs **one verification** and **k draft steps**, and yields E[N] tokens. Decoding with the target alone
# makes one token in each target step. So
#
# $$\text{speed-up}=\frac{E[N]\;t_{target}}{t_{verify}+k\,t_{draft}}.$$
#
# As k grows, E[N] flattens towards 1/(1 − a), but the cost keeps growing by one draft step for each k. So there is a
# best k. If the draft is poor or slow, the best k is 0: do not draft at all.

# %% [markdown]
# ### Notation
#
# | symbol | meaning |
# |---|---|
# | p, q | the target model, the draft model |
# | a | acceptance rate: the chance that a drafted token is accepted |
# | k | number of tokens drafted for each verification |
# | E[N] | expected tokens per verification, 1 + a + … + a^k |
# | t_target | time of one plain decoding step of the target |
# | t_verify | time of one verification: one target pass over k + 1 positions |
# | t_draft | time of one draft step |
#
# Papers differ: Leviathan et al. write α for a, γ for k and c for t_draft / t_target; Chen et al. swap p and q.

# %% [markdown]
# ### See it happen
#
# Left: what a round yields, and what it costs in target steps. Right: their ratio, the speed-up. A star marks the
# best k.
#
# Begin with *worked example* and move k to 12. Make the draft step dearer, 4 ms instead of 1: where does the star go?
# Lower a until it lands on 0.

# %% label="Explore" minutes=5
explore("lesson5")

# %% [markdown]
# ### A better draft is not automatically faster
#
# Leviathan et al. sped up the translation model T5-XXL with smaller T5 models as drafts:
#
# | draft | acceptance rate | measured speed-up |
# |---|---|---|
# | T5-small | 0.75 | 3.4× |
# | T5-large | 0.82 | 1.7× |
#
# T5-large guessed better and was half as fast. Choose the two presets *T5-small* and *T5-large* in the explorer and
# watch the cost of a round. (The formula predicts 3.2× and 2.5×: real runs have costs that it leaves out.)

# %% [markdown]
# ### Nearly free, until the hardware is busy
#
# Why is a pass over five positions hardly slower than a pass over one? All weights are read from memory for each
# pass, and the arithmetic for a few more positions fits into that wait.
#
# With many texts at once, a *batch* of B sequences, no wait is left to use. Choose the preset *batch* and raise B: the
# verification of all those drafts now costs what it computes.

# %% [markdown]
# ## Predict first
#
# Does drafting more tokens always make generation faster?
#
# Write down your guess, `"yes"` or `"no"`, and remember your reason. It is not graded.

# %% ungraded="prediction_more_drafts" label="Predict" minutes=1
my_guess_more_drafts = None

# %% [markdown]
# ## Chapter context
#
# A cheap draft proposes several tokens and a target model verifies them with parallel work. The opportunity comes
# from amortizing an expensive target step, but drafting, verification and rejection recovery all cost time.
#
# This lesson is about those costs. Its model: each drafted token is accepted independently with the same
# probability a (as in lesson 4), and three times that a clock can measure.

# %% [markdown]
# ## Part 1 · Hands-on
#
# One machine for all three questions: the target alone takes **10 ms** a token, a verification takes **12 ms**, a
# draft step **1 ms**, and **k = 4** tokens are drafted each time. A calculator, or an empty cell, is allowed.
#
# The explorer once more, set to these times:

# %% label="Explore" minutes=1
explore("lesson5")

# %% [markdown]
# ### Throughput
#
# **How many tokens per second does speculative decoding produce at a = 0.8?** Replace `None` by a number with one
# decimal. From lesson 4 you know that E[N] = 3.3616 for a = 0.8 and k = 4.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# How long does one round take?
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# tokens per second = E[N] / (t_verify + k · t_draft), with the times in seconds
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# With k = 1: E[N] = 1.8, a round takes 12 + 1 = 13 ms = 0.013 s, and 1.8 / 0.013 = 138.5 tokens a second.
#
# </details>

# %% number="throughput_per_second" places=1 points=1 minutes=3 difficulty="easy"
throughput_per_second = 210.1
# note 210.1: Yes. 3.3616 tokens every 16 ms. The target alone makes 100 tokens a second.
# note 210: Nearly: give one decimal.
# note 0.2: That is the number of tokens per millisecond. Multiply by 1000 for tokens per second, and give one decimal.
# note 312.5: You counted five tokens a round, as if every draft were accepted. At a = 0.8 a round yields 3.3616.
# note 147.6: You counted the accepted drafts only. The target's own token belongs to the yield too: 3.3616.
# note 197.7: You paid for five draft steps. Four tokens are drafted, so the draft runs four times; the extra token
#         comes out of the verification.
# note 258.6: You paid for one draft step. The draft makes its tokens one after the other, four steps of 1 ms.
# note 280.1: You paid for the verification only. Add the four draft steps of 1 ms.
# note 100: That is what the target makes alone. What does a round of 16 ms yield?
# note 4.8: That is the time for one token, in milliseconds. Throughput is tokens divided by time.
# note 240.1: You charged 10 ms for the verification. That is the target's step in plain decoding; here the pass takes
#         12 ms.

# %% [markdown]
# ### Speed-up
#
# **By which factor is that faster than the target alone?** Three decimals.

# %% number="speedup_worked" places=3 points=1 minutes=1 difficulty="easy"
speedup_worked = 2.101
# note 2.101: Yes. 210.1 tokens a second against 100: a bit more than twice as fast.
# note 2.1: Nearly: give three decimals.
# note 1.101: That is the gain, 110 % more. The speed-up is the ratio of the two throughputs: 1 would mean equally
#         fast.
# note 3.362: That is E[N]. It would be the speed-up if a whole round took as long as one target step, 10 ms. It takes
#         16 ms.
# note 0.476: The ratio is upside down: divide the speculative throughput by the target's.
# note 2.401: You charged 10 ms for the verification; it takes 12 ms.
# note 2.521: You compared with one token every 12 ms. Without speculation the target makes one every 10 ms.
# note 210.1: That is the throughput. Divide it by what the target makes alone, 100 tokens a second.

# %% [markdown]
# ### A poor draft
#
# **The same machine with a draft of a = 0.3: what is the speed-up now?** Four decimals. First guess: above 1 or
# below?

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# Only the yield changes. The round still costs 16 ms.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# E[N] = 1 + 0.3 + 0.3² + 0.3³ + 0.3⁴
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# For a = 0.5: E[N] = 1.9375, and 1.9375 · 10 / 16 = 1.2109.
#
# </details>

# %% number="speedup_low_acceptance" places=4 points=1 minutes=2 difficulty="easy"
speedup_low_acceptance = 0.8907
# note 0.8907: Yes, a slow-down: 1.4251 tokens in 16 ms, where the target alone would have made 1.6.
# note 0.89: Nearly: give four decimals.
# note 0.891: Nearly: give four decimals.
# note 1.4251: That is E[N], the yield. Divide it by the 1.6 target steps that the round costs.
# note -0.1093: That is the gain, and it is negative. The speed-up is the ratio itself.
# note 1.1227: The ratio is upside down: speculative throughput divided by the target's.
# note 0.2657: You left out the target's own token. A round yields 1 + 0.3 + … = 1.4251 tokens.
# note 1.0179: You charged 10 ms for the verification; it takes 12 ms. Those 2 ms turn the win into a loss.
# note 0.8383: You paid for five draft steps; four tokens are drafted.

# %% [markdown]
# ## Part 2 · Code
#
# Four small functions, each built on the one before. All times of a call are in the same unit, whichever it is.
#
# Here is lesson 4's expected number of tokens once more, under another name. It checks nothing: that is your part.
# NumPy is here as well, if you like to use it.

# %%
import numpy as np


def mean_tokens(a, k):
    """Return E[N] = 1 + a + … + a^k."""
    return sum(a**i for i in range(k + 1))


# %% [markdown]
# ### Throughput
#
# `throughput(a, k, t_verify, t_draft)`: tokens per unit of time. Raise a `ValueError` if `t_verify <= 0`, if
# `t_draft < 0`, if a is outside [0, 1] or if `k < 0`. A free draft is allowed, and so is k = 0.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# Refuse bad input first, then write the fraction: what a round yields over what it costs.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# throughput = E[N] / (t_verify + k · t_draft)
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# a = 0.3, k = 2, t_verify = 12, t_draft = 4: E[N] = 1 + 0.3 + 0.09 = 1.39; the round costs 12 + 2 · 4 = 20; the
# throughput is 1.39 / 20 = 0.0695.
#
# </details>

# %% code="throughput" points=3 minutes=6 difficulty="easy"
def throughput(a, k, t_verify, t_draft):
    """Return the tokens per unit of time.

    a: acceptance rate, 0 to 1; k: drafted tokens per verification, >= 0
    t_verify: time of a verification, > 0; t_draft: time of a draft step, >= 0
    ValueError for anything outside these bounds.

    >>> round(throughput(0.8, 4, 12, 1), 6)
    0.2101
    """
    ### BEGIN SOLUTION
    if not 0 <= a <= 1 or k < 0 or t_verify <= 0 or t_draft < 0:
        raise ValueError(f"a = {a}, k = {k}, t_verify = {t_verify}, t_draft = {t_draft}: out of bounds")
    return mean_tokens(a, k) / (t_verify + k * t_draft)
    ### END SOLUTION


# %% [markdown]
# ### Speed-up
#
# `speedup(a, k, t_target, t_verify, t_draft)`: the throughput relative to the target alone, which makes one token
# every `t_target`.
#
# Raise a `ValueError` also if `t_target <= 0`. Here k = 0 is no exception: a round without drafts still costs
# `t_verify`.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# You have `throughput`, and it already refuses most bad input.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# The target alone makes 1 / t_target tokens per unit of time: divide by that.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# k = 0, t_target = 10, t_verify = 12: E[N] = 1, so the speed-up is 1 · 10 / 12 = 0.8333.
#
# </details>

# %% code="speedup" points=3 minutes=5 difficulty="easy"
def speedup(a, k, t_target, t_verify, t_draft):
    """Return the throughput relative to decoding with the target alone.

    t_target: time of one token with the target alone, > 0
    the rest, and the ValueErrors, as in throughput

    >>> round(speedup(0.8, 4, 10, 12, 1), 6)
    2.101
    >>> round(speedup(0.3, 4, 10, 12, 1), 4)
    0.8907
    """
    ### BEGIN SOLUTION
    if t_target <= 0:
        raise ValueError(f"t_target is {t_target}; it must be above 0")
    return throughput(a, k, t_verify, t_draft) * t_target
    ### END SOLUTION


# %% [markdown]
# ### The best k
#
# `best_k(a, t_target, t_verify, t_draft, k_max)`: the k from 0 to `k_max` (included) with the largest speed-up.
# Here **k = 0 means plain decoding**, with speed-up exactly 1: nobody verifies an empty draft.
#
# Of two k that are equally fast, take the smaller. "Equally fast" allows for rounding: speed-ups that differ by less
# than one part in 10¹² count as equal. Raise a `ValueError` if `k_max < 0`.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# Begin with k = 0 and speed-up 1 as the best so far, and look for something better.
#
# </details>
#
# <details>
# <summary>Hint: the rule for ties</summary>
#
# Move on to a later k only if its speed-up is larger than best · (1 + 1e-12). Then a difference that is only
# rounding does not count.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# a = 0.2 with times 10, 12, 1: the speed-ups for k = 1, 2, 3 are 0.923, 0.886, 0.832. None reaches 1, so the best k
# is 0.
#
# </details>

# %% code="best_k" points=4 minutes=10 difficulty="medium"
def best_k(a, t_target, t_verify, t_draft, k_max):
    """Return the k in 0 … k_max with the largest speed-up.

    k = 0 is plain decoding, speed-up 1; ties go to the smaller k.
    ValueError if k_max < 0.

    >>> best_k(0.8, 10, 12, 1, 12)
    6
    >>> best_k(0.2, 10, 12, 1, 12)
    0
    """
    ### BEGIN SOLUTION
    if k_max < 0:
        raise ValueError(f"k_max is {k_max}; it must be 0 or more")
    best, best_speed = 0, 1
    for k in range(1, k_max + 1):
        speed = speedup(a, k, t_target, t_verify, t_draft)
        if speed > best_speed * (1 + 1e-12):
            best, best_speed = k, speed
    return best
    ### END SOLUTION


# %% [markdown]
# ### Breaking even
#
# `break_even(k, t_target, t_verify, t_draft)`: the smallest acceptance rate in [0, 1] at which the speed-up reaches
# 1, accurate to 1e-6. Two special answers: `0.0` if a = 0 already suffices, and `None` if even a = 1 does not.
#
# For k above 2 no handy formula exists. But the speed-up grows with a, so you can search: keep an interval in which
# the answer lies, and halve it again and again.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# Ask your `speedup` three kinds of questions: at a = 0, at a = 1, and at the middle of an interval.
#
# </details>
#
# <details>
# <summary>Hint: the steps</summary>
#
# 1. if the speed-up at a = 0 is at least 1, return 0.0
# 2. if the speed-up at a = 1 is below 1, return None
# 3. low, high = 0, 1; 40 times: if the middle reaches 1, it is the new high, else the new low
# 4. return high
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# k = 1, times 10, 12, 1: the round costs 1.3 target steps and yields 1 + a, so a must be 0.3. The middles tried are
# 0.5 (enough), 0.25 (too small), 0.375 (enough), 0.3125 (enough), 0.28125 (too small), …
#
# </details>

# %% code="break_even" points=4 minutes=12 difficulty="hard"
def break_even(k, t_target, t_verify, t_draft):
    """Return the smallest acceptance rate with a speed-up of at least 1.

    Accurate to 1e-6; 0.0 if a = 0 already suffices, None if even a = 1 does not.

    >>> round(break_even(1, 10, 12, 1), 4)
    0.3
    >>> break_even(2, 10, 12, 12) is None
    True
    """
    ### BEGIN SOLUTION
    if speedup(0, k, t_target, t_verify, t_draft) >= 1:
        return 0.0
    if speedup(1, k, t_target, t_verify, t_draft) < 1:
        return None
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if speedup(middle, k, t_target, t_verify, t_draft) >= 1:
            high = middle
        else:
            low = middle
    return high
    ### END SOLUTION


# %% [markdown]
# ### What happens in a full batch?
#
# A rough model of a busy machine: reading the weights takes 10 ms, and each position of each of the B sequences adds
# 0.25 ms of arithmetic, which hides behind the reading as long as it is shorter. So a plain step takes
# max(10, 0.25 B) ms and a verification max(10, 0.25 B (k + 1)) ms.
#
# When `speedup` passes its check, remove the `#` in the last line and run the cell. From which B on is
# k = 4 a loss? What could a server do about it?

# %% ungraded="batch_table" label="Explore" minutes=4
def batch_table(a=0.8, k=4, t_draft=1):
    """Print the speed-up at k for growing batches."""
    for B in (1, 4, 8, 12, 16, 24, 32):
        t_target, t_verify = max(10, 0.25 * B), max(10, 0.25 * B * (k + 1))
        print(f"B = {B:2}: speed-up {speedup(a, k, t_target, t_verify, t_draft):.3f}")


# batch_table()

# %% [markdown]
# Up to B = 8 the five positions hide behind the reading of the weights. At B = 24 the win is gone. Busy servers
# therefore draft fewer tokens, or none.
#
# Measured systems show the same: the drafting method EAGLE gives 1.30× at batch 2, 1.03× at 24, and 0.71× at 56 (EAGLE-3
# paper, table 5, measured with the server software vLLM).

# %% [markdown]
# ## Check your understanding
#
# T5-large's guesses were accepted more often than T5-small's, yet it gave 1.7× against 3.4×. Why?
#
# - **A.** its verification pass was longer
# - **B.** each of its draft steps costs several times more
# - **C.** the formula does not apply at temperature 0
#
# Type the letter in quotes.

# %% choice="better_draft_slower" points=1 minutes=1 difficulty="easy"
better_draft_slower = "B"
# note A: No. The verification is done by the target, the same T5-XXL for both drafts, over the same number of
#         positions. Which term of the cost differs between the two?
# note B: Yes. T5-large takes about 0.11 of a target step for each drafted token, T5-small about 0.02: seven drafts cost
#         0.77 target steps instead of 0.14. The better guesses do not make up for it.
# note C: It does apply: a is then the share of positions where the draft's most likely token is the target's. The two
#         drafts differ in something that the cost of a round contains.

# %% [markdown] ungraded="reflection_when_it_pays" label="Reflect" minutes=2
# Look back at your guess under *Predict first*. Then answer in one or two sentences of your own: your laptop's draft
# is free (a table of what mostly followed the last few tokens) but agrees only half of the time. Would you draft 2 or 10
# tokens, and what decides it?
#
# *Double-click here and write.*

# %% [markdown]
# ## What next
#
# You can now predict a speed-up from four numbers: a and three times. Each of them can be measured. **Lesson 6,
# Measure it**, does so with small real language models on your own machine: it runs the complete algorithm, compares
# the clock with this formula, and shows three ways to lose.
