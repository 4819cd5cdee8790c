"""Times of the parts of a round: one plain step, one pass over k + 1 positions, one draft step.

Seconds of a busy laptop jump about, so every time is a median over many short measurements, taken in turns (a slow
moment then touches all of them alike), after a warm run that is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from specdec_helpers.lm.models import Draft, Target

Clock = Callable[[], float]


@dataclass(frozen=True)
class Times:
    """Median seconds.

    Attributes:
        t_target: one step of plain decoding: a pass over one position, and drawing its token.
        t_verify: entry k is one pass over k + 1 positions.
        t_draft: one draft step: a distribution, and drawing its token.
    """

    t_target: float
    t_verify: tuple[float, ...]
    t_draft: float

    def speedup(self, tokens: float, k: int) -> float:
        """Tokens per verification turned into a speed-up over plain decoding: the formula of lesson 5."""
        return tokens * self.t_target / (self.t_verify[k] + k * self.t_draft)


def draw(row: Any, rng: np.random.Generator) -> int:
    """A token drawn from a row of probabilities."""
    cumulative = np.cumsum(row)
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))


def plain_decode(target: Target, prompt: Sequence[int], n_tokens: int, rng: np.random.Generator) -> list[int]:
    """n_tokens tokens after the prompt, one pass of the target for each."""
    seq = list(prompt)
    for _ in range(n_tokens):
        seq.append(draw(target.distributions(seq, 1)[0], rng))
    return seq[len(prompt) :]


def part_times(
    target: Target,
    draft: Draft,
    text: Sequence[int],
    k_max: int,
    turns: int = 60,
    clock: Clock = perf_counter,
) -> Iterator[Times]:
    """Measure the parts on prefixes of a text; yields the medians so far after each turn.

    Args:
        target, draft: the models.
        text: what a run would have written, prompt included; at least k_max + 10 tokens.
        k_max: the longest draft, k >= 0.
        turns: how often each part is timed.

    Raises:
        ValueError: text too short, or turns < 1.
    """
    if len(text) < k_max + 10:
        raise ValueError(
            f"a text of {len(text)} tokens is too short to time {k_max} drafts: give {k_max + 10}"
        )
    if turns < 1:
        raise ValueError(f"turns = {turns} must be at least 1")
    rng, steps = np.random.default_rng(0), max(k_max // 2, 1)  # draft steps come in blocks, and so are timed
    seen: list[list[float]] = [[] for _ in range(k_max + 3)]
    for turn in range(-1, turns):  # turn -1 is the warm one
        end = k_max + 10 + (len(text) - k_max - 10) * (turn + 1) // (turns + 1)
        seq = list(text[:end])
        target.distributions(seq, 1)
        draft.distribution(seq[:-1])
        grown = list(seq)
        marks = [clock()]
        for _ in range(steps):
            grown.append(draw(draft.distribution(grown), rng))
        marks.append(clock())
        draw(target.distributions(seq, 1)[0], rng)
        marks.append(clock())
        for k in range(k_max + 1):
            target.distributions(seq, k + 1)
            marks.append(clock())
        if turn < 0:
            continue
        for times, start, stop in zip(seen, marks, marks[1:], strict=False):
            times.append(stop - start)
        drafting, t_target, *t_verify = map(median, seen)
        yield Times(t_target, tuple(t_verify), drafting / steps)
