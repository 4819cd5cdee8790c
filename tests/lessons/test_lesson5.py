"""Lesson 5: its numbers, and what its notes and its batch table say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from course_cells import cell, solved

from specdec_helpers.explorers.mathematics import lesson5 as drawn
from specdec_helpers.reference import lesson5 as reference

# ---- numbers ---------------------------------------------------------------------------------------------


def test_the_worked_example_of_the_chapter() -> None:
    assert reference.throughput(0.8, 4, 0.012, 0.001) == pytest.approx(210.1)
    assert reference.throughput(0.8, 4, 12, 1) == pytest.approx(0.2101)
    assert reference.speedup(0.8, 4, 10, 12, 1) == pytest.approx(2.101)
    assert {
        "throughput_per_second": pytest.approx(210.1),
        "speedup_worked": pytest.approx(2.101),
        "speedup_low_acceptance": pytest.approx(0.8907, abs=5e-5),
        "better_draft_slower": "B",
    } == reference.ANSWERS


@pytest.mark.parametrize(
    ("a", "t_draft", "k", "speed"),
    [(0.6, 1, 3, 1.4507), (0.8, 1, 6, 2.1952), (0.9, 1, 11, 3.1199), (0.3, 1, 0, 1), (0.8, 4, 3, 1.23)],
)
def test_the_best_k(a: float, t_draft: float, k: int, speed: float) -> None:
    assert reference.best_k(a, 10, 12, t_draft, 12) == k
    if k:
        assert reference.speedup(a, k, 10, 12, t_draft) == pytest.approx(speed, abs=5e-5)


def test_breaking_even() -> None:
    assert reference.break_even(1, 10, 12, 1) == pytest.approx(0.3, abs=1e-9)
    assert reference.break_even(4, 10, 12, 1) == pytest.approx(0.379949, abs=5e-7)
    assert reference.break_even(8, 10, 12, 1) == pytest.approx(0.500994, abs=5e-7)
    assert reference.break_even(2, 10, 12, 12) is None
    assert reference.break_even(1, 10, 8, 1) == 0


@pytest.mark.parametrize(("batch", "speed"), [(1, 2.401), (8, 2.401), (16, 1.401), (24, 0.989), (32, 0.764)])
def test_a_full_batch_spoils_the_win(batch: int, speed: float) -> None:
    t_target, t_verify = max(10, 0.25 * batch), max(10, 0.25 * batch * 5)
    assert reference.speedup(0.8, 4, t_target, t_verify, 1) == pytest.approx(speed, abs=5e-4)
    assert float(drawn.speedups(0.8, drawn.Costs(10, 10, 1, batch))[4]) == pytest.approx(speed, abs=5e-4)


def test_break_even_is_where_the_speed_up_crosses_one() -> None:
    rng = np.random.default_rng(5)
    met = 0
    for _ in range(200):
        k, times = int(rng.integers(1, 12)), (10, float(rng.uniform(6, 30)), float(rng.uniform(0, 5)))
        rate = reference.break_even(k, *times)
        if rate is None:
            assert reference.speedup(1, k, *times) < 1
        elif rate == 0:
            assert reference.speedup(0, k, *times) >= 1
        else:
            met += 1
            assert reference.speedup(rate, k, *times) == pytest.approx(1, abs=1e-9)
    assert met > 100


@pytest.mark.parametrize(
    "bad", [(-0.1, 4, 12, 1), (1.01, 4, 12, 1), (0.5, -1, 12, 1), (0.5, 4, 0, 1), (0.5, 4, 12, -1)]
)
def test_bad_input_is_named(bad: tuple[float, ...]) -> None:
    worst = next(
        value
        for value, usual in zip(bad, (0.5, 4, 12, 1), strict=True)
        if value != usual and (value <= 0 or value > 1) and value not in (12,)
    )
    with pytest.raises(ValueError, match=re.escape(str(worst))):
        reference.throughput(*bad)  # type: ignore[arg-type]


def test_the_explorer_agrees_with_the_reference_on_a_grid() -> None:
    for a in (0, 0.05, 0.3, 0.6, 0.8, 0.97, 1):
        for verify in (8, 10, 12, 19):
            for draft in (0, 0.2, 1, 4):
                costs = drawn.Costs(10, verify, draft)
                ratios = drawn.speedups(a, costs)
                assert np.allclose(ratios, [reference.speedup(a, k, 10, verify, draft) for k in range(13)])
                assert drawn.best(a, costs)[0] == reference.best_k(a, 10, verify, draft, 12)


# ---- the notebook --------------------------------------------------------------------------------------------


def test_the_notes_on_wrong_numbers_are_computed_right() -> None:
    """Each number that a note comments on is what the slip it names gives."""
    mean = 3.3616
    notes = cell("throughput_per_second").source
    for value in (5 / 0.016, (mean - 1) / 0.016, mean / 0.017, mean / 0.013, mean / 0.012, mean / 0.014):
        assert f"# note {value:.1f}:" in notes
    notes = cell("speedup_worked").source
    for value in (mean, 16 / (10 * mean), 10 * mean / 14, 12 * mean / 16, 2.101 - 1):
        assert f"# note {value:.3f}:" in notes
    notes = cell("speedup_low_acceptance").source
    for value in (1.4251, 1.4251 / 1.6 - 1, 1.6 / 1.4251, 0.4251 / 1.6, 1.4251 / 1.4, 1.4251 / 1.7):
        assert f"# note {value:.4f}:" in notes, value


def test_the_batch_table_prints_what_the_text_says(capsys: pytest.CaptureFixture[str]) -> None:
    names = solved("lesson5")
    exec(cell("batch_table").source, names)
    names["batch_table"]()
    printed = dict(re.findall(r"B = +(\d+): speed-up ([\d.]+)", capsys.readouterr().out))
    assert printed["8"] == printed["1"] == "2.401"
    assert float(printed["16"]) > 1 > float(printed["24"])
