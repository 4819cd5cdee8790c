"""Lesson 1: hidden trials of verify_greedy, accepted_count and speculative_generate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from specdec_helpers.checks.ask import Case
from specdec_helpers.checks.lesson1 import MISTAKES
from specdec_helpers.reference import lesson1 as reference

from . import lesson1_runs as runs
from .base import Cases, Item, Part, Refuses, Study

Tokens = Sequence[int]
Generator = np.random.Generator


# Tokens that differ but look alike: in the last or first digit, modulo 256 or 1000, in 8 or 16 bits, as a half float.
# The largest vocabularies have some 200,000 tokens, so 32 bits (and a float32) are always enough.
SMALL_STEPS = (1, 10, 256, 1000, 65536)
LARGE_STEPS = (1, -1, 256, -1000, 65536, -65536)
LARGE = (110_000, 130_000)


def _draft(rng: Generator, k: int, bounds: tuple[int, int] = (1, 7)) -> list[int]:
    return [int(token) for token in rng.integers(*bounds, k)]  # tokens repeat: searching by value misleads


def _look_alike(token: int, turn: int) -> int:
    """Another token than this one, in turns of another kind."""
    if token > 6:
        return token + LARGE_STEPS[turn % len(LARGE_STEPS)]
    kinds = [token % 6 + 1, (token - 2) % 6 + 1, 10 * token + 3, *(token + step for step in SMALL_STEPS)]
    return kinds[turn % len(kinds)]


def _round(rng: Generator, draft: list[int], agree: int, turn: int = 0) -> Case:
    """A target row that agrees with the draft at exactly its first `agree` positions.

    Behind the disagreement the target agrees again at about half of the positions (always at the last), so that code
    which goes on checking is found out.
    """
    target = [token if rng.random() < 0.5 else int(rng.integers(1, 7)) for token in draft] + _draft(rng, 1)
    target[:agree] = draft[:agree]
    if agree < len(draft):
        target[-2] = draft[-1]
        target[agree] = _look_alike(draft[agree], turn)
    return draft, target


def _disagreeing(rng: Generator) -> list[Case]:
    """One draft of each length meets several targets: a result may not be remembered by its draft."""
    drafts = [_draft(rng, k) for k in (1, 2, 3, 4, 17)] + [_draft(rng, 6, LARGE)]
    rounds = [
        (draft, agree)
        for draft in drafts
        for agree in (range(len(draft)) if len(draft) < 9 else (0, 5, 11, 16))
    ]
    return [_round(rng, draft, agree, turn) for turn, (draft, agree) in enumerate(rounds)]


def _agreeing(rng: Generator) -> list[Case]:
    """Draft and target agree; large tokens too, as equal but distinct objects (`is` is not `==`)."""
    first, second = _draft(rng, 2, LARGE)
    large: Case = ([first, second], [int(str(first)), int(str(second)), second + 1])
    return [*(_round(rng, _draft(rng, k), k) for k in (1, 2, 3, 5, 33)), large]


def _zeros(rng: Generator) -> list[Case]:
    """Rounds of zeros and equal tokens: 0 is a token like any other."""
    return [([0, 0, 0], [0, 0, 0, 0]), ([0, 0], [0, 1, 0]), ([0], [5, 0]), ([3, 0, 3], [3, 0, 0, 3])]


def _empty(rng: Generator) -> list[Case]:
    return [([], [int(rng.integers(0, 9))]) for _ in range(3)]


def _bad_lengths(rng: Generator) -> list[Case]:
    cases: list[Case] = []
    for k in (0, 1, 3, 5):
        draft = rng.integers(0, 9, k).tolist()
        for length in (k - 1, k, k + 2):
            if length >= 0 and length != k + 1:
                # The first tokens agree, or differ at once: code that stops early must still look at the lengths.
                same_start = [*draft, 1, 2][:length]
                cases += [(draft, same_start), (draft, [(t + 1) % 9 for t in same_start])]
    return [*cases, ([1, 2], [1, 2, 3, 4, 5, 6, 7, 8])]


# ---- wrong implementations, by the id of their misconception ---------------------------------------------


def _correction_dropped(draft: Tokens, target_next: Tokens) -> list[int]:
    n = reference.accepted_count(draft, target_next)
    return [*draft[:n], *(target_next[n:] if n == len(draft) else [])]


def _wrong_draft_kept(draft: Tokens, target_next: Tokens) -> list[int]:
    n = reference.accepted_count(draft, target_next)
    return [*draft[: n + 1]] if n < len(draft) else [*draft, target_next[n]]


def _bonus_forgotten(draft: Tokens, target_next: Tokens) -> list[int]:
    n = reference.accepted_count(draft, target_next)
    return [*draft[:n], *target_next[n : n + 1]][: len(draft)]


def _bonus_one_too_early(draft: Tokens, target_next: Tokens) -> list[int]:
    n = reference.accepted_count(draft, target_next)
    return [*draft[:n], target_next[min(n, len(draft) - 1)]]


def _keeps_going(draft: Tokens, target_next: Tokens) -> list[int]:
    return list(target_next)  # emitting d where d == t and t elsewhere is the target's whole row


def _counts_emitted(draft: Tokens, target_next: Tokens) -> int:
    return reference.accepted_count(draft, target_next) + 1


def _counts_matches(draft: Tokens, target_next: Tokens) -> int:
    return sum(d == t for d, t in zip(draft, target_next, strict=False))


ITEMS: dict[str, Item] = {
    "verify_greedy": Item(
        "verify_greedy",
        "lesson1",
        reference.verify_greedy,
        (
            Cases(
                "stops at the first disagreement",
                0.5,
                "verify_greedy with a draft that is wrong somewhere",
                _disagreeing,
                core=True,
                cause="tokens are compared or kept by something else than their position",
                next_step="compare draft[i] with target_next[i], emit what agrees, then target_next[i], and stop",
            ),
            Cases(
                "adds the bonus token when all agree",
                0.2,
                "verify_greedy with a draft that agrees everywhere",
                _agreeing,
                cause="after a draft that is right everywhere, something else than target_next[k] follows",
                next_step="return all k drafts and then target_next[k], the target's choice for the next position",
            ),
            Cases(
                "treats token 0 like any other",
                0.05,
                "verify_greedy with zeros among the tokens",
                _zeros,
                cause="a token is tested for truth, and 0 counts as false",
                next_step="compare tokens with == or !=; 0 is a token like any other",
            ),
            Cases("works with an empty draft", 0.05, "verify_greedy([], [token])", _empty),
            Refuses(
                "refuses a target_next of the wrong length",
                0.2,
                "verify_greedy with too few or too many target entries",
                _bad_lengths,
            ),
        ),
        wrong={
            "correction_dropped": _correction_dropped,
            "wrong_draft_kept": _wrong_draft_kept,
            "bonus_forgotten": _bonus_forgotten,
            "bonus_one_too_early": _bonus_one_too_early,
            "keeps_going": _keeps_going,
        },
        mistakes=MISTAKES["verify_greedy"],
    ),
    "accepted_count": Item(
        "accepted_count",
        "lesson1",
        reference.accepted_count,
        (
            Cases(
                "counts up to the first disagreement",
                0.6,
                "accepted_count with a draft that is wrong somewhere",
                _disagreeing,
                core=True,
                cause="something else is counted than the agreeing positions at the front",
                next_step="compare draft[i] with target_next[i], i = 0, 1, …, and return the first i where they differ",
            ),
            Cases(
                "counts the whole draft when all agree",
                0.3,
                "accepted_count with a draft that agrees everywhere",
                _agreeing,
                cause="the case without any disagreement is not treated, or tokens are compared with `is`",
                next_step="return len(draft) when the loop has found no disagreement",
            ),
            Cases(
                "works with zeros and with an empty draft",
                0.1,
                "accepted_count with zeros, or an empty draft",
                lambda rng: _zeros(rng) + _empty(rng),
            ),
        ),
        wrong={"counts_emitted": _counts_emitted, "counts_matches": _counts_matches},
        mistakes=MISTAKES["accepted_count"],
    ),
    "speculative_generate": Item(
        "speculative_generate",
        "lesson1",
        reference.speculative_generate,
        (
            Study(
                (
                    Part(runs.TEXT, 0.35, core=True),
                    Part(runs.CALLS, 0.25),
                    Part(runs.AHEAD, 0.15),
                    Part(runs.NEVER_RIGHT, 0.1),
                    Part(runs.SMALL, 0.05),
                    Part(runs.PROMPT, 0.1),
                ),
                runs.study,
            ),
        ),
        mistakes=MISTAKES["speculative_generate"],
        unchanged=False,  # the prompt has a check of its own
    ),
}
