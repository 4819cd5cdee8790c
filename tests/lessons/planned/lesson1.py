"""A class of lesson 1: right in unusual ways, half right, each named misconception, and nothing at all."""

from __future__ import annotations

from . import SOLUTION, Planned

NUMBERS = {
    "tokens_produced": 3,
    "drafts_accepted": 2,
    "tokens_when_all_agree": 5,
    "emit_before_verification": "B",
}
FUNCTIONS = dict.fromkeys(("verify_greedy", "accepted_count", "speculative_generate"), SOLUTION)
ALL = {**NUMBERS, **FUNCTIONS}
POINTS = {
    "tokens_produced": 1,
    "drafts_accepted": 1,
    "tokens_when_all_agree": 1,
    "verify_greedy": 4,
    "accepted_count": 2,
    "speculative_generate": 5,
    "emit_before_verification": 1,
}

RECURSIVE = """
def verify_greedy(draft, target_next):
    if len(draft) + 1 != len(target_next):
        raise ValueError(f"expected {len(draft) + 1} target tokens, got {len(target_next)}")
    if not draft or draft[0] != target_next[0]:
        return [target_next[0]]
    return [draft[0]] + verify_greedy(draft[1:], target_next[1:])
"""
VECTORISED = """
import numpy as np
def verify_greedy(draft, target_next):
    draft, target_next = np.array(draft, dtype=int), np.array(target_next, dtype=int)
    if target_next.size != draft.size + 1:
        raise ValueError("target_next must be one longer than draft")
    accepted = int(np.cumprod(draft == target_next[:-1]).sum())
    return target_next[: accepted + 1]
"""
NO_LENGTH_CHECK = """
def verify_greedy(draft, target_next):
    out = []
    for d, t in zip(draft, target_next):
        out.append(t)
        if d != t:
            return out
    out.append(target_next[len(draft)] if len(target_next) > len(draft) else 0)
    return out
"""
BONUS_FORGOTTEN = """
def verify_greedy(draft, target_next):
    if len(target_next) != len(draft) + 1:
        raise ValueError
    out = []
    for d, t in zip(draft, target_next):
        out.append(t)
        if d != t:
            break
    return out
"""
CORRECTION_DROPPED = """
def verify_greedy(draft, target_next):
    if len(target_next) != len(draft) + 1:
        raise ValueError
    out = []
    for d, t in zip(draft, target_next):
        if d != t:
            return out
        out.append(d)
    return out + [target_next[-1]]
"""
WHOLE_ROW = """
def verify_greedy(draft, target_next):
    if len(target_next) != len(draft) + 1:
        raise ValueError
    return list(target_next)
"""
POPS = """
def verify_greedy(draft, target_next):
    if len(target_next) != len(draft) + 1:
        raise ValueError
    out = []
    while draft:
        out.append(target_next.pop(0))
        if draft.pop(0) != out[-1]:
            return out
    return out + target_next
"""
COUNT_ALONE = """
from itertools import takewhile
def accepted_count(draft, target_next):
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(draft, target_next)))
"""
COUNTS_EMITTED = """
def accepted_count(draft, target_next):
    return len(verify_greedy(draft, target_next))
"""
COUNTS_MATCHES = """
def accepted_count(draft, target_next):
    return sum(d == t for d, t in zip(draft, target_next))
"""
TARGET_ALONE = """
def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    out = []
    for _ in range(n_tokens):
        out.append(target_model(list(prompt) + out))
    return out
"""
OVERSHOOTS = """
def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    out = []
    while len(out) < n_tokens:
        draft = []
        while len(draft) < k:
            draft.append(draft_model(prompt + out + draft))
        out += verify_greedy(draft, [target_model(prompt + out + draft[:i]) for i in range(k + 1)])
    return out
"""
ONE_BY_ONE = """
def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    out = []
    while len(out) < n_tokens:
        for _ in range(k):
            guess, truth = draft_model(prompt + out), target_model(prompt + out)
            out.append(truth)
            if guess != truth:
                break
        else:
            out.append(target_model(prompt + out))
    return out[:n_tokens]
"""
GROWS_THE_PROMPT = """
def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    start = len(prompt)
    while len(prompt) < start + n_tokens:
        draft = []
        for _ in range(k):
            draft.append(draft_model(prompt + draft))
        prompt += verify_greedy(draft, [target_model(prompt + draft[:i]) for i in range(k + 1)])
    return prompt[start:start + n_tokens]
"""
OWN_HELPERS = """
def one_round(draft_model, target_model, tokens, k):
    draft = ()
    for _ in range(k):
        draft += (draft_model(tokens + draft),)
    kept = ()
    for i in range(k + 1):
        choice = target_model(tokens + draft[:i])
        kept += (choice,)
        if i < k and choice != draft[i]:
            break
    return kept

def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    tokens = tuple(prompt)
    while len(tokens) - len(prompt) < n_tokens:
        tokens += one_round(draft_model, target_model, tokens, k)
    return tokens[len(prompt):][:n_tokens]
"""
NEVER_ENDS = """
def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    tokens = prompt
    while len(tokens) < len(prompt) + n_tokens:
        draft = []
        for _ in range(k):
            draft.append(draft_model(tokens + draft))
        tokens += verify_greedy(draft, [target_model(tokens + draft[:i]) for i in range(k + 1)])
    return tokens
"""


def but(**changes: float) -> dict[str, float]:
    """The full points with some of them changed."""
    return {**POINTS, **changes}


PLANNED = [
    Planned("the course's own answers", ALL, POINTS),
    Planned("nothing done", {}),
    Planned(
        "recursion, and answers typed another way",
        {
            **ALL,
            "verify_greedy": RECURSIVE,
            "accepted_count": COUNT_ALONE,
            "tokens_produced": 3.0,
            "drafts_accepted": "import numpy as np\ndrafts_accepted = np.int64(2)",
            "emit_before_verification": "(b) No",
            "tokens_when_all_agree": "tokens_when_all_agree = len([7, 3, 5, 9]) + 1",
        },
        POINTS,
    ),
    Planned(
        "NumPy, tuples, own helper functions",
        {
            **ALL,
            "verify_greedy": VECTORISED,
            "speculative_generate": OWN_HELPERS,
            "emit_before_verification": " b ",
        },
        POINTS,
    ),
    Planned(
        "part 1 only",
        {"tokens_produced": 3, "drafts_accepted": 2, "tokens_when_all_agree": 5},
        {"tokens_produced": 1, "drafts_accepted": 1, "tokens_when_all_agree": 1},
    ),
    Planned(
        "every number a misconception",
        {
            **FUNCTIONS,
            "tokens_produced": 2,
            "drafts_accepted": 3,
            "tokens_when_all_agree": 4,
            "emit_before_verification": "A",
        },
        {"verify_greedy": 4, "accepted_count": 2, "speculative_generate": 5},
    ),
    Planned(
        "numbers as texts, a bool, not a whole number",
        {
            **ALL,
            "tokens_produced": '"3"\ntokens_produced = "3"',
            "drafts_accepted": True,
            "tokens_when_all_agree": 5.4,
        },
        but(tokens_produced=0, drafts_accepted=0, tokens_when_all_agree=0),
    ),
    Planned("no length check", {**ALL, "verify_greedy": NO_LENGTH_CHECK}, but(verify_greedy=3.25)),
    Planned(
        "bonus forgotten",
        {**ALL, "verify_greedy": BONUS_FORGOTTEN, "accepted_count": COUNT_ALONE},
        but(verify_greedy=3.0, speculative_generate=3.75),
    ),
    Planned(
        "correction dropped",
        {**ALL, "verify_greedy": CORRECTION_DROPPED, "accepted_count": COUNT_ALONE},
        but(verify_greedy=0, speculative_generate=0),
    ),
    Planned(
        "whole target row",
        {**ALL, "verify_greedy": WHOLE_ROW, "accepted_count": COUNT_ALONE},
        but(verify_greedy=0, speculative_generate=0),
    ),
    Planned("counts what is emitted", {**ALL, "accepted_count": COUNTS_EMITTED}, but(accepted_count=0)),
    Planned("counts all matches", {**ALL, "accepted_count": COUNTS_MATCHES}, but(accepted_count=0)),
    Planned(
        "changes its arguments",
        {**ALL, "verify_greedy": POPS, "accepted_count": COUNT_ALONE},
        but(verify_greedy=3.5, speculative_generate=5),
    ),
    Planned("the target alone", {**ALL, "speculative_generate": TARGET_ALONE}, but(speculative_generate=0)),
    Planned("too many tokens", {**ALL, "speculative_generate": OVERSHOOTS}, but(speculative_generate=0)),
    Planned("checks one by one", {**ALL, "speculative_generate": ONE_BY_ONE}, but(speculative_generate=4.25)),
    Planned(
        "grows the prompt", {**ALL, "speculative_generate": GROWS_THE_PROMPT}, but(speculative_generate=4.5)
    ),
    Planned("never ends", {**ALL, "speculative_generate": NEVER_ENDS}, but(speculative_generate=0)),
    Planned(
        "a cell that does not parse",
        {**ALL, "accepted_count": "def accepted_count(draft, target_next)\n    return 2"},
        but(accepted_count=0),
    ),
    Planned(
        "a number where a function is due",
        {**ALL, "accepted_count": "accepted_count = 2"},
        but(accepted_count=0),
    ),
    Planned(
        "cells of their own",
        ALL,
        POINTS,
        extra_cells=("import random\nrandom.seed(1)", "1 / 0", "check = None"),
    ),
]
