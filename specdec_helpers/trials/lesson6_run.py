"""Lesson 6: one call of speculative_decode with models that log their calls, and its judgement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from specdec_helpers.checks.ask import Answer, Case, Seed
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.table import changed_slip
from specdec_helpers.checks.values import describe, is_sequence, same
from specdec_helpers.lm.tables import Recorder, Table

from .lesson6_chance import error_slip, slip_of, tokens_of

Generator = np.random.Generator

_KIND = "speculative_decode with toy models that log their calls"


@dataclass
class Run:
    """One call of speculative_decode with recording models, and its judgement."""

    q: Table
    p: Table
    prompt: list[int]
    n_tokens: int
    k: int
    seed: int
    kind: str = _KIND

    def __post_init__(self) -> None:
        self.draft, self.target = Recorder(self.q), Recorder(self.p.last_rows)

    @property
    def case(self) -> Case:
        """The call's arguments."""
        return self.draft, self.target, self.prompt, self.n_tokens, self.k, Seed(self.seed)

    def judge(self, answer: Answer) -> Slip | None:
        """Everything but the frequencies: what came back, and whether the models' logs bear it out."""
        slip = partial(slip_of, "speculative_decode", self.kind)
        wanted = f"(tokens, log) with {self.n_tokens} tokens"
        if answer.error is not None:
            return error_slip(self.kind, answer, wanted)
        if answer.changed:
            return changed_slip("speculative_decode")
        pair = answer.value
        if not is_sequence(pair) or len(pair) != 2:
            return slip(
                describe(pair), wanted, "", "the result is not a pair", "end with `return tokens, log`"
            )
        tokens, log = tokens_of(pair[0]), tokens_of(pair[1])
        if tokens is None or log is None:
            return slip(
                f"{describe(pair[0])} and {describe(pair[1])}",
                wanted,
                "",
                "",
                "return two lists of whole numbers",
            )
        return (
            self._judge_text(slip, tokens, wanted)
            or self._judge_calls(slip, log)
            or self._replay(slip, tokens, log)
        )

    def _judge_text(self, slip: Callable[..., Slip], tokens: list[int], wanted: str) -> Slip | None:
        extra = len(tokens) - self.n_tokens
        if extra:
            prompt = extra >= len(self.prompt) and tokens[: len(self.prompt)] == self.prompt
            key = "prompt_included" if prompt else "too_many" if extra > 0 else "too_few"
            return slip(f"{len(tokens)} tokens", wanted, key)
        if not all(0 <= token < len(self.p.rows) for token in tokens):
            return slip("a token outside the vocabulary", wanted, "", "a token is an index into its row")
        return None

    def _judge_calls(self, slip: Callable[..., Slip], log: list[int]) -> Slip | None:
        passes = len(self.target.calls)
        if not self.draft.calls:
            return slip("draft_model was never called", "k drafts in each verification", "no_draft")
        if not passes:
            cause = "nothing was verified, so every token is the draft's"
            step = "after drafting, call target_pass(seq + drafts, k + 1)"
            return slip("target_pass was never called", "one pass a verification", "", cause, step)
        if any(count > self.k for count in log):
            return slip(f"a log entry above k = {self.k}", "accepted drafts, 0 … k", "bonus_counted")
        if passes > len(log):
            return slip("more target passes than log entries", "one pass a verification", "many_passes")
        if passes < len(log) or any(count < 0 for count in log):
            cause = "the log is not one count for each verification"
            return slip(
                "more log entries than target passes",
                "one log entry a verification",
                "",
                cause,
                "append n once a round",
            )
        if any(len(call) != 2 or not same(call[1], self.k + 1) for call in self.target.calls):
            return slip("a target pass with another m", "m = k + 1 rows, also for the last tokens", "other_m")
        if len(self.draft.calls) > self.k * passes:
            return slip(
                "more than k draft calls in a verification", f"k = {self.k} draft calls", "extra_drafts"
            )
        return None

    def _replay(self, slip: Callable[..., Slip], tokens: list[int], log: list[int]) -> Slip | None:
        """Follow the target's calls: each must go on where the log says the one before ended."""
        asked, text = [call[0] for call in self.draft.calls], self.prompt + tokens
        for j, ((seq, _), accepted) in enumerate(zip(self.target.calls, log, strict=True)):
            prefix, drafts = seq[: -self.k], seq[-self.k :]
            if any(prefix + drafts[:i] not in asked for i in range(self.k)):
                return slip(
                    "a target pass over tokens that were not drafted",
                    "all tokens so far + k drafts",
                    "seq_wrong",
                )
            if prefix != text[: len(prefix)] or (j == 0 and prefix != self.prompt):
                return slip(
                    "a pass that begins with other tokens than were emitted",
                    "all tokens so far + k drafts",
                    "seq_wrong",
                )
            last = j + 1 == len(log)
            following = len(text) if last else len(self.target.calls[j + 1][0]) - self.k
            if (not last and following - len(prefix) != accepted + 1) or (
                last and len(prefix) + accepted + 1 < len(text)
            ):
                return slip(
                    "a log entry that does not fit the text",
                    "accepted drafts + one token a verification",
                    "log_wrong",
                )
            shown = text[len(prefix) : following][:accepted]
            if shown != drafts[: len(shown)]:
                return slip(
                    "accepted drafts that are not in the text",
                    "the accepted drafts, then one token",
                    "log_wrong",
                )
        if len(self.target.calls[-1][0]) - self.k >= len(text):
            return slip(
                "a verification after the text was complete",
                "no more passes than needed",
                "",
                "the loop runs on",
                "stop at n_tokens",
            )
        return None


def runs_of(
    rng: Generator, p: Table, q: Table, plans: Sequence[tuple[int, int]], kind: str = _KIND
) -> list[Run]:
    """A run for each (n_tokens, k) of the plans, each with its own prompt and seed."""
    v = len(p.rows)
    return [
        Run(
            q, p, rng.integers(0, v, int(rng.integers(1, 4))).tolist(), n, k, int(rng.integers(1 << 30)), kind
        )
        for n, k in plans
    ]
