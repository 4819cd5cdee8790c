"""Lesson 3: its numbers, the frequencies of its rounds, and what its notes and cells say."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from course_cells import noted_numbers, solved, uncommented
from scipy.stats import chisquare

from specdec_helpers.reference import lesson2
from specdec_helpers.reference import lesson3 as reference
from specdec_helpers.trials.lesson3_wrong import RESIDUAL, ROUND

P, Q = [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]
KEEP = [lesson2.accept_probability(p, q) for p, q in zip(P, Q, strict=True)]


def emitted(replacement: Any, keep: Any = KEEP) -> list[float]:
    return [round(x, 3) for x in reference.emitted_distribution(Q, keep, replacement)]


# ---- numbers -----------------------------------------------------------------------------------------------


def test_the_answers_of_part_1() -> None:
    assert {
        "rejection_chance": pytest.approx(0.4),
        "residual_first": pytest.approx(0.75),
        "biased_first": pytest.approx(0.26),
        "replacement_source": "B",
    } == reference.ANSWERS


def test_the_published_biases() -> None:
    assert emitted(reference.residual(P, Q)) == P
    assert emitted(P) == [0.26, 0.32, 0.28, 0.14]
    assert emitted(RESIDUAL["softmax"](P, Q)) == [0.221, 0.299, 0.290, 0.190]
    only_if_p_larger = [float(p >= q) for p, q in zip(P, Q, strict=True)]
    assert emitted(reference.residual(P, Q), only_if_p_larger) == [0.625, 0.375, 0, 0]
    assert emitted(P, [1] * 4) == Q


def test_the_greedy_draft_of_lesson_2() -> None:
    """q = (.8, .2) is reported, but token 0 is always proposed."""
    keep = [lesson2.accept_probability(0.6, 0.8), 1]
    out = reference.emitted_distribution([1, 0], keep, reference.residual([0.6, 0.4], [0.8, 0.2]))
    assert out == pytest.approx([0.75, 0.25])


def test_the_rule_gives_p_for_any_pair() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        p, q = (
            rng.dirichlet(np.full(int(rng.integers(1, 12)), 0.4), 2) if rng.random() < 0.7 else np.eye(3)[:2]
        )
        keep = [lesson2.accept_probability(a, b) if b > 0 else 1 for a, b in zip(p, q, strict=True)]
        out = reference.emitted_distribution(q, keep, reference.residual(p, q))
        assert out == pytest.approx(p, abs=1e-12)
        rejected = 1 - lesson2.acceptance_rate(p, q)
        assert np.clip(np.subtract(p, q), 0, None).sum() == pytest.approx(rejected, abs=1e-12)


def test_a_draw_follows_its_distribution() -> None:
    """The share of a fine grid of uniforms that selects a token is the token's probability."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    for probs in ([0.4, 0.3, 0.2, 0.1], [0, 0.5, 0, 0.5], [1.0], [0.125, 0.875]):
        counts = np.bincount([reference.sample_from(probs, float(u)) for u in grid], minlength=len(probs))
        assert counts / 20_000 == pytest.approx(probs, abs=1e-4)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: reference.residual([0.5, 0.5], [1.0]), "2 entries"),
        (lambda: reference.residual([0.5, 0.5], [1.5, -0.5]), "q[1] is -0.5"),
        (lambda: reference.residual([0.5, 0.4], [0.5, 0.5]), "p sums to 0.9"),
        (lambda: reference.sample_from([0.5, 0.5], 1), "u is 1"),
        (lambda: reference.sample_from([], 0.5), "sums to 0"),
        (lambda: reference.speculative_round([0], [P], [Q], [0.5], 0.5), "1 drafts need 2 target rows"),
    ],
)
def test_bad_input_is_named(call: Callable[[], Any], named: str) -> None:
    with pytest.raises(ValueError, match=re.escape(named)):
        call()


# ---- frequencies: truth from outside ---------------------------------------------------------------------------


def one_position(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.choice(4, n, p=Q), rng.random((n, 2))


def first_tokens(play: Callable[..., list[int]], n: int, seed: int) -> np.ndarray:
    """How often each token comes first in n rounds with one draft."""
    drafts, numbers = one_position(n, seed)
    rows, q_rows = [P, P], [Q]
    firsts = [
        play([int(x)], rows, q_rows, [u], v)[0] for x, (u, v) in zip(drafts, numbers.tolist(), strict=True)
    ]
    return np.bincount(firsts, minlength=4)


def test_200_000_rounds_follow_p() -> None:
    """Fails by chance once in a million seeds; the seed is fixed."""
    counts = first_tokens(reference.speculative_round, 200_000, 3)
    assert chisquare(counts, np.multiply(P, 200_000)).pvalue > 1e-6


def test_resampling_from_p_shows_within_610_rounds() -> None:
    """The same test finds "resample from p" out: 610 rounds are enough for p < 0.001 in 99.99 % of all runs."""
    found = sum(
        chisquare(first_tokens(ROUND["from_p"], 610, seed), np.multiply(P, 610)).pvalue < 1e-3
        for seed in range(40)
    )
    assert found == 40


@pytest.mark.parametrize(
    ("key", "output"), [("from_p", (0.26, 0.32, 0.28, 0.14)), ("same_number", (0.325, 0.375, 0.2, 0.1))]
)
def test_the_wrong_rounds_have_the_outputs_that_the_lesson_prints(
    key: str, output: tuple[float, ...]
) -> None:
    counts = first_tokens(ROUND[key], 100_000, 5)
    assert chisquare(counts, np.multiply(output, 100_000)).pvalue > 1e-6


def test_whole_rounds_sample_the_target_token_by_token() -> None:
    """Two drafts from models that look at the last token: given what came before, every emitted token follows p.

    60,000 rounds; each of the 1 + 3 + 9 contexts is tested, false alarms below 1e-5 in all, and the seed is fixed.
    """
    rng = np.random.default_rng(8)
    target, draft = rng.dirichlet(np.ones(3), (2, 4))  # row: last token; row 3 is the prompt's
    n = 60_000
    uniforms = rng.random((n, 5))
    counts: Counter[tuple[int, ...]] = Counter()
    for u in uniforms.tolist():
        tokens, last, q_rows = [], 3, []
        for i in range(2):
            q_rows.append(draft[last].tolist())
            last = reference.sample_from(q_rows[-1], u[i])
            tokens.append(last)
        p_rows = [target[3].tolist(), target[tokens[0]].tolist(), target[tokens[1]].tolist()]
        out = reference.speculative_round(tokens, p_rows, q_rows, u[2:4], u[4])
        for end in range(1, len(out) + 1):
            counts[tuple(out[:end])] += 1
    for length in range(3):
        for before in itertools.product(range(3), repeat=length):
            seen = np.array([counts[(*before, token)] for token in range(3)])
            row = target[before[-1] if before else 3]
            if seen.sum() > 200:
                assert chisquare(seen, row * seen.sum()).pvalue > 1e-6, before
    assert sum(counts[(token,)] for token in range(3)) == n


# ---- the notebook --------------------------------------------------------------------------------------------------


def test_the_notes_on_wrong_numbers_are_computed_right() -> None:
    """Each number that a note comments on is what the slip it names gives."""

    pairs = list(zip(P, Q, strict=True))
    both = [min(p, q) for p, q in pairs]
    slips = {
        1 - sum(both),
        sum(both),
        sum(abs(p - q) for p, q in pairs),
        sum(p * q for p, q in pairs),
        sum(q for p, q in pairs if q > p),
        1 - sum(KEEP) / 4,
    }
    assert noted_numbers("rejection_chance") == {round(v, 4) for v in slips}
    slips = {0.75, 0.3, RESIDUAL["softmax"](P, Q)[0], 0.3 / 0.8, P[0], 0.4 / 0.7, 0, 0.3 / 0.6}
    assert noted_numbers("residual_first") == {round(v, 4) for v in slips}
    slips = {0.1 + 0.4 * 0.4, 0.4, 0.4 * 0.4, 0.1 + 0.4, 0.1 + 0.6 * 0.4, 0.1 + 0.4 * 0.1, 0.1}
    assert noted_numbers("biased_first") == {round(v, 4) for v in slips}


def test_the_rules_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    exec(uncommented("rules_compared"), solved("lesson3"))
    printed = [
        [float(x) for x in re.findall(r"\d\.\d*", line.partition(":")[2])]
        for line in capsys.readouterr().out.splitlines()
    ]
    assert printed == [
        P,
        [0.26, 0.32, 0.28, 0.14],
        [0.221, 0.299, 0.29, 0.19],
        [0.625, 0.375, 0, 0],
        Q,
    ]


def test_the_first_tokens_follow_p(capsys: pytest.CaptureFixture[str]) -> None:
    exec(uncommented("first_tokens"), solved("lesson3"))
    shares = [float(x) for x in re.findall(r"\d\.\d*", capsys.readouterr().out)]
    assert shares[4:] == P
    assert chisquare(np.multiply(shares[:4], 20_000), np.multiply(P, 20_000)).pvalue > 1e-6
