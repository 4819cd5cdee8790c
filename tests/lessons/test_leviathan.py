"""Truth from outside: the printed tables of Leviathan, Kalman and Matias, "Fast Inference from Transformers via
Speculative Decoding", 2023 (arXiv 2211.17192).

Their α is our a, their γ our k, their c is t_draft / t_target, and their verification costs one target step.
"""

from __future__ import annotations

import pytest

from specdec_helpers.explorers.mathematics import lesson4 as drawn4
from specdec_helpers.explorers.mathematics import lesson5 as drawn5
from specdec_helpers.reference import lesson4, lesson5

# Table 1: α, γ, operations (relative, for a draft without cost), speed
TABLE_1 = [
    (0.6, 2, 1.53, 1.96),
    (0.7, 3, 1.58, 2.53),
    (0.8, 2, 1.23, 2.44),
    (0.8, 5, 1.63, 3.69),
    (0.9, 2, 1.11, 2.71),
    (0.9, 10, 1.60, 6.86),
]
# Table 4: α, c, γ, expected speed-up as printed (computed there from unrounded α and c, hence the tolerance)
TABLE_4 = [
    (0.75, 0.02, 7, 3.2),
    (0.80, 0.04, 7, 3.3),
    (0.82, 0.11, 7, 2.5),
    (0.62, 0.02, 7, 2.3),
    (0.68, 0.04, 5, 2.4),
    (0.65, 0.02, 5, 2.4),
    (0.73, 0.04, 5, 2.6),
    (0.74, 0.11, 3, 2.0),
    (0.53, 0.02, 5, 1.9),
    (0.55, 0.04, 3, 1.8),
]
PRINTED_1, PRINTED_4 = 0.0051, 0.06


@pytest.mark.parametrize(("a", "k", "operations", "speed"), TABLE_1)
def test_table_1_is_the_expected_number_of_tokens(a: float, k: int, operations: float, speed: float) -> None:
    tokens = [
        lesson4.expected_tokens(a, k),
        lesson4.expected_from_distribution(a, k),
        lesson5.speedup(a, k, 10, 10, 0),
        float(drawn4.expected(a, k)),
        float(drawn4.over_k(a)[k]),
        float(drawn5.speedups(a, drawn5.Costs(10, 10, 0))[k]),
    ]
    for value in tokens:
        assert value == pytest.approx(speed, abs=PRINTED_1)
        # Every verification works on k + 1 positions, and E[N] of them become tokens.
        assert (k + 1) / value == pytest.approx(operations, abs=PRINTED_1)


@pytest.mark.parametrize(("a", "c", "k", "printed"), TABLE_4)
def test_table_4_is_the_speed_up(a: float, c: float, k: int, printed: float) -> None:
    assert lesson5.speedup(a, k, 1, 1, c) == pytest.approx(printed, abs=PRINTED_4)
    assert lesson5.throughput(a, k, 50, 50 * c) * 50 == pytest.approx(printed, abs=PRINTED_4)
    assert float(drawn5.speedups(a, drawn5.Costs(10, 10, 10 * c))[k]) == pytest.approx(printed, abs=PRINTED_4)


def test_corollary_3_9_drafting_pays_whenever_a_is_above_c() -> None:
    """If α > c, some γ gives a speed-up, of at least (1 + α) / (1 + c); if α <= c, none does."""
    for a, c in [(0.2, 0.1), (0.5, 0.45), (0.9, 0.02), (0.11, 0.1)]:
        assert lesson5.best_k(a, 10, 10, 10 * c, 12) >= 1
        assert lesson5.speedup(a, 1, 10, 10, 10 * c) == pytest.approx((1 + a) / (1 + c))
    for a, c in [(0.1, 0.2), (0.45, 0.5), (0.0, 0.01)]:
        assert lesson5.best_k(a, 10, 10, 10 * c, 12) == 0
    for c in (0.05, 0.3, 0.7):
        assert lesson5.break_even(1, 10, 10, 10 * c) == pytest.approx(c, abs=1e-6)


def test_the_presets_of_the_explorer_are_rows_of_table_4() -> None:
    from specdec_helpers.explorers.lesson5 import WhenItPays

    presets = WhenItPays().presets
    for name in ("T5-small", "T5-large"):
        at = presets[name]
        row = (at["a"], pytest.approx(at["t_draft"] / at["t_target"]), at["k"])
        assert any(row == (a, c, k) for a, c, k, _ in TABLE_4), name
        assert at["t_verify"] == at["t_target"]
