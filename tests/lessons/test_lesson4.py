"""Lesson 4: the page's numbers, three ways to one expectation, and how surely the judge of a simulation judges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from specdec_helpers.checks.lesson4 import MISTAKES
from specdec_helpers.reference.lesson4 import (
    ANSWERS,
    accepted_distribution,
    expected_from_distribution,
    expected_tokens,
    simulate,
)
from specdec_helpers.trials import lesson4_simulate as judge

rates, lengths = st.floats(0, 1), st.integers(0, 40)


def test_the_page_s_numbers() -> None:
    assert {item: round(v, 4) if isinstance(v, float) else v for item, v in ANSWERS.items()} == {
        "tokens_if_always_accepted": 5,
        "tokens_at_rate_08": 3.3616,
        "tokens_at_rate_05": 1.9375,
        "ideal_produced_count": "B",
    }
    table = [0.2, 0.16, 0.128, 0.1024, 0.4096]
    assert np.allclose(accepted_distribution(0.8, 4), table, atol=1e-12)


@given(rates, lengths)
def test_three_ways_to_one_number(a: float, k: int) -> None:
    powers = math.fsum(a**i for i in range(k + 1))
    assert expected_tokens(a, k) == pytest.approx(powers, rel=1e-12)
    assert expected_from_distribution(a, k) == pytest.approx(powers, rel=1e-9)
    assert sum(accepted_distribution(a, k)) == pytest.approx(1, abs=1e-12)
    assert len(accepted_distribution(a, k)) == k + 1


@given(rates, lengths)
def test_more_drafts_never_bring_less_and_never_pass_the_ceiling(a: float, k: int) -> None:
    assert expected_tokens(a, k) <= expected_tokens(a, k + 1) <= k + 2
    if a < 1:
        assert expected_tokens(a, k) <= 1 / (1 - a) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("a", "k", "tokens"),
    [(0.6, 2, 1.96), (0.7, 3, 2.53), (0.8, 2, 2.44), (0.8, 5, 3.69), (0.9, 2, 2.71), (0.9, 10, 6.86)],
)
def test_leviathan_s_table_1_for_a_draft_that_costs_nothing(a: float, k: int, tokens: float) -> None:
    assert round(expected_tokens(a, k), 2) == tokens


@pytest.mark.parametrize(
    ("a", "k"), [(1.01, 3), (-0.01, 3), (0.5, -1), (1, -1), (float("nan"), 2), (float("inf"), 2)]
)
def test_what_expected_tokens_refuses(a: float, k: int) -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1|negative"):
        expected_tokens(a, k)


@pytest.mark.parametrize(("a", "k"), [(0.8, 4), (0.5, 3), (0.97, 9), (0.05, 2)])
def test_single_rounds_follow_the_distribution(a: float, k: int) -> None:
    rounds = [round(simulate(a, k, 1, seed)) for seed in range(4000)]
    counts = np.bincount(rounds, minlength=k + 2)[1:]
    due = np.array(accepted_distribution(a, k)) * len(rounds)
    assert stats.chisquare(counts, due).pvalue > 1e-6


def test_standard_errors_are_those_of_the_simulation() -> None:
    means = [simulate(0.8, 4, 500, seed) for seed in range(400)]
    assert np.std(means) == pytest.approx(judge.standard_error(0.8, 4, 500), rel=0.15)


def test_the_chi_square_bound_is_what_the_text_says() -> None:
    assert stats.chi2.sf(judge.CHI_SQUARE, judge.SINGLE_K) < 2e-12
    due = np.array(accepted_distribution(judge.SINGLE_A, judge.SINGLE_K)) * judge.SINGLES
    assert due.min() > 30
    assert all(tail(0.83, 4, judge.ROUNDS, side) < 1e-10 for side in (1, -1))
    assert all(tail(0.47, 3, judge.ROUNDS, side) < 1e-10 for side in (1, -1))
    assert all(tail(0.996, 9, judge.LONG_ROUNDS, side) < 7e-9 for side in (1, -1))


def tail(a: float, k: int, rounds: int, side: int) -> float:
    """Chernoff's bound for the chance that a right mean is outside the room, above (1) or below (-1)."""
    p, n = np.array(accepted_distribution(a, k)), np.arange(k + 1)
    off = side * (n - p @ n)
    room = judge.ERRORS * judge.standard_error(a, k, rounds)
    exponents = [rounds * (math.log(p @ np.exp(t * off)) - t * room) for t in np.linspace(0, 1, 400)]
    return math.exp(min(exponents))


def test_a_right_simulation_passes_with_every_seed() -> None:
    for seed in range(60):
        found = judge.study(simulate, np.random.default_rng(seed))
        assert not any(found.values()), (seed, found)


def test_the_simulations_that_only_luck_could_pass_are_far_off() -> None:
    """The nearest wrong mean is at least twice the room away: no seed lets it through."""
    for a, k, rounds in ((0.83, 4, judge.ROUNDS), (0.47, 3, judge.ROUNDS), (0.996, 9, judge.LONG_ROUNDS)):
        room = judge.ERRORS * judge.standard_error(a, k, rounds)
        right = expected_tokens(a, k)
        wrong = {"bonus_forgotten": right - 1, "no_stop": 1 + k * a, "uncapped": 1 / (1 - a)}
        assert set(wrong) <= set(MISTAKES["simulate"])
        gaps = {key: abs(mean - right) for key, mean in wrong.items()}
        assert max(gaps.values()) > 2 * room
    room = judge.ERRORS * judge.standard_error(0.83, 4, judge.ROUNDS)
    right = expected_tokens(0.83, 4)
    assert all(abs(right - wrong) > 2 * room for wrong in (right - 1, 1 + 0.83 * 4, 1 / (1 - 0.83)))


def test_numpy_s_global_state_shows_itself_by_values() -> None:
    with pytest.raises(ValueError, match="Seed must be between"):
        np.random.seed(2**33)  # noqa: NPY002
    assert 0 <= np.random.default_rng(2**70).random() < 1
