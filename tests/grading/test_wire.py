"""The wire format: what goes in comes out with exactly its type, and nothing else comes out."""

from __future__ import annotations

import json
import math
import os
import struct

import fuzz_wire
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from specdec_helpers.checks import values
from specdec_helpers.grading.inside import wire

LONG = int(os.environ.get("SPECDEC_FUZZ", "0"))  # how many inputs the long run tries
EXAMPLES = 5000 if LONG else 300


def there_and_back(value):
    return wire.from_wire(wire.load(wire.dump(wire.to_wire(value))))


def bits(x: float) -> bytes:
    return struct.pack("d", x)


def identical(a, b) -> bool:
    """Equal in type and in every bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, np.floating):
        return bool(np.isnan(a) and np.isnan(b)) or a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or bits(a) == bits(b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(identical(a[k], b[k]) for k in a)
    return a == b


dtypes = st.sampled_from(["?", "i1", "i2", "<i4", "i8", "u1", "u8", "f2", "f4", "f8"]).map(np.dtype)
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**1000), 2**1000), st.floats(), text, arrays,
    hnp.from_dtype(np.dtype("f8")), hnp.from_dtype(np.dtype("f4")), hnp.from_dtype(np.dtype("i8")),
    hnp.from_dtype(np.dtype("?")),
)  # fmt: skip
plain = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(text, inner, max_size=4),
    ),
    max_leaves=20,
)


@given(plain)
@settings(max_examples=EXAMPLES, deadline=None)
def test_plain_values_come_back_identical(value) -> None:
    assert identical(there_and_back(value), value)


@given(plain)
@settings(max_examples=150, deadline=None)
def test_checks_and_wire_agree_on_what_is_plain(value) -> None:
    assert identical(there_and_back(value), values.plain(value))


@pytest.mark.parametrize(
    "x", [0.0, -0.0, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, math.nan]
)
def test_floats_are_bit_exact(x: float) -> None:
    assert identical(there_and_back([x, (x,)]), [x, (x,)])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({1, 2}, "a set"),
        (b"bytes", "a bytes"),
        (object(), "a object"),
        (2j, "a complex"),
        (2**2000, "whole number of more than"),
        ([2**2000, 1.5], "whole number of more than"),
        ([[1], 2**2000], "whole number of more than"),
        (np.array([1j]), "complex"),
        (len, "a builtin_function_or_method"),
        (np.zeros((1,) * 20), "axes"),
    ],
)
def test_what_cannot_travel_is_named(value, words: str) -> None:
    with pytest.raises(wire.UnsupportedValue, match=words):
        wire.to_wire(value)


def test_nesting_is_bounded_both_ways() -> None:
    deep: list = []
    for _ in range(30):
        deep = [deep, 1]
    with pytest.raises(wire.UnsupportedValue, match="nested deeper"):
        wire.to_wire(deep)
    for payload in (b"[" * 200 + b"]" * 200, b"[" * 100_000 + b"]" * 100_000, b'{"t":[' * 100 + b"]}" * 100):
        with pytest.raises(wire.WireError):
            wire.from_wire(wire.load(payload))


def test_a_list_that_holds_itself_is_refused() -> None:
    ring: list = [1]
    ring.append(ring)
    with pytest.raises(wire.UnsupportedValue, match="nested deeper"):
        wire.to_wire(ring)


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"\xff\xfe[\x00", b"nul", b"[1,2", b'{"x":1}', b'{"t":[1],"d":{}}', b"{}", b'{"t":{"a":1}}', b'{"d":[1]}',
        b'{"a":["O8",[1],"AAAA"]}', b'{"a":["f8",[1],"AAAA"]}', b'{"a":["f8",[-1],""]}', b'{"a":["f8",[true],""]}',
        b'{"a":["f8",[1000000,1000000,1000000],""]}', b'{"a":["f8",[1],"!!!!"]}', b'{"a":["b1",[1],"Ag=="]}',
        b'{"a":["f8",[1.0],"AAAAAAAAAAA="]}', b'{"a":[["f8"],[1],"AAAA"]}', b'{"a":"f8"}', b'{"n":["i1",300]}',
        b'{"n":["i8",1.5]}', b'{"n":["f8",1]}', b'{"n":["b1",1]}', b'{"n":["O",1]}', b'{"n":["f8"]}',
        b'{"f":0}', b'{"s":1}', b'{"w":"os"}', b'{"__class__":"os"}', b'{"__reduce__":["os.system","true"]}',
        b"1" * 5000, b"1" * 400, b"[" + b"1" * 400 + b"]", b'"\xc3\xa4"', b"[{}]" * 2, b"[[]," * 300_000,
    ],
)  # fmt: skip
def test_forged_payloads_are_refused(payload: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.from_wire(wire.load(payload))


def test_half_a_surrogate_becomes_a_question_mark() -> None:
    assert there_and_back(["\ud800x", {"\udfff": 1}]) == ["?x", {"?": 1}]
    assert there_and_back("🙂") == "🙂"


@pytest.mark.parametrize("shape", [[0, 2_000_000_000], [2_000_000_000, 0], [2, 1_000_001, 0]])
def test_a_huge_shape_of_nothing_is_refused(shape: list[int]) -> None:
    """It costs no memory, but a check or a model of ours may go through its rows."""
    with pytest.raises(wire.WireError, match="shape"):
        wire.from_wire({"a": ["f8", shape, ""]})
    assert wire.from_wire({"a": ["f8", [0, 3], ""]}).shape == (0, 3)


tags = st.sampled_from(["t", "d", "a", "n", "f", "s", "w", "x", "__class__", ""])
junk = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
        st.sampled_from(["f8", "i1", "b1", "AAAA", "AA=="]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(tags, inner, max_size=2),
        st.tuples(tags, inner).map(lambda p: {p[0]: p[1]}),
    ),
    max_leaves=25,
)  # fmt: skip
almost = junk.map(lambda tree: json.dumps(tree).encode("ascii"))
broken = st.tuples(almost, st.integers(0, 200), st.binary(max_size=4)).map(
    lambda t: t[0][: t[1]] + t[2] + t[0][t[1] :]
)
PLAIN = (type(None), bool, int, float, str, list, tuple, dict, np.ndarray, np.generic)


def only_plain(value) -> bool:
    if isinstance(value, list | tuple):
        return type(value) in (list, tuple) and all(map(only_plain, value))
    if isinstance(value, dict):
        return type(value) is dict and all(type(k) is str and only_plain(v) for k, v in value.items())
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.dtype.kind in "biuf"
    return isinstance(value, np.generic) or type(value) in PLAIN


@given(st.one_of(almost, broken, st.binary(max_size=60)))
@settings(max_examples=EXAMPLES, deadline=None)
def test_decoder_gives_plain_values_or_a_wire_error(payload: bytes) -> None:
    try:
        value = wire.from_wire(wire.load(payload))
    except wire.WireError:
        return
    assert only_plain(value)


def test_random_frames_decode_to_plain_values_or_are_refused() -> None:
    became = fuzz_wire.run(LONG or 4000, seed=7)
    assert became["value"] > 100
    assert became["no value"] > 100
