"""Charts that several lessons share."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from specdec_helpers.explorers.mathematics.lesson4 import expected
from specdec_helpers.explorers.picture import BLUE, INK, RED, Picture, title
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
        (point,) = axes.plot([0], [0], "o", color=RED, markersize=9, markeredgecolor=INK)
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
        self.text.set_position((a - 0.035 if left else a + 0.035, tokens + (0 if left else -0.02)))
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
