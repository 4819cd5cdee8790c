"""The tables of all lessons agree with each other, with the reference, and with the stubs that students see."""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from specdec_helpers import trials
from specdec_helpers.checks import LESSONS, notes, sealed, table
from specdec_helpers.checks.ask import ask
from specdec_helpers.checks.report import Card, collecting
from specdec_helpers.checks.table import Raises, run_exercise
from specdec_helpers.checks.values import same
from specdec_helpers.grading import compare

ROOT = Path(__file__).parents[2]
SOURCES = {path.parent.name: path for path in sorted(ROOT.glob("source/lesson*/*.ipynb"))}
FUNCTIONS = [(lesson, name) for lesson in LESSONS for name in table(lesson).EXERCISES]
EXAMPLES = [
    (lesson, name, number)
    for lesson, name in FUNCTIONS
    for number in range(len(table(lesson).EXERCISES[name].examples))
]


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
    assert set(item.wrong) <= set(mistakes)
    assert len(mistakes) >= 2, "at least two misconceptions are known by name"
    for mistake in mistakes.values():
        for part in (mistake.name, mistake.gives, mistake.cause, mistake.next_step):
            assert part
            assert part == part.strip()
            assert not part.endswith("."), f"{part!r}: the sentence around it has the full stop"


def test_every_number_and_choice_has_its_sealed_note() -> None:
    built = {lesson for lesson in LESSONS if lesson in SOURCES}
    for lesson in built:
        answers = import_module(f"specdec_helpers.reference.{lesson}").ANSWERS
        assert {item for item, entry in notes().items() if entry["lesson"] == lesson} == set(answers)


def test_every_option_of_a_choice_is_explained_and_one_is_right() -> None:
    for item, entry in notes().items():
        if entry["kind"] == "choice":
            opened = {letter: sealed.unseal(item, letter, entry["notes"]) for letter in entry["options"]}
            assert all(opened.values()), item
            assert sum(note[0] for note in opened.values() if note) == 1, item


@pytest.mark.parametrize("lesson", SOURCES)
def test_numbers_know_several_misconceptions(lesson: str) -> None:
    for item, entry in notes().items():
        if entry["lesson"] == lesson and entry["kind"] == "number":
            assert len(entry["notes"]) >= 3, f"{item}: the right note and at least two known misconceptions"


# ---- the stubs --------------------------------------------------------------------------------------------


def exercise_cells(lesson: str, folder: str) -> dict[str, str]:
    """{function: source of its cell} of a built notebook."""
    (path,) = (ROOT / folder / lesson).glob("*.ipynb")
    functions = set(table(lesson).EXERCISES)
    return {c.id: c.source for c in nbformat.read(path, 4).cells if c.id in functions}


def namespace(lesson: str) -> dict[str, Any]:
    """What the source notebook defines, solutions included."""
    names: dict[str, Any] = {}
    import specdec_helpers

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        for verb in specdec_helpers.__all__:  # no pictures, no measurements
            patch.setattr(specdec_helpers, verb, lambda *a, **k: None, raising=False)
        for cell in nbformat.read(SOURCES[lesson], 4).cells:
            if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade"):
                exec(compile(cell.source, cell.id, "exec"), names)
    return names


@pytest.mark.parametrize("lesson", SOURCES)
def test_the_examples_in_the_stubs_hold_for_the_solutions(lesson: str) -> None:
    names = namespace(lesson)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name in table(lesson).EXERCISES:
        found = doctest.DocTestParser().get_doctest(names[name].__doc__, dict(names), name, None, None)
        assert found.examples, f"{name}'s docstring shows no example"
        runner.run(found)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("lesson", SOURCES)
def test_the_solutions_equal_the_reference_on_the_hidden_inputs(lesson: str) -> None:
    names = namespace(lesson)
    for name in table(lesson).EXERCISES:
        item = trials.item(name)
        assert item is not None
        for seed in range(3):
            slips = [
                r.slip for r in trials.run_item(item, names[name], np.random.default_rng(seed)) if r.slip
            ]
            assert not slips, f"{name}: {slips[0]}"


@pytest.mark.parametrize("lesson", SOURCES)
def test_a_stub_keeps_its_signature_and_hides_its_solution(lesson: str) -> None:
    solved, released = exercise_cells(lesson, "source"), exercise_cells(lesson, "release")
    assert set(solved) == set(released) == set(table(lesson).EXERCISES)
    for name in solved:
        full, stub = (
            next(n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef) and n.name == name)
            for text in (solved[name], released[name])
        )
        assert ast.dump(full.args) == ast.dump(stub.args)
        assert ast.get_docstring(full) == ast.get_docstring(stub)
        assert isinstance(stub.body[-1], ast.Raise)
        assert len(stub.body) == 2, "a docstring and `raise NotImplementedError`, nothing else"
