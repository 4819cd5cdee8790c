"""Every wrong implementation loses points and every unusual right one earns all, whatever the draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from specdec_helpers import trials
from specdec_helpers.checks.ask import Answer, Case, Raised, Remote, copied, untouched
from specdec_helpers.grading.inside import wire
from specdec_helpers.trials.base import Custom, Study

from . import LESSONS, Mutant, module, mutants, try_out

SEEDS = (0, 1, 2)
LEAST_WRONG, LEAST_RIGHT = 8, 4

ALL = list(mutants())
WITH_MUTANTS = [lesson for lesson in LESSONS if module(lesson)]


@pytest.mark.parametrize("mutant", [m for m in ALL if not m.right], ids=str)
def test_a_wrong_implementation_loses_points_whatever_is_drawn(mutant: Mutant) -> None:
    outcomes = [try_out(mutant, seed) for seed in SEEDS]
    assert all(outcome.share < 1 for outcome in outcomes)
    assert len({outcome.share for outcome in outcomes}) == 1, "the points depend on the luck of the draw"
    for outcome in outcomes:
        for slip in outcome.slips:
            assert all((slip.called, slip.got, slip.cause, slip.next_step))


@pytest.mark.parametrize("mutant", [m for m in ALL if m.right], ids=str)
def test_an_unusual_right_implementation_earns_everything(mutant: Mutant) -> None:
    for seed in SEEDS:
        outcome = try_out(mutant, seed, visible=True)
        assert not outcome.slips
        assert outcome.share == 1
        assert outcome.visible == "pass"


@pytest.mark.parametrize("lesson", WITH_MUTANTS)
def test_every_function_has_enough_of_both(lesson: str) -> None:
    tables = module(lesson)
    graded = import_module(f"specdec_helpers.trials.{lesson}").ITEMS
    assert set(tables.WRONG) == set(tables.RIGHT) == set(graded)  # type: ignore[union-attr]
    for name in graded:
        assert len(tables.WRONG[name]) >= LEAST_WRONG, name  # type: ignore[union-attr]
        assert len(tables.RIGHT[name]) >= LEAST_RIGHT, name  # type: ignore[union-attr]


GRADED = [(lesson, name) for lesson in WITH_MUTANTS for name in getattr(module(lesson), "WRONG", {})]
NAMED = [(lesson, name, key) for lesson, name in GRADED for key in getattr(trials.item(name), "wrong", ())]


@pytest.mark.parametrize(("lesson", "name", "key"), NAMED)
def test_a_known_misconception_is_called_by_its_name(lesson: str, name: str, key: str) -> None:
    item = trials.item(name)
    assert item is not None
    assert key in item.mistakes, f"{key} has no words in checks/{lesson}.py"
    for seed in SEEDS:
        outcome = try_out(Mutant(lesson, name, key, False, item.wrong[key]), seed)
        assert outcome.share < 1
        assert key in {slip.mistake for slip in outcome.slips}


@pytest.mark.parametrize(("lesson", "name"), GRADED)
def test_the_reference_earns_everything_with_any_seed(lesson: str, name: str) -> None:
    item = trials.item(name)
    assert item is not None
    for seed in range(20):
        outcome = try_out(Mutant(lesson, name, "reference", True, item.reference), seed)
        assert outcome.share == 1, outcome.slips


@pytest.mark.parametrize(("lesson", "name"), GRADED)
def test_no_slip_shows_a_hidden_input(lesson: str, name: str) -> None:
    """A function that raises or returns what it was given must not read it back in its feedback."""
    item = trials.item(name)
    assert item is not None
    seen: list[str] = []

    def spy(*args: object) -> object:
        seen.extend(repr(a) for a in args if isinstance(a, list) and len(a) > 3)
        raise ValueError(f"leak {args!r}")

    class LeakyError(Exception):
        pass

    def typed_spy(*args: object) -> object:
        raise type(f"Leak{args!r}"[:80], (LeakyError,), {})(repr(args))

    for leak in (spy, typed_spy):
        results = trials.run_item(item, leak, np.random.default_rng(3))
        text = " ".join(part for r in results if r.slip for _, part in r.slip.parts())
        assert "leak" not in text.lower()
        assert not any(value in text for value in seen)


class OverTheWire(Remote):
    """A function whose answers travel as they do out of the sandbox."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.trips = function, 0

    def ask_batch(self, cases: Sequence[Case]) -> list[Answer]:
        self.trips += 1
        return [self._answer(case) for case in cases]

    def _answer(self, case: Case) -> Answer:
        arguments = [copied(argument) for argument in case]
        try:
            payload = wire.dump(wire.to_wire(self.function(*arguments)))
        except Exception as error:
            return Answer(error=Raised.of(error))
        return Answer(wire.from_wire(wire.load(payload)), changed=not all(map(untouched, case, arguments)))


@pytest.mark.parametrize("mutant", [m for m in ALL if m.right], ids=str)
def test_an_unusual_right_answer_survives_the_way_out_of_the_sandbox(mutant: Mutant) -> None:
    item = trials.item(mutant.function)
    assert item is not None
    remote = OverTheWire(mutant.implementation)
    results = trials.run_item(item, remote, np.random.default_rng(5))
    assert [result.slip for result in results if result.slip] == []
    others = [trial for trial in item.trials if isinstance(trial, Custom | Study)]
    assert remote.trips <= 2 * len(others) + bool(item.batched), "calls travel together"
