"""Lesson 6's verbs and explorer: what they compute, what they show, and what they do with a stub or a bad result."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import specdec_helpers
from specdec_helpers import explorers
from specdec_helpers.explorers.mathematics import lesson6 as mathematics
from specdec_helpers.lm import Target, decode, draft, encode, novels
from specdec_helpers.measuring import verbs
from specdec_helpers.measuring.batch import BatchTimes, batch_times
from specdec_helpers.measuring.clock import Times, part_times, plain_decode
from specdec_helpers.measuring.runs import PROMPT, Run, duel
from specdec_helpers.measuring.show import Table, coloured, origins
from specdec_helpers.reference.lesson6 import choose_k, speculative_decode

TEXT = encode(novels()[:120])


def ticks() -> Callable[[], float]:
    """A clock that moves by one at every look."""
    counter = itertools.count()
    return lambda: float(next(counter))


class Clocked:
    """Models and a clock together: time passes only in the models, as much as `prices` say."""

    def __init__(self, target: float, row: float, draft_step: float) -> None:
        self.now = 0.0
        self.real_target, self.real_draft = Target(), draft("A")
        self.target, self.row, self.step = target, row, draft_step

    def clock(self) -> float:
        return self.now

    def distributions(self, seq: Any, m: int) -> np.ndarray:
        self.now += self.target + self.row * m
        return self.real_target.distributions(seq, m)

    def distribution(self, seq: Any) -> np.ndarray:
        self.now += self.step
        return self.real_draft.distribution(seq)

    def forget(self) -> None:
        self.real_target.forget()


def test_the_parts_cost_what_they_cost() -> None:
    made = Clocked(10.0, 0.5, 1.0)
    *_, times = part_times(made, made, TEXT, 5, turns=3, clock=made.clock)  # type: ignore[arg-type]
    assert times.t_target == pytest.approx(10.5)
    assert times.t_verify == pytest.approx([10.5, 11, 11.5, 12, 12.5, 13])
    assert times.t_draft == pytest.approx(1.0)
    assert times.speedup(3.0, 4) == pytest.approx(3 * 10.5 / 16.5)


def test_a_duel_measures_exactly_what_the_formula_says_where_nothing_else_costs() -> None:
    made = Clocked(10.0, 0.5, 1.0)
    *_, run = duel(speculative_decode, made, made, 4, n_tokens=60, repeats=1, clock=made.clock)  # type: ignore[arg-type]
    assert run.plain_seconds == pytest.approx(60 * 10.5)
    assert run.seconds == pytest.approx(len(run.log) * (10 + 0.5 * 5 + 4))
    assert len(run.tokens) == 60


def test_plain_decoding_samples_the_target() -> None:
    target = Target(0)
    tokens = plain_decode(target, TEXT[:30], 20, np.random.default_rng(0))
    seq = TEXT[:30]
    for token in tokens:
        assert token == target.distributions(seq, 1)[0].argmax()
        seq = [*seq, token]


def test_a_runs_statistics() -> None:
    run = Run((), (4, 2, 0, 4, 1, 3, 0, 4, 2, 4), 4, 2.0, 5.0)
    assert run.acceptance_rate == pytest.approx(0.8)
    assert run.tokens_per_verification == pytest.approx(3.4)
    assert run.speedup == 2.5
    assert Run((), (), 4, 1, 1).acceptance_rate == 0


def test_batches() -> None:
    *_, times = batch_times(TEXT, 3, 4, turns=2, clock=ticks())
    assert (times.one, times.many) == (1, 1)
    assert BatchTimes(8, 4, 2.0, 5.0).speedup(3.0, 0.01) == pytest.approx(6 / 5.32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: next(part_times(Target(), draft("B"), TEXT[:8], 4)), "8 tokens is too short"),
        (lambda: next(part_times(Target(), draft("B"), TEXT, 0)), "k_max = 0"),
        (lambda: next(duel(speculative_decode, Target(), draft("B"), 0)), "k = 0"),
        (lambda: next(batch_times(TEXT[:20], 4, 4)), "text of 20 tokens"),
        (lambda: verbs.measure(7), "measure needs your function"),
        (lambda: verbs.measure(speculative_decode, "D"), "'D'"),
        (lambda: verbs.write(speculative_decode, "naïve"), "'ï' at place 2"),
        (lambda: verbs.write(lambda *_: None), "NoneType"),
        (lambda: verbs.write(lambda *_: ([1, 2], [0])), "2 tokens for n_tokens = 400"),
        (lambda: verbs.write(lambda *_: ([1] * 400, [9])), r"0\.\.4"),
        (lambda: verbs.show_models(""), "empty"),
    ],
)
def test_bad_input_is_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# ---- what is shown ---------------------------------------------------------------------------------------


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """(html, text) of everything displayed; the measurements are short."""
    out: list[tuple[str, str]] = []

    def display(bundle: dict[str, str], raw: bool = False) -> None:
        out.append((bundle["text/html"], bundle["text/plain"]))

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(verbs, "TURNS", 2)
    monkeypatch.setattr(verbs, "REPEATS", 1)
    monkeypatch.delenv("SPECDEC_GRADING", raising=False)
    return out


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", html))


def test_measure_lays_the_formula_beside_the_clock(shown: list[tuple[str, str]]) -> None:
    verbs.measure(speculative_decode, "B", 3, temperature=0.5)
    ((html, text),) = shown
    for part in (
        "Draft B, bigram table, k = 3, temperature 0.5",
        "acceptance rate a",
        "tokens per verification",
        "formula",
    ):
        assert part in text
        assert part in words(html)
    assert re.search(r"speed-up +\d\.\d\d× +\d\.\d\d×", text)


def test_measure_k_hands_the_students_function_the_measured_times(shown: list[tuple[str, str]]) -> None:
    asked: list[tuple[Any, ...]] = []

    def choose(*arguments: Any) -> int:
        asked.append(arguments)
        return choose_k(*arguments)

    verbs.measure_k(speculative_decode, choose, "B", ks=(1, 3))
    ((a, t_target, t_verify, t_draft),) = asked
    assert 0.2 < a < 0.8
    assert len(t_verify) == 4
    assert t_target > 0 < t_draft < t_target
    ((_, text),) = shown
    assert f"Your choose_k picks k = {choose_k(*asked[0])}" in text
    assert "k = 1 " in text
    assert "k = 3 " in text


def test_three_ways_to_lose(shown: list[tuple[str, str]]) -> None:
    verbs.measure_losses(speculative_decode)
    ((_, text),) = shown
    heads = [line.split(":")[0] for line in text.splitlines()[2:6]]
    assert heads == ["a small win", "low a", "costly draft", "big batch"]
    costly = re.search(r"costly draft: .*?(\d\.\d\d) +(\d\.\d\d) ", text)
    assert costly is not None
    assert float(costly[1]) > 0.97, "the target agrees with itself"


def test_write_marks_where_each_token_came_from(shown: list[tuple[str, str]]) -> None:
    verbs.write(speculative_decode, PROMPT, "A", 4, n_tokens=150, temperature=0, seed=3)
    ((html, text),) = shown
    assert "150 tokens:" in text
    assert "recovered tokens are bold on orange" in words(html)
    assert html.count("text-decoration: underline") == text.count("{")  # the legend's example is in both
    target, seq = Target(0), encode(PROMPT)
    for _ in range(150):
        seq.append(int(target.distributions(seq, 1)[0].argmax()))
    assert re.sub(r"[\[\]{}]", "", text).startswith(decode(seq))


def test_origins_and_colours() -> None:
    pieces = origins(encode("abcdefg"), [2, 0, 2], 2)
    assert pieces == [
        ("ab", "accepted"),
        ("c", "bonus"),
        ("d", "recovered"),
        ("ef", "accepted"),
        ("g", "bonus"),
    ]
    assert origins(encode("abc"), [2, 2], 2) == [("ab", "accepted"), ("c", "bonus")]
    html, text = coloured("<x>", [("&", "accepted"), ("b", "recovered"), ("c", "bonus")])
    assert "&lt;x&gt;" in html
    assert "&amp;" in html
    assert text.startswith("<x>&[b]{c}\n3 tokens: 1 accepted (33%), 1 recovered (33%), 1 bonus (33%).")
    assert "no tokens" in coloured("a", [])[1]


def test_show_models_tells_what_each_expects(shown: list[tuple[str, str]]) -> None:
    verbs.show_models("It is a truth universally acknowledged, that a single man in p")
    ((html, text),) = shown
    assert "draft C, one-layer transformer" in text
    overlaps = [float(line.split()[-1]) for line in text.splitlines()[3:6]]
    assert all(0 < value <= 1 for value in overlaps)
    assert html.count('scope="row"') == 4


def test_tables_escape_and_line_up() -> None:
    table = Table("<b>", ("", "x"), [("a", "1"), ("long", "22")], "end")
    assert "&lt;b&gt;" in table.html()
    assert table.text().splitlines() == ["<b>", "       x", "a      1", "long  22", "end"]


def test_a_stub_gets_a_calm_sentence(shown: list[tuple[str, str]]) -> None:
    def stub(*_: Any) -> Any:
        raise NotImplementedError

    verbs.measure(stub)
    verbs.measure_k(stub, stub)
    verbs.measure_losses(stub)
    verbs.write(stub)
    verbs.measure_k(speculative_decode, stub, "B", ks=(1,))
    assert [text.split(":")[0] for _, text in shown] == [
        "measure",
        "measure_k",
        "measure_losses",
        "write",
        "measure_k",
    ]
    assert all("not yet" in text for _, text in shown)


def test_nothing_is_measured_while_grading(
    shown: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECDEC_GRADING", "1")
    for name in ("measure", "measure_k", "measure_losses", "write", "show_models"):
        assert getattr(specdec_helpers, name)(None) is None
    assert shown == []


# ---- the explorer ----------------------------------------------------------------------------------------


def test_the_shipped_points_are_three_real_drafts() -> None:
    found = mathematics.shipped()
    assert [one.name for one in found] == ["A", "B", "C"]
    for one in found:
        assert len(one.ks) == len(one.tokens) == len(one.speed) == len(one.formula)
        expected = [sum(one.a**i for i in range(k + 1)) for k in one.ks]
        assert one.tokens == pytest.approx(expected, rel=0.12)
    assert max(found[0].speed) >= 2, "the best draft at its best k"


def test_measuring_here_replaces_the_points(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LIVE_KS": (1, 2), "REPEATS": 1, "TURNS": 1, "TOKENS": 30, "LIVE_STEPS": 9}.items():
        monkeypatch.setattr(mathematics, name, value)
    explorer = explorers.build("lesson6")
    panel = explorer.panels[0]
    assert "Measured on the machine the course was made on" in panel.view.readout
    panel.button.click()  # type: ignore[attr-defined]
    explorer.set(k=2)
    assert "Measured on this machine: A " in panel.view.readout
    assert [one.ks for one in panel.found] == [(1, 2)] * 3  # type: ignore[attr-defined]
    assert panel.bar.value == 9  # type: ignore[attr-defined]
    assert panel.button.disabled is False  # type: ignore[attr-defined]
    explorer.set(k=7)
    assert "Measured points exist for k = 1, 2." in panel.view.readout
    explorer.set(k=0)
    assert "plain decoding" in panel.view.readout


def test_the_explorer_computes_the_formula() -> None:
    explorer = explorers.build("lesson6")
    explorer.set(a=0.8, k=4)
    assert "E[N] = 3.3616" in explorer.description
    explorer.preset("a of draft A")
    assert explorer.values()["a"] == pytest.approx(mathematics.shipped()[0].a, abs=0.005)


def test_times_are_plain_numbers() -> None:
    times = Times(0.26, (0.26, 0.3, 0.33, 0.35, 0.36), 0.005)
    assert times.speedup(3.4, 4) == pytest.approx(2.3263, abs=5e-5)
