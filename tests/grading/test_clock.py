"""Student seconds: the grader's time and the wait for a processor are left out, within bounds."""

from __future__ import annotations

import pytest

from specdec_helpers.grading import clock as module
from specdec_helpers.grading.clock import STRETCH, Clock


class World:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.waited = 0.0
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)

    def pass_time(self, seconds: float, waiting: float = 0.0) -> None:
        self.now += seconds
        self.waited += waiting


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_time_of_the_grader_is_left_out(world: World) -> None:
    clock = Clock(10.0, lambda: world.waited)
    world.pass_time(2.0)
    clock.pause()
    world.pass_time(5.0)
    assert clock.resume() == 5.0
    world.pass_time(1.0)
    assert (clock.wall(), clock.used(), clock.left()) == (3.0, 3.0, 7.0)


def test_waiting_for_a_processor_is_left_out_up_to_a_factor(world: World) -> None:
    clock = Clock(10.0, lambda: world.waited)
    world.pass_time(4.0, waiting=1.0)
    assert clock.used() == 3.0
    world.pass_time(11.0, waiting=11.0)
    assert clock.used() == 15.0 / STRETCH


def test_sleeping_is_not_waiting(world: World) -> None:
    clock = Clock(1.0, lambda: world.waited)
    world.pass_time(1.5)
    assert clock.left() < 0
