"""The readout line: its live region stays, and its place is as large as the longest sentence and not larger."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from specdec_helpers import explorers
from specdec_helpers.explorers.base import Panel
from specdec_helpers.explorers.controls import Choice, Control, Number, Row

FONT = FontProperties(family="DejaVu Sans", size=13)
WIDTHS = range(220, 761, 20)  # of a panel, in pixels: a phone's to the widest
PANELS = [(lesson, i) for lesson in explorers.LESSONS for i in range(len(explorers.build(lesson).panels))]
WIDTH_OF: dict[str, float] = {}


def width(text: str) -> float:
    if text not in WIDTH_OF:
        WIDTH_OF[text] = text_to_path.get_text_width_height_descent(text, FONT, False)[0]
    return WIDTH_OF[text]


def lines(text: str, room: int) -> int:
    """How many lines a text takes where so many pixels are wide."""
    space = width("a a") - width("aa")
    count, at = 1, 0.0
    for word in text.split():
        at += width(word) + (space if at else 0)
        if at > room:
            count, at = count + 1, width(word)
    return count


def some_value(control: Control, rng: random.Random) -> Any:
    if isinstance(control, Number):
        steps = round((control.high - control.low) / control.box.step)
        value = control.low + rng.choice([0, steps, rng.randint(0, steps)]) * control.box.step
        return int(value) if control.whole else round(value, 10)
    if isinstance(control, Row):
        zero = control.cells[0].low == 0 and rng.random() < 0.2
        return tuple(0 if zero else some_value(cell, rng) for cell in control.cells)
    assert isinstance(control, Choice)
    return rng.choice(control.options)


def sentences(panel: Panel, n: int) -> Iterator[str]:
    """The readouts of n states; zeros too, which only the page can type."""
    rng = random.Random(3)
    with panel.hold():  # no picture is needed
        for _ in range(n):
            for control in panel.controls:
                control.put(some_value(control, rng))
            yield panel.draw(panel.values()).readout


@pytest.mark.parametrize(("lesson", "index"), PANELS)
def test_the_room_is_that_of_the_longest_sentence(lesson: str, index: int) -> None:
    panel = explorers.build(lesson).panels[index]
    said = set(sentences(panel, 400))
    for room in WIDTHS:
        kept, longest = lines(panel.readout.filler, room), max(lines(text, room) for text in said)
        assert kept >= longest, f"at {room} px the page jumps: {max(said, key=lambda t: lines(t, room))}"
    assert lines(panel.readout.filler, 280) <= max(lines(text, 280) for text in said) + 1, "blank space"


def test_only_the_text_changes_and_the_live_region_owns_it() -> None:
    explorer = explorers.build("lesson4")
    readout = explorer.panels[0].readout
    region, text = readout.live.value, readout.html.value
    explorer.set(a=0.31)
    assert readout.live.value == region
    assert readout.html.value != text
    owned = re.search(r'aria-live="polite" aria-owns="([^"]+)"', region)
    assert owned is not None
    assert f'id="{owned[1]}"' in text
    assert "aria-live" not in text, "a region within the region would be replaced"
    assert owned[1] not in explorers.build("lesson4").panels[0].readout.live.value, "one id in one page"
