# %% [markdown] generated="header"
# # Draft and verify
#
# **Objective.** Trace draft-and-verify decoding, explain distribution-preserving acceptance, and calculate a
# simplified speedup.
#
# **Lesson goal.** Trace verification by hand; write the verifier and a full speculative generator that must equal
# plain greedy decoding.
#
# **Where you are.** At the start: you need Python lists and loops, nothing else. Lesson 2 replaces the greedy
# comparison of this lesson by a rule for sampled tokens.

# %% setup
from specdec_helpers import check, explore, start

start("lesson1")

# %% [markdown]
# ## What you will learn
#
# - trace one verification by hand: which drafted tokens are kept, and which token comes after them;
# - write the greedy verifier in Python;
# - write a complete speculative generator, whose output equals plain greedy decoding token for token;
# - say why nothing that the draft proposed may be shown before the target has checked it.

# %% [markdown]
# ## The idea
#
# ### Guess cheaply, check in one pass
#
# A language model writes a text token by token: a *token* is a word or a piece of one. Making them is called
# *decoding*, and one run of the model is a *pass*.
#
# Decoding is slow because the big model must run once per token. **Speculative decoding** uses a much cheaper
# *draft* model to guess several tokens ahead. Then the big model, the *target*, checks all the guesses in a single
# pass.
#
# Guesses that the target agrees with are kept. At the first disagreement the target's own token is used, and the
# rest of the guesses are discarded. One expensive pass can therefore yield several tokens.

# %% [markdown]
# ### Notation
#
# | symbol | meaning |
# |---|---|
# | p | the target model: big, slow, trusted |
# | q | the draft model: small, fast, not trusted |
# | a | acceptance rate: the chance that a drafted token is accepted |
# | k | number of tokens drafted for each verification |
# | E[N] | expected number of tokens from one verification; lesson 4 derives it |
#
# Papers differ: Leviathan et al. write α for a and γ for k; Chen et al. swap p and q.

# %% [markdown]
# ### See it happen
#
# The draft proposes **7 3 5 9**. Change what the big model would pick at each position and watch which tokens come
# out. The fifth pick is the *bonus*: the target's choice after a draft that was right everywhere.
#
# Below the strip, the sliders a and k drive 200 simulated rounds: how many tokens does one verification yield, and
# how close is the mean to the expected value E[N]?

# %% label="Explore" minutes=4
explore("lesson1")

# %% [markdown]
# Two things never change, whatever you pick. Nothing from the draft is output before the target has checked it.
# And every verification yields at least one token: even if the whole draft is wrong, the target supplies its own.

# %% [markdown]
# ## Predict first
#
# Can every draft token be emitted before verification in exact speculative sampling?
#
# *Exact* means: the text is the one that the target alone would have written.
#
# Write down your guess, `"yes"` or `"no"`, before you read on. It is not graded. You will meet the question again at
# the end of the lesson.

# %% ungraded="prediction_emit_early" label="Predict" minutes=1
my_guess_emit_early = None

# %% [markdown]
# ## Chapter context
#
# A cheap draft proposes several tokens and a target model verifies them with parallel work. The opportunity comes
# from amortizing an expensive target step, but drafting, verification and rejection recovery all cost time.
#
# Why can one pass check several tokens? Given a text, a language model computes a next-token choice at *every*
# position of it at once. So one pass over prompt and draft shows what the target would have picked after the
# prompt, after the first drafted token, after the second, and so on: k + 1 choices for k drafted tokens.

# %% [markdown]
# ## Part 1 · Hands-on
#
# Trace verification by hand, then (in Part 2) write the verifier and a full speculative generator that must equal
# plain greedy decoding.
#
# The same strip once more, to try your answers on. First trace with pencil and paper, then compare.

# %% label="Explore" minutes=2
explore("lesson1")

# %% [markdown]
# ### One verification, token by token
#
# A small draft model proposes 4 tokens **[7, 3, 5, 9]** in a row. The big model checks them all in one pass and
# (greedily) would itself have picked **[7, 3, 8, …]** at the first three positions.
#
# Draft tokens are accepted while they agree. At the first disagreement the big model's own token is emitted instead
# and the rest are discarded.
#
# **How many tokens are produced by this one verification?** Replace `None` by a number.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# Put a finger on the first position and move on while both rows show the same token.
#
# </details>
#
# <details>
# <summary>Hint: the rule</summary>
#
# tokens produced = accepted draft tokens + one token of the target
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Draft 4 6 1, target 4 2 …: the 4 is accepted, then the target's 2 replaces the draft's 6, and 1 is discarded. Two
# tokens are produced.
#
# </details>

# %% number="tokens_produced" places=0 points=1 minutes=2 difficulty="easy"
tokens_produced = 3
# note 3: Yes. Two accepted drafts, 7 and 3, and the target's own token 8.
# note 2: You counted only the accepted drafts. At the disagreement the target's own token, 8, is produced too:
#         add it.
# note 1: One is the least that a verification yields, when the very first draft token is wrong. Here 7 and 3 agree:
#         count them, and the target's token after them.
# note 4: Four tokens were drafted, but not all are produced. Draft and target differ at the third position; what
#         was drafted from there on is discarded, and the target supplies one token.
# note 5: Five is the most that four drafts can give, when all of them agree. Here the third one does not: stop
#         there.

# %% [markdown]
# **How many of the draft's tokens were accepted in that case?** The target's own token is not the draft's.

# %% number="drafts_accepted" places=0 points=1 minutes=1 difficulty="easy"
drafts_accepted = 2
# note 2: Yes. 7 and 3 agree with the target; 5 does not, and 9 is discarded with it.
# note 3: You counted the target's own token 8 as accepted. It was produced, but the draft did not propose it:
#         count draft tokens only.
# note 4: All four were proposed, not accepted. Compare position by position and stop at the first that differs.
# note 1: Look at the second position: draft 3, target 3. They agree too. Go on to the first position that differs.
# note 0: The first position agrees (7 and 7), so at least one token is accepted. Go on until draft and target
#         differ.

# %% [markdown]
# If the big model agrees with all 4 draft tokens, the same verification pass also yields the big model's prediction
# for the **next** position. **How many tokens are produced then?**
#
# <details>
# <summary>Hint: a nudge</summary>
#
# Set the explorer's first four picks to 7 3 5 9 and count what is emitted.
#
# </details>
#
# <details>
# <summary>Hint: the rule</summary>
#
# tokens produced = accepted draft tokens + one token of the target
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Draft 7 3, target 7 3 9: both drafts are accepted, and the target's 9 follows. That makes 2 + 1 = 3 tokens from two
# drafts.
#
# </details>

# %% number="tokens_when_all_agree" places=0 points=1 minutes=1 difficulty="easy"
tokens_when_all_agree = 5
# note 5: Yes. Four accepted drafts and the bonus token, all from one pass of the target.
# note 4: You left out the bonus token. The same pass also shows what the target picks after the last draft token:
#         that token is produced as well.
# note 1: One is what plain decoding gets from a pass of the target. Here four drafts are accepted as well: add
#         them.
# note 6: One too many. Four drafts are accepted, and exactly one token of the target follows them.

# %% [markdown]
# ## Part 2 · Code
#
# Tokens are plain whole numbers, and *greedy* means: always the single most likely token, nothing random. You write
# three functions. Run the check cell below each one as often as you like: it shows what was called, what came back
# and what was expected.

# %% [markdown]
# ### The verifier
#
# `draft` is the list of k proposed tokens. `target_next` has k + 1 entries: the target's own choice at each of the k
# positions, plus its choice for the position after the last draft token.
#
# Walk through the draft. While `draft[i]` equals `target_next[i]`, the token is accepted; at the first mismatch emit
# `target_next[i]` and stop. If every draft token is accepted, also emit `target_next[k]`. Return the list of emitted
# tokens. Raise a `ValueError` if `target_next` does not have `len(draft) + 1` entries.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# Test the lengths first. Then walk through the positions of the draft with one loop, collecting tokens in a list.
#
# </details>
#
# <details>
# <summary>Hint: the rule</summary>
#
# emitted = the agreeing tokens at the front, followed by target_next at the position where you stopped. That
# position is k if nothing disagreed.
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Draft 7 3 5 9, target 7 3 8 1 2. Positions 0 and 1 agree: keep 7 and 3. Position 2 differs: emit 8, stop. Return
# 7 3 8.
#
# </details>

# %% code="verify_greedy" points=4 minutes=10 difficulty="medium"
def verify_greedy(draft, target_next):
    """Return the list of tokens that one verification emits.

    draft: list of k proposed tokens
    target_next: list of k + 1 tokens, the target's own choices

    >>> verify_greedy([7, 3, 5, 9], [7, 3, 8, 1, 2])
    [7, 3, 8]
    >>> verify_greedy([7, 3], [7, 3, 9])
    [7, 3, 9]
    """
    ### BEGIN SOLUTION
    if len(target_next) != len(draft) + 1:
        raise ValueError(f"{len(draft)} drafts need {len(draft) + 1} target entries, not {len(target_next)}")
    emitted = []
    for token, choice in zip(draft, target_next):
        emitted.append(choice)
        if token != choice:
            return emitted
    return [*emitted, target_next[-1]]
    ### END SOLUTION


# %% [markdown]
# ### The number of accepted tokens
#
# How many of the draft's tokens were accepted? Speculative decoding is judged by this count: it decides how much one
# pass of the target is worth.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# You know how many tokens are emitted. How many of these are not the draft's?
#
# </details>
#
# <details>
# <summary>Hint: the rule</summary>
#
# accepted = number of agreeing positions before the first disagreement
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Draft 7 3 5 9, target 7 3 8 9 2. The last position agrees again, but only two tokens stand before the first
# disagreement: 2.
#
# </details>

# %% code="accepted_count" points=2 minutes=4 difficulty="easy"
def accepted_count(draft, target_next):
    """Return how many draft tokens are accepted: 0 to len(draft).

    >>> accepted_count([7, 3, 5, 9], [7, 3, 8, 1, 2])
    2
    >>> accepted_count([7, 3], [7, 3, 9])
    2
    """
    ### BEGIN SOLUTION
    return len(verify_greedy(draft, target_next)) - 1
    ### END SOLUTION


# %% [markdown]
# ### From rounds to text
#
# One round drafts a few tokens and verifies them. A text needs many rounds: the tokens that one round emits belong to
# the context of the next. Rejected drafts do not: they are forgotten.
#
# Where does the target look in a round? For a sequence `s` and drafts `d0 d1` it is asked k + 1 = 3 times: after `s`,
# after `s d0`, and after `s d0 d1`. On real hardware these three questions are one pass.

# %% [markdown]
# ### The generator
#
# Both models are functions: they take the sequence so far and return the next token (greedy). Repeat: draft k tokens
# one by one with `draft_model`; compute `target_model` on each drafted prefix (this is the single verification
# pass); call `verify_greedy`; append the emitted tokens. Stop when at least `n_tokens` tokens have been generated.
#
# Return exactly the first `n_tokens` generated tokens, without the prompt. The result must equal plain greedy
# generation with `target_model`.
#
# <details>
# <summary>Hint: a nudge</summary>
#
# Keep one list with prompt and generated tokens, and never let a drafted token into it unchecked. A while loop makes
# the rounds.
#
# </details>
#
# <details>
# <summary>Hint: the steps of a round</summary>
#
# 1. draft: k times, ask draft_model about tokens + draft, append the answer to draft
# 2. target_next: ask target_model about tokens + draft[:i] for i = 0 … k
# 3. tokens: extend by verify_greedy(draft, target_next)
#
# </details>
#
# <details>
# <summary>Hint: a worked example</summary>
#
# Draft counts up by one, target counts up but goes from 3 to 5. Prompt 1 2, k = 2: drafts 3 4, target 3 5 5, emitted
# 3 5. Next round: drafts 6 7, target 6 7 8, emitted 6 7 8. Asked for 4 tokens, return 3 5 6 7.
#
# </details>

# %% code="speculative_generate" points=5 minutes=15 difficulty="hard"
def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    """Return the list of the first n_tokens tokens generated after prompt.

    draft_model, target_model: functions, sequence -> next token
    prompt: list of tokens (at least one); k: drafts per round (k >= 1)

    >>> count_up = lambda seq: (seq[-1] + 1) % 7
    >>> speculative_generate(count_up, count_up, [1, 2], 5, 2)
    [3, 4, 5, 6, 0]
    """
    ### BEGIN SOLUTION
    tokens = list(prompt)
    while len(tokens) < len(prompt) + n_tokens:
        draft = []
        for _ in range(k):
            draft.append(draft_model(tokens + draft))
        target_next = [target_model(tokens + draft[:i]) for i in range(k + 1)]
        tokens += verify_greedy(draft, target_next)
    return tokens[len(prompt) : len(prompt) + n_tokens]
    ### END SOLUTION


# %% [markdown]
# ### What did it save?
#
# Two toy models for you to play with. The target counts from 0 to 9 but jumps from 3 to 5; the draft does not know
# about the jump. The target notes in `asked` every question that it gets.

# %%
asked = []


def toy_target(seq):
    """Count up, but from 3 go to 5; note the question."""
    asked.append(len(seq))
    return 5 if seq[-1] == 3 else (seq[-1] + 1) % 10


def toy_draft(seq):
    """Count up: wrong after 3."""
    return (seq[-1] + 1) % 10


# %% [markdown]
# When your generator passes its check, remove the `#` in front of the four lines below and run the cell. Then change
# k, or write a worse draft. What changes, the text or the work?

# %% ungraded="saved_passes" label="Explore" minutes=4
# k = 4
# asked.clear()
# print(speculative_generate(toy_draft, toy_target, [1, 2], 20, k))
# print("passes of the target:", len(asked) // (k + 1), "instead of 20")

# %% [markdown]
# The text stays the same whatever the draft does: only the target decides what is emitted. A better draft changes
# how many passes of the target the text needs. That is what *exact* (or *lossless*) means: speculation may save
# time, but never changes the result.

# %% [markdown]
# ## Check your understanding
#
# Can every draft token be emitted before verification in exact speculative sampling?
#
# - **A.** Yes
# - **B.** No
#
# Type the letter in quotes.

# %% choice="emit_before_verification" points=1 minutes=1 difficulty="easy"
emit_before_verification = "B"
# note A: Not so. The draft is only a guess: if the target disagrees, a token would have to be taken back after it was
#         shown. In your trace, 5 and 9 were drafted but never produced. Which other answer is left?
# note B: Yes, that is right: no. A drafted token may be emitted only after the target has accepted it; otherwise the
#         output would follow the draft instead of the target.

# %% [markdown] ungraded="reflection_draft_and_verify" label="Reflect" minutes=2
# Look back at your guess under *Predict first*. Then answer in one or two sentences of your own: what would a reader
# see if the drafted tokens were shown at once and the target disagreed with the second one?
#
# *Double-click here and write.*

# %% [markdown]
# ## What next
#
# You can now say exactly what one greedy verification emits, and you have a generator that uses it. But language
# models usually *sample* their tokens: then there is no single right token to compare with. **Lesson 2, Accept or
# reject**, finds the rule that keeps as many guesses as possible and still samples from the target.
