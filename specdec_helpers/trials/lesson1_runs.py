"""Lesson 1: runs of speculative_generate with models that log their calls.

Half of the plausible wrong generators emit the right text: they never use the draft, drop the bonus token, or look
at the target after every token. Only the log of model calls tells them apart. The drafts are wrong at fixed places,
so that what a wrong generator does, and what it earns, is the same for every drawn text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Answer, Case, Function, ask
from specdec_helpers.checks.lesson1 import MISTAKES
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.table import changed_slip, error_advice
from specdec_helpers.checks.values import describe, is_sequence, same
from specdec_helpers.reference import lesson1 as reference

Context = tuple[int, ...]
Rule = Callable[[Context], int]
VOCABULARY = 50
KIND = "speculative_generate with models that log their calls"


@dataclass
class Recorder:
    """A model that logs every context it is asked about. After `limit` calls it refuses, so that every loop ends."""

    rule: Rule
    limit: int
    log: list[Context] = field(default_factory=list)
    overrun: bool = False

    def __call__(self, seq: Sequence[int]) -> int:
        """Log the context, answer by the rule."""
        if len(self.log) >= self.limit:
            self.overrun = True
            raise RuntimeError("the model was called far too often; does your loop end?")
        context = tuple(int(token) for token in seq)
        self.log.append(context)
        return self.rule(context)


ZEROS = (
    3,
    4,
    7,
    8,
)  # where every text has token 0: a repeated token, and twice the same pair with another sequel


def target_rule(seed: int, start: int = 0) -> Rule:
    """A next-token rule that looks at the last three tokens and the length: no short cycle to guess.

    Some tokens after the `start` of the prompt are 0, for code that ends at a 0 or a repeat, or remembers by the end.
    """

    def rule(context: Context) -> int:
        if len(context) - start in ZEROS:
            return 0
        value = seed + 31 * len(context)
        for token in context[-3:]:
            value = (value * 1103515245 + token * 12345 + 7) % 2147483648
        return 1 + (value >> 8) % VOCABULARY

    return rule


def draft_rule(target: Rule, agrees: str, start: int) -> Rule:
    """A draft that equals the target where the repeated pattern `agrees` has a 1, counted from the first new token.

    Elsewhere it is one too low and one too high by turns (never below 0).
    """

    def rule(context: Context) -> int:
        place, token = len(context) - start, target(context)
        if agrees[place % len(agrees)] == "1":
            return token
        return token - 1 if place % 2 and token else token + 1

    return rule


def plain(target: Rule, prompt: list[int], n_tokens: int) -> list[int]:
    """Greedy decoding with the target alone."""
    tokens = list(prompt)
    for _ in range(n_tokens):
        tokens.append(target(tuple(tokens)))
    return tokens[len(prompt) :]


Emit = Callable[[Sequence[int], Sequence[int]], list[int]]


def speculate(
    draft: Rule, target: Rule, prompt: list[int], n_tokens: int, k: int, emit: Emit
) -> tuple[list[int], list[int]]:
    """(generated tokens, tokens missing when each round began) of a run in which `emit` says what a check emits."""
    tokens, missing = list(prompt), []
    while len(tokens) < len(prompt) + n_tokens:
        missing.append(len(prompt) + n_tokens - len(tokens))
        drafted: list[int] = []
        for _ in range(k):
            drafted.append(draft(tuple(tokens + drafted)))
        tokens += emit(drafted, [target(tuple(tokens + drafted[:i])) for i in range(k + 1)])
    return tokens[len(prompt) : len(prompt) + n_tokens], missing


TRUSTING: dict[str, Emit] = {
    "draft_trusted": lambda draft, row: [*draft, row[-1]],
    "goes_on": lambda draft, row: list(row),
}


class Run:
    """One call of speculative_generate, its recording models, and what an honest run needs."""

    def __init__(
        self, agrees: str, n_tokens: int, k: int, rng: np.random.Generator, prompt: Sequence[int]
    ) -> None:
        self.n_tokens, self.k, self.prompt = n_tokens, k, list(prompt)
        self.target_rule = target_rule(int(rng.integers(1 << 30)), len(self.prompt))
        self.draft_rule = draft_rule(self.target_rule, agrees, len(self.prompt))
        self.text = plain(self.target_rule, self.prompt, n_tokens + k + 1)  # rounds may look beyond the end
        self.expected = self.text[:n_tokens]
        models = (self.draft_rule, self.target_rule, self.prompt, n_tokens, k)
        _, missing = speculate(*models, reference.verify_greedy)
        self.rounds = len(missing)
        self.least_drafts = sum(
            min(k, left - 1) for left in missing
        )  # no need to draft beyond the last token
        limit = 4 * (self.rounds + n_tokens) * (k + 1) + 50
        self.draft, self.target = Recorder(self.draft_rule, limit), Recorder(self.target_rule, limit)

    @property
    def case(self) -> Case:
        """The call's arguments."""
        return self.draft, self.target, self.prompt, self.n_tokens, self.k

    def wrong_text(self, answer: Answer) -> Slip | None:
        """What is wrong with the tokens; None where they are those of plain greedy decoding."""
        if self.draft.overrun or self.target.overrun:
            return known(
                "never_ends", "no result: the models were called without end", f"{self.n_tokens} tokens"
            )
        if answer.error is not None:
            kind = next(iter(answer.error.kinds), "Exception")
            return Slip(KIND, f"an error: {kind}", f"{self.n_tokens} tokens", *error_advice(answer))
        if same(answer.value, self.expected):
            return None
        return self._diagnosed(answer.value)

    def _diagnosed(self, got: Any) -> Slip:
        wanted = f"the {self.n_tokens} tokens of plain greedy generation"
        if not is_sequence(got):
            step = "collect the tokens in a list and return it"
            return Slip(KIND, describe(got), wanted, "no sequence of tokens came back", step)
        values, n, start = list(got), self.n_tokens, len(self.prompt)
        if (
            len(values) > start
            and same(values[:start], self.prompt)
            and same(values[start:][:n], self.text[: len(values) - start][:n])
        ):
            return known("with_prompt", describe(got), wanted)
        if len(values) > n and same(values[:n], self.expected):
            return known("too_many", describe(got), wanted)
        if len(values) < n and same(values, self.expected[: len(values)]):
            cause = f"the right tokens, but {len(values)} instead of {n}: the rounds end too early"
            return Slip(
                KIND, describe(got), wanted, cause, "go on until at least n_tokens tokens have been generated"
            )
        models = (self.draft_rule, self.target_rule, self.prompt, n, self.k)
        for emit in TRUSTING.values():
            if same(values, speculate(*models, emit)[0]):
                return known("draft_trusted", describe(got), wanted)
        if same(values, plain(self.draft_rule, self.prompt, n)):
            return known("draft_trusted", describe(got), wanted)
        first = next(
            (i for i, pair in enumerate(zip(values, self.expected, strict=False)) if not same(*pair)), n
        )
        cause = f"token {first + 1} is the first that differs from plain greedy generation with target_model"
        step = "compare with a loop that only calls target_model; a context is the prompt and all that was emitted"
        return Slip(KIND, describe(got), wanted, cause, step)

    def without_draft(self) -> Slip | None:
        """A slip where the draft was hardly asked: every round supplies one token of the target's, no more."""
        if len(self.draft.log) >= self.n_tokens - self.rounds:
            return None
        return known(
            "no_speculation", "the right tokens, but draft_model hardly called", "k drafts in each round"
        )

    def too_many_calls(self) -> Slip | None:
        """A slip where a model was asked more often than in an honest run."""
        k = self.k
        if len(self.target.log) > self.rounds * (k + 1):
            return known(
                "rounds_wasted", "more calls of target_model than k + 1 a round", "at most k + 1 a round"
            )
        if len(self.draft.log) > self.rounds * k:
            return known("rounds_wasted", "more calls of draft_model than k a round", "at most k a round")
        if len(set(self.draft.log)) < self.n_tokens - self.rounds:
            return known(
                "no_speculation",
                "draft_model asked about the same few contexts",
                "k drafts, each after the last",
            )
        start = tuple(self.prompt)
        if any(context[: len(start)] != start for context in self.draft.log):
            return known(
                "rounds_wasted", "draft_model asked about a text without its beginning", "all tokens so far"
            )
        return None

    def too_few_drafts(self) -> Slip | None:
        """A slip where rounds drafted fewer than k tokens, though more than k were still wanted."""
        if len(self.draft.log) >= self.least_drafts:
            return None
        return known(
            "fewer_drafts", "fewer questions to draft_model than k a round", "k drafts in each round"
        )

    def not_ahead(self) -> Slip | None:
        """A slip where no draft was ever built on a rejected one: the target was asked before each of them.

        An honest run drafts all k tokens before it looks, so after a rejection inside the block it has asked the
        draft about contexts that the text never had.
        """
        on_text = {(*self.prompt, *self.text[:i]) for i in range(len(self.text) + 1)}
        if any(context not in on_text for context in self.draft.log):
            return None
        return known(
            "one_by_one", "each draft token checked before the next is drafted", "k drafts, then one check"
        )


def known(key: str, got: str, expected: str) -> Slip:
    """The slip of a named misconception."""
    mistake = MISTAKES["speculative_generate"][key]
    return Slip(KIND, got, expected, mistake.cause, mistake.next_step, key)


# name: (pattern of the draft's agreement, n_tokens, k)
RUNS: Mapping[str, tuple[str, int, int]] = {
    "mixed": ("1011011", 12, 3),
    "long block": ("11101", 7, 5),
    "right": ("1", 20, 9),
    "wrong": ("0", 5, 3),
    "one token": ("10", 1, 2),
    "k = 1": ("110", 7, 1),
}
LONG_PROMPT = "mixed"
TEXT = "generates the target's text, with drafts of draft_model"
CALLS = "asks the models no more often than k drafts and one check a round"
AHEAD = "drafts a whole block before the target looks at it"
NEVER_RIGHT = "works with a draft that is never right"
SMALL = "works for one token, and for k = 1"
PROMPT = "leaves the prompt as it was"


def study(function: Function, rng: np.random.Generator) -> dict[str, Slip | None]:
    """Run everything once; judge the text, the logs and the prompt.

    Most runs continue one prompt, each with models of its own: an answer may not be remembered by its context alone.
    One has a long prompt, in which tokens repeat: neither its length nor a window is safe to assume.
    """
    prompt = [int(token) for token in rng.integers(0, VOCABULARY, int(rng.integers(2, 5)))]
    long = [int(token) for token in rng.integers(0, VOCABULARY // 2, 40)]
    prompts = {LONG_PROMPT: long}
    runs = {name: Run(*settings, rng, prompts.get(name, prompt)) for name, settings in RUNS.items()}
    answers = dict(zip(runs, ask(function, [run.case for run in runs.values()]), strict=True))
    text = {name: run.wrong_text(answers[name]) for name, run in runs.items()}
    usual = ("mixed", "long block", "right")
    return {
        TEXT: first(text[name] or runs[name].without_draft() for name in usual),
        CALLS: first(text[name] or run.too_many_calls() for name, run in runs.items()),
        AHEAD: first(text[name] or runs[name].not_ahead() for name in ("mixed", "wrong"))
        or first(text[name] or run.too_few_drafts() for name, run in runs.items()),
        NEVER_RIGHT: text["wrong"],
        SMALL: first(text[name] for name in ("one token", "k = 1")),
        PROMPT: changed_slip("speculative_generate") if any(a.changed for a in answers.values()) else None,
    }


def first(slips: Any) -> Slip | None:
    """The first slip that is one."""
    return next((slip for slip in slips if slip), None)
