"""Make what a student's code displayed harmless, before an instructor or anybody else opens it in a browser.

nbgrader's formgrader and nbconvert put text/html, image/svg+xml and markdown into the page as they are. An
output is rebuilt from the parts that are known, HTML goes through bleach's allow-list, an SVG becomes an image
(scripts in an image do not run), scripts and widget state are left out.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

TEXT_TYPES = ("text/plain", "text/latex")
IMAGE_TYPES = ("image/png", "image/jpeg")
TOO_MUCH = "(this output has too much in one place to be shown)"
LEFT_OUT = "(this output is shown by a script, which grading leaves out)"
MAX_HTML = 100_000  # characters of one cell; more is shown as its plain text
# Elements within each other, attributes of one: the parser's time grows with their number times these.
MAX_DEPTH, MAX_ATTRIBUTES = 60, 200

_TAGS = """
    a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2
    h3 h4 h5 h6 hr i img ins kbd li ol p pre q s samp small span strong sub summary sup table tbody td
    tfoot th thead tr u ul var
"""
TAGS = frozenset(_TAGS.split())
ATTRIBUTES: dict[str, list[str]] = {
    "*": ["class", "style", "title", "role", "aria-label", "aria-hidden", "align", "dir", "lang"],
    "a": ["href"],
    "img": ["src", "alt", "width", "height"],
    "td": ["colspan", "rowspan"],
    "th": ["colspan", "rowspan", "scope"],
    "ol": ["start", "type"],
    "details": ["open"],
}
_STYLES = """
    background-color border border-bottom border-collapse border-color border-left border-right
    border-top color display font-family font-size font-style font-weight gap grid-template-columns
    height line-height margin margin-bottom margin-left margin-right margin-top max-width opacity
    overflow-wrap padding padding-bottom padding-left padding-right padding-top text-align
    text-decoration vertical-align white-space width
"""
STYLES = frozenset(_STYLES.split())
_DATA_IMAGE = re.compile(r"data:image/(png|jpeg|gif|svg\+xml);base64,[A-Za-z0-9+/=\s]*\Z")


def _allow(tag: str, name: str, value: str) -> bool:
    if tag == "img" and name == "src":  # nothing is fetched: a remote image tells its owner who looks
        return bool(_DATA_IMAGE.match(value))
    return name in ATTRIBUTES["*"] or name in ATTRIBUTES.get(tag, ())


_cleaner: Any = None


class _TooMuch(ValueError):
    """HTML over MAX_DEPTH or MAX_ATTRIBUTES."""


def _bounded(step: Any, most: int, count: Any) -> Any:
    """A step of the parser that gives up where there is too much already."""

    def bounded(*arguments: Any) -> Any:
        if count(*arguments) > most:
            raise _TooMuch
        return step(*arguments)

    return bounded


def clean_html(html: str) -> str:
    """HTML with known tags, attributes and style properties only; links to http(s), mailto and anchors only."""
    global _cleaner
    if "<" not in html and "&" not in html:
        return html
    if _cleaner is None:
        import bleach
        from bleach.css_sanitizer import CSSSanitizer
        from bleach.html5lib_shim import BleachHTMLTokenizer

        _cleaner = bleach.Cleaner(
            tags=TAGS,
            attributes=_allow,
            protocols=frozenset({"http", "https", "mailto", "data"}),
            css_sanitizer=CSSSanitizer(allowed_css_properties=STYLES),
            strip=True,
        )
        tree, tokens = _cleaner.parser.tree, BleachHTMLTokenizer
        tree.insertElementNormal = _bounded(
            tree.insertElementNormal, MAX_DEPTH, lambda _: len(tree.openElements)
        )
        tokens.attributeNameState = _bounded(
            tokens.attributeNameState, MAX_ATTRIBUTES, lambda token: len(token.currentToken["data"])
        )
    html = re.sub(
        r"(?is)<(script|style|title|template|iframe|noscript|svg|math|object)\b.*?(</\1\s*>|\Z)", "", html
    )
    try:
        cleaned: str = _cleaner.clean(html)
    except _TooMuch:
        return TOO_MUCH
    return re.sub(r'(?i)(<a [^>]*?href=")data:[^"]*', r"\1#", cleaned)


def clean_markdown(source: str) -> str:
    """Markdown of a student in which no HTML is left to run: tags are kept only if they are known and harmless."""
    if "<" not in source and ":" not in source:
        return source
    source = re.sub(r"(?i)\b(javascript|vbscript|data)\s*:", r"\1&#58;", source)
    if "<" not in source:
        return source
    kept = []
    for i, part in enumerate(re.split(r"(<[^<>]*>?)", source)):
        kept.append(_markdown_tag(part) if i % 2 else part)
    return "".join(kept)


def _markdown_tag(part: str) -> str:
    found = re.fullmatch(r"</?\s*([a-z][a-z0-9]*)\s*/?>", part)
    if found and found.group(1) in TAGS:
        return part
    return "&lt;" + part[1:]


def clean_outputs(outputs: Sequence[Any]) -> list[dict[str, Any]]:
    """The outputs of a student's cell, rebuilt from known parts; anything else is left out."""
    cleaned, room = [], MAX_HTML
    for output in outputs:
        if isinstance(output, dict) and (good := _output(output, room)) is not None:
            cleaned.append(good)
            room -= len(good.get("data", {}).get("text/html", ""))
    return cleaned


def _output(output: dict[str, Any], room: int) -> dict[str, Any] | None:
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return {"name": name, "output_type": "stream", "text": text_of(output.get("text"))}
    if kind == "error":
        frames = output.get("traceback")
        return {
            "ename": text_of(output.get("ename"))[:200],
            "evalue": text_of(output.get("evalue"))[:20_000],
            "output_type": "error",
            "traceback": [text_of(frame) for frame in frames[:200]] if isinstance(frames, list) else [],
        }
    if kind in ("display_data", "execute_result"):
        data = _bundle(output.get("data"), room)
        if not data:
            return None
        shown: dict[str, Any] = {"data": data, "metadata": {}, "output_type": kind}
        if kind == "execute_result":
            count = output.get("execution_count")
            shown["execution_count"] = count if type(count) is int else None
        return shown
    return None


def _bundle(data: Any, room: int) -> dict[str, Any]:
    if not isinstance(data, dict):
        return {}
    kept: dict[str, Any] = {kind: text_of(data[kind]) for kind in TEXT_TYPES if kind in data}
    for kind in IMAGE_TYPES:
        if kind in data and (image := _base64(data[kind])):
            kept[kind] = image
    if "image/svg+xml" in data and not any(kind in kept for kind in IMAGE_TYPES):
        svg = base64.b64encode(text_of(data["image/svg+xml"]).encode()).decode()
        kept["text/html"] = f'<img alt="figure" src="data:image/svg+xml;base64,{svg}">'
    elif "text/html" in data and len(html := text_of(data["text/html"])) <= room:
        kept["text/html"] = clean_html(html)
    if "text/markdown" in data and "text/html" not in kept:
        kept["text/markdown"] = clean_markdown(text_of(data["text/markdown"]))
    if not kept and data:
        kept["text/plain"] = LEFT_OUT
    return kept


def _base64(value: Any) -> str:
    text = "".join(text_of(value).split())
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ""
    return text


def text_of(value: Any) -> str:
    """Text of a str or a list of str; anything else is empty. Always encodable as UTF-8."""
    if isinstance(value, list):
        value = "".join(part for part in value if isinstance(part, str))
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
