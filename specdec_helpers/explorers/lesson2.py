"""Lesson 2: p and q as bars, one proposed token and its uniform; then a draft whose overlap is exactly a."""

from __future__ import annotations

import numpy as np

from specdec_helpers.explorers.base import Explorer, Panel, Values, View
from specdec_helpers.explorers.charts import GrowthOverA, Overlap
from specdec_helpers.explorers.controls import Choice, Number
from specdec_helpers.explorers.mathematics.lesson2 import TARGET, acceptance, draft_with_overlap, overlap
from specdec_helpers.explorers.picture import BLUE, INK, RED, Picture, title
from specdec_helpers.explorers.quantities import Distribution, drafted, rate
from specdec_helpers.explorers.words import named, number

TOKENS = "ABC"
P, Q = (0.5, 0.3, 0.2), (0.2, 0.5, 0.3)


class Rule(Panel):
    """Editable p and q, a proposed token and u: is the token kept?"""

    heading = "Keep the proposed token?"
    readout_room = 234

    def __init__(self) -> None:
        self.p = Distribution("p", TOKENS, P, "target")
        self.q = Distribution("q", TOKENS, Q, "draft")
        token = Choice("token", "proposed token", tuple(TOKENS), "The token x that the draft sampled from q")
        token.start = "B"
        token.list.value = "B"
        u = Number(
            "u",
            "uniform u",
            0,
            0.99,
            0.01,
            0.45,
            "The random number in [0, 1) that decides: the token is kept if u is below the accept probability",
        )
        self.controls = [self.p, self.q, token, u]
        self.presets = {
            "worked example": {"p": P, "q": Q, "token": "B", "u": 0.45},
            "p = q": {"p": P, "q": P},
            "no overlap": {"p": (1, 0, 0), "q": (0, 0.5, 0.5)},
        }
        self.picture = Picture(widths=(370, 330), height=230)
        left, right = self.picture.axes
        self.bars = Overlap(left, TOKENS, "p left, q right; shaded: min(p, q)")

        title(right, "accept if u is left of the edge")
        right.set(xlim=(0, 1), ylim=(0, 1), xlabel="u")
        right.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "0.2", "0.4", "0.6", "0.8", "1"])
        right.set_yticks([])
        right.spines["left"].set_visible(False)
        (keep,) = right.barh([0.45], [1], height=0.34, color=BLUE, edgecolor=INK, linewidth=0.8)
        (drop,) = right.barh(
            [0.45], [1], height=0.34, facecolor="none", edgecolor=INK, linewidth=0.8, linestyle="--"
        )
        (mark,) = right.plot([0], [0.45], "D", color=RED, markersize=10, markeredgecolor=INK, clip_on=False)
        self.keep, self.drop, self.mark = Picture.move(keep), Picture.move(drop), Picture.move(mark)
        self.keep_text, self.drop_text, self.mark_text = (
            Picture.move(right.text(0, y, "", color=INK, fontsize=12, va=va, ha=ha))
            for y, va, ha in ((0.68, "bottom", "left"), (0.68, "bottom", "right"), (0.22, "top", "center"))
        )
        self.assemble()

    def draw(self, at: Values) -> View:
        """Move the bars, the edge and u."""
        p, q, u = self.p.shares(), self.q.shares(), at["u"]
        x = TOKENS.index(at["token"])
        a = overlap(p, q)
        self.bars.update(p, q)
        told = f"Left: bars of p ({named(TOKENS, p)}) and q ({named(TOKENS, q)}); shaded overlap {number(a)}."
        said = f"Overlap Σ min(p, q) = {number(a)}."
        remarks = "".join(f" {r.remark()}" for r in (self.p, self.q) if r.remark())
        proposed = bool(q[x] > 0)
        for artist in (self.keep, self.drop, self.mark, self.mark_text):
            artist.set_visible(proposed)
        if not proposed:
            self.keep_text.set_text(f"q({at['token']}) = 0: never proposed")
            self.keep_text.set_x(0.0)
            self.drop_text.set_text("")
            refusal = f"The draft never proposes {at['token']}: q({at['token']}) = 0. Choose another token. "
            return View(f"{told} Right: empty, as {at['token']} is never proposed.", refusal + said + remarks)
        edge = acceptance(float(p[x]), float(q[x]))
        kept = u < edge
        self.keep.set_width(edge)
        self.drop.set_x(edge)
        self.drop.set_width(1 - edge)
        self.mark.set_xdata([u])
        self.mark_text.set_text(f"u = {number(u)}: {'accepted' if kept else 'rejected'}")
        self.mark_text.set_x(float(np.clip(u, 0.22, 0.78)))
        self.keep_text.set_text(f"accept {number(edge)}" if edge > 0 else "")
        self.drop_text.set_text(f"reject {number(1 - edge)}" if edge < 1 else "")
        self.drop_text.set_x(1.0)
        name = at["token"]
        label = (
            f"{told} Right: a bar from 0 to 1, accepted up to {number(edge)}, with a mark at u = {number(u)} "
            f"in the {'accepted' if kept else 'rejected'} part."
        )
        readout = (
            f"{name} proposed: min(1, p/q) = min(1, {number(p[x])}/{number(q[x])}), so its accept probability is "
            f"{number(edge)}; u = {number(u)} is {'below it: accepted' if kept else 'not below it: rejected'}. "
        )
        return View(label, readout + said + remarks)


class OverlapIsA(Panel):
    """A draft that agrees with the target on a share a: the shaded area is a."""

    heading = "A draft with overlap a, at every position"
    readout_room = 72

    def __init__(self) -> None:
        self.controls = [rate(), drafted()]
        self.picture = Picture(widths=(370, 330), height=250)
        left, right = self.picture.axes
        self.bars = Overlap(left, "ABCDE", "p left, q_a right; shaded area = a")
        self.growth = GrowthOverA(right)
        self.assemble()

    def draw(self, at: Values) -> View:
        """Move the bars and the point."""
        a, k = at["a"], at["k"]
        q = draft_with_overlap(a)
        self.bars.update(TARGET, q)
        tokens = self.growth.update(a, k)
        label = (
            f"Left: bars of p ({named('ABCDE', TARGET)}) and of q_a ({named('ABCDE', q)}); the shaded area "
            f"min(p, q_a) is {number(a)}. Right: {self.growth.words(a, k)}"
        )
        readout = f"Σ min(p, q_a) = a = {number(a)}; with k = {k} drafted tokens E[N] = {number(tokens)}."
        return View(label, readout)


class Lesson(Explorer):
    """Accept or reject."""

    lesson, title = "lesson2", "Accept or reject"

    def __init__(self) -> None:
        super().__init__([Rule(), OverlapIsA()])
