"""Lesson 3: q, what is kept, what the replacement adds, and the output; then where E[N] comes from."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import Polygon

from specdec_helpers.explorers.base import Explorer, Panel, Values, View
from specdec_helpers.explorers.charts import RATES, roof
from specdec_helpers.explorers.controls import Choice
from specdec_helpers.explorers.mathematics.lesson3 import RIGHT, RULES, error, position, sources
from specdec_helpers.explorers.picture import BLUE, GRAY, INK, ORANGE, RED, Picture, title
from specdec_helpers.explorers.quantities import Distribution, drafted, rate
from specdec_helpers.explorers.words import named, number

TOKENS = "ABCD"
P, Q = (0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4)


class FourBars(Panel):
    """Kept plus replaced is the output: p under the right rule, something else under a wrong one."""

    heading = "One position: what comes out?"
    readout_room = 234

    def __init__(self) -> None:
        self.p = Distribution("p", TOKENS, P, "target")
        self.q = Distribution("q", TOKENS, Q, "draft")
        self.rule = Choice("rule", "replacement", RULES, "What a rejected token is replaced by")
        self.controls = [self.p, self.q, self.rule]
        self.presets = {
            "worked example": {"p": P, "q": Q, "rule": RIGHT},
            "p = q": {"p": P, "q": P},
            "a very sure draft": {"p": P, "q": (0.05, 0.05, 0.05, 0.85)},
        }
        self.picture = Picture(widths=(178, 170, 170, 178), height=220, margins=(30, 6, 24, 28))
        self.bars, self.texts = [], []
        for axes, colour in zip(self.picture.axes, (GRAY, BLUE, ORANGE, BLUE), strict=True):
            axes.set(xlim=(-0.6, 3.6), ylim=(0, 0.5))
            axes.set_xticks(range(4), list(TOKENS))
            bars = axes.bar(range(4), [1] * 4, width=0.72, color=colour, edgecolor=INK, linewidth=0.8)
            self.bars.append([Picture.move(bar) for bar in bars])
            self.texts.append(
                [
                    Picture.move(axes.text(x, 0, "", ha="center", va="bottom", color=INK, fontsize=11))
                    for x in range(4)
                ]
            )
        out = self.picture.axes[3]
        top = out.bar(range(4), [1] * 4, width=0.72, color=ORANGE, edgecolor=INK, linewidth=0.8)
        self.top = [Picture.move(bar) for bar in top]
        (aim,) = out.plot(range(4), [0] * 4, "_", color=RED, markersize=24, markeredgewidth=2.6)
        self.aim = Picture.move(aim)
        for axes, text in zip(
            self.picture.axes, ("q: proposed", "kept", "", "= output, p in red"), strict=True
        ):
            title(axes, text)
        self.assemble()

    def draw(self, at: Values) -> View:
        """Set the four groups of bars."""
        p, q, rule = self.p.shares(), self.q.shares(), at["rule"]
        kept, added = position(p, q, rule)
        output = kept + added
        height = roof(float(max(p.max(), q.max(), output.max())) * 1.15, (0.5, 0.75, 1.15))
        for axes, bars, texts, values in zip(
            self.picture.axes,  # type: ignore[union-attr]
            self.bars,
            self.texts,
            (q, kept, added, output),
            strict=True,
        ):
            axes.set_ylim(0, height)
            for bar, text, value in zip(bars, texts, values, strict=True):
                bar.set_height(value)
                text.set_text(number(value, 3))
                text.set_y(value + height * 0.015)
        for bar, stacked, low, high, aim, text in zip(
            self.bars[3], self.top, kept, added, p, self.texts[3], strict=True
        ):
            bar.set_height(low)
            stacked.set_y(low)
            stacked.set_height(high)
            stacked.set_visible(bool(high > 0))
            # Above the bar, unless the mark of p is in the way.
            top = low + high
            text.set_y((aim if top <= aim < top + height * 0.1 else top) + height * 0.02)
        self.aim.set_ydata(p)
        how = "from p − q" if rule == RIGHT else "nothing" if rule == "always accept" else rule
        title(self.picture.axes[2], f"+ {how}")  # type: ignore[union-attr]
        wrong, rejected = error(output, p), float(added.sum())
        label = (
            f"Four bar charts over the tokens A to D. Draft q: {named(TOKENS, q)}. Kept: {named(TOKENS, kept)}. "
            f"Added {how}: {named(TOKENS, added)}. Output: {named(TOKENS, output)}, with the target p "
            f"({named(TOKENS, p)}) as marks, off by {number(wrong)}."
        )
        verdict = "the output is exactly p" if wrong < 1e-9 else "the output is not p"
        readout = (
            f"A rejection has probability {number(rejected)}. Output ({', '.join(number(x, 3) for x in output)}), "
            f"target ({', '.join(number(x, 3) for x in p)}): output error {number(wrong)}, {verdict}."
        )
        remarks = "".join(f" {r.remark()}" for r in (self.p, self.q) if r.remark())
        return View(label, readout + remarks)


class Sources(Panel):
    """The E[N] tokens of a round: accepted drafts, the recovery token, the bonus token."""

    heading = "Where the E[N] tokens come from"
    readout_room = 132

    def __init__(self) -> None:
        self.controls = [rate(), drafted()]
        self.picture = Picture(widths=(380, 320), height=250)
        left, right = self.picture.axes
        title(left, "E[N] over a, stacked")
        left.set(xlim=(0, 1), ylim=(0, 6.3), xlabel="acceptance rate a")
        left.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
        self.areas = []
        for colour in (BLUE, ORANGE, GRAY):
            area = Polygon(
                [(0, 0), (1, 0), (1, 1)], facecolor=colour, edgecolor=INK, linewidth=0.8, alpha=0.95
            )
            left.add_patch(area)
            self.areas.append(Picture.move(area))
        (line,) = left.plot([0, 0], [0, 0], color=INK, linewidth=1.4, linestyle="--")
        (point,) = left.plot([0], [0], "o", color=RED, markersize=9, markeredgecolor=INK, clip_on=False)
        self.here, self.point = Picture.move(line), Picture.move(point)
        self.text = Picture.move(left.text(0, 0, "", color=INK, fontsize=12, va="bottom"))

        title(right, "tokens per round at this a")
        right.set(xlim=(-0.6, 2.6), ylim=(0, 6.3))
        right.set_xticks(range(3), ["accepted", "recovery", "bonus"])
        bars = right.bar(
            range(3), [1] * 3, width=0.7, color=[BLUE, ORANGE, GRAY], edgecolor=INK, linewidth=0.8
        )
        self.bars = [Picture.move(bar) for bar in bars]
        self.texts = [
            Picture.move(right.text(x, 0, "", ha="center", va="bottom", color=INK, fontsize=12))
            for x in range(3)
        ]
        self.assemble()

    def draw(self, at: Values) -> View:
        """Set the areas, the line at a and the three bars."""
        a, k = at["a"], at["k"]
        parts = [float(part) for part in sources(a, k)]
        tokens = sum(parts)
        left, right = self.picture.axes  # type: ignore[union-attr]
        height = roof(k + 1.3, (3.3, 6.3, 9.3, 14))
        base = np.zeros_like(RATES)
        for area, part in zip(self.areas, sources(RATES, k), strict=True):
            over = np.concatenate([RATES, RATES[::-1]])
            area.set_xy(np.column_stack([over, np.concatenate([base, (base + part)[::-1]])]))
            base = base + part
        left.set_ylim(0, height)
        right.set_ylim(0, roof(max(parts) * 1.15, (1.4, 3.3, 6.3, 9.3, 14)))
        self.here.set_data([a, a], [0, tokens])
        self.point.set_data([a], [tokens])
        late = a > 0.5
        self.text.set_text(f"E[N] = {number(tokens)}")
        # On the left there is room above the curve; on the right only beside the point.
        self.text.set_position((a - 0.04, tokens + height * 0.03) if late else (0.04, height * 0.88))
        self.text.set_horizontalalignment("right" if late else "left")
        for bar, text, value in zip(self.bars, self.texts, parts, strict=True):
            bar.set_height(value)
            text.set_text(number(value))
            text.set_y(value + right.get_ylim()[1] * 0.01)
        accepted, recovered, bonus = (number(part) for part in parts)
        told = f"accepted drafts {accepted}, recovery 1 − a^k = {recovered}, bonus a^k = {bonus}"
        label = (
            f"Left: stacked areas over the acceptance rate a for k = {k}: accepted drafts, recovery token, bonus "
            f"token; their sum E[N] rises from 1 to {k + 1}, marked at a = {number(a)}: {number(tokens)}. "
            f"Right: three bars: {told}."
        )
        added = " + ".join(number(x) for x in parts)
        return View(label, f"{told}: {added} = E[N] = {number(tokens)}")


class Lesson(Explorer):
    """Recover the difference."""

    lesson, title = "lesson3", "Recover the difference"

    def __init__(self) -> None:
        super().__init__([FourBars(), Sources()])
