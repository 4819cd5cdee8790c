"""What the pages for people share: a frame without scripts, readable in light and dark, on paper and on a phone."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import Any

from .clean import clean_html, text_of

# No script, no frame, nothing fetched: even what slips through the cleaning cannot run or call home.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

STYLE = """
:root { color-scheme: light dark; --bg: #fff; --fg: #1d2430; --soft: #5b6675; --line: #d8dde4; --panel: #f6f7f9;
  --good: #1f7a46; --part: #8a5a0b; --bad: #b3263f; --accent: #2457a6; }
@media (prefers-color-scheme: dark) { :root { --bg: #15191f; --fg: #e4e8ee; --soft: #9aa6b5; --line: #333b47;
  --panel: #1d232b; --good: #58c98a; --part: #e0ac4f; --bad: #f0808f; --accent: #8fb8f5; } }
* { box-sizing: border-box; }
body { background: var(--bg); color: var(--fg); font: 16px/1.55 system-ui, sans-serif; margin: 0 auto;
  max-width: 52rem; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; } p { margin: .5rem 0; } a { color: var(--accent); }
.soft { color: var(--soft); } .number { text-align: right; font-variant-numeric: tabular-nums; }
.score { font-size: 2.2rem; font-weight: 650; line-height: 1.1; margin: .8rem 0; }
.full { color: var(--good); } .part { color: var(--part); } .none { color: var(--bad); }
table { border-collapse: collapse; width: 100%; } th { font-weight: 600; text-align: left; }
th.number { text-align: right; } td.number, td > .full, td > .part, td > .none { white-space: nowrap; }
td > .long { white-space: normal; }
td, th { border-bottom: 1px solid var(--line); padding: .35rem .8rem .35rem 0; vertical-align: top; }
th { vertical-align: bottom; } td:last-child, th:last-child { padding-right: 0; }
.wide { overflow-x: auto; } .note { background: var(--panel); border-left: 4px solid var(--part);
  border-radius: 4px; margin: 1rem 0; padding: .5rem .9rem; } .note.loud { border-color: var(--bad); }
section.exercise { border: 1px solid var(--line); border-radius: 8px; margin: 1rem 0; padding: .4rem 1rem 1rem; }
section.exercise > h3:first-child { margin-top: .4rem; }
pre, code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .86rem; }
pre { background: var(--panel); border-radius: 6px; margin: .5rem 0; overflow-x: auto; padding: .6rem .8rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre.error { border-left: 4px solid var(--bad); } img { background: #fff; height: auto; max-width: 100%; }
details > summary { color: var(--soft); cursor: pointer; font-size: .92rem; } ul { padding-left: 1.2rem; }
.output { margin: .5rem 0; }
.comment { border-left: 4px solid var(--accent); padding-left: .8rem; white-space: pre-wrap; }
@media print { body { max-width: none; } section.exercise { break-inside: avoid; } }
"""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def page(title: str, body: str, style: str = "") -> str:
    """A whole HTML page around `body`, which is HTML already; `title` is plain text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def number(value: float) -> str:
    """A score: 2, 2.5, 2.25."""
    return f"{round(value, 2):g}"


def exercise(grade_id: str) -> str:
    """An exercise's name as HTML; where it is narrow, it wraps after an underscore."""
    return f"<code>{escape(grade_id.removeprefix('test_')).replace('_', '_<wbr>')}</code>"


def plain(text: str) -> str:
    """Text for a page: colours of terminals and control characters gone, the rest escaped."""
    return escape(_CONTROL.sub("", _ANSI.sub("", text)))


@cache
def code_style() -> str:
    """Colours of highlighted code, for light and dark."""
    from pygments.formatters import HtmlFormatter

    light = HtmlFormatter(style="default").get_style_defs("pre.code")
    dark = HtmlFormatter(style="github-dark").get_style_defs("pre.code")
    keep = re.compile(r"^(?:pre\.code\s*\{.*|.*\.hll.*|td\.linenos.*|span\.linenos.*|pre\s*\{.*)$", re.M)
    return f"{keep.sub('', light)}\n@media (prefers-color-scheme: dark) {{ {keep.sub('', dark)} }}"


def code(source: str) -> str:
    """Python source as highlighted HTML."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    inner = highlight(_CONTROL.sub("", source), PythonLexer(), HtmlFormatter(nowrap=True))
    return f'<pre class="code">{inner.rstrip()}</pre>'


def outputs(cell: dict[str, Any], trusted: bool, which: str) -> str:
    """A cell's outputs as HTML. `trusted` ones are ours; of any other, HTML is cleaned (again)."""
    parts, figures = [], 0
    for output in cell.get("outputs", []):
        kind = output.get("output_type")
        if kind == "stream":
            parts.append(f"<pre>{plain(text_of(output.get('text')))}</pre>")
        elif kind == "error":
            lines = output.get("traceback") or [f"{output.get('ename')}: {output.get('evalue')}"]
            parts.append(f'<pre class="error">{plain(chr(10).join(map(text_of, lines)))}</pre>')
        elif kind in ("display_data", "execute_result"):
            data = output.get("data", {})
            figure = next((k for k in ("image/png", "image/jpeg") if k in data), "")
            if figure:
                figures += 1
                source = re.sub(r"[^A-Za-z0-9+/=]", "", text_of(data[figure]))
                parts.append(
                    f'<img alt="Figure {figures} of {escape(which)}" src="data:{figure};base64,{source}">'
                )
            elif "text/html" in data:
                html = text_of(data["text/html"])
                parts.append(f'<div class="output wide">{html if trusted else clean_html(html)}</div>')
            elif not (
                trusted and kind == "execute_result"
            ):  # the bare number under a test is the score above it
                text = next(
                    (text_of(data[k]) for k in ("text/plain", "text/markdown", "text/latex") if k in data), ""
                )
                parts.append(f"<pre>{plain(text)}</pre>")
    return "".join(parts)
