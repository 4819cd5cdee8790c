"""Cards: what a check shows. One card has a title, a status, and named lines that teach.

A card is shown through a sink. In a notebook the sink displays it; the judge sets its own sink and so
collects what a graded cell shows, with no notebook machinery in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from html import escape
from typing import Literal

Status = Literal["pass", "partial", "fail", "unstarted"]

_LOOK: dict[Status, tuple[str, str, str]] = {
    # status: symbol, word, colour (readable on white and on JupyterLab's dark background)
    "pass": ("✓", "passed", "#2e9e5b"),
    "partial": ("◐", "partly right", "#b7791f"),
    "fail": ("✗", "not yet", "#d1495b"),
    "unstarted": ("○", "not started", "#7a869a"),
}


@dataclass(frozen=True)
class Slip:
    """Why a check did not pass, in the words a student reads."""

    called: str
    got: str
    expected: str = ""
    cause: str = ""
    next_step: str = ""
    mistake: str = ""  # the id of a known misconception, for the class report

    def parts(self) -> list[tuple[str, str]]:
        """The labelled lines that have something to say, in reading order."""
        pairs = [
            ("called", self.called),
            ("got", self.got),
            ("expected", self.expected),
            ("likely", self.cause),
            ("next", self.next_step),
        ]
        return [(label, text) for label, text in pairs if text]


@dataclass(frozen=True)
class Line:
    """One named check on a card: passed when there is no slip."""

    name: str
    slip: Slip | None = None
    status: Status | None = None

    @property
    def look(self) -> Status:
        """The line's own status, or what its slip implies."""
        return self.status or ("pass" if self.slip is None else "fail")


@dataclass(frozen=True)
class Card:
    """A titled list of named checks, or a single sentence."""

    title: str
    status: Status
    summary: str = ""
    lines: tuple[Line, ...] = field(default=())

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Ids of the misconceptions that the card names."""
        return tuple(line.slip.mistake for line in self.lines if line.slip and line.slip.mistake)

    def text(self) -> str:
        """The card for a terminal, a screen reader, or a reader without HTML."""
        symbol, word, _ = _LOOK[self.status]
        rows = [f"{symbol} {self.title}: {self.summary or word}"]
        for line in self.lines:
            rows.append(f"  {_LOOK[line.look][0]} {line.name}")
            if line.slip:
                rows += [f"      {label:<8} {text}" for label, text in line.slip.parts()]
        return "\n".join(rows)

    def html(self) -> str:
        """The card as HTML. Every text is escaped; colours follow the notebook's theme."""
        symbol, word, colour = _LOOK[self.status]
        head = (
            f'<div><span style="color:{colour}" aria-hidden="true">{symbol}</span> '
            f"<strong>{escape(self.title)}</strong> — {escape(self.summary or word)}</div>"
        )
        body = "".join(_line_html(line) for line in self.lines)
        return (
            f'<div class="specdec-card" role="group" aria-label="{escape(self.title)}: {escape(self.summary or word)}" '
            f'style="border-left:4px solid {colour};padding:.35em .8em;margin:.3em 0;max-width:46em;'
            f'color:var(--jp-ui-font-color1,inherit)">{head}{body}</div>'
        )

    def bundle(self) -> dict[str, str]:
        """The card as a Jupyter mime bundle."""
        return {"text/html": self.html(), "text/plain": self.text()}


def _line_html(line: Line) -> str:
    symbol, word, colour = _LOOK[line.look]
    row = (
        f'<div style="margin:.25em 0 0 .2em"><span style="color:{colour}" aria-hidden="true">{symbol}</span>'
        f'<span style="position:absolute;left:-9999px">{word}: </span> {escape(line.name)}</div>'
    )
    if line.slip is None:
        return row
    cells = "".join(
        f'<div style="opacity:.75">{label}</div>'
        f'<div style="white-space:pre-wrap;overflow-wrap:anywhere;'
        f'{"font-family:var(--jp-code-font-family,monospace)" if label in ("called", "got", "expected") else ""}">'
        f"{escape(text)}</div>"
        for label, text in line.slip.parts()
    )
    return (
        row + '<div style="display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.1em .8em;'
        f'margin:.15em 0 .3em 1.4em;font-size:.93em">{cells}</div>'
    )


def _display(card: Card) -> None:
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        print(card.text())
        return
    if get_ipython() is None:
        print(card.text())
    else:
        display(card.bundle(), raw=True)


_sink: ContextVar[Callable[[Card], None]] = ContextVar("specdec_card_sink", default=_display)


def show(card: Card) -> None:
    """Show a card through the sink in force: a notebook's display, or the judge's collector."""
    _sink.get()(card)


def in_notebook() -> bool:
    """Whether cards go to a reader's own display (and not to the judge)."""
    return _sink.get() is _display


@contextmanager
def collecting(sink: Callable[[Card], None]) -> Iterator[None]:
    """Send every card shown inside the block to `sink`."""
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


class NotYet:
    """The value of a check cell that has not passed.

    nbgrader reads a cell's last text as its partial credit, so its Validate button counts the cell as not
    passed; a person sees one short line instead of a number.
    """

    def __init__(self, line: str) -> None:
        self.line = line

    def __repr__(self) -> str:
        return "0.0"

    def _repr_html_(self) -> str:
        return f'<span style="opacity:.75">{escape(self.line)}</span>'
