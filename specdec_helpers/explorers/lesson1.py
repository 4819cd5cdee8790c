"""Lesson 1: a drafted block meets the target's picks, token by token; then 200 simulated rounds."""

from __future__ import annotations

from html import escape

import ipywidgets as w
import numpy as np

from specdec_helpers.explorers.base import Explorer, Panel, Values, View
from specdec_helpers.explorers.charts import GrowthOverA, roof
from specdec_helpers.explorers.controls import Row
from specdec_helpers.explorers.mathematics.lesson1 import LONGEST, ROUNDS, SEED, histogram, rounds, verify
from specdec_helpers.explorers.picture import BLUE, ORANGE, Picture, title
from specdec_helpers.explorers.picture import INK as INK_MARK
from specdec_helpers.explorers.quantities import drafted, rate
from specdec_helpers.explorers.words import INK, counted, listed, number

DRAFT = (7, 3, 5, 9)
PICKS = (7, 3, 8, 1, 2)
AT_MISMATCH = (
    "at the first disagreement the target's own token replaces the draft's, "
    "and the rest of the draft is thrown away"
)
ALL_AGREE = (
    "the whole draft was accepted, so the same pass also yields the target's token for the next position"
)


class Strip(Panel):
    """The draft's four tokens above the target's five editable picks, and what the round emits."""

    heading = "One verification"
    note = (
        "Nothing from the draft is output before the target has checked it. "
        "Every verification yields at least one token."
    )
    readout_room = 186

    def __init__(self) -> None:
        labels = [f"target at position {i}" for i in range(1, 5)] + ["target at position 5 (bonus)"]
        self.picks = Row(
            "picks",
            labels,
            "the target's pick",
            0,
            99,
            1,
            PICKS,
            "The token that the target itself would pick here",
            whole=True,
        )
        self.controls = [self.picks]
        self.presets = {
            "7 3 8 1 2": {"picks": PICKS},
            "all four agree": {"picks": (*DRAFT, 2)},
            "none agrees": {"picks": (4, 3, 5, 9, 2)},
        }
        self.strip_html = w.HTML(layout=w.Layout(width="auto", min_width="0"))
        self.assemble()

    def arrange(self) -> list[w.Widget]:
        """Put the draft above the picks, as it comes first."""
        heading, boxes, buttons, _, readout, note = super().arrange()
        drafted_text = " ".join(map(str, DRAFT))
        intro = w.HTML(
            f'<p style="margin: 0; line-height: 1.4; color: {INK}">draft proposes (cheap, not trusted): '
            f'<b style="white-space: nowrap">{drafted_text}</b><br>the big model, in <b>one</b> pass, would '
            "itself pick "
            "(change them to see the effect):</p>"
        )
        return [heading, intro, boxes, buttons, self.strip_html, readout, note]

    def draw(self, at: Values) -> View:
        """Colour the tokens and say what happened to each."""
        picks: tuple[int, ...] = at["picks"]
        accepted, emitted = verify(DRAFT, picks)
        fates = ["accepted"] * accepted
        if accepted < len(DRAFT):
            fates += [f"replaced by {picks[accepted]}"] + ["discarded"] * (len(DRAFT) - accepted - 1)
            fates += ["not reached"]
        else:
            fates += ["bonus"]
        words = [f"{d} {fate}" for d, fate in zip(DRAFT, fates, strict=False)]
        label = f"Draft {listed(DRAFT)}: {', '.join(words)}; position 5 (bonus) " + (
            f"gives {picks[4]}." if fates[4] == "bonus" else "is not reached."
        )
        self.strip_html.value = _strip(DRAFT, picks, fates, label)
        readout = (
            f"accepted draft tokens: {accepted} · emitted this round: {listed(emitted)} = "
            f"{counted(len(emitted), 'token')} · {AT_MISMATCH if accepted < len(DRAFT) else ALL_AGREE}"
        )
        return View(label, readout)

    def still(self) -> str:
        """The strip is HTML already."""
        return str(self.strip_html.value)


def _strip(draft: tuple[int, ...], picks: tuple[int, ...], fates: list[str], label: str) -> str:
    """Return the tokens as a row of tiles, which wraps where it is narrow; colour is never the only sign."""
    tiles = []
    for i, fate in enumerate(fates):
        kept, new = fate == "accepted", fate.startswith("replaced") or fate == "bonus"
        sign = "✓" if kept else "↻" if fate.startswith("replaced") else "+" if new else "✗"
        word = fate.split(" by ")[0]
        colour = BLUE if kept else ORANGE if new else "currentColor"
        line = "solid" if kept or new else "dashed"
        struck = "" if kept or i >= len(draft) else "text-decoration: line-through"
        proposed = f'draft <b style="{struck}">{draft[i]}</b>' if i < len(draft) else "no draft"
        out = f"<b>{picks[i]}</b>" if kept or new else "nothing"
        tiles.append(
            f'<div style="flex: 1 1 84px; max-width: 118px; text-align: center; color: {INK}; '
            f'border: 2px {line} {colour}; border-radius: 6px; padding: 3px 0; line-height: 21px; font-size: 13px">'
            f"{proposed}<br>target {picks[i]}<br>{sign} {escape(word)}<br>emits {out}</div>"
        )
    return (
        f'<div role="img" aria-label="{escape(label, quote=True)}" class="specdec-picture" '
        f'style="display: flex; flex-wrap: wrap; gap: 6px; margin: 4px 0; min-height: 96px">{"".join(tiles)}</div>'
    )


class Rounds(Panel):
    """200 simulated rounds: how many tokens each yields, beside E[N] over a."""

    heading = "200 rounds with a draft that agrees with probability a"

    def __init__(self) -> None:
        self.controls = [rate(), drafted()]
        self.seed = SEED
        self.picture = Picture()
        left, right = self.picture.axes
        title(left, f"{ROUNDS} simulated rounds")
        left.set(xlabel="tokens from one round", ylim=(0, 225), xlim=(0.4, 5.6))
        left.set_yticks([0, 50, 100, 150, 200])
        places = np.arange(1, LONGEST + 2)
        bars = left.bar(places, places, color=ORANGE, edgecolor=INK_MARK, linewidth=0.8, width=0.7)
        self.bars = [Picture.move(bar) for bar in bars]
        self.counts = [
            Picture.move(left.text(float(x), 0, "", ha="center", va="bottom", color=INK_MARK, fontsize=11))
            for x in places
        ]
        (mean,) = left.plot([1, 1], [0, 195], color=INK_MARK, linewidth=2, linestyle="--")
        self.mean = Picture.move(mean)
        self.mean_text = Picture.move(left.text(1, 197, "", color=INK_MARK, fontsize=12, va="bottom"))
        self.growth = GrowthOverA(right)
        self.again = w.Button(
            description="200 new rounds",
            tooltip="Simulate 200 other rounds with the same a and k",
            layout=w.Layout(width="auto"),
        )
        self.again.on_click(lambda _: self.simulate_again())
        self.assemble()

    def arrange(self) -> list[w.Widget]:
        """Put the button for new rounds beside Reset."""
        parts = super().arrange()
        row = next(part for part in parts if isinstance(part, w.HBox) and self.reset_button in part.children)
        row.children = (self.again, *row.children)
        return parts

    def simulate_again(self) -> None:
        """Draw another 200 rounds."""
        self.seed += 1
        self.refresh()

    def reset(self) -> None:
        """Go back to the starting values and the first 200 rounds."""
        changed, self.seed = self.seed != SEED, SEED
        before = self.draws
        super().reset()
        if changed and self.draws == before:
            self.refresh()

    def draw(self, at: Values) -> View:
        """Set the bars, the dashed mean and the point."""
        a, k = at["a"], at["k"]
        emitted = rounds(a, k, self.seed)
        counts, mean = histogram(emitted), sum(emitted) / len(emitted)
        left = self.picture.axes[0]  # type: ignore[union-attr]
        widest = roof(k + 1, (5, 9, 13))
        left.set_xlim(0.4, widest + 0.6)
        left.set_xticks(range(1, int(widest) + 1))
        for x, (bar, text, n) in enumerate(zip(self.bars, self.counts, counts, strict=True), start=1):
            shown = x <= k + 1
            bar.set_visible(shown and n > 0)
            bar.set_height(n)
            text.set_visible(shown)
            text.set_text(str(n))
            text.set_y(n + 2)
        self.mean.set_xdata([mean, mean])
        late = mean > widest * 0.6
        self.mean_text.set_text(f"mean {number(mean, 3)}")
        self.mean_text.set_position((mean - 0.08 * widest if late else mean + 0.08 * widest, 197))
        self.mean_text.set_horizontalalignment("right" if late else "left")
        tokens = self.growth.update(a, k)
        told = ", ".join(f"{n} gave {x}" for x, n in enumerate(counts[: k + 1], start=1))
        label = (
            f"Left: bar chart of the tokens from each of {ROUNDS} simulated rounds: {told}. "
            f"Dashed line: mean {number(mean, 3)}. Right: {self.growth.words(a, k)}"
        )
        readout = (
            f"a = {number(a)}, k = {k}: {ROUNDS} rounds gave {number(mean, 3)} tokens on average; "
            f"expected E[N] = {number(tokens)}."
        )
        return View(label, readout)


class Lesson(Explorer):
    """Draft and verify."""

    lesson, title = "lesson1", "Draft and verify"

    def __init__(self) -> None:
        super().__init__([Strip(), Rounds()])
