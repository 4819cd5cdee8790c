"""Lesson 1 for drawing: one verification of a drafted block, and 200 of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SEED, ROUNDS, LONGEST = 11, 200, 12


def verify(draft: Sequence[int], target_next: Sequence[int]) -> tuple[int, list[int]]:
    """Return (accepted drafts, emitted tokens) of one greedy verification.

    Args:
        draft: k drafted tokens.
        target_next: the target's k + 1 choices; the last one follows a fully accepted draft.
    """
    agrees = [d == t for d, t in zip(draft, target_next, strict=False)]
    accepted = agrees.index(False) if False in agrees else len(draft)
    return accepted, [*draft[:accepted], target_next[accepted]]


def rounds(a: float, k: int, seed: int = SEED, count: int = ROUNDS) -> list[int]:
    """Return the tokens that each of `count` rounds emits when the draft agrees with probability a.

    The same uniforms serve every a and k, so that the picture moves smoothly under the slider.
    """
    random = np.random.default_rng(seed)
    uniforms = random.random((count, LONGEST))
    targets = random.integers(0, 10, (count, LONGEST + 1))
    # A draft that disagrees proposes another token than the target's.
    drafts = np.where(uniforms < a, targets[:, :-1], (targets[:, :-1] + 1) % 10)
    blocks, picks = drafts[:, :k].tolist(), targets[:, : k + 1].tolist()
    return [len(verify(d, t)[1]) for d, t in zip(blocks, picks, strict=True)]


def histogram(emitted: Sequence[int]) -> list[int]:
    """Return how many rounds emitted 1, 2, … LONGEST + 1 tokens."""
    return [int(n) for n in np.bincount(emitted, minlength=LONGEST + 2)[1:]]
