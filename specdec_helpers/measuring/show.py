"""What the verbs of lesson 6 show: a progress bar, tables, and a text coloured by where its tokens came from."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from types import TracebackType
from typing import Any

from specdec_helpers.lm.text import decode

INK = "var(--jp-ui-font-color1, currentColor)"
RULE = "var(--jp-border-color1, rgba(128, 128, 128, 0.5))"

# How a token is marked: by colour, by form, and in plain text, so that none of them is needed alone.
MARKS = {
    "accepted": ("", ("", "")),
    "recovered": ("background: rgba(248, 156, 32, 0.38); font-weight: 700", ("[", "]")),
    "bonus": ("background: rgba(87, 144, 252, 0.38); text-decoration: underline", ("{", "}")),
}


class Progress:
    """A bar that counts steps and goes away at the end. Where no notebook shows it, it is silent."""

    def __init__(self, what: str, steps: int) -> None:
        self.what, self.steps, self.done = what, steps, 0
        self.bar: Any = None

    def __enter__(self) -> Progress:
        with suppress(Exception):  # a missing front end must not stop a measurement
            import ipywidgets
            from IPython import get_ipython
            from IPython.display import display

            if get_ipython() is not None and hasattr(get_ipython(), "kernel"):
                bar = ipywidgets.IntProgress(
                    max=self.steps, description=self.what, style={"description_width": "initial"}
                )
                bar.layout.width = "min(100%, 32em)"
                bar.tooltip = f"{self.what}: 0 of {self.steps}"
                display(bar)
                self.bar = bar
        return self

    def step(self, what: str = "") -> None:
        """One step more; `what` replaces the words beside the bar."""
        self.done += 1
        if self.bar is not None:
            self.bar.value = self.done
            self.bar.description = what or self.what

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.close()


@dataclass(frozen=True)
class Table:
    """A caption, column heads, rows whose first cell is their head, and a sentence below."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: str = ""

    def text(self) -> str:
        """The table in plain text."""
        widths = [max(len(row[i]) for row in [self.head, *self.rows]) for i in range(len(self.head))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(pairs)
            )
            for pairs in (list(zip(row, widths, strict=True)) for row in [self.head, *self.rows])
        ]
        return "\n".join([self.caption, *lines, *([self.below] if self.below else [])])

    def html(self) -> str:
        """The table for the page; colours follow its theme."""
        look = f"padding: 1px 12px 1px 0; white-space: nowrap; color: {INK}; border-bottom: 1px solid {RULE}"
        first, cell = look.replace("nowrap", "normal") + "; text-align: left", f"{look}; text-align: right"
        head = "".join(
            f'<th scope="col" style="{first if i == 0 else cell}">{escape(text)}</th>'
            for i, text in enumerate(self.head)
        )
        body = "".join(
            f'<tr><th scope="row" style="{first}; font-weight: 400">{escape(row[0])}</th>'
            + "".join(f'<td style="{cell}">{escape(text)}</td>' for text in row[1:])
            + "</tr>"
            for row in self.rows
        )
        below = f'<p style="margin: 0.4em 0 0">{escape(self.below)}</p>' if self.below else ""
        return (
            f'<div class="specdec-measured" style="color: {INK}; max-width: 48em; overflow-x: auto">'
            '<table style="border-collapse: collapse; margin: 0; font-variant-numeric: tabular-nums">'
            f'<caption style="text-align: left; font-weight: 600; white-space: nowrap; color: {INK}">'
            f"{escape(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"
        )

    def show(self) -> None:
        """Display it below the cell."""
        show(self.html(), self.text())


def show(html: str, text: str) -> None:
    """Display HTML, with plain text for a reader without it."""
    from IPython.display import display

    display({"text/html": html, "text/plain": text}, raw=True)


def say(sentence: str) -> None:
    """Display one sentence."""
    show(f'<p style="color: {INK}; margin: 0.3em 0">{escape(sentence)}</p>', sentence)


def origins(tokens: Sequence[int], log: Sequence[int], k: int) -> list[tuple[str, str]]:
    """Pieces of a run's text with their origin: (text, "accepted" | "recovered" | "bonus"), in order.

    Each verification gives its accepted drafts and one token of the target: the replacement of a rejected draft
    (recovered), or, when all k were accepted, the bonus.
    """
    pieces, at = [], 0
    for accepted in log:
        for length, origin in ((accepted, "accepted"), (1, "bonus" if accepted == k else "recovered")):
            piece = decode(tokens[at : at + length])
            if piece:
                pieces.append((piece, origin))
            at += length
    return pieces


def coloured(prompt: str, pieces: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """A text as HTML and as plain text, with a legend and the counts in words."""
    counts = {origin: sum(len(text) for text, o in pieces if o == origin) for origin in MARKS}
    total = sum(counts.values())
    words = (
        ", ".join(f"{n} {origin} ({n / total:.0%})" for origin, n in counts.items()) if total else "no tokens"
    )
    marked = "".join(
        f'<span style="{style}">{escape(text)}</span>' if (style := MARKS[origin][0]) else escape(text)
        for text, origin in pieces
    )
    legend = (
        f'the prompt is faint, accepted drafts are plain, <span style="{MARKS["recovered"][0]}">recovered tokens '
        f'are bold on orange</span>, <span style="{MARKS["bonus"][0]}">bonus tokens are underlined on blue</span>'
    )
    html = (
        f'<div class="specdec-text" style="color: {INK}; max-width: 46em">'
        f'<div style="white-space: pre-wrap; overflow-wrap: anywhere; border-left: 4px solid {RULE}; '
        'padding: 0.3em 0.9em; font-family: var(--jp-content-font-family, serif); line-height: 1.55">'
        f'<span style="opacity: 0.65">{escape(prompt)}</span>{marked}</div>'
        f'<p style="margin: 0.4em 0 0">{total} tokens: {words}. Legend: {legend}.</p></div>'
    )
    plain = "".join(f"{MARKS[o][1][0]}{text}{MARKS[o][1][1]}" for text, o in pieces)
    return (
        html,
        f"{prompt}{plain}\n{total} tokens: {words}. Legend: [recovered], {{bonus}}, the rest accepted drafts.",
    )
