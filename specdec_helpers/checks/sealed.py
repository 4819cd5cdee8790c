"""Sealed notes: feedback that only opens with the answer it belongs to.

The student package must be able to say "right" or "you counted the accepted drafts only" at once, without
holding an answer in clear. Every note is encrypted with a key made from the item's name and the answer it
comments on. Whoever has that answer can read it; a right one begins with "+", a known misconception with "-".
This is a curtain, not a safe: three choices can be tried in turn, which is what a student would do anyway.

This module uses the standard library only, so that the build can load it without the rest of the package.
"""

from __future__ import annotations

import base64
import hashlib
import math
import numbers
import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

SALT = "specdec-notes-1"


def canonical_number(value: Any, places: int) -> str | None:
    """`value` rounded to `places` decimals, as text ("3.3616"); None if it is not a finite number.

    A count (places 0) is not rounded: 3.4 tokens are not 3, and stay "3.4".

    Any real number will do (int, float, Fraction, Decimal, a NumPy number, a 0-d array); a bool, a text, a
    NaN or an infinity is no number here.
    """
    try:
        if isinstance(getattr(value, "shape", None), tuple) and value.shape == ():
            value = value.item()  # a NumPy scalar or 0-d array
        if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
            return None
        if isinstance(value, Fraction):
            exact = Decimal(value.numerator) / Decimal(value.denominator)
        elif isinstance(value, int | Decimal):
            exact = Decimal(value)
        else:
            if not math.isfinite(value):
                return None
            # 12 significant digits: 3.3616 and 1 + .8 + .64 + .512 + .4096 are the same answer
            exact = Decimal(f"{float(value):.12g}")
        if not exact.is_finite():
            return None
        rounded = exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    except (ArithmeticError, AttributeError, TypeError, ValueError):
        return None
    if places == 0 and exact != rounded:
        return f"{exact.normalize():f}"
    return "0" if rounded == 0 else f"{rounded:f}"


def canonical_choice(value: Any, options: Mapping[str, str] | Iterable[str]) -> str | None:
    """The letter a choice stands for: "b", " B ", "(b)", "B." or the option's own text; None if unclear."""
    if not isinstance(value, str):
        return None
    texts = options if isinstance(options, Mapping) else dict.fromkeys(options, "")
    match = re.fullmatch(r"\s*\(?\s*([A-Za-z])\s*[).:]?\s*", value)
    if match and match[1].upper() in texts:
        return match[1].upper()
    wanted = _folded(value)
    for letter, text in texts.items():
        if wanted and wanted in (_folded(text), _folded(f"{letter} {text}")):
            return letter
    return None


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _key(item: str, answer: str) -> bytes:
    return hashlib.sha256(f"{SALT}|{item}|{answer}".encode()).digest()


def _mask(data: bytes, key: bytes) -> bytes:
    stream = hashlib.shake_256(key).digest(len(data))
    return bytes(a ^ b for a, b in zip(data, stream, strict=True))


def seal(item: str, answer: str, text: str, right: bool) -> dict[str, str]:
    """Seal `text` so that only the canonical `answer` of `item` opens it."""
    key = _key(item, answer)
    data = (("+" if right else "-") + text).encode()
    tag = hashlib.sha256(key + b"tag").hexdigest()[:16]
    return {"tag": tag, "text": base64.b64encode(_mask(data, key)).decode()}


def unseal(item: str, answer: str, notes: Iterable[Mapping[str, str]]) -> tuple[bool, str] | None:
    """(right, text) of the note that `answer` opens, or None if none does."""
    key = _key(item, answer)
    tag = hashlib.sha256(key + b"tag").hexdigest()[:16]
    for note in notes:
        if note["tag"] == tag:
            text = _mask(base64.b64decode(note["text"]), key).decode()
            return text[0] == "+", text[1:]
    return None
