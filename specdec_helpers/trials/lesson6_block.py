"""Lesson 6: draft_block is judged by what the draft model was asked, and by how often each token came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from specdec_helpers.checks.ask import Answer, Case, Function, Seed, ask
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.table import changed_slip
from specdec_helpers.checks.values import describe, is_sequence, same
from specdec_helpers.lm.tables import Recorder, Table, random_table

from .lesson6_chance import STAGES, SURPRISE, alike, circle, error_slip, slip_of, surprise, tokens_of

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


def drafts_in_order(function: Function, rng: Generator) -> Slip | None:
    """Trial: shape, calls and rows of a few blocks: many drafts, and a long prefix in which tokens repeat."""
    table = random_table(4, int(rng.integers(1 << 30)), 0.8)
    blocks = [_block(rng, table, k, int(rng.integers(1, 4))) for k in (1, 2, 16)]
    blocks.append(_block(rng, table, 3, 100))
    answers = ask(function, [block.case for block in blocks])
    return next((s for s in map(Block.judge, blocks, answers) if s), None)


def _block(rng: Generator, table: Table, k: int, length: int = 1) -> Block:
    prefix = rng.integers(0, len(table.rows), length).tolist()
    return Block(table, prefix, k, int(rng.integers(1 << 30)))


# What follows a token: the same row everywhere, or on a circle through all tokens, so that a row of another place is
# noticed. The first row has a token that comes often, so that blocks are full of repeats, and tokens that never come.
# In the second, many rare tokens share one half, and are counted as one: it is they who gain when a row is flattened,
# and who lose when it is sharpened.
_ROW = np.array([0.5, 0.2, 0.15, 0.1, 0.05, 0.0, 0.0])
_ORDER = np.array([2, 4, 5, 0, 6, 3, 1])  # of its tokens; neither end is rare
_TAILED, _TAIL = np.array([0.2, 0.17, 0.13, 0.5]), 128
_TWICE = [2] * 3  # the k of blocks that are drafted twice, from the same seed
_LONG = [11] * 8  # that of the others


def drafts_are_drawn(function: Function, rng: Generator) -> Slip | None:
    """Trial: over many blocks each token comes as often as its row says, and a seed repeats."""
    heads = len(_TAILED) - 1
    places = (
        alike(_ORDER[:: rng.choice([-1, 1])]),
        np.minimum(circle(rng.permutation(heads + _TAIL)), heads),
    )
    rows = _ROW, _TAILED
    tables = [Table((row / np.bincount(place[0]))[place]) for row, place in zip(rows, places, strict=True)]
    ranks = [np.zeros(len(row), int) for row in rows]  # by how likely a token was
    repeats = np.zeros(2, int)  # whether a token equals the one before, where all rows are the same
    for times, enough in STAGES:
        ks = _LONG * times + _TWICE
        blocks = [_block(rng, table, k) for k in ks for table in tables]
        again = [replace(block) for block in blocks[-2 * len(_TWICE) :]]
        both = [*blocks, *again]
        answers = ask(function, [block.case for block in both])
        slip = next((s for s in map(Block.judge, both, answers) if s), None)
        if slip:
            return slip
        tokens = [tokens_of(answer.value[0]) or [] for answer in answers]
        tokens, repeated = tokens[: len(blocks)], tokens[len(blocks) :]
        if repeated != tokens[-len(again) :]:
            got = "other tokens from the same seed"
            return slip_of("draft_block", _DRAFT_KIND, got, "the same tokens", "own_generator")
        for i, (block, drawn) in enumerate(zip(blocks, tokens, strict=True)):
            place = places[i % 2]
            np.add.at(ranks[i % 2], place[[*block.prefix[-1:], *drawn[:-1]], drawn], 1)
            if i % 2 == 0:
                np.add.at(repeats, [int(a == b) for a, b in pairwise(drawn)], 1)
        same_twice = float(_ROW @ _ROW)
        nats = max(*map(surprise, ranks, rows), surprise(repeats, [1 - same_twice, same_twice]))
        slip = _not_drawn(ranks, nats, {tuple(t) for t in tokens[0::2] if len(t) > 2})
        if slip or nats < enough:
            return slip
    return None


def _not_drawn(ranks: Sequence[np.ndarray], nats: float, texts: set[tuple[int, ...]]) -> Slip | None:
    """A slip if the tokens cannot be draws; `texts` are long blocks from different seeds, after rows that are alike."""
    greedy = all(counts[0] == counts.sum() for counts in ranks)
    if not greedy and len(texts) == 1:  # by chance once in 10^30 times
        got = "the same tokens from different seeds"
        return slip_of("draft_block", _DRAFT_KIND, got, "other tokens", "own_generator")
    if nats <= SURPRISE:
        return None
    return slip_of(
        "draft_block",
        _DRAFT_KIND,
        "token frequencies over many calls that the rows do not give",
        "tokens drawn from their rows",
        "greedy_draft" if greedy else "",
        "the tokens are not drawn from rows[i], or one random number serves several positions",
        "draw each token with a fresh random number from `rng`",
    )
