"""Lesson 6: the trials of speculative_decode: calls and log, temperature 0, frequencies, the shipped models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Answer, Function, Seed, ask
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.values import is_sequence, same
from specdec_helpers.lm.models import Target, draft
from specdec_helpers.lm.tables import Recorder, Table, random_table
from specdec_helpers.reference import lesson6 as reference

from .lesson6_chance import error_slip, misfit, slip_of, tokens_of
from .lesson6_run import Run, runs_of

Generator = np.random.Generator


def structure(function: Function, rng: Generator) -> Slip | None:
    """Calls, log and length fit together, for several k and lengths."""
    p, q = (random_table(5, int(rng.integers(1 << 30)), 0.7) for _ in range(2))
    runs = runs_of(rng, p, q, [(12, 4), (1, 3), (20, 1), (9, 2), (15, 6)])
    answers = ask(function, [run.case for run in runs])
    return next((s for s in map(Run.judge, runs, answers) if s), None)


def greedy(function: Function, rng: Generator) -> Slip | None:
    """At temperature 0 the text and the log are known exactly."""
    kind = "speculative_decode with toy models at temperature 0"
    for misses in (4, 2, 0):  # with the last one, the text is surely cut inside a block
        # One circle through all tokens: a text that runs into a shorter one might never meet a miss.
        circle, after = rng.permutation(9), np.empty(9, int)
        after[circle] = np.roll(circle, -1)
        p = Table(np.eye(9)[after])
        missed = rng.choice(9, misses, replace=False)
        rows = [np.roll(row, 1).tolist() if token in missed else row for token, row in enumerate(p.rows)]
        runs = runs_of(rng, p, Table(rows), [(17, 4), (1, 3), (9, 1), (11, 2)], kind)
        for run, answer in zip(runs, ask(function, [run.case for run in runs]), strict=True):
            slip = run.judge(answer) or _against_greedy(run, answer, kind)
            if slip:
                return slip
    return None


def _against_greedy(run: Run, answer: Answer, kind: str) -> Slip | None:
    """The text and the log of a run in which nothing is left to chance."""
    rng = np.random.default_rng(0)
    rest = run.prompt, run.n_tokens, run.k, rng
    tokens, log = reference.speculative_decode(run.q, run.p.last_rows, *rest)
    got = tokens_of(answer.value[0])
    if got == tokens and tokens_of(answer.value[1]) == log:
        return None
    if got == tokens:
        wanted = "the drafts accepted in each verification, before the text is cut"
        return slip_of("speculative_decode", kind, "another log", wanted, _wrong_log(answer, log))

    def one_off(seq: list[int], m: int) -> list[list[float]]:
        rows = run.p.last_rows(seq, m)
        return [*rows[1:], rows[-1]]

    if set(tokens_of(answer.value[1]) or []) == {run.k} != set(log):
        return slip_of(
            "speculative_decode", kind, "every draft accepted", "a test of each", "accepts_too_many"
        )
    shifted = got == reference.speculative_decode(run.q, one_off, *rest)[0]
    return slip_of(
        "speculative_decode",
        kind,
        "other tokens than plain greedy decoding with the target",
        "the same tokens",
        "rows_shifted" if shifted else "",
        "a row of p or q is looked up at the wrong place, or a rejected draft is kept",
        "print n, drafts and the rows' largest entries for one verification, and follow it by hand",
    )


def _wrong_log(answer: Answer, log: list[int]) -> str:
    got = tokens_of(answer.value[1]) or []
    if got[:-1] == log[:-1] and len(got) == len(log):
        return "log_cut"
    return "accepts_too_few" if len(got) > len(log) else "log_wrong"


@dataclass
class Tally:
    """Counts over many judged runs, by context (the last token before a position).

    For any exact rule that keeps as many drafts as possible all of these shares are known: a tested draft is accepted
    with the overlap of p and q; an accepted one is distributed as min(p, q), a replacement as max(0, p - q), a bonus
    token as p. `first` and `later` count tested drafts (rejected, accepted) at those places of a round.
    """

    p: np.ndarray
    q: np.ndarray

    def __post_init__(self) -> None:
        v = len(self.p)
        self.first, self.later = np.zeros((v, 2), int), np.zeros((v, 2), int)
        self.accepted, self.replaced, self.bonus = (np.zeros((v, v), int) for _ in range(3))
        least = np.minimum(self.p, self.q)
        self.overlap = least.sum(axis=1, keepdims=True)
        self.least, self.rest = least / self.overlap, (self.p - least) / (1 - self.overlap)

    def add(self, run: Run, answer: Answer) -> None:
        """Count one run that `Run.judge` found in order."""
        text, log = run.prompt + (tokens_of(answer.value[0]) or []), tokens_of(answer.value[1]) or []
        for (seq, _), accepted in zip(run.target.calls, log, strict=True):
            start = len(seq) - run.k
            for i in range(min(accepted + 1, len(text) - start)):
                before, token = text[start + i - 1], text[start + i]
                if i < run.k:
                    (self.later if i else self.first)[before, int(i < accepted)] += 1
                (self.bonus if i == run.k else self.accepted if i < accepted else self.replaced)[
                    before, token
                ] += 1

    def pooled(self) -> Tally:
        """All contexts in one, where they are alike."""
        one = Tally(self.p[:1], self.q[:1])
        for name in ("first", "later", "accepted", "replaced", "bonus"):
            setattr(one, name, getattr(self, name).sum(axis=0)[None])
        return one

    def slip(self, kind: str) -> Slip | None:
        """The first frequency that cannot be chance, in words."""
        slip, rule = partial(slip_of, "speculative_decode", kind), "acceptance with probability min(1, p/q)"
        rates = np.hstack([1 - self.overlap, self.overlap])
        for tested in (self.first, self.later):
            if misfit(tested, rates):
                many = tested[:, 1].sum() > (tested.sum(axis=1) * self.overlap[:, 0]).sum()
                got = f"{'more' if many else 'fewer'} drafts accepted than the rule gives"
                return slip(got, rule, "accepts_too_many" if many else "accepts_too_few")
        if misfit(self.replaced, self.rest):
            got = "tokens after a rejection that do not make up for what the draft under-supplies"
            return slip(got, "draws from max(0, p - q)", "residual_wrong")
        if misfit(self.bonus, self.p):
            got = "the token after k accepted drafts does not follow the target"
            return slip(got, "a draw from p_rows[k]", "bonus_wrong")
        if misfit(self.accepted, self.least):
            return slip("the accepted drafts are not those that the rule keeps", rule, "accepts_too_many")
        return None


def _sampled(
    p: Table, q: Table, rng: Generator, function: Function, plans: Sequence[tuple[int, int]]
) -> Slip | None:
    kind = "speculative_decode many times, sampling from toy models"
    runs = runs_of(rng, p, q, plans, kind)
    again = Run(q, p, runs[0].prompt, runs[0].n_tokens, runs[0].k, runs[0].seed, kind)
    answers = ask(function, [run.case for run in [*runs, again]])
    slip = next((s for s in map(Run.judge, [*runs, again], answers) if s), None)
    if slip:
        return slip
    if not same(answers[0].value[0], tokens_of(answers[-1].value[0])):
        return slip_of(
            "speculative_decode", kind, "another text from the same seed", "the same text", "own_generator"
        )
    tally = Tally(np.array(p.rows), np.array(q.rows))
    for run, answer in zip(runs, answers, strict=False):
        tally.add(run, answer)
    slip = tally.slip(kind) or (
        tally.pooled().slip(kind) if len({tuple(row) for row in p.rows}) == 1 else None
    )
    if slip and all(map(_greedily_drafted, runs)):
        got, wanted = "drafts that are never drawn", "drafts drawn from their rows"
        return slip_of("speculative_decode", kind, got, wanted, "greedy_draft")
    return slip


def _greedily_drafted(run: Run) -> bool:
    return all(
        seq[i] == run.q.greedy(seq[:i])
        for seq, _ in run.target.calls
        for i in range(len(seq) - run.k, len(seq))
    )


def follows_the_target(function: Function, rng: Generator) -> Slip | None:
    """Trial: the shares of accepted, replaced and bonus tokens are those of the rule.

    First with models that ignore the context, so that every token tells about one pair p, q. Then with models that
    look at the last token and leave some tokens out, so that a row taken at the wrong place shows itself soon.
    """
    order = rng.permutation(4)
    p, q = (np.array(row)[order] for row in ((0.35, 0.35, 0.2, 0.1), (0.05, 0.05, 0.4, 0.5)))
    plans = [(30, 1)] * 18 + [(30, 2)] * 26
    slip = _sampled(Table(np.tile(p, (4, 1))), Table(np.tile(q, (4, 1))), rng, function, plans)
    if slip:
        return slip
    order = rng.permutation(5)
    p, q = (np.zeros((5, 5)) for _ in range(2))
    for i, token in enumerate(order):
        p[token, [order[i - 1], order[i - 2]]] = 0.6, 0.4
        q[token, [order[i - 1], order[i - 2], order[i - 3]]] = 0.2, 0.5, 0.3
    return _sampled(Table(p), Table(q), rng, function, [(24, 3)] * 10)


@cache
def _shipped() -> tuple[Target, Any]:
    return Target(temperature=0, dtype=np.float64), draft("C", temperature=0)


def on_shipped_models(function: Function, rng: Generator) -> Slip | None:
    """The course's own target and draft C at temperature 0: the text is plain greedy decoding's."""
    kind = "speculative_decode with the shipped models at temperature 0"
    target, small = _shipped()
    prompt, n, k = rng.integers(13, 65, 6).tolist(), 24, 4
    passes = Recorder(target.distributions)
    answer = ask(function, [(small.distribution, passes, prompt, n, k, Seed(1))])[0]
    if answer.error is not None:
        return error_slip(kind, answer, f"{n} tokens")
    pair = answer.value
    tokens = tokens_of(pair[0]) if is_sequence(pair) and len(pair) == 2 else None
    plain = list(prompt)
    for _ in range(n):
        plain.append(int(target.distributions(plain, 1)[0].argmax()))
    if tokens != plain[len(prompt) :]:
        cause, step = (
            "the text is not the target's",
            "compare with a loop that takes the target's largest entry",
        )
        return slip_of(
            "speculative_decode", kind, "other tokens", "those of plain greedy decoding", "", cause, step
        )
    log = tokens_of(pair[1])
    if log is None or len(passes.calls) != len(log) or not all(0 <= count <= k for count in log):
        return slip_of(
            "speculative_decode", kind, "a log that does not fit the passes", "one entry a pass", "log_wrong"
        )
    return None
