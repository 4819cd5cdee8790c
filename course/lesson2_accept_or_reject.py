# %% [markdown] generated="header"
# # Accept or reject
#
# **Objective.** Trace draft-and-verify decoding, explain distribution-preserving acceptance, and calculate a
# simplified speedup.
#
# **Lesson goal.** Turn logits into the p and q that the rule compares; accept a sampled draft token with probability
# min(1, p(x)/q(x)); compute the acceptance rate of a pair of distributions.
#
# **Where you are.** In lesson 1 you built a verifier for greedy decoding: compare, keep, stop at the first
# disagreement. Here the tokens are sampled, and a rule with a random number takes the place of the comparison.
# Lesson 3 then repairs the rejected positions.

# %% setup
from specdec_helpers import check, explore, start

start("lesson2")

# %% [markdown]
# ## What you will learn
#
# - turn a model's logits into the distribution that it really samples from: temperature and top-k;
# - decide about a sampled draft token with min(1, p/q) and one random number;
# - compute the share of draft tokens that is kept, for any pair of distributions;
# - say why temperature 0 brings you back to the comparison of lesson 1.

# %% [markdown]
# ## The idea
#
# ### Keep a guess as often as the target would
#
# With sampling there is no single "right" next token to compare with. The draft samples a token x from its
# distribution q. The target has a distribution p of its own.
#
# - If the target gives x at least as much probability as the draft did, p(x) ≥ q(x), keep it.
# - If the draft over-proposed x, q(x) > p(x), keep it only a fraction p(x)/q(x) of the time.

# %% [markdown]
# ### Why a fraction p/q?
#
# Both cases together say: keep x with probability min(1, p(x)/q(x)).
#
# Say the draft proposes "cat" in 80 % of all cases, q = 0.8, but the target wants it in only 20 %, p = 0.2. Keep one
# proposal in four, and "cat" comes through in 0.8 · 1/4 = 0.2 of all cases: as often as the target would say it.

# %% [markdown]
# A token that the draft proposes too *rarely* is always kept. What is still missing of it comes from the rejected
# positions. That is the subject of lesson 3.

# %% [markdown]
# ### How much is kept
#
# Averaged over what the draft proposes, the kept share is
#
# $$a=\sum_x q(x)\,\min\!\left(1,\frac{p(x)}{q(x)}\right)=\sum_x \min\bigl(p(x),q(x)\bigr),$$
#
# the **overlap** of the two distributions. It is 1 minus their *total variation distance*, which is half the sum of
# all |p(x) − q(x)|. No rule that leaves the output distribution unchanged can keep more.

# %% [markdown]
# ### Notation
#
# | symbol | meaning |
# |---|---|
# | p, p(x) | distribution of the target, and the probability it gives to token x |
# | q, q(x) | distribution of the draft |
# | a | acceptance rate: the chance that a drafted token is accepted |
# | k | number of tokens drafted for each verification |
# | V | size of the vocabulary: p and q have V entries each |
# | u | a uniform random number, 0 ≤ u < 1 |
#
# Papers differ: Leviathan et al. write α for a and γ for k; Chen et al. swap p and q.

# %% [markdown]
# ### See it happen
#
# On top: change the bars of p and q, choose the proposed token, and move u. A token is kept if u lies below its
# accept probability. Try a token with p ≥ q: can any u reject it?
#
# Below: a draft that agrees with the target on a share a, so that the shaded overlap **is** a. The curve shows what
# this overlap is worth: E[N], the expected number of tokens per verification, if it is a at every position.

# %% label="Explore" minutes=5
explore("lesson2")

# %% [markdown]
# p and q are the distributions that are **actually sampled from**, after temperature and top-k (two settings that Part
# 2 explains). At temperature 0 both are *one-hot*: a single token has probability 1. Then min(1, p/q) is 1 if the two
# models agree and 0 if not, and the rule is the comparison of lesson 1.

# %% [markdown]
# ## Predict first
#
# The draft proposed a token with q = 0.5, and the target gives it p = 0.3. How often should it be kept?
#
# Write a number between 0 and 1, from the gut. It is not graded; Part 1 opens with the same question.

# %% ungraded="prediction_keep" label="Predict" minutes=1
my_guess_keep = None

# %% [markdown]
# ## Chapter context
#
# A cheap draft proposes several tokens and a target model verifies them with parallel work. The opportunity comes
# from amortizing an expensive target step, but drafting, verification and rejection recovery all cost time.

# %% [markdown]
# Real systems mostly sample: a chat model at temperature 0.7 answers differently each time. Speculation may then
# change *which* sample a reader gets, but never how likely each one is. This is what "exact" means from now on: the
# output follows the target's distribution.

# %% [markdown]
# ## Part 1 · Hands-on
#
# Three numbers, with pencil and paper or a calculator. The explorer is here again, to compare with.

# %% label="Explore" minutes=2
explore("lesson2")

# %% [markdown]
# ### One token
#
# The draft proposed a token with q = 0.5, and the target gives it p = 0.3. **With what probability does the rule keep
# it?** Replace `None` by a number.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# The draft proposes this token more often than the target wants it. Which share of the proposals is wanted?
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# min(1, p / q)
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# With q = 0.4 and p = 0.1 it would be min(1, 0.1 / 0.4) = 0.25: one proposal in four is kept.
#
# </details>

# %% number="keep_chance" places=4 points=1 minutes=2 difficulty="easy"
keep_chance = 0.6
# note 0.6: Yes. min(1, 0.3 / 0.5) = 0.6, and 0.5 · 0.6 = 0.3 is what the target wants.
# note 1.6667: That is q / p. A probability cannot exceed 1; turn the ratio round: the target's p above, the draft's
#         q below.
# note 1: The token is kept always only if p is at least q. Here the draft over-proposes it: 0.5 against 0.3.
# note 0: p < q does not mean that the token is never kept: the target wants it in 30 % of all cases. Keep the
#         fraction p / q.
# note 0.3: That is p itself: the share of all cases in which the target wants the token. The draft offers it in only
#         half of them; divide by q.
# note 0.15: That is p · q, the chance that two independent draws both give this token. The draft has drawn it
#         already: divide instead.
# note 0.4: That is the chance of a rejection. The question asks for the rest.
# note 0.2: That is the difference q - p. The rule uses the ratio p / q.

# %% [markdown]
# ### All tokens
#
# Now p = (0.5, 0.3, 0.2) and q = (0.2, 0.5, 0.3), for three tokens. **What is the acceptance rate**, the share of all
# drafted tokens that is kept?

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# How much probability do p and q have in common, token by token?
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# a = min(p, q) of token 1 + min(p, q) of token 2 + min(p, q) of token 3
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# For p = (0.9, 0.1) and q = (0.6, 0.4): min(0.9, 0.6) + min(0.1, 0.4) = 0.6 + 0.1 = 0.7. In other words: 60 % of the
# drafts are token 1, always kept, and 40 % are token 2, of which a quarter is kept.
#
# </details>

# %% number="overlap" places=4 points=1 minutes=3 difficulty="easy"
overlap = 0.7
# note 0.7: Yes. 0.2 + 0.3 + 0.2 = 0.7.
# note 0.31: That is the chance that independent draws from p and from q agree, the sum of p · q. Accepting only then
#         is correct but wasteful; the rule keeps the overlap, the sum of min(p, q).
# note 0.3: That is the rejection rate, the total variation distance. The acceptance rate is 1 minus it.
# note 0.2: You counted the first token only. The others are over-proposed, but still kept a fraction p / q of the
#         time: add min(p, q) for each.
# note 0.5: You counted the two over-proposed tokens. The first one is kept as well: add min(0.5, 0.2).
# note 0.7556: That is the plain mean of the three accept probabilities. The draft does not propose the tokens equally
#         often: weight each with its q.
# note 0.4: The differences |p - q| sum to twice the rejection rate: halve before you subtract from 1.
# note 1.3: You added the larger of the two. What is kept can be no more than either model supplies: take the smaller.

# %% [markdown]
# ### Several tokens
#
# Suppose the acceptance rate is this 0.7 at every position, whatever was accepted before, and k = 4. Then the
# expected number of tokens per verification is E[N] = 1 + a + a² + a³ + a⁴: the token that the target always supplies,
# plus one for each draft that passes, and draft i passes only if all before it did.
#
# **What is E[N]?** Give 4 decimals. (Lesson 4 looks into this formula.)

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# Five terms, the first is 1. Each is 0.7 times the one before it.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# (1 - a^(k + 1)) / (1 - a), with a = 0.7 and k = 4
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# For a = 0.5 and k = 2: 1 + 0.5 + 0.25 = 1.75, and (1 - 0.125) / 0.5 = 1.75.
#
# </details>

# %% number="tokens_at_overlap" places=4 points=1 minutes=3 difficulty="medium"
tokens_at_overlap = 2.7731
# note 2.7731: Yes. 1 + 0.7 + 0.49 + 0.343 + 0.2401 = 2.7731.
# note 1.7731: You left out the 1. Even if the whole draft is rejected, the target supplies a token.
# note 2.533: You stopped at the third power. Four drafted tokens give five terms: 1, a, a², a³, a⁴.
# note 2.9412: One term too many. With k = 4 the last one is a⁴.
# note 3.8: You added 4 · 0.7, as if each draft counted for itself. A draft passes only if all before it did: the
#         terms are powers of a.
# note 2.8: That is 4 · 0.7. A draft passes only if all before it did, so the terms are powers of a; and the target
#         supplies one token of its own.
# note 3.3333: That is the limit for very large k, 1 / (1 - a). Here k is 4.
# note 3.3616: That is the value for a = 0.8. Here a is 0.7.

# %% [markdown]
# ## Part 2 · Code
#
# Four functions, from the logits of a model to the number of tokens that a round accepts. Distributions come as lists
# or as NumPy arrays, and your functions leave them as they are. Results are compared to 8 decimals, so do not round.
#
# The examples use these two distributions, and you may use NumPy:

# %%
import numpy as np

P = [0.5, 0.3, 0.2]
Q = [0.2, 0.5, 0.3]

# %% [markdown]
# ### From logits to a distribution
#
# A language model returns one number for each token of its vocabulary, a *logit*. The *softmax* makes probabilities of
# them: exp(logit), divided by the sum of all of these. Two settings shape it:

# %% [markdown]
# - **temperature** T: softmax(logits / T). Small T sharpens, large T flattens. T = 0 means greedy: all mass on the
#   largest logit, on the first one if there is a tie.
# - **top-k**: only the k largest logits stay in the game, all other tokens get exactly 0. (This k is not the number
#   of drafts; the name is unlucky but usual.)

# %% [markdown]
# The logits may be as large as ±1000, and exp(1000) is too large for a float. The way out: subtract the largest logit
# from all of them first. Numerator and denominator shrink by the same factor, so the result is the same.
#
# Raise a `ValueError` for empty logits, for a temperature below 0, and for top_k below 1, at any temperature.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# Treat the bad inputs first, then temperature 0, then the rest. Rule the small logits out, but keep the order of the
# tokens.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# weight of token i = exp((logit i - largest logit) / T), or 0 if it is not among the k largest; probability = weight
# / sum of all weights. In NumPy, np.argsort(logits)[::-1][:k] are the positions of the k largest.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Logits 2 1 0, T = 1, top_k = 2: the weights are exp(0) = 1, exp(-1) = 0.3679 and 0. Their sum is 1.3679, so the
# probabilities are 0.7311, 0.2689 and 0.
#
# </details>

# %% code="to_distribution" points=4 minutes=12 difficulty="medium"
def to_distribution(logits, temperature, top_k=None):
    """Return the V probabilities that are sampled from, in the order of logits.

    logits: list or array of V numbers; temperature: 0 or more
    top_k: keep the top_k largest logits only (None, or V and more: all)

    >>> [round(float(x), 4) for x in to_distribution([2, 1, 0], 1, 2)]
    [0.7311, 0.2689, 0.0]
    """
    ### BEGIN SOLUTION
    scores = np.array(logits, dtype=float)
    if len(scores) == 0 or temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError(f"no distribution for {len(scores)} logits, temperature {temperature}, top_k {top_k}")
    best = int(np.argmax(scores))
    if temperature == 0:
        return [1.0 if i == best else 0.0 for i in range(len(scores))]
    weights = np.exp((scores - scores[best]) / temperature)
    if top_k is not None:
        weights[np.argsort(scores)[::-1][top_k:]] = 0
    return (weights / weights.sum()).tolist()
    ### END SOLUTION


# %% [markdown]
# ### The accept probability
#
# p_x and q_x are the probabilities that target and draft give to the one token x that was drafted. Return
# min(1, p_x / q_x).
#
# A drafted token has q_x > 0: otherwise it could not have been drawn. Raise a `ValueError` if q_x is 0 or less or
# above 1, or if p_x lies outside 0 … 1. The bounds themselves, p_x = 0, p_x = 1 and q_x = 1, are fine.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# Two tests, then one line.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# min(1, p_x / q_x)
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# p_x = 0.5, q_x = 0.2: the ratio is 2.5, so the answer is 1. p_x = 0, q_x = 0.2: the answer is 0, the target never
# says this token.
#
# </details>

# %% code="accept_probability" points=2 minutes=4 difficulty="easy"
def accept_probability(p_x, q_x):
    """Return the probability of keeping a draft token.

    p_x: what the target gives the token, 0 … 1
    q_x: what the draft gave it, above 0, at most 1

    >>> accept_probability(0.3, 0.5)
    0.6
    """
    ### BEGIN SOLUTION
    if not 0 < q_x <= 1:
        raise ValueError(f"q_x is {q_x}, but it must be above 0 and at most 1")
    if not 0 <= p_x <= 1:
        raise ValueError(f"p_x is {p_x}, but it must lie between 0 and 1")
    return min(1.0, p_x / q_x)
    ### END SOLUTION


# %% [markdown]
# ### The acceptance rate
#
# The share of drafted tokens that is kept, for a whole pair of distributions: the sum of min(p(x), q(x)) over all
# tokens.

# %% [markdown]
# Wrong input is easily passed here, logits for example, so look at it first. Raise a `ValueError` if the lengths
# differ, if an entry is negative, or if a sum differs from 1 by more than 1e-6. A smaller difference is rounding and
# fine: ten times 0.1 is 0.9999999999999999 in Python.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# The same tests are due for p and for q: a loop over both saves half of the lines.
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# bad if abs(sum - 1) > 1e-6; result: sum of min(p[i], q[i])
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# p = (0.5, 0.3, 0.2) and q = (0.2, 0.5, 0.3) give 0.2 + 0.3 + 0.2 = 0.7.
#
# </details>

# %% code="acceptance_rate" points=3 minutes=6 difficulty="easy"
def acceptance_rate(p, q):
    """Return the share of draft tokens that is kept: the overlap of p and q.

    p, q: target and draft distribution, lists or arrays of V numbers

    >>> round(float(acceptance_rate([0.5, 0.3, 0.2], [0.2, 0.5, 0.3])), 8)
    0.7
    """
    ### BEGIN SOLUTION
    if len(p) != len(q):
        raise ValueError(f"p has {len(p)} entries, q has {len(q)}")
    for row in (p, q):
        if min(row) < 0 or abs(sum(row) - 1) > 1e-6:
            raise ValueError(f"{row} is no distribution")
    return sum(map(min, p, q))
    ### END SOLUTION


# %% [markdown]
# ### The accepted prefix
#
# A draft of k tokens: `draft[i]` was sampled from the distribution `q_rows[i]`, and the target's distribution at that
# position is `p_rows[i]`. Accept token i if `u[i]` is *less* than its accept probability. Stop at the first rejection
# and return how many tokens were accepted.
#
# Raise a `ValueError` unless all four have the same length, even if the first token is rejected already. No draft at
# all is fine: nothing is accepted, 0.

# %% [markdown]
# The random numbers `u` come from outside, so the function itself has no randomness: same input, same answer. This
# makes it easy to test, and real systems do the same.

# %% [markdown]
# <details>
# <summary>Hint: a nudge</summary>
#
# It is the walk of lesson 1 with another test. Which entry of `p_rows[i]` belongs to the drafted token?
#
# </details>
#
# <details>
# <summary>Hint: the formula</summary>
#
# x = draft[i]; accepted if u[i] < accept_probability(p_rows[i][x], q_rows[i][x])
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Drafts 0 and 1, with P and Q at both positions. Token 0 has p/q = 2.5: kept by any u. Token 1 has p/q = 0.6: kept by
# u = 0.4, but rejected by u = 0.7. So u = [0.9, 0.7] accepts 1 token.
#
# </details>

# %% code="accepted_prefix" points=4 minutes=10 difficulty="medium"
def accepted_prefix(draft, p_rows, q_rows, u):
    """Return how many of the k drafted tokens are accepted: 0 to k.

    draft: k tokens; p_rows, q_rows: k distributions each; u: k uniforms
    (each a list or an array)

    >>> accepted_prefix([0, 1], [P, P], [Q, Q], [0.9, 0.7])
    1
    """
    ### BEGIN SOLUTION
    if not len(draft) == len(p_rows) == len(q_rows) == len(u):
        raise ValueError(f"lengths differ: {len(draft)}, {len(p_rows)}, {len(q_rows)}, {len(u)}")
    for i, x in enumerate(draft):
        if u[i] >= accept_probability(p_rows[i][x], q_rows[i][x]):
            return i
    return len(draft)
    ### END SOLUTION


# %% [markdown]
# ### Do the parts fit together?
#
# When your functions pass their checks, remove the `#` signs and run the cell. The first line measures the share of
# kept drafts in 10,000 rounds and lays it beside your formula. The loop gives the draft a temperature of its own,
# while the target stays at 1: watch the acceptance rate although the two models have the *same* logits.

# %% ungraded="kept_share" label="Explore" minutes=4
rng = np.random.default_rng(2)
drafts, uniforms = rng.choice(3, size=10_000, p=Q), rng.random(10_000)
# kept = [accepted_prefix([x], [P], [Q], [u]) for x, u in zip(drafts, uniforms)]
# print("kept:", sum(kept) / 10_000, " overlap:", acceptance_rate(P, Q))

logits = [2, 1, 0]
# for t in (0, 0.5, 1, 2):
#     rate = acceptance_rate(to_distribution(logits, 1), to_distribution(logits, t))
#     print("draft temperature", t, " acceptance rate", round(rate, 4))

# %% [markdown]
# A draft with its own temperature is *allowed*: as long as q is what it really sampled from, the output follows p. It
# only costs acceptance. Testing with a q that was *not* sampled from is the real mistake: a draft that always
# proposes its likeliest token but reports q = (0.8, 0.2) turns a target of (0.6, 0.4) into (0.75, 0.25): the first token
# is always proposed, and kept with 0.6 / 0.8. A well-known library once did this (transformers, issue 32867).

# %% [markdown]
# ## Check your understanding
#
# The target gives a drafted token a higher probability than the draft did. What happens?
#
# - **A.** It is accepted with probability q/p.
# - **B.** It is always accepted.
# - **C.** It is resampled.
#
# Type the letter in quotes.

# %% choice="target_likes_it_more" points=1 minutes=1 difficulty="easy"
target_likes_it_more = "B"
# note A: The ratio is upside down: the rule is min(1, p/q), and here p/q is above 1. What does the minimum make of it?
# note B: Yes. p/q is above 1, so min(1, p/q) = 1. The draft proposes this token less often than the target wants it:
#         there is none to throw away.
# note C: Resampling follows a rejection, and rejections are for tokens that the draft proposes too often. This one it
#         proposes too rarely. What is p/q here, compared with 1?

# %% [markdown] ungraded="reflection_accept" label="Reflect" minutes=2
# Compare your first guess with the answer of Part 1. Then explain in one or two sentences, to someone who knows lesson
# 1 only: what is lost if a sampled draft token is accepted only when a draw of the target's own gives the same token?
#
# *Double-click here and write.*

# %% [markdown]
# ## What next
#
# You can decide which drafted tokens stay, and you know how many to expect. But a rejected position is still empty,
# and the tokens that the draft proposes too rarely are still missing from the output. **Lesson 3, Recover the
# difference**, settles both with a single draw, and you will show in code that the output is exactly p.
