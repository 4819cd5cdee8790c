"""Numbers, lists and tables as a reader sees them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

INK = "var(--jp-ui-font-color1, currentColor)"  # text: follows JupyterLab's theme, and the page's elsewhere
RULE = "var(--jp-border-color1, rgba(128, 128, 128, 0.5))"


def number(x: float, places: int = 4) -> str:
    """Write x with at most `places` decimals and no trailing zeros: 0.8, 3.3616, 5."""
    text = f"{x:.{places}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def small(p: float, places: int = 4) -> str:
    """Write a probability; one too small for `places` decimals is not written as 0."""
    least = 10.0**-places
    return f"< {number(least, places)}" if 0 < p < least / 2 else number(p, places)


def counted(n: int, one: str, many: str | None = None) -> str:
    """Write "1 token", "3 tokens"."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def listed(values: Iterable[object]) -> str:
    """Write "[7, 3, 8]"."""
    return "[" + ", ".join(str(v) for v in values) + "]"


def cells(tag: str, values: Iterable[str], scope: str = "") -> str:
    """Return table cells."""
    mark = f' scope="{scope}"' if scope else ""
    style = f"padding: 1px 10px; text-align: center; border-bottom: 1px solid {RULE}; color: {INK}"
    return "".join(f'<{tag}{mark} style="{style}">{escape(v)}</{tag}>' for v in values)


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return an accessible HTML table: a caption, column heads, the first cell of a row as its head."""
    body = "".join(
        "<tr>" + cells("th", [row[0]], scope="row") + cells("td", row[1:]) + "</tr>" for row in rows
    )
    return (
        '<table style="border-collapse: collapse; margin: 0; font-size: 13px; line-height: 18px; '
        f'color: {INK}">'
        f'<caption style="text-align: left; color: {INK}">{escape(caption)}</caption>'
        f"<thead><tr>{cells('th', head, scope='col')}</tr></thead><tbody>{body}</tbody></table>"
    )


def named(names: Iterable[str], values: Iterable[float]) -> str:
    """Write "A 0.5, B 0.3, C 0.2"."""
    return ", ".join(f"{name} {number(value)}" for name, value in zip(names, values, strict=True))
