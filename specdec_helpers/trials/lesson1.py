"""Lesson 1: hidden trials of verify_greedy, accepted_count and speculative_generate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Answer, Case, Function, ask
from specdec_helpers.checks.lesson1 import MISTAKES
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.table import changed_slip, error_advice
from specdec_helpers.checks.values import describe, is_sequence, same
from specdec_helpers.reference import lesson1 as reference

from .base import Cases, Custom, Item, Refuses

Tokens = Sequence[int]
Generator = np.random.Generator


def _round(rng: Generator, k: int, agree: int) -> Case:
    """A draft of k tokens that agrees with the target at exactly its first `agree` positions.

    Behind the disagreement the target agrees again at about half of the positions, so that code which goes on
    checking is found out. Tokens repeat and 0 occurs, so that searching by value or truth misleads.
    """
    draft = rng.integers(0, 6, k).tolist()
    target = [token if rng.random() < 0.5 else int(rng.integers(0, 6)) for token in draft] + [
        int(rng.integers(0, 6))
    ]
    target[:agree] = draft[:agree]
    if agree < k:
        target[agree] = (draft[agree] + int(rng.integers(1, 6))) % 6
    return draft, target


def _disagreeing(rng: Generator) -> list[Case]:
    return [_round(rng, k, agree) for k in (1, 2, 3, 4, 6, 9) for agree in range(k)]


def _agreeing(rng: Generator) -> list[Case]:
    return [_round(rng, k, k) for k in (1, 2, 3, 5, 8)]


def _zeros(rng: Generator) -> list[Case]:
    """Rounds of small and equal tokens: 0 is a token like any other."""
    return [([0, 0, 0], [0, 0, 0, 0]), ([0, 0], [0, 1, 0]), ([0], [5, 0]), ([3, 3, 3], [3, 3, 0, 3])]


def _empty(rng: Generator) -> list[Case]:
    return [([], [int(rng.integers(0, 9))]) for _ in range(3)]


def _bad_lengths(rng: Generator) -> list[Case]:
    cases: list[Case] = []
    for k in (0, 1, 3, 5):
        draft = rng.integers(0, 9, k).tolist()
        for length in (k - 1, k, k + 2):
            if length >= 0 and length != k + 1:
                # The first tokens agree, or differ at once: code that stops early must still look at the lengths.
                same_start = [*draft, 1, 2][:length]
                cases += [(draft, same_start), (draft, [(t + 1) % 9 for t in same_start])]
    return cases


# ---- speculative_generate: recording models -------------------------------------------------------------


@dataclass
class Recorder:
    """A model that logs every context it is asked about."""

    rule: Callable[[tuple[int, ...]], int]
    log: list[tuple[int, ...]] = field(default_factory=list)

    def __call__(self, seq: Tokens) -> int:
        """Log the context, answer by the rule."""
        context = tuple(int(token) for token in seq)
        self.log.append(context)
        return self.rule(context)


def _rule(seed: int) -> Callable[[tuple[int, ...]], int]:
    """A next-token rule that looks at the last three tokens and the length: no short cycle to guess."""

    def rule(context: tuple[int, ...]) -> int:
        value = seed + 31 * len(context)
        for token in context[-3:]:
            value = (value * 1103515245 + token * 12345 + 7) % 2147483648
        return (value >> 8) % 50

    return rule


def _drafting(
    target: Callable[[tuple[int, ...]], int], agreement: float, seed: int
) -> Callable[[tuple[int, ...]], int]:
    """A draft that equals the target at about `agreement` of all contexts, and is wrong elsewhere."""

    def rule(context: tuple[int, ...]) -> int:
        coin = np.random.default_rng([seed, *context[-4:], len(context)]).random()
        choice = target(context)
        return choice if coin < agreement else (choice + 1) % 50

    return rule


def _plain(target: Callable[[tuple[int, ...]], int], prompt: list[int], n_tokens: int) -> list[int]:
    tokens = list(prompt)
    for _ in range(n_tokens):
        tokens.append(target(tuple(tokens)))
    return tokens[len(prompt) :]


def _honest_rounds(draft: Callable, target: Callable, prompt: list[int], n_tokens: int, k: int) -> int:
    """Verification rounds of an honest run: the bound for everybody's model calls."""
    tokens, rounds = list(prompt), 0
    while len(tokens) < len(prompt) + n_tokens:
        drafted: list[int] = []
        for _ in range(k):
            drafted.append(draft(tuple(tokens + drafted)))
        choices = [target(tuple(tokens + drafted[:i])) for i in range(k + 1)]
        tokens += reference.verify_greedy(drafted, choices)
        rounds += 1
    return rounds


_KIND = "speculative_generate with models that log their calls"


@dataclass
class Run:
    """One call of speculative_generate, its recording models, and what an honest run needs."""

    agreement: float
    n_tokens: int
    k: int
    rng: Generator

    def __post_init__(self) -> None:
        seed = int(self.rng.integers(1 << 30))
        target = _rule(seed)
        draft = _drafting(target, self.agreement, seed)
        self.prompt: list[int] = self.rng.integers(0, 50, int(self.rng.integers(1, 5))).tolist()
        self.draft, self.target = Recorder(draft), Recorder(target)
        self.expected = _plain(target, self.prompt, self.n_tokens)
        self.rounds = _honest_rounds(draft, target, self.prompt, self.n_tokens, self.k)

    @property
    def case(self) -> Case:
        """The call's arguments."""
        return self.draft, self.target, self.prompt, self.n_tokens, self.k

    def judge(self, answer: Answer) -> Slip | None:
        """The text first, then the logs."""
        if answer.error is not None:
            kind = next(iter(answer.error.kinds), "Exception")
            return Slip(_KIND, f"an error: {kind}", f"{self.n_tokens} tokens", *error_advice(answer))
        if answer.changed:
            return changed_slip("speculative_generate")
        if not same(answer.value, self.expected):
            wanted = f"the {self.n_tokens} tokens of plain greedy generation"
            return _slip(describe(answer.value), wanted, self._wrong_text(answer.value))
        return self._judge_logs()

    def _wrong_text(self, got: Any) -> str:
        if not is_sequence(got):
            return ""
        values, n, start = list(got), self.n_tokens, len(self.prompt)
        if (
            len(values) > start
            and same(values[:start], self.prompt)
            and same(values[start:], self.expected[: len(values) - start])
        ):
            return "with_prompt"
        if len(values) > n and same(values[:n], self.expected):
            return "too_many"
        return "draft_trusted" if len(values) == n else ""

    def _judge_logs(self) -> Slip | None:
        """The right tokens, but were they made by speculation? Only the models' logs can tell.

        Upper bounds come from the honest run. The lower bound: every round supplies one token of the target's,
        so at least n - rounds of the tokens must have been drafted.
        """
        drafted, k = self.draft.log, self.k
        if len(set(drafted)) < self.n_tokens - self.rounds or (self.n_tokens >= 2 and not drafted):
            return _slip(
                "the right tokens, but draft_model hardly called", "k drafts in each round", "no_speculation"
            )
        if len(drafted) > self.rounds * k:
            return Slip(
                _KIND,
                "more calls of draft_model than k a round",
                f"at most k = {k} draft calls in each round",
                "rounds emit fewer tokens than they could, or the draft runs without need",
                "in each round: k draft calls, one verification, then keep all that verify_greedy emits",
            )
        if len(self.target.log) > self.rounds * (k + 1):
            return Slip(
                _KIND,
                "more calls of target_model than k + 1 a round",
                f"at most k + 1 = {k + 1} target calls in each round",
                "rounds emit fewer tokens than they could (is the bonus token kept?), or the target runs twice",
                "call target_model once for each drafted prefix, and append everything verify_greedy emits",
            )
        return None


def _slip(got: str, expected: str, key: str) -> Slip:
    if not key:
        cause = "the tokens differ from plain greedy generation with target_model"
        step = "compare with a loop that only calls target_model, and find the first token that differs"
        return Slip(_KIND, got, expected, cause, step)
    mistake = MISTAKES["speculative_generate"][key]
    return Slip(_KIND, got, expected, mistake.cause, mistake.next_step, key)


def _generates(*runs: tuple[float, int, int]) -> Callable[[Function, Generator], Slip | None]:
    """Trial: for every (agreement, n_tokens, k) the text is right and was made by speculation."""

    def trial(function: Function, rng: Generator) -> Slip | None:
        made = [Run(agreement, n_tokens, k, rng) for agreement, n_tokens, k in runs]
        answers = ask(function, [run.case for run in made])
        slips = (run.judge(answer) for run, answer in zip(made, answers, strict=True))
        return next((slip for slip in slips if slip), None)

    return trial


# ---- wrong implementations, by the id of their misconception ---------------------------------------------


def _correction_dropped(draft: Tokens, target_next: Tokens) -> list[int]:
    n = reference.accepted_count(draft, target_next)
    return [*draft[:n], *(target_next[n:] if n == len(draft) else [])]


def _wrong_draft_kept(draft: Tokens, target_next: Tokens) -> list[int]:
    n = reference.accepted_count(draft, target_next)
    return [*draft[: n + 1]] if n < len(draft) else [*draft, target_next[n]]


def _bonus_forgotten(draft: Tokens, target_next: Tokens) -> list[int]:
    n = reference.accepted_count(draft, target_next)
    return [*draft[:n], *target_next[n : n + 1]][: len(draft)]


def _keeps_going(draft: Tokens, target_next: Tokens) -> list[int]:
    return [d if d == t else t for d, t in zip(draft, target_next, strict=False)] + [target_next[len(draft)]]


def _counts_emitted(draft: Tokens, target_next: Tokens) -> int:
    return reference.accepted_count(draft, target_next) + 1


def _counts_matches(draft: Tokens, target_next: Tokens) -> int:
    return sum(d == t for d, t in zip(draft, target_next, strict=False))


ITEMS: dict[str, Item] = {
    "verify_greedy": Item(
        "verify_greedy",
        "lesson1",
        reference.verify_greedy,
        (
            Cases(
                "stops at the first disagreement",
                0.5,
                "verify_greedy with a draft that is wrong somewhere",
                _disagreeing,
                core=True,
            ),
            Cases(
                "adds the bonus token when all agree",
                0.2,
                "verify_greedy with a draft that agrees everywhere",
                _agreeing,
            ),
            Cases("treats token 0 like any other", 0.05, "verify_greedy with zeros among the tokens", _zeros),
            Cases("works with an empty draft", 0.05, "verify_greedy([], [token])", _empty),
            Refuses(
                "refuses a target_next of the wrong length",
                0.2,
                "verify_greedy with too few or too many target entries",
                _bad_lengths,
            ),
        ),
        wrong={
            "correction_dropped": _correction_dropped,
            "wrong_draft_kept": _wrong_draft_kept,
            "bonus_forgotten": _bonus_forgotten,
            "keeps_going": _keeps_going,
            "whole_target": lambda draft, target_next: list(target_next),
        },
        mistakes=MISTAKES["verify_greedy"],
    ),
    "accepted_count": Item(
        "accepted_count",
        "lesson1",
        reference.accepted_count,
        (
            Cases(
                "counts up to the first disagreement",
                0.6,
                "accepted_count with a draft that is wrong somewhere",
                _disagreeing,
                core=True,
            ),
            Cases(
                "counts the whole draft when all agree",
                0.3,
                "accepted_count with a draft that agrees everywhere",
                _agreeing,
            ),
            Cases(
                "works with zeros and with an empty draft",
                0.1,
                "accepted_count with zeros, or an empty draft",
                lambda rng: _zeros(rng) + _empty(rng),
            ),
        ),
        wrong={"counts_emitted": _counts_emitted, "counts_matches": _counts_matches},
        mistakes=MISTAKES["accepted_count"],
    ),
    "speculative_generate": Item(
        "speculative_generate",
        "lesson1",
        reference.speculative_generate,
        (
            Custom(
                "equals plain greedy generation, by speculation",
                0.7,
                _generates((0.7, 12, 3), (1.0, 20, 4), (0.7, 7, 5)),
                core=True,
            ),
            Custom("works with a draft that is never right", 0.15, _generates((0.0, 6, 3))),
            Custom(
                "works for one token, and for k = 1", 0.15, _generates((0.6, 1, 2), (1.0, 9, 1), (0.5, 8, 1))
            ),
        ),
        mistakes=MISTAKES["speculative_generate"],
    ),
}
