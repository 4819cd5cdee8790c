"""Lesson 2: its numbers, its examples, its words, external truth, and the notebook's own cells."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import binomtest

from specdec_helpers import checks
from specdec_helpers.authoring.course import Cell, read_cells
from specdec_helpers.checks import lesson2 as visible
from specdec_helpers.checks.report import collecting
from specdec_helpers.checks.table import Raises
from specdec_helpers.checks.values import same
from specdec_helpers.reference import lesson2 as reference
from specdec_helpers.trials import lesson2 as hidden

COURSE = Path(__file__).parents[2] / "course" / "lesson2_accept_or_reject.py"
CELLS = read_cells(COURSE)
FUNCTIONS = ("to_distribution", "accept_probability", "acceptance_rate", "accepted_prefix")
P, Q = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]

# Misconceptions that no single function can show: they are about what is passed to it.
WORDS_ONLY = {"acceptance_rate": {"temperature_one_side"}, "accepted_prefix": {"greedy_draft"}}


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


# ---- words and examples --------------------------------------------------------------------------------------


def test_every_misconception_has_its_wrong_implementation() -> None:
    assert set(visible.MISTAKES) == set(visible.EXERCISES) == set(hidden.ITEMS) == set(FUNCTIONS)
    for name in FUNCTIONS:
        words_only = WORDS_ONLY.get(name, set())
        assert set(visible.MISTAKES[name]) == set(hidden.ITEMS[name].wrong) | words_only
        assert not words_only & set(hidden.ITEMS[name].wrong)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_examples_are_what_the_reference_gives(name: str) -> None:
    function = getattr(reference, name)
    for example in visible.EXERCISES[name].examples:
        if isinstance(example.expected, Raises):
            with pytest.raises(ValueError, match=r"."):
                function(*example.args)
        else:
            assert same(function(*example.args), example.expected, example.rtol, example.atol), example
        for key, value in example.slips.items():
            with np.errstate(all="ignore"):
                wrong = hidden.ITEMS[name].wrong[key](*example.args)
            assert same(wrong, value, example.rtol, example.atol), (example.args, key, wrong)
            assert not same(value, example.expected, example.rtol, example.atol), (example.args, key)


def test_a_slip_is_named_by_the_first_example_that_shows_it() -> None:
    """Where two misconceptions give the same value, the student would be told the wrong one."""
    shadowed = {
        "counts_the_extra",  # the same number as a counted rejection until nothing is rejected
        "one_u",
    }
    for name in FUNCTIONS:
        for key, wrong in hidden.ITEMS[name].wrong.items():
            with np.errstate(all="ignore"):
                card = checks.check_function("lesson2", name, wrong)
            first = next(m for m in card.mistakes) if card.mistakes else ""
            assert first == key or key in shadowed, (name, key, first)


def test_what_a_misconception_is_said_to_give_is_what_it_gives() -> None:
    """Wherever the words have the form "call gives value"; the values are rounded to three digits or more."""
    found = 0
    for name in FUNCTIONS:
        for key, mistake in visible.MISTAKES[name].items():
            text = mistake.gives.replace("for (.5, .3, .2) and (.2, .5, .3) it", "acceptance_rate(P, Q)")
            said = re.match(rf"{name}(\(.*\)) gives (\[.*\]|[\d.]*\d)", text)
            if said and key in hidden.ITEMS[name].wrong:
                found += 1
                wrong = hidden.ITEMS[name].wrong[key](*eval(f"({said[1][1:-1]},)", {"P": P, "Q": Q}))
                assert np.asarray(wrong, float) == pytest.approx(
                    np.asarray(eval(said[2]), float), abs=6e-4
                ), key
    assert found >= 16


# ---- the notebook ----------------------------------------------------------------------------------------------


def solved() -> dict[str, Any]:
    """The names that the course's own cells define."""
    names: dict[str, Any] = {}
    for cell in CELLS:
        if cell.kind in ("code", "demo") and "explore(" not in cell.source:
            exec(cell.source, names)
    return names


def cell(name: str) -> Cell:
    return next(each for each in CELLS if each.name == name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_examples_in_the_docstrings_hold(name: str) -> None:
    runner = doctest.DocTestRunner(verbose=False)
    names = solved()
    for function, scope in ((names[name], names), (getattr(reference, name), vars(reference))):
        tests = doctest.DocTestFinder(recurse=False).find(function, name, globs=scope, module=False)
        assert sum(len(test.examples) for test in tests) >= 1
        for test in tests:
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_the_course_s_solutions_pass_their_checks() -> None:
    names, cards = solved(), []
    with collecting(cards.append):
        for name in FUNCTIONS:
            assert checks.check(**{name: names[name]}) is None
    assert [card.status for card in cards] == ["pass"] * len(FUNCTIONS)


def test_the_notes_on_wrong_numbers_are_computed_right() -> None:
    """Each number that a note comments on is what the slip it names gives."""

    def noted(item: str) -> set[float]:
        return {float(value) for value in re.findall(r"# note ([\d.]+):", cell(item).source)}

    slips = {round(v, 4) for v in (0.6, 0.5 / 0.3, 1, 0, 0.3, 0.3 * 0.5, 1 - 0.6, 0.5 - 0.3)}
    assert noted("keep_chance") == slips
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
    assert noted("overlap") == {round(v, 4) for v in slips}
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
    assert noted("tokens_at_overlap") == {round(v, 4) for v in slips}


def test_known_wrong_answers_open_a_note_of_their_own() -> None:
    for item, value in {"keep_chance": 5 / 3, "overlap": 0.31, "tokens_at_overlap": 1.7731}.items():
        assert checks.check_answer(item, reference.ANSWERS[item]).status == "pass"
        wrong = checks.check_answer(item, value)
        assert wrong.status == "fail"
        assert "is not it yet" not in wrong.summary
    for letter in "AC":
        assert checks.check_answer("target_likes_it_more", letter).status == "fail"


def test_the_last_cell_shows_what_the_text_promises(capsys: pytest.CaptureFixture[str]) -> None:
    names = solved()
    source = re.sub(r"^# ", "", cell("kept_share").source, flags=re.MULTILINE)
    exec(source, names)
    lines = capsys.readouterr().out.splitlines()
    kept, rate = map(float, re.findall(r"[\d.]+", lines[0]))
    assert rate == pytest.approx(0.7)
    assert kept == pytest.approx(0.7, abs=5 * np.sqrt(0.7 * 0.3 / 10_000))
    rates = [float(line.split()[-1]) for line in lines[1:]]
    assert rates == [0.6652, 0.7984, 1.0, 0.8412]
