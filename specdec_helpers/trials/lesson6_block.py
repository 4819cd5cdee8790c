"""Lesson 6: draft_block is judged by what the draft model was asked, and by how often each token came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from specdec_helpers.checks.ask import Answer, Case, Function, Seed, ask
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.table import changed_slip
from specdec_helpers.checks.values import describe, is_sequence, same
from specdec_helpers.lm.tables import Recorder, Table, random_table

from .lesson6_chance import error_slip, misfit, slip_of, tokens_of

Generator = np.random.Generator
_DRAFT_KIND = "draft_block with a toy draft model that logs its calls"


@dataclass
class Block:
    """One call of draft_block and its recording model."""

    table: Table
    prefix: list[int]
    k: int
    seed: int

    def __post_init__(self) -> None:
        self.model = Recorder(self.table)

    @property
    def case(self) -> Case:
        """The call's arguments."""
        return self.model, self.prefix, self.k, Seed(self.seed)

    def judge(self, answer: Answer) -> Slip | None:
        """Shape, calls, rows; whether the tokens are really drawn is for many blocks together."""
        slip = partial(slip_of, "draft_block", _DRAFT_KIND)
        wanted = f"(tokens, rows), k = {self.k} of each"
        if answer.error is not None:
            return error_slip(_DRAFT_KIND, answer, wanted)
        if answer.changed:
            return changed_slip("draft_block")
        pair = answer.value
        if not is_sequence(pair) or len(pair) != 2:
            return slip(
                describe(pair), wanted, "", "the result is not a pair", "end with `return tokens, rows`"
            )
        tokens, rows = tokens_of(pair[0]), pair[1]
        if tokens is None or not is_sequence(rows) or isinstance(rows[:1], str):
            return slip(f"{describe(pair[0])} and {describe(rows)}", wanted, "", "", "return two lists")
        if tokens[: len(self.prefix)] == self.prefix and len(tokens) == len(self.prefix) + self.k:
            return slip("the prefix and the drafts", wanted, "prefix_included")
        if len(tokens) != self.k or len(rows) != self.k:
            got = f"{len(tokens)} tokens and {len(rows)} rows"
            cause, step = (
                "the loop makes other than k turns",
                "append one token and one row in each of k turns",
            )
            return slip(got, wanted, "", cause, step)
        if not all(0 <= token < len(self.table.rows) for token in tokens):
            return slip("a token outside the vocabulary", wanted, "", "a token is an index into its row")
        contexts = [self.prefix + tokens[:i] for i in range(self.k)]
        asked = [call[0] for call in self.model.calls]
        if asked and all(context == self.prefix for context in asked) and self.k > 1:
            return slip(
                "every call of draft_model saw the same sequence", "the earlier drafts in it", "prefix_only"
            )
        if len(asked) > self.k:
            return slip(f"{len(asked)} calls of draft_model", f"{self.k} calls, one a token", "row_shifted")
        if any(context not in asked for context in contexts):
            cause = "a call of draft_model leaves out the prefix, or the newest drafts"
            wanted = "calls that see the prefix and all drafts so far"
            step = "call draft_model(prefix + tokens), with plain lists"
            return slip("calls with other sequences", wanted, "", cause, step)
        for i, context in enumerate(contexts):
            if not same(rows[i], self.table(context)):
                return slip(
                    "a row that its token was not drawn from", "rows[i] gave tokens[i]", "row_shifted"
                )
        return None


def _blocks(rng: Generator, count: int, ks: Sequence[int], spread: float = 0.8) -> list[Block]:
    table = random_table(4, int(rng.integers(1 << 30)), spread)
    return [
        Block(
            table,
            rng.integers(0, 4, int(rng.integers(1, 4))).tolist(),
            ks[i % len(ks)],
            int(rng.integers(1 << 30)),
        )
        for i in range(count)
    ]


def drafts_in_order(function: Function, rng: Generator) -> Slip | None:
    """Trial: shape, calls and rows of a few blocks."""
    blocks = _blocks(rng, 10, (4, 1, 2, 7))
    answers = ask(function, [block.case for block in blocks])
    return next((s for s in map(Block.judge, blocks, answers) if s), None)


def drafts_are_drawn(function: Function, rng: Generator) -> Slip | None:
    """Trial: over many blocks each token comes as often as its row says, and a seed repeats."""
    turn = rng.permutation(3)
    table = Table(np.array([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]])[np.ix_(turn, turn)])
    k, blocks = 10, [Block(table, [int(rng.integers(3))], 10, int(rng.integers(1 << 30))) for _ in range(70)]
    again = [Block(b.table, b.prefix, b.k, b.seed) for b in blocks[:5]]
    answers = ask(function, [block.case for block in [*blocks, *again]])
    slip = next((s for s in map(Block.judge, [*blocks, *again], answers) if s), None)
    if slip:
        return slip
    tokens = [tokens_of(answer.value[0]) or [] for answer in answers]
    if tokens[:5] != tokens[-5:]:
        return slip_of(
            "draft_block", _DRAFT_KIND, "other tokens from the same seed", "the same tokens", "own_generator"
        )
    rows = np.array(table.rows)
    # By the last two tokens: where one random number served several positions, the first betrays the second.
    counts = np.zeros((3, 3, 3), int)
    ranks = np.zeros(3, int)  # by how likely a token was, over all contexts
    for block, drawn in zip(blocks, tokens, strict=False):
        seq = [*block.prefix, *drawn]
        np.add.at(counts, (seq[: k - 1], seq[1:k], seq[2:]), 1)
        np.add.at(ranks, [int((rows[a] > rows[a, b]).sum()) for a, b in pairwise(seq)], 1)
    if misfit(counts.reshape(9, 3), np.tile(rows, (3, 1))) or misfit(
        ranks[None], np.array([[0.6, 0.3, 0.1]])
    ):
        return slip_of(
            "draft_block",
            _DRAFT_KIND,
            "token frequencies over many calls that the rows do not give",
            "tokens drawn from their rows",
            "greedy_draft" if ranks[0] == ranks.sum() else "",
            "the tokens are not drawn from rows[i], or one random number serves several positions",
            "draw each token with a fresh random number from `rng`",
        )
    return None
