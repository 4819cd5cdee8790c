"""Lesson 6: the formula's E[N] with the points of three real drafts, and predicted against measured speed-up."""

from __future__ import annotations

import ipywidgets as w
import numpy as np

from specdec_helpers.explorers.base import Explorer, Panel, Values, View
from specdec_helpers.explorers.charts import roof
from specdec_helpers.explorers.mathematics.lesson4 import LONGEST, over_k
from specdec_helpers.explorers.mathematics.lesson6 import LIVE_STEPS, Measured, live, shipped
from specdec_helpers.explorers.picture import BLUE, INK, ORANGE, RED, VIOLET, Picture, title
from specdec_helpers.explorers.quantities import drafted, rate
from specdec_helpers.explorers.words import number

LOOK = {"A": (ORANGE, "o"), "B": (RED, "s"), "C": (VIOLET, "^")}
BESIDE = {
    "A": "center",
    "B": "bottom",
    "C": "top",
}  # where a letter stands beside its point: they lie close together


class MeasureIt(Panel):
    """E[N] over k with measured tokens on the left, speed-ups against their prediction on the right."""

    readout_room = 228
    note = "Seconds differ between machines, and between two runs on one: the points move by a few percent."

    def __init__(self) -> None:
        self.controls = [rate(), drafted()]
        self.found: tuple[Measured, ...] = shipped()
        self.presets = {f"a of draft {one.name}": {"a": round(one.a, 2)} for one in self.found}
        self.where = "the machine the course was made on"
        self.picture = Picture(height=270)
        left, right = self.picture.axes
        ks = np.arange(LONGEST + 1)
        title(left, "tokens per verification over k")
        left.set(xlabel="drafted tokens k", xlim=(-0.4, LONGEST + 0.4))
        left.set_xticks(range(0, LONGEST + 1, 2))
        title(right, "measured speed-up over predicted")
        right.set(xlabel="predicted by the formula")
        (curve,) = left.plot(ks, ks, "-", color=BLUE, linewidth=2.2)
        (here,) = left.plot([0], [0], "D", color=BLUE, markersize=8, markeredgecolor=INK)
        self.curve, self.here = Picture.move(curve), Picture.move(here)
        self.curve_text = Picture.move(
            left.text(LONGEST, 0, "E[N]", color=INK, fontsize=12, ha="right", va="bottom")
        )
        (diagonal,) = right.plot([0, 4], [0, 4], color=INK, linewidth=1.2, linestyle="--")
        diagonal.set_zorder(1)
        self.small, self.big, self.texts = {}, {}, {}
        for axes in (left, right):
            for one in self.found:
                colour, marker = LOOK[one.name]
                key = (axes is left, one.name)
                (points,) = axes.plot(
                    [0], [0], marker, color=colour, markersize=5, markeredgecolor=INK, alpha=0.75
                )
                (chosen,) = axes.plot([0], [0], marker, color=colour, markersize=10, markeredgecolor=INK)
                self.small[key], self.big[key] = Picture.move(points), Picture.move(chosen)
                self.texts[key] = Picture.move(
                    axes.text(0, 0, one.name, color=INK, fontsize=12, va=BESIDE[one.name])
                )
        self.button = w.Button(
            description="Measure here",
            tooltip="Run the three drafts on this machine, about ten seconds, and show these points instead",
            layout=w.Layout(width="auto"),
        )
        self.button.on_click(lambda _: self.measure())
        self.bar = w.IntProgress(max=LIVE_STEPS, layout=w.Layout(width="180px", visibility="hidden"))
        self.doing = w.Label("", layout=w.Layout(width="auto"))
        self.assemble()

    def arrange(self) -> list[w.Widget]:
        """Return the panel's children, with the button that measures below the presets."""
        parts = super().arrange()
        parts.insert(len(self.controls) + 1, self.line([self.button, self.bar, self.doing]))
        return parts

    def measure(self) -> None:
        """Race the drafts on this machine, then show its points."""
        self.button.disabled = True
        self.bar.value, self.bar.layout.visibility = 0, "visible"
        found = []
        try:
            for what, done in live():
                self.bar.value += 1
                self.doing.value = what
                if done is not None:
                    found.append(done)
            self.found, self.where = tuple(found), "this machine"
            self.doing.value = "done: the points are this machine's"
        finally:
            self.button.disabled = False
            self.bar.layout.visibility = "hidden"
        self.refresh()

    def draw(self, at: Values) -> View:
        """Move the curve, the points and the chosen k."""
        a, k = at["a"], at["k"]
        expected = [float(x) for x in over_k(a)]
        left, right = self.picture.axes  # type: ignore[union-attr]
        height = roof(
            max(expected[-1], *(max(one.tokens) for one in self.found)) * 1.12, (3.2, 4.5, 6.3, 9.5, 15)
        )
        left.set_ylim(0, height)
        self.curve.set_ydata(expected)
        self.here.set_data([k], [expected[k]])
        self.curve_text.set_y(min(expected[-1] + height * 0.02, height * 0.93))
        side = roof(
            max(max(*one.speed, *one.formula) for one in self.found) * 1.1, (1.6, 2.2, 2.8, 3.6, 5, 8)
        )
        right.set(xlim=(0, side), ylim=(0, side))
        for one in self.found:
            at_k = one.ks.index(k) if k in one.ks else None
            for tokens in (True, False):
                key = (tokens, one.name)
                x, y = (one.ks, one.tokens) if tokens else (one.formula, one.speed)
                self.small[key].set_data(x, y)
                for artist in (self.big[key], self.texts[key]):
                    artist.set_visible(at_k is not None)
                if at_k is not None:
                    self.big[key].set_data([x[at_k]], [y[at_k]])
                    shift = 0.35 if tokens else side * 0.035
                    self.texts[key].set_position((x[at_k] + shift, y[at_k]))
        return View(self._label(a, k, expected[k]), self._readout(a, k, expected[k]))

    def _label(self, a: float, k: int, tokens: float) -> str:
        points = "; ".join(
            f"draft {one.name} (measured a {number(one.a, 2)}): tokens {_listed(one.tokens)} and speed-ups "
            f"{_listed(one.speed)}, predicted {_listed(one.formula)}, for k = {', '.join(map(str, one.ks))}"
            for one in self.found
        )
        return (
            f"Left: curve of E[N] over k from 0 to {LONGEST} for a = {number(a)}, with a point at k = {k}, "
            f"E[N] = {number(tokens)}, and the measured tokens per verification of three drafts. Right: their measured "
            f"speed-ups over the predicted ones, with the diagonal. Measured on {self.where}: {points}."
        )

    def _readout(self, a: float, k: int, tokens: float) -> str:
        formula = f"Formula: a = {number(a)}, k = {k} gives E[N] = {number(tokens)}."
        if k == 0:
            return f"{formula} Without drafts this is plain decoding, one token a pass."
        shown = [(one, one.ks.index(k)) for one in self.found if k in one.ks]
        if not shown:
            known = ", ".join(map(str, self.found[0].ks))
            return f"{formula} Measured points exist for k = {known}."
        drafts = "; ".join(
            f"{one.name} {number(one.tokens[i], 2)} tokens, {number(one.speed[i], 2)}× (predicted "
            f"{number(one.formula[i], 2)}×)"
            for one, i in shown
        )
        return f"{formula} Measured on {self.where}: {drafts}."


def _listed(values: tuple[float, ...]) -> str:
    return ", ".join(number(value, 2) for value in values)


class Lesson(Explorer):
    """Measure it."""

    lesson, title = "lesson6", "Measure it"

    def __init__(self) -> None:
        super().__init__([MeasureIt()])
