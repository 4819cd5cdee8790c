"""The cells of all six notebooks: docstrings, solutions and notes say what the checks and the reference say."""

from __future__ import annotations

import ast
import doctest
from importlib import import_module
from typing import Any

import nbformat
import numpy as np
import pytest
from course_cells import EXERCISES, ROOT, SOURCES, cell, noted, solved

from specdec_helpers import checks, trials
from specdec_helpers.checks import LESSONS, notes
from specdec_helpers.checks.report import Card, collecting

FUNCTIONS = [(lesson, e.name) for lesson in LESSONS for e in EXERCISES[lesson] if e.kind == "code"]
ANSWERS = [(lesson, e.name) for lesson in LESSONS for e in EXERCISES[lesson] if e.kind != "code"]


def functions(lesson: str) -> list[str]:
    return [name for its, name in FUNCTIONS if its == lesson]


# ---- functions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lesson", "name"), FUNCTIONS)
def test_the_examples_in_the_docstrings_hold(lesson: str, name: str) -> None:
    """The notebook's own, and the reference's where it shows any."""
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    names = solved(lesson)
    reference = import_module(f"specdec_helpers.reference.{lesson}")
    found = {}
    for where, scope in (("notebook", names), ("reference", vars(reference))):
        tests = doctest.DocTestFinder(recurse=False).find(scope[name], name, globs=scope, module=False)
        found[where] = sum(len(test.examples) for test in tests)
        for test in tests:
            runner.run(test)
    assert found["notebook"] >= 1, f"{name}'s docstring shows no example"
    assert found["reference"] or lesson not in ("lesson2", "lesson3"), "these two references show examples"
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_course_s_solutions_pass_their_checks(lesson: str) -> None:
    names, cards = solved(lesson), list[Card]()
    with collecting(cards.append):
        for name in functions(lesson):
            assert checks.check(**{name: names[name]}) is None
    assert [card.status for card in cards] == ["pass"] * len(functions(lesson))


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_solutions_equal_the_reference_on_the_hidden_inputs(lesson: str) -> None:
    names = solved(lesson)
    for name in functions(lesson):
        item = trials.item(name)
        assert item is not None
        for seed in range(3):
            slips = [
                r.slip for r in trials.run_item(item, names[name], np.random.default_rng(seed)) if r.slip
            ]
            assert not slips, f"{name}: {slips[0]}"


def function_cells(lesson: str, folder: str) -> dict[str, str]:
    """{function: source of its cell} of a built notebook."""
    (path,) = (ROOT / folder / lesson).glob("*.ipynb")
    return {c.id: c.source for c in nbformat.read(path, 4).cells if c.id in functions(lesson)}


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_stub_keeps_its_signature_and_hides_its_solution(lesson: str) -> None:
    full_cells, stub_cells = function_cells(lesson, "source"), function_cells(lesson, "release")
    assert set(full_cells) == set(stub_cells) == set(functions(lesson))
    for name in full_cells:
        full, stub = (
            next(n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef) and n.name == name)
            for text in (full_cells[name], stub_cells[name])
        )
        assert ast.dump(full.args) == ast.dump(stub.args)
        assert ast.get_docstring(full) == ast.get_docstring(stub)
        assert isinstance(stub.body[-1], ast.Raise)
        assert len(stub.body) == 2, "a docstring and `raise NotImplementedError`, nothing else"


# ---- numbers and choices ----------------------------------------------------------------------------------


def test_every_lesson_is_here() -> None:
    assert list(SOURCES) == list(LESSONS)
    assert len(ANSWERS) == 24
    assert {name for _, name in ANSWERS} == set(notes())


@pytest.mark.parametrize(("lesson", "item"), ANSWERS)
def test_every_note_opens_with_its_own_answer_only(lesson: str, item: str) -> None:
    """The reference's answer is right; every other answer with a note is wrong and gets that note, not "not yet"."""
    right = import_module(f"specdec_helpers.reference.{lesson}").ANSWERS[item]
    card = checks.check_answer(item, right)
    assert card.status == "pass"
    number = cell(item).kind == "number"
    places = notes()[item].get("places", 0)
    for text in noted(item):
        value: Any = float(text) if number else text
        same = round(right, places) == value if number else right == text
        typed = (
            [value, value + 0.4 * 10**-places, value - 0.4 * 10**-places] if number and places else [value]
        )
        for each in typed:  # as rounded, and with the digits that rounding took away
            card = checks.check_answer(item, each)
            assert card.status == ("pass" if same else "fail"), each
            assert "is not it yet" not in card.summary, each
