"""The lessons as a student meets them: JupyterLab in Chromium, with a keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from conftest import RELEASE
from lab import Lab, Notebook
from playwright.sync_api import Browser, Locator, Page, expect

LESSONS = sorted(path.parent.name for path in RELEASE.glob("lesson*/*.ipynb"))


def slider(explorer: Locator, words: str) -> Locator:
    """The handle of the slider with this label: what Tab reaches and arrow keys move."""
    labelled = explorer.locator(".widget-slider").filter(has=explorer.page.locator("label", has_text=words))
    return labelled.locator('[role="slider"]').first


def box(explorer: Locator, label: str) -> Locator:
    """The number box with this label; beside a slider, a screen reader hears the slider's words before it."""
    return explorer.get_by_label(re.compile(rf"(^| ){re.escape(label)}$")).first


def expected_tokens(a: float, k: int) -> str:
    return f"{sum(a**i for i in range(k + 1)):.4f}".rstrip("0")


def picture_saying(explorer: Locator, text: str) -> Locator:
    """The pictures whose description holds this text."""
    return explorer.locator(f'.specdec-picture[role="img"][aria-label*="{text}"]')


def press(explorer: Locator, words: str, key: str, times: int = 1) -> None:
    slider(explorer, words).focus()
    for _ in range(times):
        explorer.page.keyboard.press(key)


def overflow(explorer: Locator) -> list[str]:
    """What sticks out of the explorer to the right."""
    return explorer.evaluate(
        """root => {
            const edge = root.closest('.jp-OutputArea-output').getBoundingClientRect().right + 1;
            return [...root.querySelectorAll('*')]
                .filter(e => e.getBoundingClientRect().width && e.getBoundingClientRect().right > edge
                             && !e.closest('.noUi-target') && !e.ownerSVGElement)
                .map(e => e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 40));
        }"""
    )


@pytest.fixture(scope="module", params=LESSONS)
def lesson(request: pytest.FixtureRequest, server: Lab, chromium: Browser) -> Iterator[tuple[str, Notebook]]:
    """A release notebook, run to its end."""
    shown = Notebook(chromium, server, f"{request.param}.ipynb")
    shown.run_all()
    yield request.param, shown
    shown.close()


def test_run_all_ends_without_an_error(lesson: tuple[str, Notebook]) -> None:
    _, shown = lesson
    page = shown.page
    prompts = page.locator(".jp-CodeCell .jp-InputPrompt").all_inner_texts()
    assert len(prompts) > 10
    assert all(re.fullmatch(r"\[\d+\]:", text.strip()) for text in prompts)
    wrong = page.locator(
        '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"], '
        '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"]'
    )
    assert wrong.all_inner_texts() == []
    assert page.get_by_text("Error displaying widget").count() == 0
    assert shown.errors == []


def test_the_sliders_move_by_keyboard_and_everything_follows(lesson: tuple[str, Notebook]) -> None:
    name, shown = lesson
    explorer = shown.explorer(name)
    expect(box(explorer, "a")).to_have_value("0.8")
    before = explorer.bounding_box()
    drawn = explorer.locator(".specdec-picture").last.inner_html()
    press(explorer, "acceptance rate a", "ArrowRight", 2)
    expect(box(explorer, "a")).to_have_value("0.82")
    press(explorer, "drafted tokens k", "ArrowLeft")
    expect(box(explorer, "k")).to_have_value("3")
    tokens = expected_tokens(0.82, 3)
    # The browser follows each part of the explorer in its own time: wait for every one of them.
    expect(explorer.locator(".specdec-readout").last).to_contain_text(tokens)
    expect(picture_saying(explorer, tokens)).not_to_have_count(0)
    shown.page.wait_for_function(
        "([root, drawn]) => [...root.querySelectorAll('.specdec-picture')].pop().innerHTML !== drawn",
        arg=[explorer.element_handle(), drawn],
    )
    assert explorer.bounding_box() == before, "the page must not jump"
    slider(explorer, "acceptance rate a").focus()
    shown.page.keyboard.press("Tab")
    expect(box(explorer, "a")).to_be_focused()
    box(explorer, "a").fill("0.5")
    shown.page.keyboard.press("Tab")
    expect(explorer.locator(".specdec-readout").last).to_contain_text("1.875")
    explorer.get_by_role("button", name="Reset").last.press("Enter")
    expect(box(explorer, "a")).to_have_value("0.8")
    expect(box(explorer, "k")).to_have_value("4")
    assert shown.errors == []


class Heard:
    """Chromium's accessibility tree: what a screen reader is told."""

    def __init__(self, page: Page) -> None:
        self.session = page.context.new_cdp_session(page)
        self.session.send("Accessibility.enable")

    def node_of(self, element: Locator) -> dict[str, Any]:
        """The element's node in the tree."""
        handle = element.evaluate_handle("e => { window.asked = e; return e; }")
        found = self.session.send("Runtime.evaluate", {"expression": "window.asked"})["result"]["objectId"]
        handle.dispose()
        nodes = self.session.send(
            "Accessibility.getPartialAXTree", {"objectId": found, "fetchRelatives": False}
        )["nodes"]
        return cast(dict[str, Any], nodes[0])

    def text_below(self, node: dict[str, Any]) -> str:
        """All text that the node holds, what it owns included."""
        tree = {n["nodeId"]: n for n in self.session.send("Accessibility.getFullAXTree")["nodes"]}
        texts, left = [], [node["nodeId"]]
        while left:
            at = tree[left.pop()]
            left += reversed(at.get("childIds", []))
            if at.get("role", {}).get("value") == "StaticText":
                texts.append(at["name"]["value"])
        return " ".join(texts)


def test_a_screen_reader_hears_the_new_readout_from_a_region_that_stays(
    lesson: tuple[str, Notebook],
) -> None:
    """The live region is the same element before and after a key press, and the new sentence is in it."""
    name, shown = lesson
    explorer = shown.explorer(name)
    readout, region = explorer.locator(".specdec-readout").last, explorer.locator(".specdec-live").last
    explorer.get_by_role("button", name="Reset").last.press("Enter")
    expect(box(explorer, "a")).to_have_value("0.8")
    element, before = region.element_handle(), readout.inner_text()
    heard = Heard(shown.page)
    node = heard.node_of(region)
    assert heard.text_below(node) == before
    press(explorer, "acceptance rate a", "ArrowLeft", 7)
    expect(box(explorer, "a")).to_have_value("0.73")
    expect(readout).not_to_have_text(before)
    assert region.evaluate("(now, before) => now === before && now.isConnected", element)
    assert heard.node_of(region)["nodeId"] == node["nodeId"]
    assert heard.text_below(node) == readout.inner_text() != before
    assert heard.node_of(readout)["parentId"] == node["nodeId"], "the new text is the region's own"
    assert {p["name"]: p["value"] for p in node["properties"]}["live"]["value"] == "polite"
    explorer.get_by_role("button", name="Reset").last.press("Enter")
    expect(box(explorer, "a")).to_have_value("0.8")


def test_every_control_but_the_slider_handles_has_a_name(lesson: tuple[str, Notebook]) -> None:
    """ipywidgets gives a handle no name and no way to set one; the box beside it has one, and does the same."""
    name, shown = lesson
    heard, names = Heard(shown.page), set[str]()
    for explorer in shown.page.locator(f".specdec-{name}").all():
        for control in explorer.locator("input, select, button, [role=slider]").all():
            if control.is_visible():
                told = heard.node_of(control)
                assert bool(told["name"]["value"]) == (told["role"]["value"] != "slider"), told
                names.add(told["name"]["value"])
    assert {"acceptance rate a", "drafted tokens k"} <= names


def test_nothing_sticks_out_at_400_px(lesson: tuple[str, Notebook]) -> None:
    name, shown = lesson
    shown.page.set_viewport_size({"width": 400, "height": 900})
    try:
        for explorer in shown.page.locator(f".specdec-{name}").all():
            explorer.scroll_into_view_if_needed()
            shown.page.wait_for_function(
                "e => e.getBoundingClientRect().width < 400", arg=explorer.element_handle()
            )
            assert overflow(explorer) == []
            texts = explorer.locator("svg text").evaluate_all(
                "all => all.filter(e => e.textContent).map(e => e.getBoundingClientRect().height)"
            )
            assert min(texts, default=20) > 8, "text in a picture stays readable"
            before = explorer.bounding_box()
            for key, a in (("Home", 0), ("End", 1), ("ArrowLeft", 0.99)):
                press(explorer, "acceptance rate a", key)
                expect(box(explorer, "a")).to_have_value(str(a))
                shown.page.wait_for_timeout(200)
                now = explorer.bounding_box()
                assert before is not None
                assert now is not None
                assert now["height"] == before["height"], "the page must not jump"
    finally:
        shown.page.set_viewport_size({"width": 1100, "height": 900})


def test_a_lesson_1_pick_is_typed_and_the_strip_follows(server: Lab, chromium: Browser) -> None:
    shown = Notebook(chromium, server, "all.ipynb")
    shown.run_all()
    explorer = shown.explorer("lesson1")
    strip = explorer.locator(".specdec-picture").first
    expect(strip).to_have_attribute("aria-label", re.compile("5 replaced by 8, 9 discarded"))
    box(explorer, "target at position 3").fill("5")
    shown.page.keyboard.press("Tab")
    expect(strip).to_have_attribute("aria-label", re.compile("5 accepted, 9 replaced by 1"))
    expect(explorer.locator(".specdec-readout").first).to_contain_text(
        "accepted draft tokens: 3 · emitted this round: [7, 3, 5, 1] = 4 tokens"
    )
    explorer.get_by_role("button", name="all four agree").press("Space")
    expect(explorer.locator(".specdec-readout").first).to_contain_text("= 5 tokens")
    assert shown.errors == []
    shown.close()


def test_two_explorers_live_in_one_notebook(server: Lab, chromium: Browser) -> None:
    shown = Notebook(chromium, server, "twice.ipynb")
    shown.run_all()
    first, second = shown.page.locator(".specdec-lesson4").all()
    press(first, "acceptance rate a", "ArrowLeft", 3)
    expect(box(first, "a")).to_have_value("0.77")
    expect(first.locator(".specdec-readout")).to_contain_text(expected_tokens(0.77, 4))
    expect(box(second, "a")).to_have_value("0.8")
    expect(second.locator(".specdec-readout")).to_contain_text("3.3616")
    ids = shown.page.locator(".specdec-picture [id]").evaluate_all("all => all.map(e => e.id)")
    assert ids
    assert len(set(ids)) == len(ids)
    assert shown.errors == []
    shown.close()


CONTRAST = """root => {
    const parse = text => {
        const parts = text.match(/rgba?\\(([^)]+)\\)/);
        if (!parts) return null;
        const n = parts[1].split(/[,\\s/]+/).map(Number);
        return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1];
    };
    const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
    const light = rgb => {
        const [r, g, b] = rgb.map(c => (c /= 255, c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = element => {
        const layers = [];
        for (let e = element; e; e = e.parentElement) {
            const c = parse(getComputedStyle(e).backgroundColor);
            if (c && c[3] > 0) { layers.push(c); if (c[3] === 1) break; }
        }
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
    };
    const low = [];
    const texts = [...root.querySelectorAll('*')].filter(e =>
        [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) && e.getBoundingClientRect().width);
    for (const e of texts) {
        const style = getComputedStyle(e);
        const ink = parse(e.ownerSVGElement ? style.fill : style.color);
        if (!ink) { low.push(['no colour', e.textContent]); continue; }
        const below = ground(e);
        const [x, y] = [light(over(ink, below)), light(below)].sort((m, n) => n - m);
        const ratio = (x + 0.05) / (y + 0.05);
        if (ratio < 4.5) low.push([ratio.toFixed(2), e.tagName, e.textContent.trim().slice(0, 40)]);
    }
    return [texts.length, low];
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_has_contrast(server: Lab, chromium: Browser, theme: str) -> None:
    shown = Notebook(chromium, server, "all.ipynb", theme)
    shown.run_all()
    assert shown.page.locator(f'body[data-jp-theme-light="{str(theme == "light").lower()}"]').count() == 1
    for n in range(1, 7):
        count, low = shown.explorer(f"lesson{n}").evaluate(CONTRAST)
        assert count > 20
        assert low == []
    assert shown.errors == []
    shown.close()
