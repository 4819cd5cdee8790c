"""Charts that several lessons share."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from specdec_helpers.explorers.mathematics.lesson4 import expected
from specdec_helpers.explorers.picture import BLUE, INK, ORANGE, RED, Picture, title
from specdec_helpers.explorers.words import number

RATES = np.linspace(0, 1, 51)


def roof(value: float, steps: tuple[float, ...]) -> float:
    """Return the smallest step that holds value: an axis that changes seldom can be read while it moves."""
    return next((step for step in steps if value <= step), steps[-1])


class GrowthOverA:
    """E[N] over the acceptance rate a, for the chosen k, with the point (a, E[N])."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        title(axes, "Expected tokens E[N] over a")
        axes.set(xlim=(0, 1.02), ylim=(0, 6), xlabel="acceptance rate a", ylabel="")
        axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
        (curve,) = axes.plot(RATES, RATES, color=BLUE, linewidth=2.2)
        (drop,) = axes.plot([0, 0], [0, 0], color=INK, linewidth=0.9, linestyle=(0, (2, 2)))
        (point,) = axes.plot([0], [0], "o", color=RED, markersize=9, markeredgecolor=INK, clip_on=False)
        text = axes.text(0, 0, "", color=INK, fontsize=12, ha="right", va="bottom")
        self.curve, self.drop, self.point, self.text = (
            Picture.move(curve),
            Picture.move(drop),
            Picture.move(point),
            Picture.move(text),
        )

    def update(self, a: float, k: int) -> float:
        """Move the curve and the point; return E[N]."""
        tokens = float(expected(a, k))
        self.axes.set_ylim(0, roof(k + 1.3, (3.3, 6.3, 9.3, 14)))
        self.curve.set_ydata(expected(RATES, k))
        self.drop.set_data([a, a], [0, tokens])
        self.point.set_data([a], [tokens])
        left = a > 0.45
        self.text.set_text(f"E[N] = {number(tokens)}")
        self.text.set_position(
            (a - 0.035 if left else a + 0.035, tokens - (0 if left else 0.04 * self.axes.get_ylim()[1]))
        )
        self.text.set_horizontalalignment("right" if left else "left")
        self.text.set_verticalalignment("bottom" if left else "top")
        return tokens

    @staticmethod
    def words(a: float, k: int) -> str:
        """Say what this axes shows."""
        return (
            f"curve of the expected tokens E[N] over the acceptance rate a for k = {k}, from 1 at a = 0 to "
            f"{k + 1} at a = 1, with a point at a = {number(a)}, E[N] = {number(float(expected(a, k)))}."
        )


class Overlap:
    """Two distributions as pairs of bars, and their shaded overlap, as wide as both."""

    def __init__(self, axes: Axes, tokens: str, heading: str) -> None:
        self.axes = axes
        title(axes, heading)
        places = np.arange(len(tokens))
        axes.set(xlim=(-0.6, len(tokens) - 0.4), ylim=(0, 0.6), xlabel="token")
        axes.set_xticks(places, list(tokens))
        axes.set_ylim(0, 0.75)

        def group(offset: float, width: float, **look: Any) -> list[Rectangle]:
            bars = axes.bar(places + offset, np.ones(len(tokens)), width=width, **look)
            return [Picture.move(bar) for bar in bars]

        self.p = group(-0.2, 0.4, facecolor=BLUE, edgecolor=INK, linewidth=0.8)
        self.q = group(0.2, 0.4, facecolor=ORANGE, edgecolor=INK, linewidth=0.8)
        self.least = group(0, 0.8, facecolor=INK, alpha=0.38, linewidth=0)
        self.p_texts, self.q_texts = (
            [
                Picture.move(axes.text(x + shift, 0, "", ha="center", va="bottom", color=INK, fontsize=11))
                for x in places
            ]
            for shift in (-0.2, 0.2)
        )

    def update(self, p: NDArray[np.float64], q: NDArray[np.float64]) -> None:
        """Set the bars to two distributions over the tokens."""
        height = roof(float(max(p.max(), q.max())) * 1.12, (0.65, 1.15))
        self.axes.set_ylim(0, height)
        for bars, texts, values in ((self.p, self.p_texts, p), (self.q, self.q_texts, q)):
            for bar, text, value in zip(bars, texts, values, strict=True):
                bar.set_height(value)
                text.set_text(number(value, 2))
                text.set_y(value + height * 0.012)
        for bar, value in zip(self.least, np.minimum(p, q), strict=True):
            bar.set_height(value)
            bar.set_visible(bool(value > 0))
