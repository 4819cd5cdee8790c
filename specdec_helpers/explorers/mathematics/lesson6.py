"""Lesson 6 for drawing: what three drafts brought, shipped and measured here.

The decoder of this file races on the student's machine when *Measure here* is pressed. It is a second
implementation on purpose: all random numbers of a round at once, where the reference draws them one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from specdec_helpers.lm.models import Target, draft
from specdec_helpers.lm.text import encode, novels
from specdec_helpers.measuring.clock import part_times
from specdec_helpers.measuring.runs import duel

NAMES = ("A", "B", "C")
LIVE_KS = (1, 2, 4, 6, 8)
REPEATS, TURNS, TOKENS = 4, 10, 120
LIVE_STEPS = len(NAMES) * (len(LIVE_KS) * REPEATS + TURNS)


@dataclass(frozen=True)
class Measured:
    """One draft's figures; the tuples go with `ks`.

    Attributes:
        name, words: which draft.
        a: acceptance rate over all its runs.
        cost: a draft step in plain steps of the target.
        tokens: tokens per verification.
        speed: measured speed-up.
        formula: speed-up from `tokens` and the measured times.
    """

    name: str
    words: str
    a: float
    cost: float
    ks: tuple[int, ...]
    tokens: tuple[float, ...]
    speed: tuple[float, ...]
    formula: tuple[float, ...]


def shipped() -> tuple[Measured, ...]:
    """The figures of the machine the course was made on, at temperature 1 (`benchmarks/capstone.py --ship`)."""
    text = resources.files("specdec_helpers.explorers").joinpath("lesson6_measured.json").read_text("utf-8")
    return tuple(
        Measured(
            one["name"],
            one["words"],
            one["a"],
            one["cost"],
            *(tuple(one[key]) for key in ("ks", "tokens", "speed", "formula")),
        )
        for one in json.loads(text)
    )


def decode(
    draft_model: Any, target_pass: Any, prompt: Sequence[int], n_tokens: int, k: int, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Speculative decoding: the first n_tokens tokens, and the accepted drafts of every round."""
    text, log = list(prompt), []
    while len(text) - len(prompt) < n_tokens:
        chances = rng.random(2 * k + 1)
        grown = text.copy()
        q = np.empty((k, 0))
        for i in range(k):
            row = np.asarray(draft_model(grown), dtype=float)
            q = np.empty((k, len(row))) if i == 0 else q
            q[i] = row
            grown.append(_pick(row, chances[i]))
        p = np.asarray(target_pass(grown, k + 1), dtype=float)
        places, drafts = np.arange(k), np.array(grown[len(text) :])
        kept = chances[k : 2 * k] * q[places, drafts] < p[places, drafts]
        n = k if kept.all() else int(np.argmin(kept))
        weights = p[k] if n == k else np.clip(p[n] - q[n], 0, None)
        text = [*grown[: len(text) + n], _pick(weights, chances[-1])]
        log.append(n)
    return text[len(prompt) : len(prompt) + n_tokens], log


def _pick(weights: np.ndarray, chance: float) -> int:
    """The token at which the summed weights pass this share of their total."""
    reached = np.cumsum(weights)
    return int(np.argmax(reached > chance * reached[-1]))


def live() -> Iterator[tuple[str, Measured | None]]:
    """Measure the three drafts here: LIVE_STEPS steps, each (what is going on, a finished draft or None)."""
    target, sample = Target(), encode(novels()[:240])
    for name in NAMES:
        model = draft(name)
        runs = {}
        for k in LIVE_KS:
            for run in duel(decode, target, model, k, n_tokens=TOKENS, repeats=REPEATS):
                runs[k] = run
                yield f"draft {name}, k = {k}", None
        accepted = sum(sum(each.log) for each in runs.values())
        tested = accepted + sum(count < each.k for each in runs.values() for count in each.log)
        for turn, times in enumerate(part_times(target, model, sample, max(LIVE_KS), TURNS), start=1):
            done = None
            if turn == TURNS:
                found = [runs[k].tokens_per_verification for k in LIVE_KS]
                done = Measured(
                    name,
                    model.words,
                    accepted / tested,
                    times.t_draft / times.t_target,
                    LIVE_KS,
                    tuple(found),
                    tuple(runs[k].speedup for k in LIVE_KS),
                    tuple(times.speedup(tokens, k) for tokens, k in zip(found, LIVE_KS, strict=True)),
                )
            yield f"draft {name}, timing", done
