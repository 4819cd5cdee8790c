# %% [markdown] generated="header"
# # Expected progress
#
# **Objective.** Trace draft-and-verify decoding, explain distribution-preserving acceptance, and calculate a
# simplified speedup.
#
# **Lesson goal.** Evaluate the formula for the expected number of tokens, write it, and confirm it by simulation.
#
# **Where you are.** You have built the verifier (lesson 1), the acceptance test (2) and the correction after a
# rejection (3). This lesson counts what they bring: tokens per verification. Lesson 5 then divides that by what a
# round costs. Nothing from earlier notebooks has to be run.

# %% setup
import numpy as np
from specdec_helpers import check, explore, start

start("lesson4")

# %% [markdown]
# ## What you will learn
#
# - write down the probability of each number of accepted drafts;
# - compute the expected number of tokens per verification in two ways, and see that they agree;
# - confirm both by simulation, with a random generator whose seed repeats the result;
# - say which assumption makes the formula simple, and where it is only an approximation.

# %% [markdown]
# ## The idea
#
# ### How many tokens per verification?
#
# Suppose each drafted token is accepted independently with the same probability a (a simplification for teaching). A
# verification of k drafted tokens then yields the accepted ones plus one token that the target supplies itself, for an
# expected
#
# $$1+a+a^2+\dots+a^k=\frac{1-a^{k+1}}{1-a}$$
#
# tokens. With a = 1 and k = 4 that is 5. With a = 0.8 it is 3.3616.

# %% [markdown]
# ### Why powers of a?
#
# Draft number 1 is kept with probability a. Draft number 2 is kept only if number 1 was kept *and* it is accepted
# itself: a · a. Draft number n needs n acceptances in a row: $a^n$. Adding these up gives the expected number of kept
# drafts, $a+a^2+\dots+a^k$. The target's own token comes on top, every time: that is the 1 in front.

# %% [markdown]
# ### Notation
#
# | symbol | meaning |
# |---|---|
# | p | the target model: big, slow, trusted |
# | q | the draft model: small, fast, not trusted |
# | a | acceptance rate: the chance that a drafted token is accepted |
# | k | number of tokens drafted for each verification |
# | E[N] | expected number of tokens that one verification yields |
#
# Papers differ: Leviathan et al. write α for a and γ for k; Chen et al. swap p and q.

# %% [markdown]
# ### See it happen
#
# Change a and k. The table is the probability of each number of accepted drafts. The left plot shows E[N] over k with
# its ceiling 1/(1 − a); the right one the running average of simulated rounds.
#
# Try k = 12 with a = 0.5: what do the last eight drafts bring?

# %% label="Explore" minutes=4
explore("lesson4")

# %% [markdown]
# The sentence below the plots assumes that each token is accepted independently with the same probability. Real text
# has easy stretches and hard ones: this is a teaching approximation.

# %% [markdown]
# ## Predict first
#
# With acceptance one and four proposals, what is the ideal produced-token count?
#
# Write down a number before you compute anything. It is not graded; the question comes back at the end.

# %% ungraded="prediction_ideal_count" label="Predict" minutes=1
my_guess_ideal_count = None

# %% [markdown]
# ## Chapter context
#
# A cheap draft proposes several tokens and a target model verifies them with parallel work. The opportunity comes
# from amortizing an expensive target step, but drafting, verification and rejection recovery all cost time.
#
# This lesson looks at one side only: how many tokens one expensive step brings. Time comes in lesson 5.

# %% [markdown]
# ## Part 1 · Hands-on
#
# Evaluate the formula for a few acceptance rates, then (in Part 2) write it and confirm it by simulation.
#
# The explorer once more. Its buttons set **a = 1, k = 4**, **a = 0.8, k = 4** and **a = 0.5, k = 4**. Compute first,
# then compare.

# %% label="Explore" minutes=2
explore("lesson4")

# %% [markdown]
# ### Three acceptance rates
#
# With acceptance rate 1 and k = 4 drafted tokens, **what is the expected number of tokens produced per verification**,
# including the bonus token? Replace `None` by a number.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# At rate 1 nothing is left to chance. How many drafts are accepted, and what comes after them?
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# 1 + a + … + a^k has k + 1 terms. What is each of them if a is 1?
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# a = 1 and k = 2: both drafts are accepted, and the target's token follows. 1 + 1 + 1 = 3.
#
# </details>

# %% number="tokens_if_always_accepted" places=0 points=1 minutes=1 difficulty="easy"
tokens_if_always_accepted = 5
# note 5: Yes. All four drafts are accepted, and the bonus token follows: k + 1 = 5.
# note 4: These are the accepted drafts only. The same pass also yields the target's token for the next position: add
#         it.
# note 1: One is the yield at a = 0, when no draft is ever accepted. At a = 1 all four are.

# %% [markdown]
# With a = 0.8 and k = 4:
#
# $$1+0.8+0.8^2+0.8^3+0.8^4=\frac{1-0.8^5}{1-0.8}$$
#
# **Type its value**, with 4 decimals.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# Each term is the one before times 0.8. There are five terms, and the first is 1.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# First compute 0.8 to the power 5, subtract it from 1, and divide by 0.2.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# a = 0.5 and k = 2: the terms are 1, 0.5 and 0.25, together 1.75. The other way: 0.5 to the power 3 is 0.125; 1 − 0.125
# = 0.875; divided by 0.5 this is 1.75 again.
#
# </details>

# %% number="tokens_at_rate_08" places=4 points=1 minutes=3 difficulty="easy"
tokens_at_rate_08 = 3.3616
# note 3.3616: Yes: 1 + 0.8 + 0.64 + 0.512 + 0.4096.
# note 2.3616: You counted the accepted drafts only. The token that the target always supplies is the 1 at the start
#         of the sum.
# note 2.952: One term is missing: the sum ends with 0.8 to the power 4. In the closed form the exponent is k + 1 = 5.
# note 0.6723: That is 1 − 0.8 to the power 5. Divide it by 1 − 0.8.
# note 5: That is the ceiling 1/(1 − a), the yield of endless drafts. With k = 4 the sum stops after five terms.
# note 4.2: You counted every draft with probability 0.8. A later draft counts only if all before it were accepted: use
#         the powers of 0.8.
# note 3.2: That is 4 · 0.8. A later draft counts only if all before it were accepted (use powers), and the target's own
#         token is missing.
# note 3.36: Right so far. Please give four decimals.
# note 3.362: Right so far. Please give four decimals.
# note 3.4: Right so far. Please give four decimals.
# note 4.0: That is 5 · 0.8. The terms are not all equal: 1, then 0.8, then 0.64, and so on.

# %% [markdown]
# **With a = 0.5 and k = 4** (4 decimals)?

# %% number="tokens_at_rate_05" places=4 points=1 minutes=2 difficulty="easy"
tokens_at_rate_05 = 1.9375
# note 1.9375: Yes: 1 + 0.5 + 0.25 + 0.125 + 0.0625. Already close to its ceiling 2.
# note 0.9375: You counted the accepted drafts only. Add the token that the target always supplies.
# note 1.875: One term is missing: the sum ends with 0.5 to the power 4 = 0.0625.
# note 0.9688: That is 1 − 0.5 to the power 5. Divide it by 1 − 0.5.
# note 2: That is the ceiling 1/(1 − a), the yield of endless drafts. Four drafts come close, but not all the way.
# note 3: You counted every draft with probability 0.5. A later draft counts only if all before it were accepted: use
#         the powers of 0.5.
# note 1.94: Right so far. Please give four decimals.
# note 1.938: Right so far. Please give four decimals.

# %% [markdown]
# ## Part 2 · Code
#
# You write the formula, the distribution behind it, the expectation computed from that distribution, and a
# simulation. Three independent ways to one number: if they agree, you can trust it.

# %% [markdown]
# ### The formula
#
# The expected number of tokens produced per verification when each drafted token is accepted independently with
# probability a: 1 + a + a² + … + a^k.
#
# Handle a = 1 (the sum is k + 1). `a` must be in [0, 1] and `k >= 0`; otherwise raise a `ValueError`.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# Test the arguments first. Then decide: a loop over powers, or the closed form. Only one of them has trouble at a = 1.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# Either add a to the power i for i = 0, 1, …, k (in Python, range(k + 1)), or use (1 − a to the power k + 1) divided by
# (1 − a) for a other than 1.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# a = 0, k = 3: the terms are 1, 0, 0, 0, so the result is 1: the target's own token. Python agrees that 0 ** 0 is 1.
#
# </details>

# %% code="expected_tokens" points=3 minutes=8 difficulty="medium"
def expected_tokens(a, k):
    """Return the expected tokens per verification, 1 + a + … + a^k.

    a: acceptance rate, a number from 0 to 1
    k: number of drafted tokens, 0 or more

    >>> expected_tokens(1, 4)
    5
    >>> round(expected_tokens(0.8, 4), 4)
    3.3616
    """
    ### BEGIN SOLUTION
    if not 0 <= a <= 1:
        raise ValueError(f"a is {a}; it must lie between 0 and 1")
    if k < 0:
        raise ValueError(f"k is {k}; it must not be negative")
    return sum(a**i for i in range(k + 1))
    ### END SOLUTION


# %% [markdown]
# ### The distribution
#
# The probability of *exactly* n accepted draft tokens, for n = 0 … k: a^n · (1 − a) for n < k, and a^k for n = k.
# Return a list of k + 1 numbers that sums to 1.
#
# Why the two cases? To stop at n < k, the next draft must be rejected: a factor 1 − a. After k accepted drafts there is
# nothing left to reject.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# Make the first k entries with one rule, then append the last one.
#
# </details>
#
# <details>
# <summary>Hint: the steps</summary>
#
# 1. a list with a ** n * (1 − a) for n in range(k)
# 2. one more entry: a ** k
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# a = 0.5, k = 2: rejected at once 0.5; one accepted, then rejected 0.25; both accepted 0.25. The sum is 1.
#
# </details>

# %% code="accepted_distribution" points=3 minutes=6 difficulty="medium"
def accepted_distribution(a, k):
    """Return the probabilities of exactly 0, 1, …, k accepted drafts.

    >>> accepted_distribution(0.5, 2)
    [0.5, 0.25, 0.25]
    >>> [round(p, 4) for p in accepted_distribution(0.8, 4)]
    [0.2, 0.16, 0.128, 0.1024, 0.4096]
    """
    ### BEGIN SOLUTION
    return [a**n * (1 - a) for n in range(k)] + [a**k]
    ### END SOLUTION


# %% [markdown]
# ### The expectation from the distribution
#
# 1 + Σ n · P(n accepted), computed from `accepted_distribution`. It should agree with `expected_tokens`, because tokens
# produced = accepted + 1.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# An expectation weights each possible count with its probability. The function enumerate gives you count and
# probability together.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# 1 + 0·P(0) + 1·P(1) + … + k·P(k)
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# a = 0.5, k = 2: 1 + 0·0.5 + 1·0.25 + 2·0.25 = 1.75. The formula gives 1 + 0.5 + 0.25 = 1.75 as well.
#
# </details>

# %% code="expected_from_distribution" points=2 minutes=5 difficulty="easy"
def expected_from_distribution(a, k):
    """Return the expected tokens per verification, from accepted_distribution.

    >>> round(expected_from_distribution(0.8, 4), 4)
    3.3616
    """
    ### BEGIN SOLUTION
    return 1 + sum(n * p for n, p in enumerate(accepted_distribution(a, k)))
    ### END SOLUTION


# %% [markdown]
# ### Random numbers that repeat
#
# With `rng = np.random.default_rng(seed)`, a call `rng.random()` gives one number from 0 up to (not including) 1, and
# `rng.random((3, 2))` a table of them. The same seed gives the same numbers again: so others can repeat your result.
#
# Do not call `np.random.seed`: it changes the random numbers of everybody else in the same program.

# %% [markdown]
# ### The simulation
#
# The average number of tokens produced per verification over `trials` random rounds. All random numbers come from one
# generator, made inside the function by `np.random.default_rng(seed)`.
#
# One round: each draft is accepted if a fresh random number is below a. At the first rejection, or after k drafts, the
# round ends. It produced the accepted drafts plus one token.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# Two nested loops are enough: rounds outside, drafts inside. Count tokens in one variable.
#
# </details>
#
# <details>
# <summary>Hint: the steps of a round</summary>
#
# 1. add 1 to the total, the target's token
# 2. for each of the k drafts: draw rng.random(); if it is below a, add 1 to the total, else break
#
# After all rounds divide the total by trials.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# a = 0.8, k = 4, random numbers 0.31, 0.77, 0.92: two drafts are accepted, the third is not, since 0.92 is not below
# 0.8. The round produced 3 tokens; the fourth draft was never looked at.
#
# </details>

# %% code="simulate" points=4 minutes=12 difficulty="hard"
def simulate(a, k, trials, seed):
    """Return the average tokens per verification over `trials` random rounds.

    trials: number of rounds, 1 or more; seed: for np.random.default_rng

    >>> simulate(1, 4, trials=10, seed=0)
    5.0
    """
    ### BEGIN SOLUTION
    rng = np.random.default_rng(seed)
    total = 0
    for _ in range(trials):
        total += 1
        for _ in range(k):
            if rng.random() >= a:
                break
            total += 1
    return total / trials
    ### END SOLUTION


# %% [markdown]
# ### Draw your own plot
#
# The next cell prepares a plot of any function of a and k; run it, nothing is drawn yet.

# %%
def draw_growth(function, rates=(0.5, 0.8, 0.95), longest=12):
    """Plot function(a, k) over k = 0 … longest for some rates a, and describe the plot in words."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    for a, colour, line in zip(rates, ("#5790fc", "#f89c20", "#e42536"), ("-", "--", ":")):
        values = [function(a, k) for k in range(longest + 1)]
        axes.plot(values, line, color=colour, marker="o", markersize=4)
        axes.annotate(f" a = {a}", (longest, values[-1]), va="center")
        print(f"In words: for a = {a} the curve rises from {values[0]:.4g} to {values[-1]:.4g}.")
    axes.set(xlabel="drafted tokens k", ylabel="tokens per verification", xlim=(0, longest * 1.2))
    plt.show()


# %% [markdown]
# When `expected_tokens` passes its check, remove the `#` below and run the cell. Then try other rates, such as
# `rates=(0.2, 0.6, 1)`, or draw `expected_from_distribution`: do the curves differ?

# %% ungraded="plot_growth" label="Explore" minutes=3
# draw_growth(expected_tokens)

# %% [markdown]
# ### How far does a simulation stray?
#
# When `simulate` passes its check, remove the `#` in front of both lines. Each step has a hundred times as many rounds.
# How does the distance to 3.3616 shrink? Change the seed and look again.

# %% ungraded="simulation_error" label="Explore" minutes=3
# for trials in (10, 1000, 100_000):
#     print(trials, "rounds:", simulate(0.8, 4, trials, seed=1))

# %% [markdown]
# A hundred times as many rounds bring about ten times the accuracy: the typical distance shrinks with the square root
# of their number. That is why the formula is worth having.

# %% [markdown]
# ## Check your understanding
#
# With acceptance one and four proposals, what is the ideal produced-token count?
#
# - **A.** One, since only the target's token counts.
# - **B.** Five: four accepted drafts plus the extra token from the same verification pass.
# - **C.** Four, since only the accepted drafts count.
#
# Type the letter in quotes.

# %% choice="ideal_produced_count" points=1 minutes=1 difficulty="easy"
ideal_produced_count = "B"
# note A: The target's token is one of the produced tokens, but accepted drafts are produced as well. With acceptance
#         one, how many drafts are accepted?
# note B: Yes. All four drafts are accepted, and the pass that checked them also yields the token after them: k + 1.
# note C: The four accepted drafts count, but not alone. The same pass also shows what the target picks after the last
#         draft, so one more token is produced.

# %% [markdown] ungraded="reflection_expected_progress" label="Reflect" minutes=2
# In real text some stretches are easy to guess (names, fixed phrases) and others hard. Suppose half of all rounds have
# a = 1 and half a = 0.6. Is the mean of E[N] over the two the same as E[N] at the mean rate, 0.8? Guess first, then
# compute both for k = 4.
#
# *Double-click here and write.*

# %% [markdown]
# ## What next
#
# You can now tell how many tokens one verification brings, and that this number flattens towards 1/(1 − a) as k grows.
# More drafts cost time, though, and the gain from each is smaller than the one before. **Lesson 5, When it pays**,
# divides the tokens by the time of a round, and finds the best k. Sometimes it is 0.
