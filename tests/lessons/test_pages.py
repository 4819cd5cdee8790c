"""Lessons 1 and 4 say what their pages say, in the pages' order; and every lesson closes with the chapter reference."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from specdec_helpers.checks import LESSONS

ROOT = Path(__file__).parents[2]
OBJECTIVE = (
    "Trace draft-and-verify decoding, explain distribution-preserving acceptance, and calculate a simplified "
    "speedup."
)

PAGES = {
    "lesson1": [
        "E7.1 · Lesson 1 of 6",
        "Draft and verify",
        OBJECTIVE,
        "The idea",
        "Guess cheaply, check in one pass",
        "Decoding is slow because the big model must run once per token.",
        "One expensive pass can therefore yield several tokens.",
        'explore("lesson1")',
        "Nothing from the draft is output before the target has checked it.",
        "Predict first",
        "Can every draft token be emitted before verification in exact speculative sampling?",
        "Chapter context",
        "A cheap draft proposes several tokens and a target model verifies them with parallel work.",
        "The opportunity comes from amortizing an expensive target step, but drafting, verification and",
        "Part 1",
        'explore("lesson1")',
        "How many tokens are produced by this one verification?",
        "tokens_produced = None",
        "How many of the draft's tokens were accepted in that case?",
        "drafts_accepted = None",
        "the same verification pass also yields the big model's prediction for the next position",
        "tokens_when_all_agree = None",
        "Part 2",
        "target_next has k + 1 entries: the target's own choice at each of the k positions",
        "at the first mismatch emit target_next[i] and stop",
        "does not have len(draft) + 1 entries",
        "def verify_greedy(draft, target_next):",
        "How many of the draft's tokens were accepted?",
        "def accepted_count(draft, target_next):",
        "draft k tokens one by one with draft_model",
        "The result must equal plain greedy generation with target_model",
        "def speculative_generate(draft_model, target_model, prompt, n_tokens, k):",
        "Check your understanding",
        "Can every draft token be emitted before verification in exact speculative sampling?",
        "A. Yes",
        "B. No",
    ],
    "lesson4": [
        "E7.4 · Lesson 4 of 6",
        "Expected progress",
        OBJECTIVE,
        "The idea",
        "How many tokens per verification?",
        "Suppose each drafted token is accepted independently with the same probability a (a simplification",
        "With a = 1 and k = 4 that is 5. With a = 0.8 it is 3.3616.",
        "The table is the probability of each number of accepted drafts",
        'explore("lesson4")',
        "assumes that each token is accepted independently with the same probability",
        "Predict first",
        "With acceptance one and four proposals, what is the ideal produced-token count?",
        "Chapter context",
        "A cheap draft proposes several tokens and a target model verifies them with parallel work.",
        "Part 1",
        "a = 1, k = 4, a = 0.8, k = 4 and a = 0.5, k = 4",
        'explore("lesson4")',
        "tokens_if_always_accepted = None",
        "tokens_at_rate_08 = None",
        "tokens_at_rate_05 = None",
        "Part 2",
        "Handle a = 1 (the sum is k + 1)",
        "def expected_tokens(a, k):",
        "Return a list of k + 1 numbers that sums to 1",
        "def accepted_distribution(a, k):",
        "1 + Σ n · P(n accepted), computed from accepted_distribution",
        "def expected_from_distribution(a, k):",
        "np.random.default_rng(seed)",
        "def simulate(a, k, trials, seed):",
        "Check your understanding",
        "A. One, since only the target's token counts.",
        "B. Five: four accepted drafts plus the extra token from the same verification pass.",
        "C. Four, since only the accepted drafts count.",
    ],
}
CHAPTER = [
    "Chapter reference: math, worked example & code",
    "This section belongs to the whole chapter, so it is the same on every lesson in it",
    "Math and notation",
    r"E[N]=\sum_{i=0}^{k}a^i=\frac{1-a^{k+1}}{1-a}\quad(a\ne1).",
    "this constant-$a$ model is not their full correctness proof",
    "Worked example",
    "1+0.8+0.64+0.512+0.4096=3.3616",
    "210.1",
    r"2.101\times",
    "Reference code",
    "uses the Python standard library and does not call a remote service",
    "from math import isclose",
    "assert isclose((expected / .016) / (1 / .010), 2.101)",
    "Common mistakes",
    "Expected accepted draft tokens alone omit the final target token in this model.",
    "A correctness-preserving acceptance rule is more than an agreement heuristic.",
    "What next",
]


def plain(text: str) -> str:
    """The text without emphasis, code marks, and line breaks."""
    return re.sub(r"\s+", " ", text.replace("*", "").replace("`", ""))


def release(lesson: str) -> str:
    (path,) = (ROOT / "release" / lesson).glob("*.ipynb")
    return plain("\n".join(cell.source for cell in nbformat.read(path, 4).cells))


@pytest.mark.parametrize("lesson", PAGES)
def test_a_lesson_has_every_line_of_its_page_in_the_page_s_order(lesson: str) -> None:
    text, at = release(lesson), 0
    for line in (*PAGES[lesson], *CHAPTER):
        found = text.find(plain(line), at)
        assert found >= 0, f"{line!r} is missing, or stands before the line above it"
        at = found + 1


@pytest.mark.parametrize("lesson", [name for name in LESSONS if list(ROOT.glob(f"release/{name}/*.ipynb"))])
def test_every_lesson_closes_with_the_chapter_reference(lesson: str) -> None:
    text, at = release(lesson), 0
    for line in CHAPTER:
        found = text.find(plain(line), at)
        assert found >= 0, f"{line!r} is missing, or out of order"
        at = found + 1
