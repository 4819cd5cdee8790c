"""Lesson 4: the table of accepted counts, E[N] over k with its ceiling, and a running average."""

from __future__ import annotations

import ipywidgets as w
import numpy as np

from specdec_helpers.explorers.base import Explorer, Panel, Values, View
from specdec_helpers.explorers.charts import roof
from specdec_helpers.explorers.mathematics.lesson4 import (
    LONGEST,
    TRIALS,
    accepted,
    ceiling,
    expected,
    over_k,
    running_average,
)
from specdec_helpers.explorers.picture import BLUE, INK, ORANGE, RED, Picture, title
from specdec_helpers.explorers.quantities import drafted, rate
from specdec_helpers.explorers.words import number, small, table

# Rounds at which the running average is drawn: few, and evenly spaced on the logarithmic axis.
SHOWN = np.unique(np.geomspace(1, TRIALS, 90).astype(int))


class Progress(Panel):
    """The table, the sentence and the two plots."""

    readout_room = 132
    note = (
        "This assumes each token is accepted independently with the same probability: "
        "a teaching approximation."
    )

    def __init__(self) -> None:
        self.controls = [rate(), drafted()]
        self.presets = {f"a = {number(a)}, k = 4": {"a": a, "k": 4} for a in (1.0, 0.8, 0.5)}
        self.table_html = w.HTML(layout=w.Layout(width="auto", min_width="0"))
        self.picture = Picture(widths=(300, 300), height=320)
        left, right = self.picture.axes

        title(left, "E[N] over k")
        left.set(xlabel="drafted tokens k", xlim=(-0.4, LONGEST + 0.4), ylim=(0, 6.3))
        left.set_xticks(range(0, LONGEST + 1, 2))
        ks = np.arange(LONGEST + 1)
        (curve,) = left.plot(ks, ks, "o-", color=BLUE, linewidth=2, markersize=4)
        (limit,) = left.plot([0, LONGEST], [5, 5], color=INK, linewidth=1.6, linestyle="--")
        (point,) = left.plot([0], [0], "o", color=RED, markersize=10, markeredgecolor=INK, clip_on=False)
        self.curve, self.limit, self.point = (Picture.move(x) for x in (curve, limit, point))
        self.limit_text = Picture.move(left.text(0, 0, "", color=INK, fontsize=12, va="bottom"))
        self.point_text = Picture.move(left.text(0, 0, "", color=INK, fontsize=12, va="top"))

        title(right, "average of simulated rounds")
        right.set_xscale("log")
        right.set(xlabel="rounds so far", xlim=(0.9, TRIALS * 1.15), ylim=(0, 6.3))
        right.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
        right.minorticks_off()
        (average,) = right.plot(SHOWN, SHOWN, color=ORANGE, linewidth=2)
        (aim,) = right.plot([0.9, TRIALS * 1.15], [1, 1], color=BLUE, linewidth=1.8, linestyle=(0, (5, 2)))
        self.average, self.aim = Picture.move(average), Picture.move(aim)
        self.aim_text = Picture.move(right.text(1, 0, "", color=INK, fontsize=12, va="bottom"))
        self.end_text = Picture.move(right.text(TRIALS, 0, "", color=INK, fontsize=12, ha="right", va="top"))
        self.assemble()

    def arrange(self) -> list[w.Widget]:
        """Put the table beside the picture; below each other where it is narrow."""
        parts = super().arrange()
        where = parts.index(self.picture_html)
        # 13 counts, a head and a caption: room for the longest table, so that k moves nothing.
        self.table_html.layout = w.Layout(width="auto", min_width="150px", height="318px", flex="0 0 auto")
        self.picture_html.layout = w.Layout(width="auto", min_width="0", flex="1 1 270px")
        parts[where] = w.HBox(
            [self.table_html, self.picture_html], layout=w.Layout(flex_flow="row wrap", min_width="0")
        )
        return parts

    def draw(self, at: Values) -> View:
        """Fill the table, move the curves."""
        a, k = at["a"], at["k"]
        chances, tokens, limit = accepted(a, k), float(expected(a, k)), ceiling(a)
        names = [str(n) for n in range(k)] + [f"{k} (all)"]
        rows = [(name, small(p)) for name, p in zip(names, chances, strict=True)]
        self.table_html.value = table("accepted drafts", ["accepted", "probability"], rows)

        left, right = self.picture.axes  # type: ignore[union-attr]
        values = over_k(a)
        top = roof(max(values[-1], tokens) * 1.12, (2.4, 4.2, 6.3, 9.5, 15))
        left.set_ylim(0, top)
        self.curve.set_ydata(values)
        self.point.set_data([k], [tokens])
        low = k < 7
        self.point_text.set_text(f"E[N] = {number(tokens)}")
        # Below the curve; to the left it falls, so the text hangs from the curve's height at its own left end.
        self.point_text.set_position(
            (k + 0.3, tokens - top * 0.05) if low else (k, values[k - 4] - top * 0.04)
        )
        self.point_text.set_horizontalalignment("left" if low else "right")
        inside = limit < top
        self.limit.set_visible(inside)
        self.limit.set_ydata([min(limit, top)] * 2)
        if a >= 1:
            limit_words = "no ceiling: E[N] = k + 1"
        else:
            limit_words = f"ceiling 1/(1−a) = {number(limit, 2)}" + ("" if inside else ", above")
        self.limit_text.set_text(limit_words)
        self.limit_text.set_position((0, (limit if inside else top * 0.93) + top * 0.01))

        average = running_average(a, k)
        self.average.set_ydata(average[SHOWN - 1])
        right.set_ylim(0, roof(max(average.max(), tokens) * 1.15, (1.4, 2.4, 3.4, 6.3, 9.5, 15)))
        height = right.get_ylim()[1]
        self.aim.set_ydata([tokens, tokens])
        self.aim_text.set_text(f"dashed line: E[N] = {number(tokens)}")
        self.end_text.set_text(f"after {TRIALS}: {number(average[-1], 3)}")
        self.aim_text.set_position((1, height * 0.93))
        self.end_text.set_position((TRIALS, tokens - height * 0.04))

        told = "; ".join(f"{name}: {p}" for name, p in rows)
        label = (
            f"Left: points of the expected tokens E[N] over k from 0 to {LONGEST} for a = {number(a)}, "
            f"from 1 to {number(values[-1])}, marked at k = {k}: {number(tokens)}; {limit_words}. "
            f"Right: average tokens per verification over {TRIALS} simulated rounds, ending at "
            f"{number(average[-1], 3)}, beside a dashed line at E[N] = {number(tokens)}. "
            f"Table of accepted drafts and probability: {told}."
        )
        readout = (
            f"expected tokens per verification = 1 + a + … + a^k = {number(tokens)} "
            "(accepted tokens + the one extra token the target always supplies)"
        )
        return View(label, readout)

    def still(self) -> str:
        """The table belongs to the picture."""
        return str(self.table_html.value) + super().still()


class Lesson(Explorer):
    """Expected progress."""

    lesson, title = "lesson4", "Expected progress"

    def __init__(self) -> None:
        super().__init__([Progress()])
