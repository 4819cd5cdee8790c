"""Lesson 6: the trials of speculative_decode: calls and log, temperature 0, frequencies, the shipped models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from specdec_helpers.checks.ask import Answer, Function, Seed, ask
from specdec_helpers.checks.report import Slip
from specdec_helpers.checks.values import is_sequence, same
from specdec_helpers.lm.models import Target, draft
from specdec_helpers.lm.tables import Recorder, Table, random_table, sharpen
from specdec_helpers.reference import lesson6 as reference

from .lesson6_chance import error_slip, misfit, slip_of, tokens_of, unlikely
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
    for _ in range(3):
        p = sharpen(random_table(9, int(rng.integers(1 << 30))))
        rows = [row if rng.random() < 0.75 else np.roll(row, 1).tolist() for row in p.rows]
        runs = runs_of(rng, p, Table(rows), [(17, 4), (8, 3), (5, 1), (11, 5)], kind)
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


def _tally(runs: Sequence[Run], answers: Sequence[Answer]) -> dict[str, np.ndarray]:
    """Counts over many judged runs, by context (the last token before).

    `first`, `later` and `bonus` count the tokens emitted at those places of a round; given that the drafts before
    it were accepted, each follows the target's row. `kept` counts first drafts (rejected, accepted).
    """
    v = len(runs[0].p.rows)
    counts = {name: np.zeros((v, v), int) for name in ("first", "later", "bonus")} | {
        "kept": np.zeros((v, 2), int)
    }
    for run, answer in zip(runs, answers, strict=True):
        text, log = run.prompt + (tokens_of(answer.value[0]) or []), tokens_of(answer.value[1]) or []
        for (seq, _), accepted in zip(run.target.calls, log, strict=True):
            start = len(seq) - run.k
            counts["kept"][text[start - 1], int(accepted > 0)] += 1
            for i in range(accepted + 1):
                if start + i < len(text):
                    place = "bonus" if i == run.k else "later" if i else "first"
                    counts[place][text[start + i - 1], text[start + i]] += 1
    return counts


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
    seen, rows = _tally(runs, answers[:-1]), np.array(p.rows)
    overlap = np.minimum(rows, q.rows).sum(axis=1)
    slip = _explain(kind, seen, rows, overlap, float(np.abs(rows - rows[0]).max()) == 0)
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


def _explain(
    kind: str, seen: dict[str, np.ndarray], rows: np.ndarray, overlap: np.ndarray, alike: bool
) -> Slip | None:
    """The first frequency that cannot be chance, in words. Where all rows are alike, their counts are added up."""
    if alike:
        seen, rows, overlap = {name: c.sum(0)[None] for name, c in seen.items()}, rows[:1], overlap[:1]
    slip = partial(slip_of, "speculative_decode", kind)
    kept, total = seen["kept"][:, 1], seen["kept"].sum(1)
    if any(map(unlikely, kept, total, overlap)):
        many = kept.sum() > (overlap * total).sum()
        got = f"{'more' if many else 'fewer'} drafts accepted than the rule gives"
        return slip(
            got, "acceptance with probability min(1, p/q)", "accepts_too_many" if many else "accepts_too_few"
        )
    if misfit(seen["bonus"], rows):
        return slip(
            "the token after k accepted drafts does not follow the target",
            "a draw from p_rows[k]",
            "bonus_wrong",
        )
    if (
        misfit(seen["first"], rows)
        or misfit(seen["later"], rows)
        or misfit(seen["first"] + seen["later"], rows)
    ):
        return slip(
            "tokens that do not follow the target's distribution",
            "the target's own frequencies",
            "residual_wrong",
        )
    return None


def follows_the_target(function: Function, rng: Generator) -> Slip | None:
    """Trial: the frequencies of the tokens, of accepted drafts and of bonus tokens are those of the rule.

    First with models that ignore the context, so that every token tells about one pair p, q; then with models that
    look at the last token, so that rows must be taken at the right place.
    """
    order = rng.permutation(4)
    p, q = (
        Table(np.tile(np.array(row)[order], (4, 1))) for row in ((0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4))
    )
    slip = _sampled(p, q, rng, function, [(60, 2)] * 60)
    if slip:
        return slip
    turn = rng.permutation(3)
    p = Table(np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]])[np.ix_(turn, turn)])
    q = Table(np.array([[0.5, 0.1, 0.4], [0.3, 0.3, 0.4], [0.6, 0.2, 0.2]])[np.ix_(turn, turn)])
    return _sampled(p, q, rng, function, [(60, 3)] * 20)


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
