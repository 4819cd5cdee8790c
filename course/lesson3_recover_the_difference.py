# %% [markdown] generated="header"
# # Recover the difference
#
# **Objective.** Trace draft-and-verify decoding, explain distribution-preserving acceptance, and calculate a
# simplified speedup.
#
# **Lesson goal.** Redraw a rejected position so that the output is exactly p; write one complete round of speculative
# sampling.
#
# **Where you are.** Lesson 1 gave you the round (keep, replace, discard the rest), lesson 2 the rule that keeps a
# sampled token with probability min(1, p/q). One piece is missing: what replaces a rejected token? Lesson 4 then
# counts how many tokens such rounds yield.

# %% setup
from specdec_helpers import check, explore, start

start("lesson3")

# %% [markdown]
# ## What you will learn
#
# - compute what the draft under-supplied, and draw a replacement from it;
# - draw from any distribution with one random number;
# - show in code that "accept, else recover" gives exactly p, and by how much wrong rules miss it;
# - write one whole round, bonus token included.

# %% [markdown]
# ## The idea
#
# ### Draw the replacement from what the draft under-supplied
#
# Draw x from q and keep it with probability min(1, p(x)/q(x)). Then token x comes through with probability
# q(x) · min(1, p(x)/q(x)) = **min(p(x), q(x))**. That is the probability, or *mass*, which accepted tokens carry.
#
# It never exceeds p. What is missing is p − min(p, q) = **max(0, p − q)**.

# %% [markdown]
# ### The sum fits
#
# The missing parts add up to 1 − a, where a is the acceptance rate: exactly the probability of a rejection. So after
# a rejection, draw from max(0, p − q) divided by its sum. This distribution is called the **residual**, and
#
# $$\min(p,q)+(1-a)\cdot\frac{\max(0,\,p-q)}{1-a}=p.$$
#
# The output is p, whatever q was. A bad draft costs time, never truth.

# %% [markdown]
# ### And if nothing was rejected?
#
# Then no correction is due. The target's pass has also produced its distribution for the position after the last
# draft; a model's distribution at one position is called a *row*. The draft has no row there. The extra token, the
# *bonus*, comes straight from the target's.

# %% [markdown]
# ### Notation
#
# | symbol | meaning |
# |---|---|
# | p, q | distributions of target and draft, after temperature and top-k |
# | a | acceptance rate: the sum of min(p, q) |
# | k | number of tokens drafted for each verification |
# | n | number of accepted drafts in a round, 0 … k |
# | u | a uniform random number, 0 ≤ u < 1 |
#
# Papers differ: Leviathan et al. write α for a and γ for k; Chen et al. swap p and q.

# %% [markdown]
# ### See it happen
#
# On top, four pictures of one position: what the draft proposes, what is kept, what the replacement adds, and the
# output, with p marked in red. Change p and q. Then choose a wrong rule and watch the output leave p.
#
# Below: where the E[N] tokens of a verification come from, for a and k: accepted drafts, recovery after a rejection,
# or the bonus.

# %% label="Explore" minutes=5
explore("lesson3")

# %% [markdown]
# ## Predict first
#
# If a rejected position were simply resampled from the target's own p, would the output still follow p?
#
# Write `"yes"` or `"no"`. It is not graded; you will compute the answer in Part 1.

# %% ungraded="prediction_resample" label="Predict" minutes=1
my_guess_resample = None

# %% [markdown]
# ## Chapter context
#
# A cheap draft proposes several tokens and a target model verifies them with parallel work. The opportunity comes
# from amortizing an expensive target step, but drafting, verification and rejection recovery all cost time.

# %% [markdown]
# Recovery itself is cheap: both rows are there already, a subtraction and one draw are enough. But mistakes in it are
# hard to see. The text still reads well, and only the frequencies are off. Several well-known libraries shipped such
# mistakes. One of the functions of this lesson makes them visible.

# %% [markdown]
# ## Part 1 · Hands-on
#
# Three numbers for one position with p = (0.4, 0.3, 0.2, 0.1) and q = (0.1, 0.2, 0.3, 0.4). The explorer starts with
# them.

# %% label="Explore" minutes=2
explore("lesson3")

# %% [markdown]
# ### How often is a token rejected?
#
# p = (0.4, 0.3, 0.2, 0.1) and q = (0.1, 0.2, 0.3, 0.4). **What is the probability that the drafted token is
# rejected?** Replace `None` by a number.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# You know from lesson 2 how much is accepted.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# 1 - (sum of min(p, q) over the four tokens)
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# For p = (0.9, 0.1) and q = (0.6, 0.4): accepted 0.6 + 0.1 = 0.7, so rejected 0.3.
#
# </details>

# %% number="rejection_chance" places=4 points=1 minutes=2 difficulty="easy"
rejection_chance = 0.4
# note 0.4: Yes. The overlap is 0.1 + 0.2 + 0.2 + 0.1 = 0.6, the rest is rejected.
# note 0.6: That is the acceptance rate. The question asks for the rest.
# note 0.8: That is the sum of all |p - q|. It counts every difference twice: halve it.
# note 0.2: That is the sum of p · q, the chance of an independent match; or 1 minus a distance counted twice. Start
#         from the overlap, the sum of min(p, q).
# note 0.7: You added the whole of q for the two over-proposed tokens. They are kept a part of the time: of the third
#         token 0.2 of 0.3 stays, of the fourth 0.1 of 0.4.
# note 0.2708: You averaged the four rejection probabilities 1 - min(1, p/q) as if the draft proposed all tokens equally
#         often. Weight them with q.

# %% [markdown]
# ### The residual
#
# **What probability does the residual give to the first token?**

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# How much of each token is still missing after the accepted ones? Then make it a distribution.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# max(0, p - q) of the first token, divided by the sum of max(0, p - q) over all tokens
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# For p = (0.5, 0.4, 0.1) and q = (0.3, 0.3, 0.4): missing 0.2, 0.1 and 0. The sum is 0.3, so the residual is
# (2/3, 1/3, 0).
#
# </details>

# %% number="residual_first" places=4 points=1 minutes=2 difficulty="easy"
residual_first = 0.75
# note 0.75: Yes. Missing are 0.3, 0.1, 0 and 0; 0.3 / 0.4 = 0.75.
# note 0.3: That is the missing mass itself. A distribution must sum to 1: divide by the sum, 0.4.
# note 0.303: You took a softmax of the missing parts. It gives a chance even to tokens of which nothing is missing.
#         Divide by the sum instead.
# note 0.375: You divided by the sum of all |p - q|. Only positive differences are missing mass.
# note 0.4: That is the target's own p. The accepted tokens have already delivered 0.1 of it.
# note 0.5714: You divided p by the sum of p over the first two tokens. Subtract q first.
# note 0: You took max(0, q - p), what the draft proposes too often. Turn the difference round.
# note 0.5: You divided 0.3 by the acceptance rate 0.6. The missing parts sum to the rejection rate.

# %% [markdown]
# ### A plausible mistake
#
# Suppose somebody draws the replacement from **p** itself. **With what probability is the first token output then?**
# (Right would be 0.4.)

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# There are two ways for token 1 to come out: drafted and kept, or as the replacement of any rejected token.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# min(p, q) of the first token + rejection probability · p of the first token
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# With the right residual: 0.1 + 0.4 · 0.75 = 0.4.
#
# </details>

# %% number="biased_first" places=4 points=1 minutes=3 difficulty="medium"
biased_first = 0.26
# note 0.26: Yes. 0.1 + 0.4 · 0.4 = 0.26 instead of 0.4: the token that the draft neglects stays neglected.
# note 0.4: That would be the right output, with the residual as the replacement. Here the replacement comes from p.
# note 0.16: You counted the replacements only. The token can also be drafted and kept: add min(p, q).
# note 0.5: You added p in full. A replacement is drawn only after a rejection: multiply by 0.4.
# note 0.34: You multiplied by the acceptance rate. Replacements follow rejections: multiply by 0.4.
# note 0.14: You replaced from q: 0.1 + 0.4 · 0.1. The question is about p.
# note 0.1: That is the kept part only. Every rejection emits a token as well, sometimes this one.

# %% [markdown]
# So the answer to *Predict first* is no. The accepted tokens already carry a part of p; whoever draws from all of p
# after that pays this part twice, and the under-supplied tokens never catch up.

# %% [markdown]
# ## Part 2 · Code
#
# Four functions, the last one a whole round. Distributions come as lists or as NumPy arrays, and your functions leave
# them as they are. Results are compared to 8 decimals, so do not round.
#
# The examples use the two distributions of Part 1. The accept rule of lesson 2 is here again, without its tests for
# bad input:

# %%
import numpy as np

P = [0.4, 0.3, 0.2, 0.1]
Q = [0.1, 0.2, 0.3, 0.4]


def accept_probability(p_x, q_x):
    """Return the probability of keeping a draft token (lesson 2)."""
    return min(1.0, p_x / q_x)


# %% [markdown]
# ### The residual
#
# Return max(0, p − q) divided by its sum, as a new sequence of V numbers. If p and q are identical nothing is missing:
# return p then.
#
# Raise a `ValueError` for the same reasons as `acceptance_rate` in lesson 2: different lengths, a negative entry, a
# sum that differs from 1 by more than 1e-6.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# The tests come first. `sample_from` below needs two of them as well, so a small function of your own may pay.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# missing[x] = max(0, p[x] - q[x]); result: missing[x] / sum of missing. If that sum is 0: p.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# p = (0.4, 0.3, 0.2, 0.1), q = (0.1, 0.2, 0.3, 0.4): missing (0.3, 0.1, 0, 0), sum 0.4, residual (0.75, 0.25, 0, 0).
#
# </details>

# %% code="residual" points=3 minutes=8 difficulty="medium"
def residual(p, q):
    """Return the distribution that a rejected position is redrawn from.

    p, q: target and draft distribution, lists or arrays of V numbers

    >>> [round(float(x), 8) for x in residual(P, Q)]
    [0.75, 0.25, 0.0, 0.0]
    """
    ### BEGIN SOLUTION
    if len(p) != len(q):
        raise ValueError(f"p has {len(p)} entries, q has {len(q)}")
    for row in (p, q):
        if min(row) < 0 or abs(sum(row) - 1) > 1e-6:
            raise ValueError(f"{row} is no distribution")
    missing = [max(0.0, p_x - q_x) for p_x, q_x in zip(p, q, strict=True)]
    total = sum(missing)
    return [part / total for part in missing] if total > 0 else list(p)
    ### END SOLUTION


# %% [markdown]
# ### A draw with one random number
#
# Lay the probabilities end to end on a line from 0 to 1: token 0 first, then token 1, and so on. A uniform u falls into
# one of the pieces. That piece's token is drawn: the smallest i with probs[0] + … + probs[i] > u.

# %% [markdown]
# Two traps. A token of probability 0 must never come out, not even for u = 0. And rounding may leave the whole sum at
# or below u: then return the last token with a probability above 0.
#
# Raise a `ValueError` if `probs` is no distribution (a negative entry, or a sum that differs from 1 by more than
# 1e-6) or if u lies outside 0 ≤ u < 1.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# A running total, one comparison for each token, and something to return after the loop.
#
# </details>
#
# <details>
# <summary>Hint: the steps</summary>
#
# total += probs[i]; if total > u: return i. After the loop: the largest i with probs[i] > 0.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# probs = (0.4, 0.3, 0.2, 0.1), u = 0.5: totals 0.4 (not above 0.5), 0.7 (above): token 1.
#
# </details>

# %% code="sample_from" points=3 minutes=8 difficulty="medium"
def sample_from(probs, u):
    """Return the token that the uniform number u selects.

    probs: list or array of V probabilities; u: a number, 0 <= u < 1

    >>> sample_from(P, 0.5)
    1
    """
    ### BEGIN SOLUTION
    if min(probs) < 0 or abs(sum(probs) - 1) > 1e-6:
        raise ValueError(f"{probs} is no distribution")
    if not 0 <= u < 1:
        raise ValueError(f"u is {u}, but it must be at least 0 and less than 1")
    total = 0.0
    for token, probability in enumerate(probs):
        total += probability
        if total > u:
            return token
    return max(token for token, probability in enumerate(probs) if probability > 0)
    ### END SOLUTION


# %% [markdown]
# ### The proof as code
#
# One position: x is drawn from q and kept with probability `accept[x]`; otherwise a token is drawn from `replacement`.
# Return the distribution of the token that comes out:
#
# q · accept + (1 − sum of q · accept) · replacement
#
# The product q · accept is taken token by token; the bracket is one number, the probability of a rejection.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# First the kept part of every token. Then the one number: how much was rejected in all?
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# kept[x] = q[x] · accept[x]; rejected = 1 - sum of kept; result[x] = kept[x] + rejected · replacement[x]
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# q = (0.6, 0.4), accept = (0.5, 1), replacement = (0.2, 0.8): kept (0.3, 0.4), rejected 0.3, result (0.36, 0.64).
#
# </details>

# %% code="emitted_distribution" points=3 minutes=6 difficulty="easy"
def emitted_distribution(q, accept, replacement):
    """Return the distribution of the token that one position emits.

    q: draft distribution; accept: probability of keeping each token;
    replacement: distribution after a rejection (lists or arrays of V numbers)

    >>> emitted = emitted_distribution([0.6, 0.4], [0.5, 1], [0.2, 0.8])
    >>> [round(float(x), 8) for x in emitted]
    [0.36, 0.64]
    """
    ### BEGIN SOLUTION
    kept = [q_x * keep for q_x, keep in zip(q, accept, strict=True)]
    rejected = 1 - sum(kept)
    return [part + rejected * other for part, other in zip(kept, replacement, strict=True)]
    ### END SOLUTION


# %% [markdown]
# ### Right and wrong rules, side by side
#
# When the three functions pass their checks, remove the `#` signs and run the cell. The first line should print P: the
# proof in numbers. The others are mistakes that have been made. Which tokens get too little?
#
# Then put two distributions of your own in the first line.

# %% ungraded="rules_compared" label="Explore" minutes=4
try_p, try_q = P, Q
keep = [accept_probability(p_x, q_x) for p_x, q_x in zip(try_p, try_q, strict=True)]
keep_sure = [float(p_x >= q_x) for p_x, q_x in zip(try_p, try_q, strict=True)]
powers = np.exp(np.maximum(0, np.subtract(try_p, try_q)))
# missing = residual(try_p, try_q)
# print("residual:     ", np.round(emitted_distribution(try_q, keep, missing), 3))
# print("from p:       ", np.round(emitted_distribution(try_q, keep, try_p), 3))
# print("softmax:      ", np.round(emitted_distribution(try_q, keep, powers / powers.sum()), 3))
# print("only if p>=q: ", np.round(emitted_distribution(try_q, keep_sure, missing), 3))
# print("always accept:", np.round(emitted_distribution(try_q, np.ones(len(try_q)), try_p), 3))

# %% [markdown]
# ### A whole round
#
# The round has k drafts, k + 1 rows of the target, k rows of the draft, k uniforms `u` for the acceptance tests, and
# one more, `u_extra`, for the extra token.
#
# Walk through the drafts. Keep `draft[i]` if `u[i]` is less than its accept probability. At the first rejection, at
# position n, emit the kept tokens and one drawn from the residual of `p_rows[n]` and `q_rows[n]`. If nothing is
# rejected, emit all k and one drawn from `p_rows[k]`.

# %% [markdown]
# Draw the extra token with `u_extra`, never with `u[n]`: that number was large enough for a rejection, so it is not
# uniform any more.
#
# Raise a `ValueError` unless there are k + 1 target rows, k draft rows and k uniforms, even if the first token is
# rejected already. With k = 0 the round is plain sampling: one token from `p_rows[0]`.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# Test the counts, then loop. Both endings are a call of sample_from; what differs is the distribution.
#
# </details>
#
# <details>
# <summary>Hint: the steps</summary>
#
# for position i with token x: if u[i] >= accept_probability(p_rows[i][x], q_rows[i][x]), return the i tokens before it
# and sample_from(residual(p_rows[i], q_rows[i]), u_extra). After the loop: all tokens and sample_from(p_rows[k],
# u_extra).
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Draft 3, rows P and Q, u = 0.5: p/q = 0.25, rejected. The residual is (0.75, 0.25, 0, 0), and u_extra = 0.8 selects
# token 1. The round emits 1.
#
# </details>

# %% code="speculative_round" points=5 minutes=14 difficulty="hard"
def speculative_round(draft, p_rows, q_rows, u, u_extra):
    """Return the list of tokens that one round emits: accepted ones, then one more.

    draft: k tokens; p_rows: k + 1 distributions; q_rows: k distributions;
    u: k uniforms (each a list or an array); u_extra: one more uniform

    >>> speculative_round([3], [P, P], [Q], [0.5], 0.8)
    [1]
    >>> speculative_round([0], [P, P], [Q], [0.5], 0.8)
    [0, 2]
    """
    ### BEGIN SOLUTION
    k = len(draft)
    if len(p_rows) != k + 1 or len(q_rows) != k or len(u) != k:
        raise ValueError(f"{k} drafts, but {len(p_rows)} and {len(q_rows)} rows and {len(u)} uniforms")
    for i, x in enumerate(draft):
        if u[i] >= accept_probability(p_rows[i][x], q_rows[i][x]):
            return [*draft[:i], sample_from(residual(p_rows[i], q_rows[i]), u_extra)]
    return [*draft, sample_from(p_rows[k], u_extra)]
    ### END SOLUTION


# %% [markdown]
# ### Does it follow p?
#
# Count the first token of 20,000 rounds: it should be distributed as P, although every draft comes from Q. Remove the
# `#` signs when your function passes. Then break it on purpose (replace from `p_rows[i]`, say) and run the cell again.

# %% ungraded="first_tokens" label="Explore" minutes=4
rng = np.random.default_rng(3)
rounds = 20_000
drafts, numbers = rng.choice(4, size=rounds, p=Q), rng.random((rounds, 2))
# firsts = [speculative_round([x], [P, P], [Q], [u], v)[0] for x, (u, v) in zip(drafts, numbers)]
# print("first tokens:", np.bincount(firsts, minlength=4) / rounds, " wanted:", P)

# %% [markdown]
# With 20,000 rounds the third decimal still wobbles by chance. A mistake such as "replace from p" needs no such
# numbers: 0.26 instead of 0.4 shows within a few hundred tokens. That is how samplers are tested in earnest: count,
# and compare with p by a chi-square test.

# %% [markdown]
# ## Check your understanding
#
# After a rejection the replacement is drawn from:
#
# - **A.** p
# - **B.** max(0, p − q) divided by its sum
# - **C.** q, until something is accepted
#
# Type the letter in quotes.

# %% choice="replacement_source" points=1 minutes=1 difficulty="easy"
replacement_source = "B"
# note A: The accepted tokens already carry min(p, q). A draw from all of p comes on top of that: in Part 1 the first
#         token came out with 0.26 instead of 0.4. What is still missing of p?
# note B: Yes. Accepted tokens carry min(p, q), the residual supplies the rest, and together they are p.
# note C: Then every output would be an accepted draft, distributed as min(p, q) divided by its sum. Tokens that the
#         draft proposes too rarely would stay too rare. What has to be supplied is what q lacks.

# %% [markdown] ungraded="reflection_recover" label="Reflect" minutes=2
# A colleague says: "After a rejection I resample from the target. It is the target's distribution, so it cannot be
# wrong." Answer in two sentences, with a number from this lesson.
#
# *Double-click here and write.*

# %% [markdown]
# ## What next
#
# You now have exact speculative sampling: one round emits between 1 and k + 1 tokens, and each follows the target. How
# many are they on average? **Lesson 4, Expected progress**, answers with the acceptance rate a and the number of drafts
# k, and lesson 6 runs your round on real models.
