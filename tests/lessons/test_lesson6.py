"""Lesson 6: the reference against what is known from outside, and the trials against odd answers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from specdec_helpers.explorers.mathematics.lesson6 import decode as explorers_decode
from specdec_helpers.lm import Table, Target, blend, draft, encode, random_table, sharpen
from specdec_helpers.reference import lesson5
from specdec_helpers.reference import lesson6 as reference
from specdec_helpers.trials.base import earned, run_item
from specdec_helpers.trials.lesson6 import ITEMS
from specdec_helpers.trials.lesson6_chance import STAGES, surprise, unlikely

DECODERS = {"reference": reference.speculative_decode, "explorer": explorers_decode}
PROMPT = encode("It is a truth universally acknowledged, that ")


def test_the_numbers_of_part_1() -> None:
    assert reference.ANSWERS["log_tokens_per_verification"] == pytest.approx(3.4)
    assert reference.ANSWERS["log_acceptance_rate"] == pytest.approx(0.8)
    assert reference.ANSWERS["log_predicted_speedup"] == pytest.approx(2.3263, abs=5e-5)


@pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)
def test_the_text_is_distributed_as_the_targets(decode: Any) -> None:
    """The joint distribution of three tokens, all 27 of them, over 20,000 runs: chi-square."""
    p, q = random_table(3, seed=4, spread=1.5), random_table(3, seed=5, spread=1.5)
    rng = np.random.default_rng(8)
    counts = dict.fromkeys(itertools.product(range(3), repeat=3), 0)
    for _ in range(20_000):
        tokens, _ = decode(q, p.last_rows, [1], 3, 2, rng)
        counts[tuple(tokens)] += 1
    expected = [20_000 * p.rows[1][a] * p.rows[a][b] * p.rows[b][c] for a, b, c in counts]
    assert stats.chisquare(list(counts.values()), expected).pvalue > 1e-4


def test_the_chi_square_would_notice_a_wrong_residual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "_residual", lambda p, q: np.asarray(p))
    p, q = random_table(3, seed=4, spread=1.5), random_table(3, seed=5, spread=1.5)
    rng = np.random.default_rng(8)
    firsts = [reference.speculative_decode(q, p.last_rows, [1], 1, 2, rng)[0][0] for _ in range(5000)]
    expected = 5000 * np.array(p.rows[1])
    assert stats.chisquare(np.bincount(firsts, minlength=3), expected).pvalue < 1e-6


def test_the_log_gives_back_the_acceptance_rate() -> None:
    """Models that ignore the context: a is the overlap of p and q, and E[N] the mean yield."""
    p, q = (Table(np.tile(row, (4, 1))) for row in ([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]))
    _, log = reference.speculative_decode(q, p.last_rows, [0], 30_000, 3, np.random.default_rng(0))
    found = reference.run_statistics(log, 3)
    tested = found["accepted"] + sum(count < 3 for count in log)
    assert abs(found["acceptance_rate"] - 0.6) < 5 * math.sqrt(0.24 / tested)
    expected = 1 + 0.6 + 0.36 + 0.216
    assert abs(found["tokens_per_verification"] - expected) < 5 * np.std(log) / math.sqrt(len(log))


@pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)
@pytest.mark.parametrize(("name", "k"), [("A", 1), ("A", 6), ("B", 4), ("C", 3)])
def test_greedy_equality_in_float64_on_the_shipped_models(decode: Any, name: str, k: int) -> None:
    target, small = Target(0, dtype=np.float64), draft(name, 0)
    plain = list(PROMPT)
    for _ in range(120):
        plain.append(int(target.distributions(plain, 1)[0].argmax()))
    fast = Target(0, dtype=np.float64)
    tokens, log = decode(small.distribution, fast.distributions, PROMPT, 120, k, np.random.default_rng(0))
    assert tokens == plain[len(PROMPT) :]
    assert fast.passes == len(log) < 120
    assert all(0 <= count <= k for count in log)


def test_the_explorers_decoder_and_the_reference_agree_where_nothing_is_left_to_chance() -> None:
    for seed in range(30):
        p = sharpen(random_table(6, seed))
        q = Table([row if i % 3 else np.roll(row, 1) for i, row in enumerate(p.rows)])
        for n, k in ((13, 1), (13, 4), (2, 5)):
            ours, theirs = (
                f(q, p.last_rows, [seed % 6], n, k, np.random.default_rng(1)) for f in DECODERS.values()
            )
            assert (list(ours[0]), list(ours[1])) == (theirs[0], theirs[1])


def test_identical_models_accept_everything_and_rounding_harms_nothing() -> None:
    p = random_table(5, 2)
    nearly = blend(p, random_table(5, 3), 1 - 1e-15)
    for q in (p, nearly):
        _, log = reference.speculative_decode(q, p.last_rows, [0], 400, 4, np.random.default_rng(0))
        assert set(log) == {4}
    assert reference._residual([0.5, 0.5], [0.5, 0.5]).tolist() == [0.5, 0.5]


def test_choose_k_is_lesson_5s_best_k_where_every_pass_costs_the_same() -> None:
    for a in np.linspace(0, 1, 21):
        for t_verify, t_draft in ((12, 1), (12, 4), (10, 0), (30, 1)):
            chosen = reference.choose_k(a, 10, [t_verify] * 13, t_draft)
            assert chosen == lesson5.best_k(a, 10, t_verify, t_draft, 12)


@pytest.mark.parametrize(("log", "k"), [([], 4), ([1], 0), ([5], 4), ([-1], 4)])
def test_run_statistics_names_what_is_wrong(log: list[int], k: int) -> None:
    with pytest.raises(ValueError, match=r"k = 0|empty|outside 0\.\.4"):
        reference.run_statistics(log, k)


# ---- the trials themselves -------------------------------------------------------------------------------


def test_the_bound_on_chance_holds() -> None:
    """Chernoff against the exact binomial tail: never more likely than the bound says."""
    for n, p in ((50, 0.3), (400, 0.1), (2000, 0.7), (7, 0.5)):
        counts = [[n - c, c] for c in range(n + 1)]
        flagged = sum(stats.binom.pmf(c[1], n, p) for c in counts if unlikely(c, [1 - p, p]))
        assert flagged <= 2 * math.exp(-22)
    assert unlikely([9, 1], [1.0, 0.0])
    assert surprise([9, 1], [1.0, 0.0]) == math.inf
    assert surprise([10, 0], [0.1 + 0.2 + 0.7, 0.0]) < 1e-9
    assert surprise([0, 0], [0.6, 0.4]) == 0
    assert unlikely([800, 1200], [0.55, 0.45])


def _grade_counting(name: str, function: Any, rng: np.random.Generator) -> tuple[float, int]:
    """The share of the points, and how often the function called the models that the trials handed it."""
    calls = 0

    def counted(model: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            return model(*args, **named)

        return call

    def watched(*args: Any) -> Any:
        return function(*(counted(a) if callable(a) else a for a in args))

    return earned(run_item(ITEMS[name], watched, rng)), calls


def test_right_code_is_judged_by_few_calls_of_the_models() -> None:
    """Each call is a round trip to the sandbox. A second sample, where chance looks suspicious, is rare."""
    for name, first in (("draft_block", 250), ("speculative_decode", 1250)):
        found = [
            _grade_counting(name, getattr(reference, name), np.random.default_rng([seed, 5]))
            for seed in range(20)
        ]
        assert all(share == 1 for share, _ in found)
        calls = np.array([n for _, n in found])
        assert np.mean(calls < first) >= 0.75


def test_a_suspicious_sample_grows_and_right_code_still_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every sample taken for suspicious, all stages are drawn, and only the strict bound decides."""
    stages = tuple((times, 0.0) for times, _ in STAGES)
    monkeypatch.setattr("specdec_helpers.trials.lesson6_block.STAGES", stages)
    monkeypatch.setattr("specdec_helpers.trials.lesson6_sampling.STAGES", stages)
    for name, least in (("draft_block", 800), ("speculative_decode", 4000)):
        share, calls = _grade_counting(name, getattr(reference, name), np.random.default_rng(3))
        assert share == 1
        assert calls > least


def test_the_reference_earns_everything_with_many_seeds() -> None:
    for name in ("draft_block", "speculative_decode"):
        for seed in range(12):
            results = run_item(ITEMS[name], getattr(reference, name), np.random.default_rng([seed, 99]))
            assert earned(results) == 1, [r.slip for r in results if r.slip]


ODD: list[Any] = [
    None, 0, "", "ab", [], [[], []], ([], []), ((), ()), [None, None], ["ab", "cd"], [[1.5], [0]],
    [[math.inf], [math.nan]], [[10**30] * 12, [0] * 12], ([True, False], [True]), {"tokens": []}, np.zeros((2, 2)),
    np.zeros(2), [np.zeros(3), 4], [[-1, -2, -3], [4, 4]], ([1, 2, 3], "abc"), [[[1]], [[2]]],
]  # fmt: skip


@pytest.mark.parametrize("value", ODD, ids=[repr(v)[:30] for v in ODD])
@pytest.mark.parametrize("name", ["draft_block", "speculative_decode"])
def test_odd_answers_lose_their_points_and_harm_nothing(name: str, value: Any) -> None:
    def odd(*_: Any) -> Any:
        return value

    def odd_after_calls(model: Any, second: Any, *_: Any) -> Any:
        model([0])
        if callable(second):
            second([0, 1], 2)
        return value

    for function in (odd, odd_after_calls):
        results = run_item(ITEMS[name], function, np.random.default_rng(0))
        assert earned(results) == 0
        for result in results:
            assert result.slip is None or (result.slip.got and result.slip.cause and result.slip.next_step)


def test_odd_model_calls_harm_nothing() -> None:
    def calls(*arguments: tuple[Any, ...]) -> Any:
        def function(draft_model: Any, target_pass: Any, prompt: Any, n_tokens: int, k: int, rng: Any) -> Any:
            for model, args in arguments:
                try:
                    (draft_model if model == "q" else target_pass)(*args)
                except Exception:
                    continue
            return [0] * n_tokens, [0] * n_tokens

        return function

    for odd in (
        calls(("q", ([],)), ("p", ([], 1))),
        calls(("q", ([0],)), ("p", ([0], "x"))),
        calls(("q", ([0],)), ("p", ([0], None))),
        calls(("q", ([0],)), ("p", ([0, 1], np.array([1, 2])))),
        calls(("q", (["a"],)), ("q", (None,)), ("p", ([0, 1, 2, 3, 4], 5))),
        calls(("q", ([0],)), ("p", ([99, 98, 97, 96, 95], 5))),
        calls(("q", ([0],)), ("p", ([0],))),
    ):
        assert earned(run_item(ITEMS["speculative_decode"], odd, np.random.default_rng(0))) == 0
