"""What every explorer does: real widgets, changed the way a page changes them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from base64 import b64decode
from xml.etree import ElementTree

import pytest

from specdec_helpers import explorers
from specdec_helpers.explorers.base import Explorer, Panel, View
from specdec_helpers.explorers.controls import Number
from specdec_helpers.explorers.quantities import drafted, rate

LESSONS = list(explorers.LESSONS)


@pytest.fixture(params=LESSONS)
def explorer(request: pytest.FixtureRequest) -> Explorer:
    return explorers.build(request.param)


def main_panel(explorer: Explorer) -> Panel:
    """The panel with the sliders a and k."""
    return next(p for p in explorer.panels if any(c.name == "k" for c in p.controls))


def number(panel: Panel, name: str) -> Number:
    found = next(c for c in panel.controls if c.name == name)
    assert isinstance(found, Number)
    return found


def from_the_page(widget: object, value: object) -> None:
    """Change a widget as a message from JupyterLab does."""
    widget.set_state({"value": value})  # type: ignore[attr-defined]


def label_of(panel: Panel) -> str:
    found = re.search(r'aria-label="([^"]*)"', panel.picture_html.value)
    assert found is not None
    return found.group(1)


def test_every_lesson_starts_at_a_and_k_of_the_course(explorer: Explorer) -> None:
    values = explorer.values()
    assert (values["a"], values["k"]) == (0.8, 4)
    a, k = number(main_panel(explorer), "a"), number(main_panel(explorer), "k")
    assert (a.slider.min, a.slider.max, a.slider.step) == (0, 1, 0.01)
    assert (k.slider.min, k.slider.max, k.slider.step) == (0, 12, 1)


def test_sliders_and_boxes_are_labelled_linked_and_explained(explorer: Explorer) -> None:
    for panel in explorer.panels:
        for control in panel.controls:
            if isinstance(control, Number):
                assert control.box.description
                assert control.box.tooltip
                assert control.slider.description
                assert control.slider.tooltip
    a = number(main_panel(explorer), "a")
    from_the_page(a.slider, 0.35)
    assert a.box.value == 0.35
    from_the_page(a.box, 0.6)
    assert a.slider.value == 0.6


@pytest.mark.parametrize("widget", ["slider", "box"])
def test_one_change_is_one_draw_and_picture_and_readout_follow(explorer: Explorer, widget: str) -> None:
    panel = main_panel(explorer)
    for name, value in (("a", 0.35), ("k", 7)):
        before = panel.draws, panel.picture_html.value, panel.readout.html.value, label_of(panel)
        from_the_page(getattr(number(panel, name), widget), value)
        assert panel.draws == before[0] + 1
        assert panel.picture_html.value != before[1]
        assert panel.readout.html.value != before[2]
        assert label_of(panel) != before[3]
    assert explorer.values()["a"] == 0.35
    assert explorer.values()["k"] == 7


def test_only_the_panel_that_changed_is_drawn(explorer: Explorer) -> None:
    others = [p for p in explorer.panels if p is not main_panel(explorer)]
    before = [p.draws for p in others]
    explorer.set(a=0.3)
    assert [p.draws for p in others] == before


def test_rounding_dust_of_the_page_costs_no_draw(explorer: Explorer) -> None:
    panel = main_panel(explorer)
    a = number(panel, "a")
    before = panel.draws
    from_the_page(a.slider, 0.8000000000000002)
    assert panel.draws == before
    assert a.box.value == 0.8


def test_set_changes_several_and_draws_once(explorer: Explorer) -> None:
    panel = main_panel(explorer)
    before = panel.draws
    explorer.set(a=0.5, k=3)
    assert panel.draws == before + 1
    assert (explorer.values()["a"], explorer.values()["k"]) == (0.5, 3)
    explorer.set(a=0.5, k=3)
    assert panel.draws == before + 1, "nothing changed, nothing to draw"


def test_reset_brings_the_first_picture_back(explorer: Explorer) -> None:
    values, description = explorer.values(), explorer.description
    explorer.set(a=0.11, k=9)
    assert explorer.description != description
    explorer.reset()
    assert explorer.values() == values
    assert explorer.description == description


def test_buttons_do_what_they_say(explorer: Explorer) -> None:
    for panel in explorer.panels:
        assert panel.reset_button.tooltip
        for name, button in panel.buttons.items():
            explorer.reset()
            button.click()
            assert button.description == name
            for control, value in panel.presets[name].items():
                now = panel.values()[control]
                assert now == (pytest.approx(tuple(value)) if isinstance(value, tuple) else value)
        panel.reset_button.click()
        assert panel.values() == {c.name: c.start for c in panel.controls}


def test_every_preset_draws_without_error_and_once(explorer: Explorer) -> None:
    for panel in explorer.panels:
        for name in panel.presets:
            explorer.set(**({"a": 0.01} if "a" in panel.values() else {}))
            before = panel.draws
            explorer.preset(name)
            assert panel.draws <= before + 1


def test_the_whole_range_can_be_drawn_and_has_no_nan(explorer: Explorer) -> None:
    for a in (0, 0.01, 0.5, 0.93, 0.99, 1):
        for k in (0, 1, 12):
            explorer.set(a=a, k=k)
            text = explorer.description + main_panel(explorer).picture_html.value
            assert not re.search(r"\b(nan|inf)\b", text)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"a": 1.2}, ["a = 1.2", "0..1", "takes a number from 0 to 1"]),
        ({"a": -0.1}, ["a = -0.1", "0..1"]),
        ({"a": float("nan")}, ["a = nan", "not a number", "0 to 1"]),
        ({"a": True}, ["a = True", "not a number"]),
        ({"a": "0.5"}, ["a = '0.5'", "not a number"]),
        ({"k": 13}, ["k = 13", "0..12"]),
        ({"k": 2.5}, ["k = 2.5", "whole number", "0 to 12"]),
        ({"b": 1}, ["no control 'b'", "a, k"]),
        ({"a": 0.5, "k": 99}, ["k = 99", "0..12"]),
    ],
)
def test_a_bad_value_is_refused_in_words_and_changes_nothing(
    explorer: Explorer, values: dict[str, object], words: list[str]
) -> None:
    before = explorer.values()
    with pytest.raises(ValueError, match=re.escape(words[0])) as refusal:
        explorer.set(**values)
    for word in words:
        assert word in str(refusal.value)
    assert explorer.values() == before


def test_an_unknown_preset_is_refused_with_the_known_ones(explorer: Explorer) -> None:
    with pytest.raises(ValueError, match="no preset 'page'"):
        explorer.preset("page")


def ids(explorer: Explorer) -> list[str]:
    return [i for p in explorer.panels for i in re.findall(r'\bid="([^"]+)"', p.picture_html.value)]


def test_two_instances_share_no_id_and_every_reference_resolves(explorer: Explorer) -> None:
    twin = type(explorer)()
    mine, theirs = ids(explorer), ids(twin)
    assert mine
    assert len(set(mine)) == len(mine)
    assert not set(mine) & set(theirs)
    for panel in explorer.panels:
        value = panel.picture_html.value
        used = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', value))
        for pair in used:
            assert "".join(pair) in mine
    explorer.set(a=0.2)
    assert twin.values()["a"] == 0.8


def test_the_picture_follows_the_theme_and_styles_nothing_else(explorer: Explorer) -> None:
    for panel in explorer.panels:
        value = panel.picture_html.value or panel.still()
        assert 'role="img"' in value
        assert "var(--jp-ui-font-color1" in value
        assert "<style" not in value, "a style element would reach the whole page"
        assert "#010203" not in value
        assert "black" not in value


def test_the_picture_keeps_its_shape(explorer: Explorer) -> None:
    panel = main_panel(explorer)
    shapes = set()
    for a, k in ((0.8, 4), (0, 0), (1, 12), (0.5, 7)):
        explorer.set(a=a, k=k)
        shapes.add(tuple(re.findall(r'viewBox="([^"]+)"', panel.picture_html.value)))
    assert len(shapes) == 1


def test_an_error_while_drawing_surfaces(explorer: Explorer) -> None:
    panel = main_panel(explorer)

    def broken(at: object) -> View:
        raise RuntimeError("the artist has left")

    panel.draw = broken  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="the artist has left"):
        number(panel, "a").slider.value = 0.2
    with pytest.raises(RuntimeError, match="the artist has left"):
        from_the_page(number(panel, "k").slider, 9)
    with pytest.raises(RuntimeError, match="the artist has left"):
        explorer.set(a=0.9)


def test_the_artists_are_kept(explorer: Explorer) -> None:
    panel = main_panel(explorer)
    assert panel.picture is not None
    figure, before = panel.picture.figure, [set(map(id, axes.get_children())) for axes in panel.picture.axes]
    explorer.set(a=0.37, k=11)
    explorer.reset()
    assert panel.picture.figure is figure
    assert [set(map(id, axes.get_children())) for axes in panel.picture.axes] == before


def test_the_still_picture_stands_alone(explorer: Explorer) -> None:
    for panel in explorer.panels:
        assert "alt=" in panel.still() or "aria-label=" in panel.still()
        for image in re.findall(r"base64,([^\"]+)", panel.still()):
            svg = b64decode(image).decode()
            assert ElementTree.fromstring(svg).tag.endswith("svg"), "an image has to be strict XML"
            assert "var(" not in svg, "a file of its own has no theme to follow"


def test_show_gives_widgets_text_and_a_folded_still(
    explorer: Explorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[object] = []
    monkeypatch.setattr("specdec_helpers.explorers.base.display", lambda x, **_: shown.append(x))
    explorer.show()
    widgets, still = shown
    assert isinstance(widgets, dict)
    assert "application/vnd.jupyter.widget-view+json" in widgets
    assert explorer.title in widgets["text/plain"]
    assert still.data.startswith("<details>")  # type: ignore[attr-defined]
    assert "<script" not in still.data  # type: ignore[attr-defined]


@pytest.mark.parametrize("lesson", ["lesson0", "lesson7", "1", 0, 7, True, None, 1.0, "Lesson 1"])
def test_an_unknown_lesson_is_refused(lesson: object) -> None:
    with pytest.raises(ValueError, match=r'no explorer for .*choose "lesson1" to "lesson6"'):
        explorers.explore(lesson)  # type: ignore[arg-type]


def test_explore_returns_nothing_and_keeps_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPECDEC_GRADING", raising=False)
    monkeypatch.setattr("specdec_helpers.explorers.base.display", lambda *_, **__: None)
    assert explorers.explore(1) is None  # type: ignore[func-returns-value]
    assert explorers.last is not None
    assert explorers.last.lesson == "lesson1"


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_grading_draws_nothing_and_loads_nothing() -> None:
    code = (
        "import sys; from specdec_helpers.explorers import explore; explore('lesson4'); "
        "print(sorted({'matplotlib', 'ipywidgets'} & set(sys.modules)))"
    )
    assert python(code, SPECDEC_GRADING="1") == "[]"


def test_no_explorer_uses_pyplot() -> None:
    code = (
        "import sys; from specdec_helpers.explorers import build; "
        f"[build(x).set(a=.5) for x in {LESSONS}]; print('matplotlib.pyplot' in sys.modules)"
    )
    assert python(code) == "False"


def test_the_shared_quantities() -> None:
    assert rate().check(0.25) == 0.25
    assert drafted().check(4.0) == 4
    assert isinstance(drafted().check(4.0), int)
