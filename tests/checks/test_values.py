"""Plain values: what counts as an answer, and when two answers are the same."""

from __future__ import annotations

import math
from collections import OrderedDict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_helpers.checks.values import (
    UnsupportedValue,
    describe,
    is_number,
    is_sequence,
    plain,
    same,
    show_value,
)

Pair = namedtuple("Pair", "a b")


class Loud(float):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = float.__hash__


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fraction(1, 4), 0.25),
        (Decimal("0.25"), 0.25),
        (range(3), [0, 1, 2]),
        (deque([1, 2]), [1, 2]),
        ((x for x in (1, 2)), [1, 2]),
        (Pair(1, 2), (1, 2)),
        (OrderedDict(a=1), {"a": 1}),
        ({1: 2}, {"1": 2}),
        ([Fraction(1, 2), (range(1),)], [0.5, ([0],)]),
        (np.array([Fraction(1, 2)], dtype=object), [0.5]),
        (np.array(["a"]), ["a"]),
        (None, None),
    ],
)
def test_plain_brings_answers_to_built_in_types(value: object, expected: object) -> None:
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


def test_plain_takes_the_disguise_off() -> None:
    assert type(plain(Loud(0.5))) is float
    assert plain(Loud(0.5)) != 0.25
    masked = np.ma.masked_array([1.0, 2.0], mask=[True, False])
    assert type(plain(masked)) is np.ndarray


@pytest.mark.parametrize("value", [{1, 2}, b"12", 1j, object(), len, [1, {2}], np.array([1j])])
def test_plain_refuses_what_is_no_value(value: object) -> None:
    with pytest.raises(UnsupportedValue, match="return"):
        plain(value)


def test_plain_has_bounds() -> None:
    nested: list = []
    for _ in range(30):
        nested = [nested]
    with pytest.raises(UnsupportedValue, match="20 levels"):
        plain(nested)

    def endless():
        while True:
            yield 1

    with pytest.raises(UnsupportedValue, match="finite"):
        plain(endless())


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (3, 3),
        (3.0, 3),
        (np.int64(3), 3),
        (np.array(3), 3),
        (1, 1.0),
        (0.1 + 0.2, 0.3),
        (np.float64(0.3), 0.3),
        ((1, 2), [1, 2]),
        (np.array([1.0, 2.0]), [1, 2]),
        ([np.int64(1), 2.0], np.array([1, 2])),
        ([[0.5, 0.5]], np.array([[0.5, 0.5]])),
        ({"a": [1.0]}, {"a": (1,)}),
        (math.inf, math.inf),
        ("B", "B"),
        ([], []),
    ],
)
def test_same(got: object, expected: object) -> None:
    assert same(got, expected)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (True, 1),
        (1, True),
        ("3", 3),
        (None, 0),
        (2.999999, 3),
        (math.nan, 3),
        (math.nan, math.nan),
        (math.inf, 1.0),
        (1e308, -1e308),
        (10**400, 0.3),
        (10**400, 3),
        (0.3001, 0.3),
        ([1, 2], [1, 2, 3]),
        (1, [1]),
        ([1], 1),
        (np.array([[1.0], [2.0]]), [1, 2]),
        (np.array([[1.0], [2.0]]), np.array([1.0, 2.0])),
        (np.array([True, False]), np.array([1, 0])),
        (np.array([math.nan]), np.array([math.nan])),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        ("12", [1, 2]),
    ],
)
def test_not_the_same(got: object, expected: object) -> None:
    assert not same(got, expected)


numbers = st.one_of(
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.floats(width=32).map(np.float32),
    st.integers(-(2**63), 2**63 - 1).map(np.int64),
    st.integers(min_value=10**400, max_value=10**401),
)
values = st.recursive(
    numbers, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner)
)


@given(values, values)
def test_no_pair_of_values_breaks_a_comparison_or_a_description(got: object, expected: object) -> None:
    value = plain(got)
    assert same(value, expected) in (True, False)
    assert isinstance(describe(value), str)
    assert len(show_value(value)) <= 160
    assert not (is_number(value) and is_sequence(value))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=5))
def test_a_list_an_array_and_a_tuple_of_the_same_numbers_are_the_same(items: list[float]) -> None:
    assert same(np.array(items), items)
    assert same(tuple(items), np.array(items))
    assert not same([*items, 0.0], items)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None (is a `return` missing?)"),
        (True, "the truth value True"),
        ([1, 2, 3], "a list of 3 numbers"),
        ((1,), "a tuple of 1 number"),
        (["a"], "a list of 1 item"),
        (np.zeros((2, 3)), "an array of shape (2, 3)"),
        ([], "a list with nothing in it"),
        (math.nan, "nan (not a number)"),
        (math.inf, "an infinite number"),
        (3.0, "a whole number"),
        (10**400, "a whole number"),
        (0.5, "a number"),
        ("x", "a text"),
        ({"a": 1}, "a dict with 1 key"),
    ],
)
def test_describe_says_what_came_back_without_its_contents(value: object, words: str) -> None:
    assert describe(value) == words


def test_show_value_is_short_and_never_fails() -> None:
    assert show_value([0.1 + 0.2, (1,), np.int64(3)]) == "[0.3, (1,), 3]"
    assert show_value(np.array([0.5])) == "np.array([0.5])"
    assert len(show_value(list(range(1000)))) <= 160
    assert show_value(10**5000) == "a int that cannot be printed"

    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    assert show_value(Broken()) == "a Broken that cannot be printed"
