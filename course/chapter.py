# %% [markdown]
# ## Chapter reference: math, worked example & code
#
# This section belongs to the whole chapter, so it is the same on every lesson in it and may cover a different
# lesson's topic. The code for the experiment you just ran is inside the experiment itself. (The lists at the very end,
# under *Common mistakes*, are this lesson's own.)

# %% [markdown]
# ### Math and notation
#
# Under constant independent acceptance $a$ and $k$ draft proposals:
#
# $$E[N]=\sum_{i=0}^{k}a^i=\frac{1-a^{k+1}}{1-a}\quad(a\ne1).$$
#
# At $a=1$ the sum is $k+1$. A simple speed estimate is $E[N]/(t_{verify}+k\,t_{draft})$. Exact samplers use
# conditional probabilities; this constant-$a$ model is not their full correctness proof.

# %% [markdown]
# ### Worked example
#
# For $a=0.8$, $k=4$, expected produced tokens are $1+0.8+0.64+0.512+0.4096=3.3616$.
#
# If target-only generation takes 10 ms/token, verification costs 12 ms and four draft steps cost 1 ms each,
# speculative throughput is $3.3616/0.016=210.1$ tokens/s versus 100 tokens/s baseline: an illustrative $2.101\times$
# speedup.

# %% [markdown]
# ### Reference code
#
# The following example uses the Python standard library and does not call a remote service. It prints nothing: each
# `assert` is silent when its claim is true.

# %%
from math import isclose

a, k = .8, 4
expected = sum(a**i for i in range(k + 1))
assert isclose(expected, 3.3616)
assert isclose(expected / .016, 210.1)
assert isclose((expected / .016) / (1 / .010), 2.101)
assert sum(1**i for i in range(k + 1)) == 5
del a, k, expected  # leave no short names behind for your own functions to pick up by accident

# %% [markdown] generated="mistakes"
# ### Common mistakes
#
# Expected accepted draft tokens alone omit the final target token in this model. $a=1$ needs the finite-sum limit. A
# correctness-preserving acceptance rule is more than an agreement heuristic.
#
# The slips below are the ones that this lesson's checks know by name.
