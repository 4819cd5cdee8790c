"""Lesson 5: what a round yields, what it costs, and the speed-up over k with its best k."""

from __future__ import annotations

import numpy as np

from specdec_helpers.explorers.base import Explorer, Panel, Values, View
from specdec_helpers.explorers.charts import roof
from specdec_helpers.explorers.controls import Number
from specdec_helpers.explorers.mathematics.lesson4 import LONGEST, over_k
from specdec_helpers.explorers.mathematics.lesson5 import Costs, best, speedups
from specdec_helpers.explorers.picture import BLUE, INK, ORANGE, RED, Picture, title
from specdec_helpers.explorers.quantities import drafted, rate
from specdec_helpers.explorers.words import number

WORKED = {"a": 0.8, "k": 4, "t_target": 10, "t_verify": 12, "t_draft": 1, "B": 1}


def _time(name: str, what: str, low: float, high: float, step: float, start: float, tooltip: str) -> Number:
    return Number(name, f"{what}, ms", low, high, step, start, tooltip)


class WhenItPays(Panel):
    """Yield and cost of a round on the left, their ratio on the right."""

    readout_room = 156
    note = (
        "T5 presets: the draft's a, its cost and k = 7 from Leviathan et al. 2023, table 4, at temperature 0 "
        "(predicted 3.2× and 2.5×; measured 3.4× and 1.7×). "
        "Batch: with B > 1 sequences a verification takes max(t_verify, B · (k + 1) · 0.25 ms)."
    )

    def __init__(self) -> None:
        self.controls = [
            rate(),
            drafted(),
            _time(
                "t_target",
                "target step",
                0.5,
                50,
                0.5,
                10,
                "Time of one plain decoding step of the target",
            ),
            _time(
                "t_verify",
                "verification",
                0.5,
                50,
                0.5,
                12,
                "Time of one target pass over the drafted tokens",
            ),
            _time("t_draft", "draft step", 0, 20, 0.1, 1, "Time of one step of the draft"),
            Number(
                "B",
                "batch size B",
                1,
                64,
                1,
                1,
                "How many sequences are decoded together: the more, the less is free",
                whole=True,
            ),
        ]
        self.presets = {
            "worked example": WORKED,
            "T5-small": {"a": 0.75, "k": 7, "t_target": 10, "t_verify": 10, "t_draft": 0.2, "B": 1},
            "T5-large": {"a": 0.82, "k": 7, "t_target": 10, "t_verify": 10, "t_draft": 1.1, "B": 1},
            "batch": {"a": 0.8, "k": 4, "t_target": 10, "t_verify": 10, "t_draft": 1, "B": 16},
        }
        self.picture = Picture(height=270)
        left, right = self.picture.axes
        ks = np.arange(LONGEST + 1)
        for axes in (left, right):
            axes.set(xlabel="drafted tokens k", xlim=(-0.4, LONGEST + 0.4))
            axes.set_xticks(range(0, LONGEST + 1, 2))
        title(left, "yield and cost of a round")
        title(right, "their ratio: the speed-up")
        (tokens,) = left.plot(ks, ks, "o-", color=BLUE, linewidth=2.2, markersize=4)
        (cost,) = left.plot(ks, ks, "s--", color=ORANGE, linewidth=2.2, markersize=4, markeredgecolor=INK)
        (here,) = left.plot([0, 0], [0, 1], color=INK, linewidth=1, linestyle=(0, (2, 2)))
        self.tokens, self.cost, self.here = (Picture.move(x) for x in (tokens, cost, here))
        self.tokens_text, self.cost_text = (
            Picture.move(left.text(LONGEST, 0, "", color=INK, fontsize=12, ha="right")) for _ in range(2)
        )
        (ratio,) = right.plot(ks, ks, "o-", color=BLUE, linewidth=2.2, markersize=4)
        right.plot([-0.4, LONGEST + 0.4], [1, 1], color=INK, linewidth=1.4, linestyle="--")
        (point,) = right.plot([0], [0], "o", color=RED, markersize=10, markeredgecolor=INK, clip_on=False)
        (star,) = right.plot([0], [0], "*", color=ORANGE, markersize=17, markeredgecolor=INK, clip_on=False)
        self.ratio, self.point, self.star = (Picture.move(x) for x in (ratio, point, star))
        right.text(LONGEST, 1.02, "plain decoding", color=INK, fontsize=11, ha="right", va="bottom")
        self.point_text, self.star_text = (
            Picture.move(right.text(0, 0, "", color=INK, fontsize=12, ha="center")) for _ in range(2)
        )
        self.assemble()

    def draw(self, at: Values) -> View:
        """Move the three curves, the chosen k and the star at the best k."""
        a, k = at["a"], at["k"]
        costs = Costs(at["t_target"], at["t_verify"], at["t_draft"], at["B"])
        tokens, times, ratios = (
            [float(x) for x in values] for values in (over_k(a), costs.round(), speedups(a, costs))
        )
        steps = [time / costs.step() for time in times]
        top_k, top = best(a, costs)
        left, right = self.picture.axes  # type: ignore[union-attr]

        height = roof(max(tokens[-1], min(steps[-1], 13)) * 1.12, (3.2, 6.3, 9.5, 15))
        left.set_ylim(0, height)
        self.tokens.set_ydata(tokens)
        self.cost.set_ydata(steps)
        self.here.set_data([k, k], [0, height])
        above = tokens[-1] >= steps[-1]
        for text, value, words, higher in (
            (self.tokens_text, tokens[-1] if above else tokens[6], "tokens E[N]", above),
            (self.cost_text, steps[6] if above else steps[-1], "cost in target steps", not above),
        ):
            text.set_text(words)
            text.set_y(
                float(np.clip(value + height * (0.03 if higher else -0.05), 0.08 * height, 0.95 * height))
            )
            text.set_verticalalignment("bottom" if higher else "top")

        roofline = roof(max(*ratios, 1) * 1.25, (1.6, 2.6, 3.6, 5.5, 9, 14, 30, 60, 100, 300, 1000))
        right.set_ylim(0, roofline)
        self.ratio.set_ydata(ratios)
        self.point.set_data([k], [ratios[k]])
        self.star.set_data([top_k], [top])
        self.star_text.set_text(f"best k = {top_k}: {number(top, 3)}×")
        self.star_text.set_position((float(np.clip(top_k, 2.6, LONGEST - 2.6)), top + roofline * 0.05))
        self.star_text.set_verticalalignment("bottom")
        self.point_text.set_visible(k != top_k)
        self.point_text.set_text(f"k = {k}: {number(ratios[k], 3)}×")
        # Below the curve, where it is lowest along the text.
        first = k <= 6
        lowest = min(ratios[k : k + 5] if first else ratios[k - 4 : k + 1])
        self.point_text.set_position((k + 0.3 if first else k - 0.3, lowest - roofline * 0.05))
        self.point_text.set_horizontalalignment("left" if first else "right")
        self.point_text.set_verticalalignment("top")

        verify = float(costs.verification()[k])
        rate_words = f"{number(1000 * tokens[k] / times[k], 1)} tokens/s"
        if costs.batch > 1:
            rate_words += " a sequence"
        label = (
            f"Left: over k from 0 to {LONGEST}, the expected tokens E[N] rise to {number(tokens[-1])} and the cost of "
            f"a round rises to {number(steps[-1])} target steps; at k = {k} they are {number(tokens[k])} and "
            f"{number(steps[k])}. Right: their ratio, the speed-up, is {number(ratios[k])} at k = {k} and best at "
            f"k = {top_k} with {number(top)}; a dashed line marks plain decoding at 1."
        )
        readout = (
            f"A round yields E[N] = {number(tokens[k])} tokens and costs {number(verify)} + {k} · "
            f"{number(costs.draft)} = {number(times[k])} ms: {rate_words}, speed-up {number(ratios[k])}. "
            + (f"Best: k = {top_k}, {number(top)}." if top_k else "Best: k = 0, plain decoding.")
        )
        return View(label, readout)


class Lesson(Explorer):
    """When it pays."""

    lesson, title = "lesson5", "When it pays"

    def __init__(self) -> None:
        super().__init__([WhenItPays()])
