"""The tables of all lessons agree with each other and with the reference: examples, misconceptions, notes."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from specdec_helpers import checks, trials
from specdec_helpers.checks import LESSONS, notes, sealed, table
from specdec_helpers.checks.ask import ask
from specdec_helpers.checks.report import Card, collecting
from specdec_helpers.checks.table import Raises, run_exercise
from specdec_helpers.checks.values import same
from specdec_helpers.grading import compare

FUNCTIONS = [(lesson, name) for lesson in LESSONS for name in table(lesson).EXERCISES]
EXAMPLES = [
    (lesson, name, number)
    for lesson, name in FUNCTIONS
    for number in range(len(table(lesson).EXERCISES[name].examples))
]

# Two p, q of the lessons' texts, under the names that the words of a misconception use.
NAMES: dict[str, dict[str, Any]] = {
    "lesson2": {"P": [0.5, 0.3, 0.2], "Q": [0.2, 0.5, 0.3]},
    "lesson3": {"P": [0.4, 0.3, 0.2, 0.1], "Q": [0.1, 0.2, 0.3, 0.4]},
}
# Misconceptions that no wrong implementation of the one function shows: they are about what is passed to it, or give
# no numbers (0 / 0). Where a judge looks at whole runs, the wrong programs are in mutants/.
WORDS_ONLY = {
    "acceptance_rate": {"temperature_one_side"},
    "accepted_prefix": {"greedy_draft"},
    "residual": {"nan_if_equal"},
    "expected_tokens": {"no_limit"},
}
JUDGED = {"speculative_generate", "simulate", "draft_block", "speculative_decode"}
# Misconceptions that give the same values as the one before them, until an example tells them apart.
SHADOWED = {
    "counts_the_extra",  # the same number as a counted rejection until nothing is rejected
    "one_u",
    "likeliest_extra",  # the same token as with one number for two decisions
}
SAID = {"lesson1": 7, "lesson2": 17, "lesson3": 31, "lesson4": 11, "lesson5": 27, "lesson6": 0}


def reference(lesson: str, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f"specdec_helpers.reference.{lesson}"), name)
    return found


def test_every_function_has_a_reference_checks_and_trials() -> None:
    for lesson in LESSONS:
        items = import_module(f"specdec_helpers.trials.{lesson}").ITEMS
        assert set(items) == set(table(lesson).EXERCISES), lesson
        for name, item in items.items():
            assert (item.name, item.lesson) == (name, lesson)
            assert callable(reference(lesson, name))


@pytest.mark.parametrize(("lesson", "name"), FUNCTIONS)
def test_the_reference_passes_the_visible_check(lesson: str, name: str) -> None:
    exercise, mistakes = table(lesson).EXERCISES[name], table(lesson).MISTAKES.get(name, {})
    lines = run_exercise(name, reference(lesson, name), exercise, mistakes)
    assert lines
    assert not [line for line in lines if line.slip]


@pytest.mark.parametrize(("lesson", "name"), FUNCTIONS)
def test_a_stub_earns_nothing_and_is_called_not_started(lesson: str, name: str) -> None:
    def stub(*args: Any) -> None:
        raise NotImplementedError

    cards: list[Card] = []
    with collecting(cards.append):
        assert compare(points=4, **{name: stub}) == 0
    assert [card.status for card in cards] == ["unstarted"]
    assert not cards[0].lines


@pytest.mark.parametrize(("lesson", "name", "number"), EXAMPLES)
def test_an_example_expects_what_the_reference_gives(lesson: str, name: str, number: int) -> None:
    example, function = table(lesson).EXERCISES[name].examples[number], reference(lesson, name)
    if isinstance(example.expected, Raises):
        with pytest.raises(ValueError, match=r"."):
            function(*example.args)
    else:
        assert same(function(*example.args), example.expected, example.rtol, example.atol)


@pytest.mark.parametrize(("lesson", "name", "number"), EXAMPLES)
def test_an_example_s_slips_are_what_the_wrong_implementations_give(
    lesson: str, name: str, number: int
) -> None:
    example = table(lesson).EXERCISES[name].examples[number]
    mistakes, item = table(lesson).MISTAKES.get(name, {}), trials.item(name)
    assert item is not None
    assert set(example.slips) <= set(mistakes), "a slip without words"
    for key, value in example.slips.items():
        assert not isinstance(example.expected, Raises)
        assert not same(value, example.expected, example.rtol, example.atol), f"{key} gives the right value"
        if key in item.wrong:
            answer = ask(item.wrong[key], [example.args])[0]
            assert same(answer.value, value, 1e-6, 1e-6), f"{key} gives {answer.value}, the slip says {value}"


@pytest.mark.parametrize(("lesson", "name"), FUNCTIONS)
def test_every_misconception_has_all_its_words(lesson: str, name: str) -> None:
    item = trials.item(name)
    assert item is not None
    mistakes = table(lesson).MISTAKES.get(name, {})
    if name in JUDGED:
        assert not item.wrong
    else:
        assert set(mistakes) == set(item.wrong) | WORDS_ONLY.get(name, set())
        assert not WORDS_ONLY.get(name, set()) & set(item.wrong)
    assert len(mistakes) >= 2, "at least two misconceptions are known by name"
    for mistake in mistakes.values():
        for part in (mistake.name, mistake.gives, mistake.cause, mistake.next_step):
            assert part
            assert part == part.strip()
            assert not part.endswith("."), f"{part!r}: the sentence around it has the full stop"


@pytest.mark.parametrize(("lesson", "name"), FUNCTIONS)
def test_a_slip_is_named_by_the_first_example_that_shows_it(lesson: str, name: str) -> None:
    """Where two misconceptions give the same value, the student would be told the wrong one."""
    item = trials.item(name)
    assert item is not None
    for key, wrong in item.wrong.items():
        with np.errstate(all="ignore"):
            card = checks.check_function(lesson, name, wrong)
        first = next(iter(card.mistakes), "")
        assert first == key or (key in SHADOWED and first), (key, first)


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_misconception_is_said_to_give_is_what_it_gives(lesson: str) -> None:
    """Wherever the words have the form "call gives value"; a value of three or more decimals may be rounded."""
    found = 0
    for name, mistakes in table(lesson).MISTAKES.items():
        item = trials.item(name)
        assert item is not None
        for key, mistake in mistakes.items():
            text = mistake.gives.replace("for (.5, .3, .2) and (.2, .5, .3) it", "acceptance_rate(P, Q)")
            text = text.replace("for the worked example it", "residual(P, Q)")
            said = re.fullmatch(rf"{name}(\(.*\)) gives (\[.*\]|-?[\d.]*\d)(?:,? (?:instead|more) .*)?", text)
            if said and key in item.wrong:
                found += 1
                arguments = eval(f"({said[1][1:-1]},)", NAMES.get(lesson, {}))
                decimals = max(map(len, re.findall(r"\.(\d+)", said[2])), default=0)
                room = 0.5 * 10**-decimals if decimals > 2 else 0
                with np.errstate(all="ignore"):
                    value = np.asarray(item.wrong[key](*arguments), float)
                assert value == pytest.approx(np.asarray(eval(said[2]), float), rel=0, abs=room + 1e-9), key
    assert found == SAID[lesson]


def test_every_number_and_choice_has_its_sealed_note() -> None:
    for lesson in LESSONS:
        answers = import_module(f"specdec_helpers.reference.{lesson}").ANSWERS
        assert {item for item, entry in notes().items() if entry["lesson"] == lesson} == set(answers)


def test_every_option_of_a_choice_is_explained_and_one_is_right() -> None:
    for item, entry in notes().items():
        if entry["kind"] == "choice":
            opened = {letter: sealed.unseal(item, letter, entry["notes"]) for letter in entry["options"]}
            assert all(opened.values()), item
            assert sum(note[0] for note in opened.values() if note) == 1, item


@pytest.mark.parametrize("lesson", LESSONS)
def test_numbers_know_several_misconceptions(lesson: str) -> None:
    for item, entry in notes().items():
        if entry["lesson"] == lesson and entry["kind"] == "number":
            assert len(entry["notes"]) >= 3, f"{item}: the right note and at least two known misconceptions"
