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
LAPS = 4


@dataclass(frozen=True)
class Times:
    """Median seconds.

    Attributes:
        t_target: one step of plain decoding: a pass over one position, and drawing its token.
        t_verify: entry k is one pass over k + 1 positions, and drawing the extra token.
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
    turns: int = 20,
    clock: Clock = perf_counter,
) -> Iterator[Times]:
    """Measure the parts as they occur in decoding; yields the medians so far after each turn.

    A turn takes one place of the text and, for every k, makes a few rounds in a row there: k draft steps, one pass. A
    part timed alone, again and again, would find everything in the processor's cache and be too fast; a single round
    out of nowhere would find nothing there and be too slow. k = 0 is plain decoding.

    Args:
        target, draft: the models.
        text: what a run would have written, prompt included; at least k_max + 10 tokens.
        k_max: the longest draft, k >= 1.
        turns: how often each part is timed.

    Raises:
        ValueError: k_max or turns < 1, or a text too short.
    """
    if len(text) < k_max + 10:
        raise ValueError(
            f"a text of {len(text)} tokens is too short to time {k_max} drafts: give {k_max + 10}"
        )
    if k_max < 1 or turns < 1:
        raise ValueError(f"k_max = {k_max} and turns = {turns} must both be at least 1")
    rng = np.random.default_rng(0)
    drafting: list[float] = []
    passes: list[list[float]] = [[] for _ in range(k_max + 1)]
    for turn in range(-1, turns):  # turn -1 is the warm one
        end = 10 + (len(text) - 10 - LAPS) * (turn + 1) // (turns + 1)
        for k, times in enumerate(passes):
            for drafted, passed in _rounds(target, draft, text, end, k, rng, clock):
                if turn >= 0:
                    times.append(passed)
                    drafting += [drafted / k] if k else []
        if turn >= 0:
            t_verify = tuple(map(median, passes))
            yield Times(t_verify[0], t_verify, median(drafting))


def _rounds(
    target: Target,
    draft: Draft,
    text: Sequence[int],
    end: int,
    k: int,
    rng: np.random.Generator,
    clock: Clock,
) -> Iterator[tuple[float, float]]:
    """Seconds to draft k tokens after text[:end], and to pass over them, in rounds that follow each other."""
    for lap in range(LAPS + 1):
        grown = list(text[: end + lap])
        began = clock()
        for _ in range(k):
            grown.append(draw(draft.distribution(grown), rng))
        between = clock()
        draw(target.distributions(grown, k + 1)[-1], rng)
        ended = clock()
        if lap:  # the first one reads the text, too
            yield between - began, ended - between
