"""Lesson 6, Measure it: the visible examples; the misconceptions are in `lesson6_mistakes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specdec_helpers.lm.tables import Recorder, Table

from .ask import Answer, Case, Function, Seed, ask
from .lesson6_mistakes import MISTAKES
from .report import Slip
from .table import Example, Exercise, Probe, Raises, changed_slip, error_advice, error_text
from .values import describe, is_number, is_sequence, same, show_value

_DRAFT = Table([[0.1, 0.1, 0.8], [0.2, 0.2, 0.6], [0.5, 0.25, 0.25]])
# Drafts far from their target: after [0] one token is under-supplied, after [1] two. Replacing from p, accepting only
# where p >= q, a greedy draft, or a replacement that is not drawn move a count by more than chance does.
_FAR = Table([[0.05, 0.5, 0.45], [0.05, 0.05, 0.9], [0.5, 0.25, 0.25]])
_TARGET = Table([[0.5, 0.45, 0.05], [0.3, 0.3, 0.4], [0.25, 0.5, 0.25]])
_COUNT_UP = Table([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]])  # 0 1 2 3 0 1 …, without chance
_JUMPS = Table([[0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0]])  # the same, but 2 is followed by 0


def _known(function: str, key: str, call: str, got: str, expected: str) -> Slip:
    mistake = MISTAKES[function][key]
    return Slip(call, got, expected, mistake.cause, mistake.next_step, key)


def _pair(call: str, answer: Answer, expected: str) -> Slip | None:
    """What is wrong with a result that should be a pair of sequences."""
    if answer.error is not None:
        return Slip(call, error_text(answer), expected, *error_advice(answer))
    value = answer.value
    if not is_sequence(value) or len(value) != 2 or not all(is_sequence(part) for part in value):
        return Slip(
            call, describe(value), expected, "the result is not a pair of lists", "return both, with a comma"
        )
    return None


def _whole(values: Any) -> bool:
    return all(is_number(value) and int(value) == value for value in values)


def _drafts(prefix: list[int], k: int) -> Probe:
    """A probe: k tokens and rows, each from one call that saw the drafts before it."""
    call = f"draft_block(draft_model, {prefix}, {k}, rng)"

    def probe(function: Function) -> Slip | None:
        model = Recorder(_DRAFT)
        answer = ask(function, [(model, prefix, k, Seed(1))])[0]
        wanted = f"{k} tokens and {k} rows"
        slip = _pair(call, answer, wanted)
        if slip:
            return slip
        tokens, rows = answer.value
        got = f"{len(tokens)} tokens and {len(rows)} rows"
        if len(tokens) == len(prefix) + k and same(tokens[: len(prefix)], prefix):
            return _known("draft_block", "prefix_included", call, got, wanted)
        if len(tokens) == len(rows) == k and not _whole(tokens):
            cause = "the first of the two lists does not hold tokens, which are whole numbers"
            return Slip(
                call, show_value(answer.value), wanted, cause, "return first the tokens, then the rows"
            )
        if len(tokens) != k or len(rows) != k:
            cause, step = (
                "the loop makes other than k turns",
                "append one token and one row in each of k turns",
            )
            return Slip(call, got, wanted, cause, step)
        if answer.changed:
            return changed_slip("draft_block")
        seen = [made[0] for made in model.calls]
        contexts = [prefix + [int(token) for token in tokens[:i]] for i in range(k)]
        if len(seen) > k and all(context in seen for context in contexts):
            return _known("draft_block", "row_shifted", call, f"draft_model saw {seen}", f"{contexts}")
        if any(context[: len(prefix)] != prefix for context in seen):
            cause, step = (
                "the prefix is left out of a call",
                "call draft_model with prefix + the drafts so far",
            )
            return Slip(call, f"draft_model saw {seen}", f"{contexts}", cause, step)
        if seen != contexts:
            return _known("draft_block", "prefix_only", call, f"draft_model saw {seen}", f"{contexts}")
        expected = [_DRAFT(context) for context in contexts]
        if not same(rows, expected):
            return _known("draft_block", "row_shifted", call, show_value(rows), show_value(expected))
        return None

    return probe


SEEDS, RULE_SEEDS = 100, 150  # enough to see a wrong draw or a wrong rule, few enough to be quick


def _first_tokens(answers: list[Answer]) -> list[Any]:
    return [answer.value[0][0] for answer in answers if len(answer.value[0])]


def _fits(counts: list[int], row: list[float], seeds: int) -> bool:
    """Whether each count lies within five standard errors of what the row says."""
    return all(
        abs(c - seeds * p) <= 5 * (seeds * p * (1 - p)) ** 0.5 for c, p in zip(counts, row, strict=True)
    )


def _draws(function: Function) -> Slip | None:
    """A probe: over many seeds every token comes about as often as its row says."""
    call = f"draft_block(draft_model, [0], 1, rng) with {SEEDS} seeds"
    answers = ask(function, [(_DRAFT, [0], 1, Seed(seed)) for seed in range(SEEDS)])
    slip = next((s for s in (_pair(call, answer, "1 token and 1 row") for answer in answers) if s), None)
    if slip:
        return slip
    drawn, about = _first_tokens(answers), f"about {[round(SEEDS * p) for p in _DRAFT.rows[0]]}"
    if len(drawn) < SEEDS:
        return Slip(
            call, "not one token each", "1 token", "the loop makes other than k turns", "make k turns"
        )
    counts = [drawn.count(token) for token in range(3)]
    if max(counts) == SEEDS:
        return _known("draft_block", "greedy_draft", call, f"counts {counts}", about)
    if not _fits(counts, _DRAFT.rows[0], SEEDS):
        cause, step = "the tokens are not drawn from their row", "draw with `draw(row, rng)`"
        return Slip(call, f"counts {counts}", about, cause, step)
    return None


def _greedy(n_tokens: int, k: int, expected: list[int], log: list[int]) -> Probe:
    """A probe at temperature 0, where text and log are known exactly."""
    call = f"speculative_decode(count_up, jumps_after_2, [0], {n_tokens}, {k}, rng)"
    wanted = f"({expected}, {log})"

    def probe(function: Function) -> Slip | None:
        drafts, target = Recorder(_COUNT_UP), Recorder(_JUMPS.last_rows)
        answer = ask(function, [(drafts, target, [0], n_tokens, k, Seed(1))])[0]
        slip = _pair(call, answer, wanted)
        if slip:
            return slip
        if answer.changed:
            return changed_slip("speculative_decode")
        tokens, accepted = answer.value
        got = show_value((list(tokens), list(accepted)))
        key = ""
        if same(accepted, expected) and same(tokens, log) and expected != log:
            cause = "text and log come back in the other order"
            return Slip(call, got, wanted, cause, "return first the tokens, then the log")
        if len(tokens) != n_tokens:
            more = "prompt_included" if same(tokens[:1], [0]) and len(tokens) == n_tokens + 1 else "too_many"
            key = more if len(tokens) > n_tokens else "too_few"
        elif not drafts.calls:
            key = "no_draft"
        elif same(tokens, expected) and len(accepted) == len(target.calls) > len(log):
            cause = "more verifications than needed: a token is not kept, or the draft does not see its own drafts"
            step = "draft after seq + drafts; keep all accepted drafts and the target's token"
            return Slip(call, got, wanted, cause, step)
        elif same(tokens, expected) and not same(accepted, log):
            key = _log_key(accepted, log, k)
        elif len(target.calls) > len(accepted):
            key = "many_passes"
        elif any(made[1] != k + 1 for made in target.calls):
            key = "other_m"
        if key:
            return _known("speculative_decode", key, call, got, wanted)
        if not same(tokens, expected):
            cause = "a row is looked up at the wrong place, or a rejected draft is kept"
            return Slip(call, got, wanted, cause, "follow one verification by hand, beside your code")
        return None

    return probe


def _log_key(got: Sequence[Any], log: list[int], k: int) -> str:
    if any(is_number(count) and count > k for count in got):
        return "bonus_counted"
    return "log_cut" if len(got) == len(log) and same(got[:-1], log[:-1]) else "log_wrong"


def _samples(function: Function) -> Slip | None:
    """A probe: the tokens after [0], and after [1], come about as often as the target says."""
    return next((slip for slip in (_follows(function, start) for start in (0, 1)) if slip), None)


def _follows(function: Function, start: int) -> Slip | None:
    call = f"speculative_decode(draft_model, target_pass, [{start}], 1, 1, rng) with {RULE_SEEDS} seeds"
    cases: list[Case] = [(_FAR, _TARGET.last_rows, [start], 1, 1, Seed(seed)) for seed in range(RULE_SEEDS)]
    answers, row = ask(function, cases), _TARGET.rows[start]
    slip = next((s for s in (_pair(call, answer, "1 token and its log") for answer in answers) if s), None)
    if slip:
        return slip
    counts = [_first_tokens(answers).count(token) for token in range(3)]
    if not _fits(counts, row, RULE_SEEDS):
        about = f"about {[round(RULE_SEEDS * p) for p in row]}"
        cause = "accepting, or replacing a rejected token, does not follow the rule"
        step = "accept with probability min(1, p/q); replace by a draw from max(0, p - q)"
        return Slip(call, f"counts {counts}", about, cause, step)
    return None


_STATISTICS = {
    "verifications": 2,
    "drafted": 8,
    "accepted": 4,
    "tokens_per_verification": 3.0,
    "acceptance_rate": 0.8,
    "draft_efficiency": 0.5,
}
_VERIFY = [10, 11, 12, 13, 14, 15]

EXERCISES: dict[str, Exercise] = {
    "draft_block": Exercise(
        (),
        (
            ("drafts 3 tokens after [0]", _drafts([0], 3)),
            ("drafts 1 token after [2, 1]", _drafts([2, 1], 1)),
            ("draws its tokens", _draws),
        ),
    ),
    "speculative_decode": Exercise(
        (),
        (
            (
                "temperature 0: the draft is wrong once in a while",
                _greedy(7, 3, [1, 2, 0, 1, 2, 0, 1], [2, 2, 2]),
            ),
            ("temperature 0: cuts the text, not the log", _greedy(1, 3, [1], [2])),
            ("follows the target when sampling", _samples),
        ),
        builds_on=("draft_block",),
    ),
    "run_statistics": Exercise(
        (
            Example(
                ([4, 0], 4),
                _STATISTICS,
                {
                    "accepted_over_drafted": {**_STATISTICS, "acceptance_rate": 0.5},
                    "bonus_counted": {**_STATISTICS, "accepted": 5, "acceptance_rate": 0.625},
                    "target_token_forgotten": {**_STATISTICS, "tokens_per_verification": 2.0},
                    "rejection_everywhere": {**_STATISTICS, "acceptance_rate": 4 / 6},
                },
            ),
            Example(
                ([2, 2], 2),
                {
                    "verifications": 2,
                    "drafted": 4,
                    "accepted": 4,
                    "tokens_per_verification": 3.0,
                    "acceptance_rate": 1.0,
                    "draft_efficiency": 1.0,
                },
            ),
            Example(([], 4), Raises()),
            Example(([1, 5], 4), Raises()),
        )
    ),
    "choose_k": Exercise(
        (
            # First the one case in which every misconception picks another k: the name told is the right one.
            Example(
                (0.9, 10, [10, 10, 12, 14, 18, 25], 4),
                1,
                {
                    "tokens_only": 5,
                    "draft_free": 3,
                    "pass_too_short": 2,
                    "one_pass_time": 4,
                    "accepted_only": 0,
                },
            ),
            Example((0.8, 10, _VERIFY, 1.5), 3, {"tokens_only": 5, "draft_free": 5}),
            Example((0.2, 10, _VERIFY, 3), 0, {"never_zero": 1, "tokens_only": 5}),
            Example(
                (0.9, 10, [10, 11, 30, 31], 0.5),
                1,
                {"pass_too_short": 2, "tokens_only": 3, "accepted_only": 0},
            ),
        )
    ),
}
