"""The explorers' mathematics and the reference are two implementations; here they meet on a grid."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from specdec_helpers.explorers.mathematics import lesson1 as drawn1
from specdec_helpers.explorers.mathematics import lesson2 as drawn2
from specdec_helpers.explorers.mathematics import lesson3 as drawn3
from specdec_helpers.explorers.mathematics import lesson4 as drawn4
from specdec_helpers.explorers.mathematics import lesson5 as drawn5
from specdec_helpers.reference import lesson1, lesson2, lesson3, lesson4, lesson5

RATES = [*np.linspace(0, 1, 21), 0.999, 1 - 1e-9]
LENGTHS = range(13)
TIGHT = {"rel": 1e-12, "abs": 1e-12}


def pairs(size: int, count: int = 200) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs of distributions: random ones, some sparse, and the identical and the disjoint pair."""
    random = np.random.default_rng(5)
    found = [(np.eye(size)[0], np.eye(size)[1]), (np.full(size, 1 / size), np.full(size, 1 / size))]
    for _ in range(count):
        rows = random.dirichlet(np.full(size, 0.4), 2)
        rows[rows < 0.02] = 0
        p, q = rows / rows.sum(axis=1, keepdims=True)
        found.append((p, q))
    return found


def test_verification() -> None:
    for k in range(4):
        for draft, picks in product(product(range(3), repeat=k), product(range(3), repeat=k + 1)):
            accepted, emitted = drawn1.verify(draft, picks)
            assert emitted == lesson1.verify_greedy(list(draft), list(picks))
            assert accepted == lesson1.accepted_count(list(draft), list(picks))


@pytest.mark.parametrize("k", LENGTHS)
def test_expected_tokens(k: int) -> None:
    for a in RATES:
        mine = float(drawn4.expected(a, k))
        assert mine == pytest.approx(lesson4.expected_tokens(a, k), rel=1e-6)
        assert drawn4.over_k(a)[k] == pytest.approx(mine, rel=1e-12)
        assert list(drawn4.accepted(a, k)) == pytest.approx(lesson4.accepted_distribution(a, k), **TIGHT)
        assert sum(float(part) for part in drawn3.sources(a, k)) == pytest.approx(mine, rel=1e-12)


@pytest.mark.parametrize(("a", "k"), [(0.0, 4), (0.5, 4), (0.8, 4), (0.95, 12), (1.0, 7)])
def test_simulations_agree_with_the_formula(a: float, k: int) -> None:
    trials = drawn4.TRIALS
    chances = np.array(lesson4.accepted_distribution(a, k))
    tokens = np.arange(1, k + 2)
    mean = float(chances @ tokens)
    error = np.sqrt(max(float(chances @ (tokens - mean) ** 2), 0) / trials)
    assert abs(drawn4.running_average(a, k)[-1] - mean) <= 5 * error + 1e-9
    rounds = drawn1.rounds(a, k, count=trials)
    assert abs(np.mean(rounds) - mean) <= 5 * error + 1e-9


@pytest.mark.parametrize("size", [2, 3, 5])
def test_accept_rule_and_overlap(size: int) -> None:
    for p, q in pairs(size):
        assert drawn2.overlap(p, q) == pytest.approx(lesson2.acceptance_rate(p, q), **TIGHT)
        for p_x, q_x in zip(p, q, strict=True):
            if q_x > 0:
                assert drawn2.acceptance(p_x, q_x) == pytest.approx(
                    lesson2.accept_probability(p_x, q_x), **TIGHT
                )


def test_the_draft_with_overlap_a() -> None:
    for a in RATES:
        q = drawn2.draft_with_overlap(a)
        assert lesson2.acceptance_rate(drawn2.TARGET, q) == pytest.approx(a, **TIGHT)


@pytest.mark.parametrize("size", [2, 4])
def test_one_position_under_each_rule(size: int) -> None:
    for p, q in pairs(size):
        accept = [
            1.0 if q_x == 0 else lesson2.accept_probability(p_x, q_x) for p_x, q_x in zip(p, q, strict=True)
        ]
        missing = np.maximum(p - q, 0)
        replacements = {
            drawn3.RIGHT: lesson3.residual(p, q),
            "from p": p,
            "from q": q,
            "softmax of p − q": np.exp(missing) / np.exp(missing).sum(),
        }
        for rule, replacement in replacements.items():
            kept, added = drawn3.position(p, q, rule)
            expected = lesson3.emitted_distribution(q, accept, replacement)
            assert list(kept + added) == pytest.approx(expected, **TIGHT)
        kept, added = drawn3.position(p, q, "always accept")
        assert list(kept + added) == pytest.approx(
            lesson3.emitted_distribution(q, [1] * size, replacements["from p"]), **TIGHT
        )
        right = drawn3.position(p, q, drawn3.RIGHT)
        assert drawn3.error(sum(right), p) == pytest.approx(0, abs=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "times", [(10, 12, 1), (10, 12, 4), (10, 10, 0.2), (10, 10, 0), (1, 30, 2), (50, 0.5, 20)]
)
def test_the_cost_model(times: tuple[float, float, float]) -> None:
    target, verify, draft = times
    costs = drawn5.Costs(target, verify, draft)
    for a in RATES:
        mine = drawn5.speedups(a, costs)
        for k in LENGTHS:
            assert mine[k] == pytest.approx(lesson5.speedup(a, k, target, verify, draft), rel=1e-6)
        top_k, top = drawn5.best(a, costs)
        assert top_k == lesson5.best_k(a, target, verify, draft, drawn5.LONGEST)
        if top_k:
            assert top == pytest.approx(lesson5.speedup(a, top_k, target, verify, draft), rel=1e-6)
        else:
            assert top == 1


def test_a_batch_pays_for_its_positions() -> None:
    for batch, k in product((2, 8, 16, 24, 32), LENGTHS):
        costs = drawn5.Costs(10, 10, 1, batch)
        verify = max(10, batch * (k + 1) * 0.25)
        assert drawn5.speedups(0.8, costs)[k] == pytest.approx(
            lesson5.speedup(0.8, k, 10, verify, 1), rel=1e-9
        )
