"""A batch of sequences: why verification is nearly free for one and dear for many.

Plain decoding passes over B positions at once, a verification over B · (k + 1). For one sequence the small network
spends its time waiting (in NumPy: on calls; on a graphics card: on memory), so that more positions hardly cost more.
For many sequences it computes all the time, and every rejected draft is work for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from specdec_helpers.lm.models import Target
from specdec_helpers.measuring.clock import Clock


@dataclass(frozen=True)
class BatchTimes:
    """Median seconds of a pass for B sequences: over one new position each, and over k + 1."""

    batch: int
    k: int
    one: float
    many: float

    def speedup(self, tokens: float, t_draft: float) -> float:
        """The formula for a batch: B sequences drafted one after the other, verified together."""
        return tokens * self.one / (self.many + self.batch * self.k * t_draft)


def batch_times(
    text: Sequence[int], batch: int, k: int, turns: int = 15, clock: Clock = perf_counter
) -> Iterator[BatchTimes]:
    """Time the target's passes for `batch` sequences side by side; yields the medians so far.

    The sequences are prefixes of one text, each of another length, as in a real batch.

    Raises:
        ValueError: batch < 1, k < 1, or a text shorter than 40 + batch + k tokens.
    """
    if batch < 1 or k < 1 or len(text) < 40 + batch + k:
        raise ValueError(
            f"batch = {batch} and k = {k} must be at least 1, and the text of {len(text)} tokens at least "
            f"{40 + batch + k} long"
        )
    target = Target(batch=batch)
    seqs = [list(text[: len(text) - row]) for row in range(batch)]
    one: list[float] = []
    many: list[float] = []
    for turn in range(-1, turns):
        began = clock()
        target.distributions_of_batch(seqs, 1)
        between = clock()
        target.distributions_of_batch(seqs, k + 1)
        ended = clock()
        if turn < 0:  # the first pass also reads all the text
            continue
        one.append(between - began)
        many.append(ended - between)
        yield BatchTimes(batch, k, median(one), median(many))
