"""Lesson 2: its numbers, truth from outside, and what its notes and its last cell say."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from course_cells import noted_numbers, solved, uncommented
from scipy.special import softmax
from scipy.stats import binomtest

from specdec_helpers.reference import lesson2 as reference

P, Q = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]


# ---- numbers, and truth from outside -----------------------------------------------------------------------


def test_the_answers_of_part_1() -> None:
    assert {
        "keep_chance": pytest.approx(0.6),
        "overlap": pytest.approx(0.7),
        "tokens_at_overlap": pytest.approx(2.7731, abs=1e-9),
        "target_likes_it_more": "B",
    } == reference.ANSWERS


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        ((1,), (0.6652, 0.2447, 0.0900)),
        ((0.5,), (0.8668, 0.1173, 0.0159)),
        ((2,), (0.5065, 0.3072, 0.1863)),
        ((1, 2), (0.7311, 0.2689, 0)),
    ],
)
def test_the_published_values(settings: tuple[Any, ...], values: tuple[float, ...]) -> None:
    assert np.round(reference.to_distribution([2, 1, 0], *settings), 4).tolist() == list(values)


def test_the_softmax_is_scipys() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        logits = rng.normal(0, rng.choice([1, 30, 1000]), int(rng.integers(1, 30)))
        temperature = float(rng.uniform(0.05, 4))
        ours = reference.to_distribution(logits, temperature)
        assert np.allclose(ours, softmax(logits / temperature), rtol=0, atol=1e-12)
        top_k = int(rng.integers(1, len(logits) + 3))
        ruled_out = np.sort(logits)[: max(0, len(logits) - top_k)]
        masked = np.where(np.isin(logits, ruled_out), -np.inf, logits)
        assert np.allclose(
            reference.to_distribution(logits, temperature, top_k),
            softmax(masked / temperature),
            rtol=0,
            atol=1e-12,
        )


def test_the_acceptance_rate_is_what_simulated_drafts_show() -> None:
    """200,000 drafts; wrong by chance in 1 of a million runs, and the seed is fixed."""
    rng = np.random.default_rng(22)
    n = 200_000
    for p, q in ((P, Q), ([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]), ([0.9, 0.1], [0.05, 0.95])):
        x = rng.choice(len(q), n, p=q)
        keep = np.array([reference.accept_probability(a, b) for a, b in zip(p, q, strict=True)])
        kept = int((rng.random(n) < keep[x]).sum())
        assert binomtest(kept, n, reference.acceptance_rate(p, q)).pvalue > 1e-6
        # and no other rule of the table explains the count
        assert binomtest(kept, n, float(np.dot(p, q))).pvalue < 1e-6


def test_the_rate_is_one_minus_the_total_variation_distance() -> None:
    rng = np.random.default_rng(3)
    for size in (1, 2, 5, 40):
        p, q = rng.dirichlet(np.ones(size), 2)
        assert reference.acceptance_rate(p, q) == pytest.approx(1 - np.abs(p - q).sum() / 2, abs=1e-12)
        assert reference.acceptance_rate(p, q) == pytest.approx(reference.acceptance_rate(q, p), abs=1e-12)


def test_at_temperature_0_the_rule_is_the_comparison_of_lesson_1() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        target, draft = rng.normal(size=(2, 6, 5))
        p_rows = [reference.to_distribution(row, 0) for row in target]
        q_rows = [reference.to_distribution(row, 0) for row in draft]
        tokens = draft.argmax(axis=1)
        agree = tokens == target.argmax(axis=1)
        expected = int(np.cumprod(agree).sum())
        assert reference.accepted_prefix(tokens, p_rows, q_rows, rng.random(6)) == expected


def test_what_the_text_says_of_a_greedy_draft() -> None:
    """Token 0 always proposed, q = (.8, .2) reported, p = (.6, .4): (.75, .25) comes out."""
    keep = reference.accept_probability(0.6, 0.8)
    assert (keep, 1 - keep) == (pytest.approx(0.75), pytest.approx(0.25))  # what is rejected becomes token 1


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: reference.to_distribution([], 1), "empty"),
        (lambda: reference.to_distribution([1, 2], -0.5), "-0.5"),
        (lambda: reference.to_distribution([1, 2], 1, 0), "top_k is 0"),
        (lambda: reference.accept_probability(0.3, 0), "q_x is 0"),
        (lambda: reference.accept_probability(1.5, 0.2), "1.5"),
        (lambda: reference.acceptance_rate([0.5, 0.5], [1.0]), "2 entries"),
        (lambda: reference.acceptance_rate([1.5, -0.5], [0.5, 0.5]), "-0.5"),
        (lambda: reference.acceptance_rate([0.5, 0.5], [0.5, 0.6]), "q sums to 1.1"),
        (lambda: reference.accepted_prefix([0], [P], [Q, Q], [0.5]), "2 draft rows"),
    ],
)
def test_bad_input_is_named(call: Any, named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        call()


# ---- the notebook ----------------------------------------------------------------------------------------------


def test_the_notes_on_wrong_numbers_are_computed_right() -> None:
    """Each number that a note comments on is what the slip it names gives."""

    slips = {round(v, 4) for v in (0.6, 0.5 / 0.3, 1, 0, 0.3, 0.3 * 0.5, 1 - 0.6, 0.5 - 0.3)}
    assert noted_numbers("keep_chance") == slips
    pairs = list(zip(P, Q, strict=True))
    slips = {
        sum(map(min, P, Q)),
        sum(p * q for p, q in pairs),
        1 - sum(map(min, P, Q)),
        sum(q for p, q in pairs if p >= q),
        sum(p for p, q in pairs if p < q),
        sum(min(1, p / q) for p, q in pairs) / 3,
        1 - sum(abs(p - q) for p, q in pairs),
        sum(map(max, P, Q)),
    }
    assert noted_numbers("overlap") == {round(v, 4) for v in slips}
    mean = {k: sum(0.7**i for i in range(k + 1)) for k in (3, 4, 5)}
    slips = {
        mean[4],
        mean[4] - 1,
        mean[3],
        mean[5],
        1 + 4 * 0.7,
        4 * 0.7,
        1 / 0.3,
        sum(0.8**i for i in range(5)),
    }
    assert noted_numbers("tokens_at_overlap") == {round(v, 4) for v in slips}


def test_the_last_cell_shows_what_the_text_promises(capsys: pytest.CaptureFixture[str]) -> None:
    exec(uncommented("kept_share"), solved("lesson2"))
    lines = capsys.readouterr().out.splitlines()
    kept, rate = map(float, re.findall(r"[\d.]+", lines[0]))
    assert rate == pytest.approx(0.7)
    assert kept == pytest.approx(0.7, abs=5 * np.sqrt(0.7 * 0.3 / 10_000))
    rates = [float(line.split()[-1]) for line in lines[1:]]
    assert rates == [0.6652, 0.7984, 1.0, 0.8412]
