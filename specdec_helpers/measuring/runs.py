"""Runs of a decoder against plain decoding, and what their logs say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from specdec_helpers.lm.models import Draft, Target
from specdec_helpers.lm.text import encode
from specdec_helpers.measuring.clock import Clock, plain_decode

Decode = Callable[..., tuple[Sequence[int], Sequence[int]]]

PROMPT = "It is a truth universally acknowledged, that a single man in possession of a good "


@dataclass(frozen=True)
class Run:
    """What runs of a decoder brought.

    Attributes:
        tokens: the text of the last run.
        log: accepted drafts of every verification, of all runs.
        k: drafts per verification.
        seconds: median time of a run.
        plain_seconds: median time of plain decoding for as many tokens.
    """

    tokens: tuple[int, ...]
    log: tuple[int, ...]
    k: int
    seconds: float
    plain_seconds: float

    @property
    def acceptance_rate(self) -> float:
        """Accepted drafts over tested ones; 0 where nothing was tested."""
        tested = sum(self.log) + sum(count < self.k for count in self.log)
        return sum(self.log) / tested if tested else 0.0

    @property
    def tokens_per_verification(self) -> float:
        """Accepted drafts and one token of the target, on average."""
        return 1 + sum(self.log) / len(self.log) if self.log else 0.0

    @property
    def speedup(self) -> float:
        """How many times faster than plain decoding, by the clock."""
        return self.plain_seconds / self.seconds


def expected_tokens(a: float, k: int) -> float:
    """E[N] = 1 + a + … + a^k."""
    return float(sum(a**i for i in range(k + 1)))


def duel(
    decode: Decode,
    target: Target,
    draft: Draft,
    k: int,
    n_tokens: int = 160,
    repeats: int = 5,
    prompt: str = PROMPT,
    seed: int = 0,
    clock: Clock = perf_counter,
) -> Iterator[Run]:
    """Run `decode` and plain decoding in turns; yields the medians so far after each pair.

    Each run starts with only the prompt in the target's cache, and with a seed of its own. The first pair is a warm-up.

    Raises:
        ValueError: k < 1, n_tokens < 1, or a decoder that does not return (tokens, log) of the right kind.
    """
    if k < 1 or n_tokens < 1:
        raise ValueError(f"k = {k} and n_tokens = {n_tokens} must both be at least 1")
    start, logs = encode(prompt), []
    fast: list[float] = []
    slow: list[float] = []
    for repeat in range(-1, repeats):
        length = n_tokens if repeat >= 0 else min(n_tokens, 20)
        rng = np.random.default_rng([seed, repeat + 1])
        target.forget()
        target.distributions(
            start, 1
        )  # reading the prompt is no decoding: it is done before the clock starts
        began = clock()
        plain_decode(target, start, length, rng)
        plain = clock() - began
        target.forget()
        target.distributions(start, 1)
        began = clock()
        result = decode(draft.distribution, target.distributions, list(start), length, k, rng)
        speculative = clock() - began
        tokens, log = checked(result, length, k)
        if repeat < 0:
            continue
        logs += log
        slow.append(plain)
        fast.append(speculative)
        yield Run(tuple(tokens), tuple(logs), k, median(fast), median(slow))


def checked(result: Any, n_tokens: int, k: int) -> tuple[list[int], list[int]]:
    """A decoder's result as two lists of whole numbers; ValueError, with the way out, for anything else."""
    try:
        tokens, log = ([int(item) for item in part] for part in result)
    except (TypeError, ValueError):
        raise ValueError(
            f"speculative_decode should return (tokens, log), two lists; it returned {type(result).__name__}: "
            "let its check pass first"
        ) from None
    if len(tokens) != n_tokens or not log or not all(0 <= count <= k for count in log):
        raise ValueError(
            f"speculative_decode returned {len(tokens)} tokens for n_tokens = {n_tokens}, and a log of {len(log)} "
            f"entries that must lie in 0..{k}: let its check pass first"
        )
    return tokens, log
