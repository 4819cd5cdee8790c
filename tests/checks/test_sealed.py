"""Sealed notes open with the answer they belong to, and with nothing else."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_helpers.checks import sealed
from specdec_helpers.trials import answers

OPTIONS = {"A": "Yes", "B": "No, never", "C": "Only with a seed."}


@pytest.mark.parametrize(
    "value",
    [
        3.3616,
        np.float64(3.3616),
        np.array(3.3616),
        Fraction(33616, 10000),
        Decimal("3.3616"),
        3.36161,
        3.361599999,
        1 + 0.8 + 0.64 + 0.512 + 0.4096,
    ],
)
def test_a_number_may_come_in_any_type(value: object) -> None:
    assert sealed.canonical_number(value, 4) == "3.3616"


@pytest.mark.parametrize("value", [5, 5.0, np.int8(5), np.array(5), Fraction(5), Decimal(5)])
def test_a_count_may_come_in_any_type(value: object) -> None:
    assert sealed.canonical_number(value, 0) == "5"


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.bool_(True),
        "3",
        None,
        float("nan"),
        float("inf"),
        [3],
        np.array([3]),
        1j,
        object(),
        Decimal("NaN"),
    ],
)
def test_what_is_no_number_has_no_canonical_form(value: object) -> None:
    assert sealed.canonical_number(value, 0) is None


@pytest.mark.parametrize("value", [5.4, 4.6, Fraction(11, 2), np.float32(5.5)])
def test_a_count_is_not_rounded_to_the_answer(value: object) -> None:
    assert sealed.canonical_number(value, 0) not in ("5", "6", None)


def test_rounding_is_half_away_from_zero_as_at_school() -> None:
    assert sealed.canonical_number(0.96875, 4) == "0.9688"
    assert sealed.canonical_number(2.5, 0) == "2.5"
    assert sealed.canonical_number(0.125, 2) == "0.13"
    assert sealed.canonical_number(-0.125, 2) == "-0.13"
    assert sealed.canonical_number(-0.00001, 4) == "0"


@given(st.one_of(st.integers(), st.floats(), st.fractions(), st.decimals(), st.text()), st.integers(0, 12))
def test_no_value_breaks_the_canonical_form(value: object, places: int) -> None:
    text = sealed.canonical_number(value, places)
    assert text is None or Decimal(text).is_finite()


@pytest.mark.parametrize(
    "text", ["B", "b", " b ", "B)", "(b)", "b.", "No, never", "no never", "B. No, never"]
)
def test_a_choice_may_be_written_in_many_ways(text: str) -> None:
    assert sealed.canonical_choice(text, OPTIONS) == "B"


@pytest.mark.parametrize("value", ["D", "", "no", "AB", "B or C", 2, None, True, ["B"], b"B"])
def test_an_unclear_choice_is_none(value: object) -> None:
    assert sealed.canonical_choice(value, OPTIONS) is None


def test_a_note_opens_with_its_answer_only() -> None:
    notes = [
        sealed.seal("tokens", "3", "Yes: ₃ ✓", True),
        sealed.seal("tokens", "2", "You counted only the drafts.", False),
    ]
    assert sealed.unseal("tokens", "3", notes) == (True, "Yes: ₃ ✓")
    assert sealed.unseal("tokens", "2", notes) == (False, "You counted only the drafts.")
    assert sealed.unseal("tokens", "4", notes) is None
    assert sealed.unseal("other", "3", notes) is None
    assert "Yes" not in json.dumps(notes)


def test_the_shipped_notes_hold_no_answer_in_clear_and_open_with_the_reference_s() -> None:
    text = resources.files("specdec_helpers.checks").joinpath("notes.json").read_text(encoding="utf-8")
    notes = json.loads(text)
    right = answers()
    assert set(notes) <= set(right)
    for item, entry in notes.items():
        assert set(entry) == {"kind", "lesson", "notes", "options", "places"}
        assert all(set(note) == {"tag", "text"} for note in entry["notes"])
        if entry["kind"] == "choice":
            answer = sealed.canonical_choice(right[item], entry["options"])
        else:
            answer = sealed.canonical_number(right[item], entry["places"])
        assert answer is not None
        found = sealed.unseal(item, answer, entry["notes"])
        assert found is not None, f"{item}: no note opens with the reference's answer"
        assert found[0], f"{item}: the reference's answer is called wrong"
