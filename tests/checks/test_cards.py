"""Cards: readable as text and as HTML, safe against what they quote, and sent to the sink in force."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from specdec_helpers.checks.report import Card, Line, NotYet, Slip, collecting, in_notebook, show

EVIL = '<script>alert("x")</script>&"\'<img src=x onerror=alert(1)>'
SLIP = Slip("f(1)", "2", "3", "one is missing", "add one", "off_by_one")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, list]] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.open.append(tag)
        self.seen.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    assert not tags.open, "every tag is closed"
    return tags


def test_a_card_says_everything_in_both_forms() -> None:
    card = Card("f", "partial", "1 of 2 visible checks pass", (Line("f(0)"), Line("f(1)", SLIP)))
    for text in (card.text(), re.sub(r"<[^>]+>", " ", card.html())):
        for part in (
            "f(0)",
            "f(1)",
            "1 of 2",
            "called",
            "got",
            "2",
            "expected",
            "3",
            "one is missing",
            "add one",
        ):
            assert part in text
    assert card.mistakes == ("off_by_one",)
    parsed(card.html())
    assert set(card.bundle()) == {"text/html", "text/plain"}


def test_colour_is_never_the_only_sign() -> None:
    html = Card("f", "fail", "", (Line("good"), Line("bad", SLIP))).html()
    words = re.sub(r"<[^>]+>", " ", html)
    assert "passed" in words
    assert "not yet" in words
    tags = parsed(html)
    assert dict(tags.seen[0][1])["role"] == "group"
    assert dict(tags.seen[0][1])["aria-label"].startswith("f:")


def test_nothing_that_a_card_quotes_becomes_html() -> None:
    slip = Slip(EVIL, EVIL, EVIL, EVIL, EVIL)
    html = Card(EVIL, "fail", EVIL, (Line(EVIL, slip),)).html()
    assert {tag for tag, _ in parsed(html).seen} <= {"div", "span", "strong"}
    assert NotYet(EVIL)._repr_html_().count("<") == 2


def test_cards_go_to_the_sink_in_force(capsys: pytest.CaptureFixture[str]) -> None:
    cards: list[Card] = []
    assert in_notebook()
    with collecting(cards.append):
        assert not in_notebook()
        show(Card("f", "pass"))
        inner: list[Card] = []
        with collecting(inner.append):
            show(Card("g", "pass"))
        assert [card.title for card in inner] == ["g"]
    assert [card.title for card in cards] == ["f"]
    assert in_notebook()
    assert capsys.readouterr().out == ""


def test_outside_a_notebook_a_card_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    show(Card("f", "pass", "all 3 visible checks pass"))
    assert capsys.readouterr().out == "✓ f: all 3 visible checks pass\n"


def test_a_failed_sink_does_not_stay_in_force() -> None:
    with pytest.raises(ZeroDivisionError), collecting(lambda card: 1 / 0):
        show(Card("f", "pass"))
    assert in_notebook()


def test_nbgrader_counts_an_unpassed_cell_as_nothing() -> None:
    assert repr(NotYet("not passed yet: f")) == "0.0"
