"""Lesson 6: the frequencies of speculative_decode, at the price of few calls of its models.

Every call of a model is a round trip to the sandbox, so the sample is small at first: enough to see a wrong rule,
though not to be sure of it. Only where some frequency is suspicious are more runs made (`lesson6_chance.STAGES`).

What makes a draw telling:

- the judge knows the drafts (they end the target's sequences), so each acceptance is laid beside its own p(x)/q(x);
- what cannot happen tells at once: a rejected draft with p >= q, a replacement by a token that q over-supplies;
- all contexts are alike up to renaming the tokens (`place`), so that all draws count together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from specdec_helpers.checks.ask import Answer, Function, ask
from specdec_helpers.checks.report import Slip
from specdec_helpers.lm.tables import Table

from .lesson6_chance import STAGES, alike, circle, slip_of, surprise, tokens_of, unlikely
from .lesson6_run import Run, runs_of

Generator = np.random.Generator
Plan = tuple[int, int]  # n_tokens, k

_KIND = "speculative_decode many times, sampling from toy models"
# One pair p, q in every context. Three entries are over-supplied by the draft, with different p/q, once with p = 0; the
# others are under-supplied, and p, p - q and p/q give them very different shares. One of them is shared by many rare
# tokens, who lose where weights are sharpened and gain where they are flattened. The most drafted token comes first or
# last, so that its test does not hang on the number that drew it.
_P, _Q = (0.2, 0.022, 0.223, 0.155, 0.05, 0.35, 0.0), (0.45, 0.2, 0.05, 0.14, 0.02, 0.02, 0.12)
_ENTRY = np.array([0, 1, 2, 3, 4, *[5] * 32, 6])  # of each token
# One draft, so that every test is the same coin, and it comes first, where a small random number lies: where one random
# number serves two purposes, the first betrays the second. It mostly comes up accepted, so that a little more shows.
_COIN_P, _COIN_Q = (0.8, 0.1, 0.1), (1.0, 0.0, 0.0)
# On a circle of odd steps: the rows at two neighbouring places share no token, so that a row of another place is surely
# noticed. It lets happen what must not.
_CIRCLE_P, _CIRCLE_Q = (0.45, 0.0, 0.5, 0.0, 0.05, 0.0), (0.6, 0.0, 0.0, 0.0, 0.4, 0.0)
PLANS: list[list[Plan]] = [
    [(18, 2)] * 2 + [(24, 1)] * 5 + [(24, 2)] * 6,
    [(36, 1)] * 2 + [(15, 3)] * 4,
    [(12, 3)] * 2 + [(12, 2)] * 2 + [(12, 1)] * 2,
]


def _tallies(rng: Generator) -> list[Tally]:
    order = np.array([0, *rng.permutation(_ENTRY[1:])])[:: rng.choice([-1, 1])]
    return [
        Tally(alike(order), np.array(_P), np.array(_Q)),
        Tally(alike(np.arange(3)), np.array(_COIN_P), np.array(_COIN_Q)),
        Tally(circle(rng.permutation(len(_CIRCLE_P))), np.array(_CIRCLE_P), np.array(_CIRCLE_Q)),
    ]


@dataclass
class Tally:
    """Counts over many judged runs, by place.

    For any exact rule that keeps as many drafts as possible all of these shares are known: a draft is distributed as
    q; it is accepted with probability min(1, p/q); a replacement is distributed as max(0, p - q), a bonus token as p.
    Tokens that share an entry are counted as one. `first` and `later` count tested drafts (rejected, accepted) at those
    places of a round.
    """

    place: np.ndarray
    p: np.ndarray
    q: np.ndarray

    def __post_init__(self) -> None:
        v = len(self.p)
        self.drafted, self.replaced, self.bonus = (np.zeros(v, int) for _ in range(3))
        self.first, self.later = np.zeros((v, 2), int), np.zeros((v, 2), int)

    def runs(self, rng: Generator, plans: Sequence[Plan]) -> list[Run]:
        """Runs with these models."""
        tokens = np.bincount(self.place[0])  # that share an entry
        p, q = (Table((row / tokens)[self.place]) for row in (self.p, self.q))
        return runs_of(rng, p, q, plans, _KIND)

    def add(self, run: Run, answer: Answer) -> None:
        """Count one run that `Run.judge` found in order."""
        text, log = run.prompt + (tokens_of(answer.value[0]) or []), tokens_of(answer.value[1]) or []
        for (seq, _), accepted in zip(run.target.calls, log, strict=True):
            start = len(seq) - run.k
            places = self.place[seq[start - 1 : -1], seq[start:]]
            np.add.at(self.drafted, places, 1)
            for i, at in enumerate(places[: min(accepted + 1, len(text) - start)]):
                (self.later if i else self.first)[at, int(i < accepted)] += 1
            if start + accepted < len(text):
                at = self.place[text[start + accepted - 1], text[start + accepted]]
                (self.bonus if accepted == run.k else self.replaced)[at] += 1

    def _tests(self) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """(what went wrong, counts, probabilities), in the order in which a slip is looked for."""
        least = np.minimum(self.p, self.q)
        rate = least / np.where(self.q > 0, self.q, 1)
        over = self.q > self.p
        tests, coin = self.first + self.later, np.stack([1 - rate, rate], axis=1)
        overlap = np.array([1 - least.sum(), least.sum()])
        share = least[over].sum() / self.q[over].sum()
        yield "drafted", self.drafted, self.q
        yield "rate", self.first.sum(axis=0), overlap
        yield "rate", self.later.sum(axis=0), overlap
        yield "rate", tests[over].sum(axis=0), np.array([1 - share, share])
        yield "replaced", self.replaced, (self.p - least) / (1 - least.sum())
        yield "bonus", self.bonus, self.p
        for counts in (tests, self.later):
            for counted, expected in zip(counts, coin, strict=True):
                yield "kept", counted, expected

    def surprise(self) -> float:
        """The most surprising of all frequencies, in nats."""
        return max(surprise(counts, row) for _, counts, row in self._tests())

    def slip(self) -> Slip | None:
        """The first frequency that chance cannot explain, in the words of its misconception."""
        fault = next((what for what, counts, row in self._tests() if unlikely(counts, row)), "")
        return self._slip(fault) if fault else None

    def _slip(self, fault: str) -> Slip:
        rule = "acceptance with probability min(1, p/q)"
        if fault == "drafted":
            wanted = "drafts drawn from their rows"
            if self.drafted.max() == self.drafted.sum():
                return _slip("drafts that are never drawn", wanted, "greedy_draft")
            cause = "the drafts do not come as often as their rows say, which the acceptance rule relies on"
            step = "draw each draft with draft_block, and judge it by the row it was drawn from"
            return _slip("drafts with other frequencies than their rows give", wanted, "", cause, step)
        if fault == "rate":
            tests = self.first + self.later
            many = tests[:, 1].sum() > tests.sum() * np.minimum(self.p, self.q).sum()
            got = f"{'more' if many else 'fewer'} drafts accepted than the rule gives"
            return _slip(got, rule, "accepts_too_many" if many else "accepts_too_few")
        if fault == "replaced":
            got = "tokens after a rejection that do not make up for what the draft under-supplies"
            return _slip(got, "draws from max(0, p - q)", "residual_wrong")
        if fault == "bonus":
            got = "the token after k accepted drafts does not follow the target"
            return _slip(got, "a draw from p_rows[k]", "bonus_wrong")
        return _slip("the accepted drafts are not those that the rule keeps", rule, "accepts_too_many")


def _slip(got: str, expected: str, key: str, cause: str = "", step: str = "") -> Slip:
    return slip_of("speculative_decode", _KIND, got, expected, key, cause, step)


def _sample(
    function: Function, rng: Generator, tallies: Sequence[Tally], plans: Sequence[Sequence[Plan]]
) -> Slip | None:
    """Count more runs, all in one batch; a slip where one is not in order, or does not hang on its seed.

    Three runs are made twice, and the first two differ by their seed alone.
    """
    groups = [tally.runs(rng, some) for tally, some in zip(tallies, plans, strict=True)]
    groups[0][1].prompt = groups[0][0].prompt
    twice = [groups[0][0], groups[1][0], groups[1][-1]]
    again = [replace(run) for run in twice]
    runs = [run for group in groups for run in group]
    answers = ask(function, [run.case for run in [*runs, *again]])
    slip = next((s for s in map(Run.judge, [*runs, *again], answers) if s), None)
    if slip:
        return slip
    if any(one.target.calls != run.target.calls for one, run in zip(again, twice, strict=True)):
        return _slip("another text from the same seed", "the same text", "own_generator")
    if groups[0][0].target.calls == groups[0][1].target.calls:  # by chance once in 10^10 times
        return _slip("the same text from two seeds", "another text", "own_generator")
    rest = iter(answers)
    for tally, group in zip(tallies, groups, strict=True):
        for run in group:
            tally.add(run, next(rest))
    return None


def follows_the_target(function: Function, rng: Generator) -> Slip | None:
    """Trial: the shares of drafted, accepted, replaced and bonus tokens are those of the rule."""
    tallies = _tallies(rng)
    for times, enough in STAGES:
        slip = _sample(function, rng, tallies, [plans * times for plans in PLANS])
        slip = slip or next((s for s in map(Tally.slip, tallies) if s), None)
        if slip or max(map(Tally.surprise, tallies)) < enough:
            return slip
    return None
