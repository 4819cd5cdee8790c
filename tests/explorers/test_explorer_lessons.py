"""Each explorer shows the numbers of its lesson."""

from __future__ import annotations

import re

import pytest

from specdec_helpers import explorers
from specdec_helpers.explorers.base import Explorer
from specdec_helpers.explorers.lesson4 import Progress
from specdec_helpers.explorers.mathematics.lesson3 import RULES


def readouts(explorer: Explorer) -> str:
    return " | ".join(re.sub("<[^>]+>", "", panel.readout.html.value) for panel in explorer.panels)


# ---------------------------------------------------------------------- lesson 1


@pytest.mark.parametrize(
    ("picks", "accepted", "emitted"),
    [
        ((7, 3, 8, 1, 2), 2, "[7, 3, 8] = 3 tokens"),
        ((7, 3, 5, 9, 2), 4, "[7, 3, 5, 9, 2] = 5 tokens"),
        ((4, 3, 5, 9, 2), 0, "[4] = 1 token"),
        ((7, 3, 5, 1, 2), 3, "[7, 3, 5, 1] = 4 tokens"),
        # A later agreement is worth nothing once the text has parted.
        ((7, 1, 5, 9, 2), 1, "[7, 1] = 2 tokens"),
    ],
)
def test_the_strip_counts_as_the_page_does(picks: tuple[int, ...], accepted: int, emitted: str) -> None:
    explorer = explorers.build("lesson1")
    explorer.set(picks=picks)
    strip = explorer.panels[0]
    assert f"accepted draft tokens: {accepted} · emitted this round: {emitted} " in readouts(explorer)
    assert strip.view.label.count("accepted") == accepted
    assert strip.view.label in strip.strip_html.value  # type: ignore[attr-defined]


def test_the_strip_says_what_happens_to_the_rest() -> None:
    explorer = explorers.build("lesson1")
    assert "at the first disagreement the target's own token replaces the draft's" in explorer.description
    assert "7 accepted, 3 accepted, 5 replaced by 8, 9 discarded" in explorer.description
    explorer.preset("all four agree")
    assert "replaces" not in explorer.panels[0].view.readout
    assert "position 5 (bonus) gives 2" in explorer.description


def test_a_pick_is_edited_in_its_own_labelled_box() -> None:
    explorer = explorers.build("lesson1")
    cells = explorer.panels[0].picks.cells  # type: ignore[attr-defined]
    assert cells[0].box.description == "target at position 1"
    assert cells[4].box.description == "target at position 5 (bonus)"
    before = explorer.panels[0].draws
    cells[2].box.set_state({"value": 5})
    assert "accepted draft tokens: 3" in readouts(explorer)
    assert explorer.panels[0].draws == before + 1


@pytest.mark.parametrize(
    ("picks", "words"),
    [
        ((7, 3, 8, 1), "does not have 5 entries"),
        ("73812", "does not have 5 entries"),
        (7, "does not have 5 entries"),
        ((7, 3, 8, 1, -2), "outside 0..99"),
        ((7, 3, 8, 1, 2.5), "not a whole number"),
    ],
)
def test_bad_picks_are_refused(picks: object, words: str) -> None:
    explorer = explorers.build("lesson1")
    with pytest.raises(ValueError, match=re.escape(words)):
        explorer.set(picks=picks)
    assert explorer.values()["picks"] == (7, 3, 8, 1, 2)


def test_two_hundred_rounds_come_from_the_verifier() -> None:
    explorer = explorers.build("lesson1")
    panel = explorer.panels[1]
    for a, k in ((0.8, 4), (0, 4), (1, 4), (0.5, 0), (0.9, 12)):
        explorer.set(a=a, k=k)
        counts = [int(n) for n in re.findall(r"(\d+) gave \d+", panel.view.label)]
        assert len(counts) == k + 1
        assert sum(counts) == 200
        mean = sum(n * tokens for tokens, n in enumerate(counts, start=1)) / 200
        assert f"gave {mean:.3f}".rstrip("0").rstrip(".") in panel.view.readout
    explorer.set(a=1, k=4)
    assert "200 gave 5" in panel.view.label
    assert "E[N] = 5" in panel.view.readout


def test_new_rounds_are_other_rounds_and_reset_brings_the_first_back() -> None:
    explorer = explorers.build("lesson1")
    panel = explorer.panels[1]
    first = panel.view.label
    panel.again.click()  # type: ignore[attr-defined]
    assert panel.view.label != first
    panel.reset_button.click()
    assert panel.view.label == first


# ---------------------------------------------------------------------- lesson 4


def table(explorer: Explorer) -> list[tuple[str, str]]:
    panel = explorer.panels[0]
    assert isinstance(panel, Progress)
    rows = re.findall(
        r'<tr><th scope="row"[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td></tr>', panel.table_html.value
    )
    assert '<th scope="col"' in panel.table_html.value
    assert "<caption" in panel.table_html.value
    return rows


@pytest.mark.parametrize(
    ("preset", "tokens"), [("a = 1, k = 4", "5"), ("a = 0.8, k = 4", "3.3616"), ("a = 0.5, k = 4", "1.9375")]
)
def test_the_presets_give_the_numbers_of_the_page(preset: str, tokens: str) -> None:
    explorer = explorers.build("lesson4")
    explorer.preset(preset)
    assert (
        f"expected tokens per verification = 1 + a + … + a^k = {tokens} "
        "(accepted tokens + the one extra token the target always supplies)" in readouts(explorer)
    )


def test_the_table_is_the_page_s() -> None:
    explorer = explorers.build("lesson4")
    assert table(explorer) == [
        ("0", "0.2"),
        ("1", "0.16"),
        ("2", "0.128"),
        ("3", "0.1024"),
        ("4 (all)", "0.4096"),
    ]
    explorer.set(a=1)
    assert [p for _, p in table(explorer)] == ["0", "0", "0", "0", "1"]
    explorer.set(a=0.1, k=12)
    assert len(table(explorer)) == 13
    assert table(explorer)[-1] == ("12 (all)", "&lt; 0.0001"), "a small probability is not written as 0"


def test_the_ceiling_is_named_and_absent_at_one() -> None:
    explorer = explorers.build("lesson4")
    assert "ceiling 1/(1−a) = 5" in explorer.description
    explorer.set(a=1)
    assert "no ceiling: E[N] = k + 1" in explorer.description


# ---------------------------------------------------------------------- lesson 2


def test_the_accept_rule_on_the_lesson_s_pair() -> None:
    explorer = explorers.build("lesson2")
    assert "accept probability is 0.6" in readouts(explorer)
    assert "Overlap Σ min(p, q) = 0.7." in readouts(explorer)
    assert "u = 0.45 is below it: accepted" in readouts(explorer)
    explorer.set(u=0.6)
    assert "u = 0.6 is not below it: rejected" in readouts(explorer)
    explorer.set(token="A", u=0.99)
    assert "accept probability is 1; u = 0.99 is below it: accepted" in readouts(explorer)


def test_the_overlap_picture_is_exactly_a() -> None:
    explorer = explorers.build("lesson2")
    panel = explorer.panels[1]
    for a in (0, 0.37, 0.8, 1):
        explorer.set(a=a)
        bars = panel.bars.least  # type: ignore[attr-defined]
        assert sum(bar.get_height() for bar in bars) == pytest.approx(a)
    explorer.set(a=0.7)
    assert "E[N] = 2.7731" in readouts(explorer)


@pytest.mark.parametrize("lesson", ["lesson2", "lesson3"])
def test_entries_are_divided_by_their_sum_and_it_is_said(lesson: str) -> None:
    explorer = explorers.build(lesson)
    panel = explorer.panels[0]
    first = panel.p.shares()  # type: ignore[attr-defined]
    explorer.set(p=[x / 2 for x in first])
    assert panel.p.shares() == pytest.approx(first)  # type: ignore[attr-defined]
    assert "p sums to 0.5 and is divided by it." in readouts(explorer)
    assert "q sums" not in readouts(explorer)


@pytest.mark.parametrize("lesson", ["lesson2", "lesson3"])
def test_entries_that_are_all_zero_are_refused_in_words(lesson: str) -> None:
    explorer = explorers.build(lesson)
    panel = explorer.panels[0]
    count = len(panel.p.cells)  # type: ignore[attr-defined]
    with pytest.raises(
        ValueError, match="sums to 0, so it is no distribution: give at least one entry above 0"
    ):
        explorer.set(q=[0] * count)
    for cell in panel.p.cells:  # type: ignore[attr-defined]
        cell.box.set_state({"value": 0})
    assert "p is all 0, so its last values stay." in readouts(explorer)
    assert sum(panel.p.shares()) == pytest.approx(1)  # type: ignore[attr-defined]
    explorer.reset()
    assert "All entries" not in readouts(explorer)


def test_a_token_that_is_never_proposed() -> None:
    explorer = explorers.build("lesson2")
    explorer.preset("no overlap")
    assert "Overlap Σ min(p, q) = 0." in readouts(explorer)
    assert "accept probability is 0; u = 0.45 is not below it: rejected" in readouts(explorer)
    explorer.set(token="A")
    assert "The draft never proposes A: q(A) = 0. Choose another token." in readouts(explorer)
    with pytest.raises(ValueError, match="choose one of A, B, C"):
        explorer.set(token="D")


# ---------------------------------------------------------------------- lesson 3


@pytest.mark.parametrize(
    ("rule", "output", "error"),
    [
        (RULES[0], "(0.4, 0.3, 0.2, 0.1)", "0, the output is exactly p"),
        ("from p", "(0.26, 0.32, 0.28, 0.14)", "0.14, the output is not p"),
        ("from q", "(0.14, 0.28, 0.32, 0.26)", "0.28, the output is not p"),
        ("always accept", "(0.1, 0.2, 0.3, 0.4)", "0.4, the output is not p"),
        ("softmax of p − q", "(0.221, 0.299, 0.29, 0.19)", "0.1796, the output is not p"),
    ],
)
def test_the_rules_on_the_lesson_s_pair(rule: str, output: str, error: str) -> None:
    explorer = explorers.build("lesson3")
    explorer.set(rule=rule)
    assert f"Output {output}, target (0.4, 0.3, 0.2, 0.1): output error {error}" in readouts(explorer)
    rejected = "0" if rule == "always accept" else "0.4"
    assert f"A rejection has probability {rejected}." in readouts(explorer)


def test_the_sources_of_the_tokens() -> None:
    explorer = explorers.build("lesson3")
    assert "2.3616 + 0.5904 + 0.4096 = E[N] = 3.3616" in readouts(explorer)
    explorer.set(k=0)
    assert "0 + 0 + 1 = E[N] = 1" in readouts(explorer)
    explorer.set(a=0, k=4)
    assert "0 + 1 + 0 = E[N] = 1" in readouts(explorer)


# ---------------------------------------------------------------------- lesson 5


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            {},
            [
                "E[N] = 3.3616",
                "12 + 4 · 1 = 16 ms",
                "210.1 tokens/s",
                "speed-up 2.101",
                "Best: k = 6, 2.1952",
            ],
        ),
        ({"a": 0.3}, ["speed-up 0.8907", "Best: k = 0, plain decoding"]),
        ({"a": 0.6}, ["Best: k = 3, 1.4507"]),
        ({"a": 0.9}, ["Best: k = 11, 3.1199"]),
        ({"t_draft": 4}, ["Best: k = 3, 1.23"]),
        ({"t_verify": 10, "B": 8}, ["speed-up 2.4011"]),
        ({"t_verify": 10, "B": 16}, ["20 + 4 · 1 = 24 ms", "speed-up 1.4007"]),
        ({"t_verify": 10, "B": 24}, ["speed-up 0.9887"]),
        ({"t_verify": 10, "B": 32}, ["speed-up 0.764"]),
    ],
)
def test_the_cost_model(values: dict[str, float], words: list[str]) -> None:
    explorer = explorers.build("lesson5")
    explorer.set(**values)
    for word in words:
        assert word in readouts(explorer)


@pytest.mark.parametrize(("preset", "printed"), [("T5-small", 3.2), ("T5-large", 2.5)])
def test_the_presets_of_leviathan_s_table(preset: str, printed: float) -> None:
    explorer = explorers.build("lesson5")
    explorer.preset(preset)
    found = re.search(r"speed-up ([\d.]+\d)", readouts(explorer))
    assert found is not None
    assert float(found.group(1)) == pytest.approx(printed, abs=0.06)
