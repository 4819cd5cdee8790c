"""Lesson 5 for drawing: what a round yields, what it costs, and their ratio over k."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specdec_helpers.explorers.mathematics.lesson4 import LONGEST, over_k

Vector = NDArray[np.float64]

T_TOKEN = 0.25  # ms of computing for one position of one sequence, once the hardware is busy


@dataclass(frozen=True)
class Costs:
    """Times in ms: one target step, one verification, one draft step; and the sequences in a batch."""

    target: float
    verify: float
    draft: float
    batch: int = 1

    def step(self) -> float:
        """Return the time of one plain decoding step of the batch."""
        return self.target if self.batch == 1 else max(self.target, self.batch * T_TOKEN)

    def verification(self, longest: int = LONGEST) -> Vector:
        """Return the time of a verification for k = 0 … longest.

        One sequence leaves the hardware waiting for memory, so the positions are free. In a batch the
        verification takes the longer of that wait and the computing of batch · (k + 1) positions.
        """
        positions = np.arange(1, longest + 2)
        times: Vector = np.full(longest + 1, self.verify)
        return times if self.batch == 1 else np.maximum(times, self.batch * positions * T_TOKEN)

    def round(self, longest: int = LONGEST) -> Vector:
        """Return the time of a whole round for k = 0 … longest."""
        times: Vector = self.verification(longest) + self.draft * np.arange(longest + 1)
        return times


def speedups(a: float, costs: Costs, longest: int = LONGEST) -> Vector:
    """Return the speed relative to plain decoding for k = 0 … longest."""
    ratio: Vector = over_k(a, longest) * costs.step() / costs.round(longest)
    return ratio


def best(a: float, costs: Costs, longest: int = LONGEST) -> tuple[int, float]:
    """Return (k, speed-up) of the fastest way; k = 0 is plain decoding, speed-up 1, and wins ties."""
    found, top = 0, 1.0
    for k, ratio in enumerate(speedups(a, costs, longest)):
        if k > 0 and ratio > top * (1 + 1e-12):
            found, top = k, float(ratio)
    return found, top
