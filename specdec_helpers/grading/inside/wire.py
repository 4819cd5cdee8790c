"""The only thing that crosses the wall: plain values, in a closed schema, in length-prefixed frames.

A frame is four bytes of length (big-endian) and so many bytes of ASCII JSON. None, bool, int, float, str and list
stand for themselves; everything else is an object with exactly one key, its tag:

    {"t": [items]}            tuple                     {"d": {"key": value}}     dict with string keys
    {"a": [type, shape, b64]} ndarray, little-endian    {"n": [type, number]}     NumPy scalar
    {"p": b64}                list of floats, packed (from 8 on: JSON's digits would cost ten times as much)
    {"s": n}                  a generator by its seed   {"f": i} {"w": "name"}    callables (into the sandbox only)

A student's dict therefore never looks like a tag: it always travels inside {"d": …}. Decoding makes values of
exactly these types and nothing else: no pickle, no import, no attribute looked up by a name from the wire; bytes,
containers, depth and digits are bounded before anything is built. Floats are bit-exact (nan, inf and -0.0 too).

This module runs on both sides of the wall, so it imports the standard library and NumPy alone. Nothing rests
on the encoder: in the sandbox it runs in the student's process, and a forged frame can only say a value.
"""

from __future__ import annotations

import binascii
import json
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

MAX_DEPTH = 20
MAX_INT_BITS = 1024
MAX_ITEMS = 1_000_000
MAX_CONTAINERS = 400_000
MAX_AXES = 16
PACKED_FROM = 8
MODEL_CALL_BYTES = 64 * 1024
MODEL_TOO_MUCH = "a model was called with a sequence or a number too large for it"
HEADER = struct.Struct("!I")

_NAMES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
DTYPES = {name: np.dtype("<" + name) for name in _NAMES}
DTYPES["b1"] = np.dtype(bool)
_SCALARS = frozenset((type(None), bool, int, float, str))
_NO_BIG_INT = frozenset((type(None), bool, float, str))
_LONG_DIGITS = re.compile(r"[0-9]{300}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_DUMP = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":")).encode
_LOAD = json.JSONDecoder().raw_decode


class WireError(ValueError):
    """Bytes that are no frame of ours, or a value outside the schema."""


class UnsupportedValue(TypeError):
    """A value that cannot travel: neither a number, a text, nor a sequence or dictionary of them."""


Special = Callable[[Any], "dict[str, Any] | None"]
Resolve = Callable[[str, Any], Any]


# Encoding ------------------------------------------------------------------------------------------------


def to_wire(value: Any, special: Special | None = None, depth: int = 0) -> Any:
    """Turn a value into what JSON can say, or raise UnsupportedValue.

    Subclasses become their base type, other sequences and iterables (range, deque, generator …) lists, Fraction
    and Decimal floats, dictionary keys strings. `special` may give the tag object of a value that is not plain.
    """
    kind = type(value)
    if kind in _SCALARS:
        if kind is int:
            _check_int(value)
        return value
    if depth > MAX_DEPTH:
        raise UnsupportedValue(f"nested deeper than {MAX_DEPTH} levels; return a flat list")
    if kind is list or kind is tuple:
        items = _items(list(value), special, depth)
        return items if kind is list else {"t": items}
    if kind is dict and not value:
        return {"d": {}}
    if kind is np.ndarray or isinstance(value, np.ndarray):
        return _array(np.asarray(value), special, depth)
    if isinstance(value, np.generic):
        return _scalar(value, special, depth)
    if special is not None and (tagged := special(value)) is not None:
        return tagged
    return _other(value, special, depth)


def _items(items: list[Any], special: Special | None, depth: int) -> Any:
    kinds = set(map(type, items))
    if kinds == {float} and len(items) >= PACKED_FROM:
        data = np.array(items, dtype=DTYPES["f8"]).tobytes()
        return {"p": binascii.b2a_base64(data, newline=False).decode("ascii")}
    if kinds <= _NO_BIG_INT:
        return items
    if kinds == {int}:
        _check_int(max(items))
        _check_int(min(items))
        return items
    return [to_wire(item, special, depth + 1) for item in items]


def _check_int(value: int) -> None:
    if value.bit_length() > MAX_INT_BITS:
        text = f"a whole number of more than {MAX_INT_BITS} bits; return a smaller one, or a float"
        raise UnsupportedValue(text)


def _array(array: np.ndarray, special: Special | None, depth: int) -> Any:
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind not in "biuf":
        return to_wire(array.tolist(), special, depth + 1)
    if array.ndim > MAX_AXES:
        raise UnsupportedValue(f"an array with {array.ndim} axes; return at most {MAX_AXES}")
    if size > 8:
        size, array = 8, array.astype(np.float64)
    name = f"{kind}{size}"
    data = np.ascontiguousarray(array, dtype=DTYPES[name]).tobytes()
    return {"a": [name, list(array.shape), binascii.b2a_base64(data, newline=False).decode("ascii")]}


def _scalar(value: np.generic, special: Special | None, depth: int) -> Any:
    kind, size = value.dtype.kind, value.dtype.itemsize
    if kind not in "biuf":
        return to_wire(value.item(), special, depth + 1)
    return {"n": [f"{kind}{size}", value.item()] if size <= 8 else ["f8", float(value)]}


def _other(value: Any, special: Special | None, depth: int) -> Any:
    if isinstance(value, bool | int):
        plain = int.__int__(value)
        _check_int(plain)
        return plain
    if isinstance(value, float | str):
        return float.__float__(value) if isinstance(value, float) else str.__str__(value)
    if isinstance(value, Fraction | Decimal):
        try:
            return float(value)
        except (OverflowError, ValueError):
            raise UnsupportedValue(f"a {type(value).__name__} too large for a float") from None
    if isinstance(value, Mapping):
        pairs = bounded(value.items())
        return {"d": {str(key)[:1000]: to_wire(item, special, depth + 1) for key, item in pairs}}
    if isinstance(value, tuple):
        return {"t": [to_wire(item, special, depth + 1) for item in bounded(value)]}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | set | frozenset | type):
        return [to_wire(item, special, depth + 1) for item in bounded(value)]
    raise UnsupportedValue(f"a {type(value).__name__}; return a number, a list, a tuple, a dict or an array")


def bounded(items: Iterable[Any]) -> Iterable[Any]:
    """The items, and UnsupportedValue instead of the millionth and first: an endless generator ends here."""
    for count, item in enumerate(items):
        if count >= MAX_ITEMS:
            raise UnsupportedValue(f"more than {MAX_ITEMS} items; return a finite, shorter list")
        yield item


def dump(tree: Any) -> bytes:
    """The JSON text of a tree made by `to_wire`."""
    return _DUMP(tree).encode("ascii")


def frame(payload: bytes) -> bytes:
    """A payload with its length in front."""
    return HEADER.pack(len(payload)) + payload


# Decoding ------------------------------------------------------------------------------------------------


def load(payload: bytes) -> Any:
    """The JSON tree of a payload, nothing decoded yet; WireError for anything but one bounded ASCII JSON text."""
    if payload.count(b"[") + payload.count(b"{") > MAX_CONTAINERS:
        raise WireError(f"a frame with more than {MAX_CONTAINERS} lists and objects")
    try:
        text = payload.decode("ascii")
        tree, end = _LOAD(text)
        if end != len(text):
            raise ValueError("something follows the JSON text")
        if end >= 300 and _LONG_DIGITS.search(text):
            _check_digits(tree)
        if "\\u" in text and _SURROGATE.search(text):
            tree = _clean(tree)
    except RecursionError:
        raise WireError("a frame nested too deep") from None
    except ValueError as error:
        raise WireError(f"no JSON of ours: {str(error)[:100]}") from None
    return tree


def _check_digits(tree: Any) -> None:
    if isinstance(tree, int) and tree.bit_length() > MAX_INT_BITS:
        raise WireError(f"a whole number of more than {MAX_INT_BITS} bits")
    if isinstance(tree, list | dict):
        for item in tree.values() if isinstance(tree, dict) else tree:
            _check_digits(item)


def _clean(tree: Any) -> Any:
    """Half a surrogate pair is no text and no file takes it: it becomes a question mark."""
    if isinstance(tree, str):
        return tree.encode("utf-8", "replace").decode("utf-8")
    if isinstance(tree, list):
        return [_clean(item) for item in tree]
    if isinstance(tree, dict):
        return {_clean(key): _clean(item) for key, item in tree.items()}
    return tree


def from_wire(tree: Any, resolve: Resolve | None = None, depth: int = 0) -> Any:
    """The plain value a tree stands for, of exactly the schema's types, or WireError.

    `resolve(tag, content)` makes what the tags "f", "s" and "w" stand for; without it they are refused.
    """
    kind = type(tree)
    if kind in _SCALARS:
        return tree
    if depth > MAX_DEPTH + 4:
        raise WireError(f"a value nested deeper than {MAX_DEPTH} levels")
    if kind is list:
        if set(map(type, tree)) <= _SCALARS:
            return tree
        return [from_wire(item, resolve, depth + 1) for item in tree]
    if kind is not dict or len(tree) != 1:
        raise WireError("an object that is not one tag")
    [(tag, content)] = tree.items()
    if tag == "p":
        return _unpack(content, DTYPES["f8"]).tolist()
    if tag == "t":
        if type(content) is list:
            return tuple(from_wire(item, resolve, depth + 1) for item in content)
        if type(content) is dict and content.keys() == {"p"}:
            return tuple(_unpack(content["p"], DTYPES["f8"]).tolist())
    if tag == "d" and type(content) is dict:
        return {key: from_wire(item, resolve, depth + 1) for key, item in content.items()}
    if tag == "a":
        return _read_array(content)
    if tag == "n":
        return _read_scalar(content)
    if resolve is not None and _RESOLVED.get(tag) is type(content):
        return resolve(tag, content)
    raise WireError("an object with an unknown tag")


_RESOLVED = {"f": int, "s": int, "w": str}


def _read_array(content: Any) -> np.ndarray:
    if type(content) is not list or [type(part) for part in content] != [str, list, str]:
        raise WireError("an array is [type, shape, data]")
    name, shape, text = content
    dtype = DTYPES.get(name)
    if dtype is None or len(shape) > MAX_AXES:
        raise WireError("an array of an unknown type, or with too many axes")
    size = 1
    for length in shape:
        if type(length) is not int or not 0 <= length < 2**31:
            raise WireError("an array with an impossible shape")
        size *= length
    array = _unpack(text, dtype)
    if array.size != size or (not size and max(shape) > MAX_ITEMS):  # a loop over its rows would never end
        raise WireError(f"an array whose data do not fill its shape {shape}")
    if name == "b1" and array.size and array.view(np.uint8).max() > 1:
        raise WireError("a truth value that is neither 0 nor 1")
    try:
        return array.reshape(shape)
    except ValueError as error:
        raise WireError(f"an array that cannot be read: {str(error)[:100]}") from None


def _unpack(text: Any, dtype: np.dtype) -> np.ndarray:
    if type(text) is not str:
        raise WireError("packed numbers are a text")
    try:
        data = bytearray(binascii.a2b_base64(text, strict_mode=True) if text else b"")
        return np.frombuffer(data, dtype=dtype)
    except ValueError as error:
        raise WireError(f"packed numbers that cannot be read: {str(error)[:100]}") from None


def _read_scalar(content: Any) -> Any:
    if type(content) is not list or len(content) != 2 or type(content[0]) is not str:
        raise WireError("a NumPy scalar is [type, number]")
    name, number = content
    dtype = DTYPES.get(name)
    wanted = {"b": bool, "i": int, "u": int, "f": float}[dtype.kind] if dtype is not None else None
    if dtype is None or type(number) is not wanted:
        raise WireError("a NumPy scalar of an unknown type")
    if dtype.kind in "iu" and not int(np.iinfo(dtype).min) <= content[1] <= int(np.iinfo(dtype).max):
        raise WireError(f"a {dtype.name} out of its range")
    with np.errstate(over="ignore"):
        return dtype.type(number)
