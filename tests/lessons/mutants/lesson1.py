"""Lesson 1: implementations that must lose points, and unusual ones that must not."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from itertools import takewhile
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson1 as reference

count = reference.accepted_count
verify = reference.verify_greedy


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with the length test that the contract asks for: only its own slip is left."""

    def wrapped(draft: Any, target_next: Any) -> Any:
        if len(target_next) != len(draft) + 1:
            raise ValueError("lengths")
        return function(draft, target_next)

    return wrapped


# ---- verify_greedy ---------------------------------------------------------------------------------------


def by_truth(draft, target_next):
    out = []
    for token, choice in zip(draft, target_next, strict=False):
        if not token or token != choice:
            return [*out, choice]
        out.append(token)
    return [*out, target_next[-1]]


def by_membership(draft, target_next):
    out = []
    for token, choice in zip(draft, target_next, strict=False):
        if token not in target_next:
            return [*out, choice]
        out.append(token)
    return [*out, target_next[-1]]


def by_value_index(draft, target_next):
    for token in draft:
        i = draft.index(token)
        if token != target_next[i]:
            return [*draft[:i], target_next[i]]
    return [*draft, target_next[-1]]


def by_identity(draft, target_next):
    n = 0
    while n < len(draft) and draft[n] is target_next[n]:
        n += 1
    return [*draft[:n], target_next[n]]


def popping(draft, target_next):
    out = []
    while draft:
        token, choice = draft.pop(0), target_next.pop(0)
        out.append(choice)
        if token != choice:
            return out
    return [*out, target_next[0]]


def from_the_table(draft, target_next):
    return {2: [7, 3, 9], 4: [7, 3, 8], 1: [6], 0: [5]}.get(len(draft), [])


def shifted(draft, target_next):
    n = 0
    while n < len(draft) and draft[n] == target_next[n + 1]:
        n += 1
    return [*draft[:n], target_next[n]]


_REMEMBERED: dict[tuple[int, ...], list[int]] = {}


def cached_on_the_draft(draft, target_next):
    return _REMEMBERED.setdefault(tuple(draft), verify(draft, target_next))


def growing_default(draft, target_next, out=[]):  # noqa: B006 - the slip itself
    out += verify(draft, target_next)
    return out


def recursive(draft, target_next):
    if len(target_next) != len(draft) + 1:
        raise ValueError
    if not len(draft) or draft[0] != target_next[0]:
        return [target_next[0]]
    return [target_next[0], *recursive(draft[1:], target_next[1:])]


def vectorised(draft, target_next):
    d, t = np.asarray(draft, dtype=int), np.asarray(target_next, dtype=int)
    if len(t) != len(d) + 1:
        raise ValueError("lengths")
    n = int(np.argmin(np.append(d == t[:-1], False)))
    return np.append(d[:n], t[n])


def generating(draft, target_next):
    if len(target_next) != len(draft) + 1:
        raise ValueError("lengths")
    return (target_next[i] for i in range(count(draft, target_next) + 1))


class Verifier:
    """A class-based callable whose error is a subclass of ValueError."""

    class LengthError(ValueError):
        pass

    def __call__(self, draft, target_next):
        if len(target_next) - len(draft) != 1:
            raise self.LengthError(len(draft))
        return deque(verify(draft, target_next))


def by_strict_zip(draft, target_next):
    out = []
    for token, choice in list(zip([*draft, None], target_next, strict=True)):
        out.append(choice)
        if token != choice:
            break
    return tuple(out)


# ---- accepted_count --------------------------------------------------------------------------------------


def counts_shared_values(draft, target_next):
    return len(set(draft) & set(target_next))


def nothing_when_all_agree(draft, target_next):
    for i, token in enumerate(draft):
        if token != target_next[i]:
            return i
    return None


def zero_when_all_agree(draft, target_next):
    return nothing_when_all_agree(draft, target_next) or 0


def one_short_when_all_agree(draft, target_next):
    n = count(draft, target_next)
    return n - 1 if n == len(draft) else n


def last_agreement(draft, target_next):
    return max((i + 1 for i, d in enumerate(draft) if d == target_next[i]), default=0)


def longest_run(draft, target_next):
    best = run = 0
    for token, choice in zip(draft, target_next, strict=False):
        run = run + 1 if token == choice else 0
        best = max(best, run)
    return best


def stops_at_zero_token(draft, target_next):
    return sum(
        1
        for _ in takewhile(lambda pair: pair[0] and pair[0] == pair[1], zip(draft, target_next, strict=False))
    )


def strips_the_draft(draft, target_next):
    n = 0
    while draft and draft.pop(0) == target_next[n]:
        n += 1
    return n


def cumulative(draft, target_next):
    agrees = np.array([d == t for d, t in zip(draft, target_next, strict=False)], dtype=int)
    return np.cumprod(agrees).sum()


def recursive_count(draft, target_next):
    return 0 if not draft or draft[0] != target_next[0] else 1 + recursive_count(draft[1:], target_next[1:])


# ---- speculative_generate --------------------------------------------------------------------------------


def generator(
    verify_with: Callable[..., Any] = verify,
    *,
    keep: Callable[[list[int]], list[int]] = list,
    ask_target: Callable[..., Any] | None = None,
    cut: bool = True,
    with_prompt: bool = False,
    short_last: bool = False,
    as_context: Callable[[list[int]], Any] = list,
) -> Callable[..., Any]:
    """The reference's loop with one part exchanged."""

    def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
        tokens = list(prompt)
        end = len(prompt) + n_tokens
        while len(tokens) < end:
            draft: list[int] = []
            for _ in range(min(k, end - len(tokens) - 1) if short_last else k):
                draft.append(draft_model(as_context(tokens + draft)))
            if ask_target:
                choices = ask_target(target_model, tokens, draft)
            else:
                choices = [target_model(as_context(tokens + draft[:i])) for i in range(len(draft) + 1)]
            tokens += keep(verify_with(draft, choices))
        start = 0 if with_prompt else len(prompt)
        return tokens[start:end] if cut else tokens[start:]

    return speculative_generate


def target_alone(draft_model, target_model, prompt, n_tokens, k):
    tokens = list(prompt)
    for _ in range(n_tokens):
        tokens.append(target_model(tokens))
    return tokens[len(prompt) :]


def draft_alone(draft_model, target_model, prompt, n_tokens, k):
    return target_alone(target_model, draft_model, prompt, n_tokens, k)


def draft_asked_and_ignored(draft_model, target_model, prompt, n_tokens, k):
    draft_model(list(prompt))
    return target_alone(draft_model, target_model, prompt, n_tokens, k)


def draft_asked_afterwards(draft_model, target_model, prompt, n_tokens, k):
    out = target_alone(draft_model, target_model, prompt, n_tokens, k)
    for i in range(n_tokens * k // (k + 1)):
        draft_model([*prompt, *out[:i]])
    return out


def token_by_token(draft_model, target_model, prompt, n_tokens, k):
    """Ask the target about each draft token before the next one is drafted: nothing is checked together."""
    tokens = list(prompt)
    while len(tokens) < len(prompt) + n_tokens:
        for _ in range(k):
            guess, choice = draft_model(tokens), target_model(tokens)
            tokens.append(choice)
            if guess != choice:
                break
        else:
            tokens.append(target_model(tokens))
    return tokens[len(prompt) : len(prompt) + n_tokens]


def no_rollback(draft_model, target_model, prompt, n_tokens, k):
    """Drafts go on from the rejected draft instead of from what was emitted."""
    tokens, context = list(prompt), list(prompt)
    while len(tokens) < len(prompt) + n_tokens:
        draft: list[int] = []
        for _ in range(k):
            draft.append(draft_model(context + draft))
        choices = [target_model(context + draft[:i]) for i in range(k + 1)]
        tokens += verify(draft, choices)
        context += draft
    return tokens[len(prompt) : len(prompt) + n_tokens]


def independent_drafts(draft_model, target_model, prompt, n_tokens, k):
    """All k drafts are asked of the same context."""
    tokens = list(prompt)
    while len(tokens) < len(prompt) + n_tokens:
        draft = [draft_model(tokens) for _ in range(k)]
        choices = [target_model(tokens + draft[:i]) for i in range(k + 1)]
        tokens += verify(draft, choices)
    return tokens[len(prompt) : len(prompt) + n_tokens]


def one_round_only(draft_model, target_model, prompt, n_tokens, k):
    tokens = list(prompt)
    draft: list[int] = []
    for _ in range(k):
        draft.append(draft_model(tokens + draft))
    return verify(draft, [target_model(tokens + draft[:i]) for i in range(k + 1)])[:n_tokens]


def fixed_rounds(draft_model, target_model, prompt, n_tokens, k):
    """n_tokens // (k + 1) rounds: enough only if every draft is right."""
    tokens = list(prompt)
    for _ in range(-(-n_tokens // (k + 1))):
        draft: list[int] = []
        for _ in range(k):
            draft.append(draft_model(tokens + draft))
        tokens += verify(draft, [target_model(tokens + draft[:i]) for i in range(k + 1)])
    return tokens[len(prompt) : len(prompt) + n_tokens]


def grows_the_prompt(draft_model, target_model, prompt, n_tokens, k):
    start = len(prompt)
    while len(prompt) < start + n_tokens:
        draft: list[int] = []
        for _ in range(k):
            draft.append(draft_model(prompt + draft))
        prompt += verify(draft, [target_model(prompt + draft[:i]) for i in range(k + 1)])
    return prompt[start : start + n_tokens]


def never_ends(draft_model, target_model, prompt, n_tokens, k):
    tokens = prompt  # the same list: its length runs away with the bound
    while len(tokens) < len(prompt) + n_tokens:
        draft: list[int] = []
        for _ in range(k):
            draft.append(draft_model(tokens + draft))
        tokens += verify(draft, [target_model(tokens + draft[:i]) for i in range(k + 1)])
    return tokens


def without_prompt(draft_model, target_model, prompt, n_tokens, k):
    """The models see only the last token of the prompt."""
    return generator()(draft_model, target_model, prompt[-1:], n_tokens, k)


def swapped(draft_model, target_model, prompt, n_tokens, k):
    return generator()(target_model, draft_model, prompt, n_tokens, k)


def drafts_one_more(draft_model, target_model, prompt, n_tokens, k):
    return generator()(draft_model, target_model, prompt, n_tokens, k + 1)


def asks_twice(target_model, tokens, draft):
    for i in range(len(draft) + 1):
        target_model(tokens + draft[:i])
    return [target_model(tokens + draft[:i]) for i in range(len(draft) + 1)]


def lazy_target(target_model, tokens, draft):
    """Stop asking the target at the first disagreement; pad the row so that its length is right."""
    row: list[int] = []
    for i in range(len(draft) + 1):
        row.append(target_model(tokens + draft[:i]))
        if i < len(draft) and row[-1] != draft[i]:
            break
    return row + [0] * (len(draft) + 1 - len(row))


def memoised(draft_model, target_model, prompt, n_tokens, k):
    remember_draft, remember_target = (
        cache(lambda s: draft_model(list(s))),
        cache(lambda s: target_model(list(s))),
    )
    return generator(as_context=tuple)(remember_draft, remember_target, prompt, n_tokens, k)


_SEEN: dict[tuple[str, tuple[int, ...]], int] = {}


def remembers_contexts(draft_model, target_model, prompt, n_tokens, k):
    """Answers are remembered by their context alone, over all calls and whatever the models are."""

    def remembered(name, model):
        def ask(seq):
            key = name, tuple(seq)
            if key not in _SEEN:
                _SEEN[key] = model(seq)
            return _SEEN[key]

        return ask

    models = remembered("draft", draft_model), remembered("target", target_model)
    return generator()(*models, prompt, n_tokens, k)


def by_recursion(draft_model, target_model, prompt, n_tokens, k):
    if n_tokens <= 0:
        return []
    draft: list[int] = []
    for _ in range(k):
        draft.append(draft_model([*prompt, *draft]))
    out = verify(draft, [target_model([*prompt, *draft[:i]]) for i in range(k + 1)])
    return [*out, *by_recursion(draft_model, target_model, [*prompt, *out], n_tokens - len(out), k)][
        :n_tokens
    ]


def target_backwards(target_model, tokens, draft):
    """The k + 1 questions in another order: they are independent."""
    return [target_model(tokens + draft[:i]) for i in reversed(range(len(draft) + 1))][::-1]


def agreeing_by(alike: Callable[[int, int], bool], longest: int = 10**6) -> Callable[..., int]:
    """Counts the tokens that are merely alike, at most `longest` of them."""

    def accepted(draft, target_next):
        n = 0
        while n < min(len(draft), longest) and alike(draft[n], target_next[n]):
            n += 1
        return n

    return accepted


LOOK_ALIKE: dict[str, Callable[..., int]] = {
    "last digit": agreeing_by(lambda x, y: x % 10 == y % 10),
    "first digit": agreeing_by(lambda x, y: str(x)[0] == str(y)[0]),
    "beginning of the text": agreeing_by(lambda x, y: str(y).startswith(str(x))),
    "modulo 1000": agreeing_by(lambda x, y: x % 1000 == y % 1000),
    "8 bits": agreeing_by(lambda x, y: x % 256 == y % 256),
    "16 bits": agreeing_by(lambda x, y: x % 65536 == y % 65536),
    "half floats": agreeing_by(lambda x, y: bool(np.float32(x).astype("f2") == np.float32(y).astype("f2"))),
    "nearly equal": agreeing_by(lambda x, y: bool(np.isclose(x, y))),
    "at most 12": agreeing_by(lambda x, y: x == y, 12),
}


def borrowed_name(draft, target_next):
    """Refuses with a class of its own that is only called ValueError."""
    if len(target_next) != len(draft) + 1:
        raise type("ValueError", (Exception,), {})("lengths")
    return verify(draft, target_next)


def window(model, length):
    return lambda seq: model(list(seq)[-length:])


def by_last_two(target_model):
    """The target's answers, remembered by the last two tokens."""
    seen: dict[tuple[int, ...], int] = {}
    return lambda seq: seen.setdefault(tuple(seq[-2:]), target_model(seq))


def until(stop: Callable[[list[int]], bool]) -> Callable[..., list[int]]:
    """Ends the text early where `stop` says so."""

    def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
        tokens = list(prompt)
        while len(tokens) < len(prompt) + n_tokens and not stop(tokens[len(prompt) :]):
            tokens += generator(keep=lambda out: out)(draft_model, target_model, tokens, 1, k)
        return tokens[len(prompt) :]

    return speculative_generate


def one_draft_after_a_rejection(draft_model, target_model, prompt, n_tokens, k):
    tokens = list(prompt)
    while len(tokens) < len(prompt) + n_tokens:
        draft: list[int] = []
        for _ in range(k):
            draft.append(draft_model(tokens + draft))
        new = verify(draft, [target_model(tokens + draft[:i]) for i in range(k + 1)])
        k = k if len(new) > k else 1
        tokens += new
    return tokens[len(prompt) :][:n_tokens]


def starts_at_three(draft_model, target_model, prompt, n_tokens, k):
    """Cuts off three tokens, whatever the length of the prompt."""
    tokens = [*prompt, *generator()(draft_model, target_model, prompt, n_tokens + 3, k)]
    return tokens[3 : 3 + n_tokens]


WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "verify_greedy": {
        **{
            f"compares {how}": checked(lambda d, t, n=n: [*d[: n(d, t)], *t[n(d, t) : n(d, t) + 1]])
            for how, n in LOOK_ALIKE.items()
        },
        "refuses with another class of that name": borrowed_name,
        "16-bit tokens": lambda d, t: np.array(verify(d, t)).astype(np.int16),
        "no length check": lambda d, t: [*d[: count(d, t)], *t[count(d, t) : count(d, t) + 1]],
        "refuses only short rows": lambda d, t: verify(d, t[: len(d) + 1]),
        "refuses only long rows": lambda d, t: verify(d, [*t, 0, 0, 0][: max(len(d) + 1, len(t))]),
        "refuses an empty draft": lambda d, t: verify(d, t) if d else 1 / 0,
        "compares by truth": checked(by_truth),
        "compares by membership": checked(by_membership),
        "finds the position by value": checked(by_value_index),
        "compares identity": checked(by_identity),
        "pops its arguments": checked(popping),
        "a table of the visible examples": checked(from_the_table),
        "looks one position too far": checked(shifted),
        "bonus is the last draft token": checked(
            lambda d, t: [*d, d[-1]] if d and count(d, t) == len(d) else verify(d, t)
        ),
        "bonus is the first target token": checked(
            lambda d, t: [*d, t[0]] if d and count(d, t) == len(d) else verify(d, t)
        ),
        "only the target's token": checked(lambda d, t: [t[count(d, t)]]),
        "only the draft": checked(lambda d, t: list(d)),
        "accepts a disagreement of one": checked(
            lambda d, t: verify(
                d, [*(x if abs(x - y) <= 1 else y for x, y in zip(d, t, strict=False)), t[-1]]
            )
        ),
        "both tokens at the disagreement": checked(lambda d, t: [*d[: count(d, t) + 1], t[count(d, t)]]),
        "remembers by draft": cached_on_the_draft,
        "one list for all calls": growing_default,
        "prints instead of returning": lambda d, t: print(verify(d, t)),
        "returns a text": checked(lambda d, t: str(verify(d, t))),
        "returns a set": checked(lambda d, t: set(verify(d, t))),
        "returns a column": checked(lambda d, t: np.array(verify(d, t))[:, None]),
        "TypeError for lengths": lambda d, t: verify(d, t) if len(t) == len(d) + 1 else len(None),  # type: ignore[arg-type]
        "returns the error": lambda d, t: verify(d, t) if len(t) == len(d) + 1 else ValueError("lengths"),
    },
    "accepted_count": {
        **{f"compares {how}": n for how, n in LOOK_ALIKE.items()},
        "shared values": counts_shared_values,
        "None when all agree": nothing_when_all_agree,
        "0 when all agree": zero_when_all_agree,
        "one short when all agree": one_short_when_all_agree,
        "up to the last agreement": last_agreement,
        "the longest run": longest_run,
        "stops at token 0": stops_at_zero_token,
        "pops its argument": strips_the_draft,
        "length of the draft": lambda d, t: len(d),
        "tokens instead of their number": lambda d, t: list(d[: count(d, t)]),
        "a truth value for 1": lambda d, t: bool(count(d, t)) if count(d, t) < 2 else count(d, t),
        "the share accepted": lambda d, t: count(d, t) / len(d) if d else 0,
        "the rejected ones": lambda d, t: len(d) - count(d, t),
        "a text": lambda d, t: str(count(d, t)),
        "never more than the examples'": lambda d, t: min(count(d, t), 2),
        "prints": lambda d, t: print(count(d, t)),
    },
    "speculative_generate": {
        "only the target": target_alone,
        "only the draft": draft_alone,
        "draft asked once and ignored": draft_asked_and_ignored,
        "draft asked after the fact": draft_asked_afterwards,
        "token by token": token_by_token,
        "no rollback": no_rollback,
        "k drafts of one context": independent_drafts,
        "one round": one_round_only,
        "a fixed number of rounds": fixed_rounds,
        "prompt grows": grows_the_prompt,
        "never ends": never_ends,
        "forgets the prompt": without_prompt,
        "models swapped": swapped,
        "k + 1 drafts": drafts_one_more,
        "target with a window of 32": lambda d, t, p, n, k: generator()(d, window(t, 32), p, n, k),
        "draft with a window of 32": lambda d, t, p, n, k: generator()(window(d, 32), t, p, n, k),
        "repeats in the prompt dropped": lambda d, t, p, n, k: generator()(
            d, t, list(dict.fromkeys(p)), n, k
        ),
        "prompts of three tokens": starts_at_three,
        "remembers by the last two tokens": lambda d, t, p, n, k: generator()(d, by_last_two(t), p, n, k),
        "stops only where the draft is too high": generator(
            lambda d, t: [*d[: (n := agreeing_by(lambda x, y: x <= y)(d, t))], t[n]]
        ),
        "stops only where the draft is too low": generator(
            lambda d, t: [*d[: (n := agreeing_by(lambda x, y: x >= y)(d, t))], t[n]]
        ),
        "at most five drafts": lambda d, t, p, n, k: generator()(d, t, p, n, min(k, 5)),
        "one draft after a rejection": one_draft_after_a_rejection,
        "ends at token 0": until(lambda text: 0 in text),
        "ends at a repeat": until(lambda text: len(text) > 1 and text[-1] == text[-2]),
        "target asked twice": generator(ask_target=asks_twice),
        "bonus dropped": generator(lambda d, t: verify(d, t)[: max(1, len(d))]),
        "one token a round": generator(keep=lambda out: out[:1]),
        "correction dropped": generator(lambda d, t: d[: count(d, t)] or t[:1]),
        "overshoots": generator(cut=False),
        "with the prompt": generator(with_prompt=True),
        "drafts trusted": generator(lambda d, t: [*d, t[-1]]),
        "checking goes on": generator(lambda d, t: [*t]),
        "nothing returned": lambda *a: None,
        "answers remembered by context alone": remembers_contexts,
        "last tokens instead of the first": lambda d, t, p, n, k: generator(cut=False)(d, t, p, n, k)[-n:],
        "an extra round at the exact end": lambda d, t, p, n, k: generator()(d, t, p, n + 1, k)[:n],
        "k ignored": lambda d, t, p, n, k: generator()(d, t, p, n, 4),
        "drafts from the prompt alone": lambda d, t, p, n, k: generator()(
            lambda s: d(p + s[-1:]), t, p, n, k
        ),
        "one token short": lambda d, t, p, n, k: generator()(d, t, p, n - 1, k),
    },
}

RIGHT: dict[str, dict[str, Callable[..., Any]]] = {
    "verify_greedy": {
        "recursion": recursive,
        "vectorised, returns an array": vectorised,
        "a generator": generating,
        "a class, a deque, an own ValueError": Verifier(),
        "strict zip, returns a tuple": by_strict_zip,
        "partial with an extra default": partial(lambda d, t, *, strict: verify(d, t), strict=True),
        "takewhile": lambda d, t: [
            *(x for x, _ in takewhile(lambda p: p[0] == p[1], zip(d, t, strict=False))),
            *verify(d, t)[-1:],
        ],
        "fractions": lambda d, t: [Fraction(x) for x in verify(d, t)],
        "floats": lambda d, t: [float(x) for x in verify(d, t)],
        "NumPy integers": lambda d, t: [np.int64(x) for x in verify(d, t)],
        "assertion-free check by slicing": lambda d, t: verify(list(d), [*t]),
    },
    "accepted_count": {
        "emitted minus one": lambda d, t: len(verify(d, t)) - 1,
        "cumulative product": cumulative,
        "recursion": recursive_count,
        "a 0-d array": lambda d, t: np.array(count(d, t)),
        "np.int64": lambda d, t: np.int64(count(d, t)),
        "a float": lambda d, t: float(count(d, t)),
        "a fraction": lambda d, t: Fraction(count(d, t)),
        "next over a generator": lambda d, t: next((i for i, x in enumerate(d) if x != t[i]), len(d)),
    },
    "speculative_generate": {
        "short last round": generator(short_last=True),
        "target stopped at the first mismatch": generator(ask_target=lazy_target),
        "memoised models": memoised,
        "tuples as contexts": generator(as_context=tuple),
        "arrays as contexts": generator(as_context=np.array),
        "recursion": by_recursion,
        "target asked backwards": generator(ask_target=target_backwards),
        "an array as the result": lambda *a: np.array(generator()(*a)),
        "a generator as the result": lambda *a: (token for token in generator()(*a)),
        "NumPy integers as tokens": generator(keep=lambda out: [np.int64(x) for x in out]),
    },
}
