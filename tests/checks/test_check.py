"""check(): one card for each answer, a calm word for the unfinished, and never an exception for a wrong answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.error import StdinNotImplementedError

from specdec_helpers import checks
from specdec_helpers.checks import check
from specdec_helpers.checks.ask import ask
from specdec_helpers.checks.report import Card, NotYet, collecting
from specdec_helpers.checks.table import Example, Exercise, Mistake, Raises, Slip, run_exercise, value_advice
from specdec_helpers.reference import lesson1, lesson4

ITEMS = [item for lesson in checks.LESSONS for item in checks.known_items(lesson)]


def cards_of(**items: Any) -> tuple[NotYet | None, list[Card]]:
    cards: list[Card] = []
    with collecting(cards.append):
        result = check(**items)
    return result, cards


def unfinished(*args: Any) -> None:
    raise NotImplementedError


def typed(x: Any) -> Any:
    raise StdinNotImplementedError("raw_input was called, but this frontend does not support input requests.")


def unfinished_base(*args: Any) -> Any:
    raise NotImplementedError


verify_greedy = unfinished_base  # the lesson's own function, not written yet


def test_a_right_function_passes_and_returns_nothing() -> None:
    result, (card,) = cards_of(verify_greedy=lesson1.verify_greedy)
    assert result is None
    assert card.status == "pass"
    assert all(line.slip is None for line in card.lines)


def test_several_answers_give_several_cards() -> None:
    result, cards = cards_of(verify_greedy=lesson1.verify_greedy, tokens_produced=2)
    assert [card.status for card in cards] == ["pass", "fail"]
    assert repr(result) == "0.0"
    assert result is not None
    assert "tokens_produced" in result.line


@pytest.mark.parametrize(
    "item", [name for lesson in checks.LESSONS for name in checks.table(lesson).EXERCISES]
)
def test_a_stub_is_not_started_and_not_wrong(item: str) -> None:
    result, (card,) = cards_of(**{item: unfinished})
    assert card.status == "unstarted"
    assert "not started" in card.summary
    assert repr(result) == "0.0"


@pytest.mark.parametrize("item", list(checks.notes()))
def test_none_is_not_started(item: str) -> None:
    _, (card,) = cards_of(**{item: None})
    assert card.status == "unstarted"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda draft, target_next: len(unfinished_base(draft)) - 1, "your code calls another function"),
        (
            lambda draft, target_next: len(verify_greedy(draft, target_next)) - 1,
            "your code calls `verify_greedy`",
        ),
        (lambda draft, target_next: [verify_greedy(draft, x) for x in target_next], "calls `verify_greedy`"),
        (unfinished, "replace the stub with your code"),
    ],
)
def test_a_written_function_that_meets_another_stub_is_sent_there(function: Any, words: str) -> None:
    _, (card,) = cards_of(accepted_count=function)
    assert card.status == "unstarted"
    assert words in card.summary


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = object.__hash__

    @property
    def shape(self) -> Any:
        raise AttributeError


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        "x",
        1,
        -1.5,
        float("nan"),
        10**5000,
        [],
        {},
        np.zeros(3),
        True,
        print,
        int,
        object(),
        1j,
        b"",
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_answer_whatever_raises(value: Any) -> None:
    for item in (
        "verify_greedy",
        "expected_tokens",
        "tokens_produced",
        "tokens_at_rate_08",
        "ideal_produced_count",
    ):
        _, (card,) = cards_of(**{item: value})
        assert card.status in ("fail", "partial")
        assert card.text()
        assert card.html()


@pytest.mark.parametrize(
    "function",
    [
        lambda: None,
        lambda *a: (_ for _ in ()).throw(KeyError("x")),
        lambda *a: [a],
        lambda *a: Hostile(),
        lambda *a: (x for x in iter(int, 1)),
        lambda *a: 1 / 0,
    ],
    ids=["no arguments", "KeyError", "its arguments", "an object", "endless", "division"],
)
def test_no_function_whatever_raises(function: Any) -> None:
    for item in ("accepted_count", "speculative_generate", "simulate"):
        _, (card,) = cards_of(**{item: function})
        assert card.status == "fail"


def test_one_slip_at_a_time_is_explained() -> None:
    _, (card,) = cards_of(verify_greedy=lambda draft, target_next: list(draft))
    assert sum(line.slip is not None for line in card.lines) == 1
    assert sum(line.look == "fail" for line in card.lines) > 1
    (slip,) = (line.slip for line in card.lines if line.slip)
    assert slip.called == "verify_greedy([7, 3, 5, 9], [7, 3, 8, 1, 2])"
    assert slip.got == "[7, 3, 5, 9]"
    assert slip.expected == "[7, 3, 8]"


def test_a_misconception_is_named_with_the_way_out() -> None:
    _, (card,) = cards_of(expected_tokens=lambda a, k: lesson4.expected_tokens(a, k) - 1)
    assert card.mistakes == ("bonus_forgotten",)
    _, (card,) = cards_of(expected_tokens=lambda a, k: (1 - a ** (k + 1)) / (1 - a))
    assert card.mistakes == ("no_limit",)
    _, (card,) = cards_of(tokens_produced=2)
    assert "accepted" in card.summary
    _, (card,) = cards_of(tokens_at_rate_08=2.952)
    assert "exponent" in card.summary
    _, (card,) = cards_of(tokens_at_rate_08=2.9)
    assert "4 decimals" in card.summary


def test_a_loop_without_end_is_ended_and_named() -> None:
    def endless(draft_model: Any, target_model: Any, prompt: list[int], n_tokens: int, k: int) -> list[int]:
        while True:
            draft_model(prompt)

    _, (card,) = cards_of(speculative_generate=endless)
    assert card.mistakes == ("never_ends",)


def test_what_check_is_not_for() -> None:
    with pytest.raises(ValueError, match=r"check\(name=name\)"):
        check()
    with pytest.raises(ValueError, match="did you mean 'verify_greedy'"):
        check(verify_greed=1)
    with pytest.raises(ValueError, match="the name that the exercise's cell defines"):
        check(qqq=1)
    with pytest.raises(ValueError, match="lesson7"):
        checks.table("lesson7")


def test_names_are_unique_in_the_course() -> None:
    assert len(ITEMS) == len(set(ITEMS))


def test_start_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sys

    monkeypatch.chdir(tmp_path)
    module = sys.modules["specdec_helpers.checks.start"]
    cards: list[Card] = []
    with collecting(cards.append):
        checks.start("lesson1")
        monkeypatch.setattr(module, "version", lambda name: "1.0")
        checks.start("lesson1")
        with pytest.raises(ValueError, match="lesson9"):
            checks.start("lesson9")
    ready, old = cards
    assert ready.status == "unstarted"
    assert "0 of 7" in ready.summary
    assert old.status == "fail"
    assert "pip install -U ipywidgets" in old.summary
    assert "8.1" in old.summary


# ---- the table's own rules, on a made-up exercise ----------------------------------------------------------

MISTAKES = {"plus": Mistake("adds", "half(4) gives 6", "it adds", "divide")}
HALF = Exercise(
    (
        Example((4,), 2, {"plus": 6}),
        Example(([4, 6],), [2, 3], name="works on a list"),
        Example((-1,), Raises()),
    ),
    (("is never None", lambda f: Slip("half", "None") if ask(f, [(2,)])[0].value is None else None),),
)


def half(x: Any) -> Any:
    if isinstance(x, list):
        return [half(item) for item in x]
    if x < 0:
        raise ValueError(x)
    return x / 2


def test_examples_and_probes_are_lines() -> None:
    lines = run_exercise("half", half, HALF, MISTAKES)
    assert lines is not None
    assert [line.name for line in lines][:2] == ["half(4)", "works on a list"]
    assert lines[-1].name == "is never None"
    assert not any(line.slip for line in lines)


@pytest.mark.parametrize(
    ("function", "line", "part", "text"),
    [
        (lambda x: x + 2, 0, "mistake", "plus"),
        (lambda x: None, 0, "cause", "returns nothing"),
        (lambda x: [x], 0, "cause", "a number is due"),
        (lambda x: x / 2 if isinstance(x, int) else 3, 1, "cause", "a sequence is due"),
        (lambda x: [1], 1, "cause", "1 entry instead of 2"),
        (lambda x: 0 if isinstance(x, int) else [2, 3], 2, "got", "no error"),
        (lambda x: float("nan"), 0, "cause", "0 is divided by 0"),
        (lambda x: [][0], 0, "cause", "ran past the end"),
        (lambda x: {1}, 0, "got", "UnsupportedValue"),
        (lambda x: "3", 0, "cause", "a text came back"),
        (lambda x: x - x, 1, "next_step", "np.array"),
        (lambda x: x * x, 1, "next_step", "np.array"),
        (typed, 0, "cause", "`input()` waits"),
        (lambda: 1, 0, "cause", "other arguments than its `def` line"),
        (lambda x, y: 1, 0, "cause", "other arguments than its `def` line"),
        (lambda x: half(x, y=1), 0, "cause", "other arguments than its `def` line"),
    ],
)
def test_a_slip_says_what_is_wrong(function: Any, line: int, part: str, text: str) -> None:
    lines = run_exercise("half", function, HALF, MISTAKES)
    assert lines is not None
    slip = lines[line].slip
    assert slip is not None
    assert text in getattr(slip, part)
    assert slip.next_step


def test_a_wrong_dict_is_told_by_its_entries() -> None:
    expected = {"accepted": 4, "rate": 0.8}
    assert "many: rate" in value_advice({"accepted": 4, "rate": 0.5}, expected)[0]
    assert "many: rate, extra" in value_advice({"accepted": 4, "extra": 1}, expected)[0]
    assert "a dict is due" in value_advice([4, 0.8], expected)[0]


def test_a_changed_argument_is_a_line_of_its_own() -> None:
    def greedy(x: Any) -> Any:
        result = half(x)
        if isinstance(x, list):
            x.clear()
        return result

    lines = run_exercise("half", greedy, HALF, MISTAKES)
    assert lines is not None
    assert "leaves its arguments as they were" in [line.name for line in lines if line.slip]
