"""Lesson 6: the trials of speculative_decode: calls and log, temperature 0, frequencies, the shipped models."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Answer, Function, Seed, ask
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.values import is_sequence
from specdec_helpers.lm.models import Target, draft
from specdec_helpers.lm.tables import Recorder, Table, random_table
from specdec_helpers.reference import lesson6 as reference

from .lesson6_chance import error_slip, slip_of, tokens_of
from .lesson6_run import Run, runs_of

Generator = np.random.Generator


def structure(function: Function, rng: Generator) -> Slip | None:
    """Calls, log and length fit together, for several k and lengths, and after a long prompt."""
    p, q = (random_table(5, int(rng.integers(1 << 30)), 0.7) for _ in range(2))
    runs = runs_of(rng, p, q, [(8, 4), (1, 3), (6, 1), (7, 2), (5, 3), (8, 6), (1, 16)])
    runs[3].prompt = rng.integers(0, 5, 100).tolist()
    answers = ask(function, [run.case for run in runs])
    return next((s for s in map(Run.judge, runs, answers) if s), None)


def greedy(function: Function, rng: Generator) -> Slip | None:
    """At temperature 0 the text and the log are known exactly."""
    kind, runs = "speculative_decode with toy models at temperature 0", []
    for misses, plans in (
        (4, [(12, 4), (6, 1), (8, 2)]),
        (2, [(12, 4), (8, 2)]),
        (0, [(8, 4), (1, 3), (4, 1)]),  # the text is surely cut inside a block
    ):
        # One circle through all tokens: a text that runs into a shorter one might never meet a miss.
        circle, after = rng.permutation(9), np.empty(9, int)
        after[circle] = np.roll(circle, -1)
        p = Table(np.eye(9)[after])
        missed = rng.choice(9, misses, replace=False)
        rows = [np.roll(row, 1).tolist() if token in missed else row for token, row in enumerate(p.rows)]
        runs += runs_of(rng, p, Table(rows), plans, kind)
    answers = ask(function, [run.case for run in runs])
    judged = (run.judge(a) or _against_greedy(run, a, kind) for run, a in zip(runs, answers, strict=True))
    return next((slip for slip in judged if slip), None)


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
