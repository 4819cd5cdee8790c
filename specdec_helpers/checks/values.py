"""Plain values: what a student's function may return, and when two of them are the same.

A right answer may come as a list, a tuple, an array, a NumPy scalar or a fraction. `plain` brings all of
these to a few built-in types; `same` compares two plain values; `describe` says in words what came back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

MAX_ITEMS = 1_000_000
MAX_DEPTH = 20


class UnsupportedValue(TypeError):
    """A value that is neither a number, a text, nor a sequence or dictionary of them."""


def plain(value: Any, depth: int = 0) -> Any:
    """Bring `value` to None, bool, int, float, str, list, tuple, dict, ndarray or a NumPy scalar.

    Fractions and decimals become floats, subclasses their base type, other sequences (range, deque,
    generator, …) lists. Raises UnsupportedValue for anything else, and for nesting deeper than 20.
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if depth > MAX_DEPTH:
        raise UnsupportedValue(f"nested deeper than {MAX_DEPTH} levels; return a flat list")
    if isinstance(value, np.generic | np.ndarray):
        if value.dtype.kind not in "biuf":
            return plain(value.tolist(), depth + 1)
        return value if isinstance(value, np.generic) else np.array(value, dtype=value.dtype)
    if isinstance(value, Fraction | Decimal):
        return float(value)
    for base in (int, float, str):
        if isinstance(value, base):
            return base(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(item, depth + 1) for item in value)
    if isinstance(value, Iterable) and not isinstance(value, bytes | set | frozenset | type):
        items: list[Any] = []
        for item in value:
            if len(items) >= MAX_ITEMS:
                raise UnsupportedValue(f"more than {MAX_ITEMS} items; return a finite, shorter list")
            items.append(plain(item, depth + 1))
        return items
    raise UnsupportedValue(f"a {type(value).__name__}; return a number, a list, a tuple, a dict or an array")


def is_number(value: Any) -> bool:
    """True for an int, a float, a NumPy number or a 0-d array of one; never for a bool or a NaN."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and is_number(value[()])
    if isinstance(value, bool | np.bool_):
        return False
    if isinstance(value, int | np.integer):
        return True  # asked first: math.isnan fails on an integer beyond the range of floats
    return isinstance(value, float | np.floating) and not math.isnan(value)


def has_nan(value: Any) -> bool:
    """Whether a plain value is a NaN, or a sequence with one somewhere in it."""
    if is_sequence(value):
        return any(map(has_nan, value))
    return isinstance(value, float | np.floating) and math.isnan(value)


def is_sequence(value: Any) -> bool:
    """True for a list, a tuple, or an array with at least one axis."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def same(got: Any, expected: Any, rtol: float = 1e-7, atol: float = 1e-8) -> bool:
    """Whether a plain value equals the expected one: any sequence type, any number type, NaN never.

    Whole numbers are compared exactly (7.0 is 7, True is not 1); floats within
    ``atol + rtol * |expected|``.
    """
    if isinstance(expected, np.ndarray) and expected.ndim == 0:
        expected = expected[()]
    if isinstance(expected, bool | np.bool_):
        return isinstance(got, bool | np.bool_) and bool(got) == bool(expected)
    if isinstance(expected, int | np.integer):
        return is_number(got) and _as_number(got) == int(expected)
    if isinstance(expected, float | np.floating):
        return is_number(got) and _close(_as_number(got), float(expected), rtol, atol)
    if is_sequence(expected):
        if isinstance(expected, np.ndarray) and isinstance(got, np.ndarray):
            return _same_arrays(got, expected, rtol, atol)
        return (
            is_sequence(got)
            and len(got) == len(expected)
            and all(same(g, e, rtol, atol) for g, e in zip(got, expected, strict=True))
        )
    if isinstance(expected, Mapping):
        return (
            isinstance(got, Mapping)
            and set(got) == set(expected)
            and all(same(got[key], expected[key], rtol, atol) for key in expected)
        )
    return type(got) is type(expected) and bool(got == expected)


def _as_number(value: Any) -> int | float:
    number: int | float = value.item() if isinstance(value, np.generic | np.ndarray) else value
    return number


def _close(got: float, expected: float, rtol: float, atol: float) -> bool:
    try:
        got = float(got)
    except OverflowError:
        return False  # an integer beyond the range of floats
    if math.isinf(expected) or math.isinf(got):
        return got == expected
    return abs(got - expected) <= atol + rtol * abs(expected)


def _same_arrays(got: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> bool:
    if got.shape != expected.shape or got.dtype.kind not in "iuf":
        return False
    if expected.dtype.kind in "iu":
        return bool(np.array_equal(got, expected))
    with np.errstate(all="ignore"):
        return bool(np.all((got == expected) | (np.abs(got - expected) <= atol + rtol * np.abs(expected))))


def describe(value: Any) -> str:
    """What a value is, in words and without its contents: "a list of 3 numbers"."""
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, bool | np.bool_):
        return f"the truth value {bool(value)}"
    if is_sequence(value):
        name = "a list" if isinstance(value, list) else "a tuple" if isinstance(value, tuple) else "an array"
        if isinstance(value, np.ndarray) and value.ndim > 1:
            return f"an array of shape {value.shape}"
        if len(value) == 0:
            return f"{name} with nothing in it"
        if any(map(has_nan, value)):
            return f"{name} of {len(value)} with nan (not a number) in it"
        noun = "number" if all(is_number(item) for item in value) else "item"
        return f"{name} of {len(value)} {noun}{'' if len(value) == 1 else 's'}"
    if isinstance(value, float | np.floating) and math.isnan(value):
        return "nan (not a number)"
    if isinstance(value, float | np.floating) and math.isinf(value):
        return "an infinite number"
    if is_number(value):
        number = _as_number(value)
        return "a whole number" if isinstance(number, int) or number.is_integer() else "a number"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, Mapping):
        return f"a dict with {len(value)} key{'' if len(value) == 1 else 's'}"
    return f"a {type(value).__name__}"


def show_value(value: Any, limit: int = 160) -> str:
    """A short, readable text of a plain value, floats to 6 digits, cut at `limit` characters."""
    if isinstance(value, float | np.floating):
        text = f"{float(value):.6g}"
    elif isinstance(value, np.ndarray):
        text = f"np.array({show_value(value.tolist(), limit)})"
    elif isinstance(value, np.generic):
        text = repr(value.item())
    elif isinstance(value, list):
        text = (
            "["
            + ", ".join(show_value(item, limit) for item in value[:40])
            + ("" if len(value) <= 40 else ", …")
            + "]"
        )
    elif isinstance(value, tuple):
        inner = ", ".join(show_value(item, limit) for item in value)
        text = f"({inner},)" if len(value) == 1 else f"({inner})"
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{key!r}: {show_value(item, limit)}" for key, item in value.items()) + "}"
    else:
        try:
            text = repr(value)
        except Exception:  # a repr of somebody's making, or an integer of more than 4300 digits
            text = f"a {type(value).__name__} that cannot be printed"
    return text if len(text) <= limit else text[: limit - 1] + "…"
