"""Lesson 1, Draft and verify: the visible examples and the misconceptions in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .ask import Function, ask
from .report import Slip
from .table import (
    Example,
    Exercise,
    Mistake,
    Probe,
    Raises,
    changed_slip,
    error_advice,
    error_text,
    value_advice,
)
from .values import is_sequence, same, show_value

MISTAKES: dict[str, dict[str, Mistake]] = {
    "verify_greedy": {
        "correction_dropped": Mistake(
            "the target's own token is left out",
            "verify_greedy([7, 3, 5, 9], [7, 3, 8, 1, 2]) gives [7, 3]",
            "the loop stops at the disagreement without emitting target_next[i]",
            "emit the target's token at the first disagreement, then stop",
        ),
        "wrong_draft_kept": Mistake(
            "the disagreeing draft token is emitted",
            "verify_greedy([7, 3, 5, 9], [7, 3, 8, 1, 2]) gives [7, 3, 5]",
            "draft[i] is emitted where target_next[i] belongs",
            "at the first disagreement the target's token replaces the draft's",
        ),
        "bonus_forgotten": Mistake(
            "the bonus token is forgotten",
            "verify_greedy([7, 3], [7, 3, 9]) gives [7, 3]",
            "nothing is added when the whole draft is accepted",
            "after a loop without disagreement, also emit target_next[k]",
        ),
        "bonus_one_too_early": Mistake(
            "the bonus token is read one place too early",
            "verify_greedy([7, 3], [7, 3, 9]) gives [7, 3, 3]",
            "after a loop without disagreement the loop's i is still k - 1, the last draft's place",
            "if the whole draft is accepted, emit target_next[k], which is target_next[-1]",
            listed=False,
        ),
        "keeps_going": Mistake(
            "checking goes on after the first disagreement",
            "verify_greedy([7, 3, 5, 9], [7, 3, 8, 9, 2]) gives [7, 3, 8, 9, 2]",
            "the target's later choices assumed a draft token that was rejected, so they are not valid",
            "stop at the first disagreement: return the accepted tokens and one token of the target",
        ),
    },
    "accepted_count": {
        "counts_emitted": Mistake(
            "the target's token is counted as accepted",
            "accepted_count([7, 3, 5, 9], [7, 3, 8, 1, 2]) gives 3",
            "the emitted tokens are counted, and one of them is the target's own",
            "count only draft tokens: emitted tokens minus one",
        ),
        "counts_matches": Mistake(
            "agreements after the first disagreement are counted",
            "accepted_count([7, 3, 5, 9], [7, 3, 8, 9, 2]) gives 3",
            "all equal positions are counted, also those behind a disagreement",
            "stop counting at the first disagreement",
        ),
    },
    "speculative_generate": {
        "too_many": Mistake(
            "the last round overshoots",
            "asked for 5 tokens, it returns 6",
            "a round can emit up to k + 1 tokens, more than are still wanted",
            "cut the result: return exactly the first n_tokens generated tokens",
        ),
        "with_prompt": Mistake(
            "the prompt is part of the result",
            "the result begins with the prompt's tokens",
            "the whole sequence is returned instead of what was generated",
            "return tokens[len(prompt):len(prompt) + n_tokens]",
            listed=False,
        ),
        "draft_trusted": Mistake(
            "drafted tokens are emitted unchecked",
            "the result follows the draft model where the two models differ",
            "the draft is appended before the target has seen it",
            "append only what verify_greedy returns",
        ),
        "no_speculation": Mistake(
            "the draft is never used",
            "right tokens, but one target pass for every token",
            "the target model alone generates the text, so nothing is saved",
            "in each round draft k tokens, each after the one before, then check them together with verify_greedy",
        ),
        "rounds_wasted": Mistake(
            "rounds emit less than they could",
            "right tokens, but the models are asked far more often than needed",
            "emitted tokens are thrown away, a question is asked twice, or the draft does not see all tokens so far",
            "ask draft_model(tokens + draft), each model once for each prefix, and append all that is emitted",
        ),
        "fewer_drafts": Mistake(
            "fewer than k tokens are drafted",
            "right tokens, but more rounds than needed",
            "k is capped, or shrinks on the way: only the last rounds, near n_tokens, may draft fewer than k tokens",
            "draft exactly k tokens in each round, whatever the rounds before it accepted",
            listed=False,
        ),
        "one_by_one": Mistake(
            "each draft token is checked before the next one is drafted",
            "right tokens, but the target is asked again for every single token",
            "the target looks after every draft token, so no pass checks several at once",
            "first draft all k tokens, then ask target_model about the k + 1 drafted prefixes",
        ),
        "never_ends": Mistake(
            "the loop does not end",
            "the models are called without end",
            "the loop's condition never becomes false, for example because prompt itself grows",
            "start with tokens = list(prompt), a copy, and compare len(tokens) with len(prompt) + n_tokens",
            listed=False,
        ),
    },
}


def _draft_model(seq: Sequence[int]) -> int:
    """Counts up by one, modulo 7: a cheap guess."""
    return (int(seq[-1]) + 1) % 7


def _target_model(seq: Sequence[int]) -> int:
    """Counts up by one, but after 3 it jumps to 5: the draft is wrong there."""
    last = int(seq[-1])
    return 5 if last == 3 else (last + 1) % 7


def _plain_greedy(prompt: Sequence[int], n_tokens: int) -> list[int]:
    tokens = list(prompt)
    for _ in range(n_tokens):
        tokens.append(_target_model(tokens))
    return tokens[len(prompt) :]


class _Counting:
    """A model that counts its calls. After 500 it refuses, so that a loop without an end ends."""

    def __init__(self, model: Callable[[Sequence[int]], int]) -> None:
        self.model, self.calls = model, 0

    def __call__(self, seq: Sequence[int]) -> int:
        self.calls += 1
        if self.calls > 500:
            raise RuntimeError("the model was called 500 times; does your loop end?")
        return self.model(seq)


def _known(key: str, call: str, got: str, expected: str) -> Slip:
    mistake = MISTAKES["speculative_generate"][key]
    return Slip(call, got, expected, mistake.cause, mistake.next_step, key)


def _generates(n_tokens: int, k: int, rounds: int) -> Probe:
    """A probe: the text is that of plain greedy generation, and it takes no more than `rounds` rounds."""
    expected = _plain_greedy([1, 2], n_tokens)
    call = f"speculative_generate(draft_model, target_model, [1, 2], {n_tokens}, {k})"

    def probe(function: Function) -> Slip | None:
        draft_model, target_model = _Counting(_draft_model), _Counting(_target_model)
        answer = ask(function, [(draft_model, target_model, [1, 2], n_tokens, k)])[0]
        if draft_model.calls > 500 or target_model.calls > 500:
            return _known("never_ends", call, "more than 500 calls of a model", show_value(expected))
        if answer.error is not None:
            shown = call, error_text(answer), show_value(expected)
            if draft_model.calls == target_model.calls == k:  # the first round, one answer too few
                cause = "the target was asked k times in a round, but verify_greedy needs k + 1 answers"
                return Slip(*shown, cause, "ask target_model about tokens + draft[:i] for i in range(k + 1)")
            return Slip(*shown, *error_advice(answer))
        if not same(answer.value, expected):
            return _wrong_tokens(call, answer.value, expected)
        if answer.changed:
            return changed_slip("speculative_generate")
        if not draft_model.calls:
            got = "the right tokens, but draft_model was never called"
            return _known("no_speculation", call, got, "drafts that the target checks")
        if target_model.calls > rounds * (k + 1):
            got = f"the right tokens, but {target_model.calls} calls of target_model"
            return _known("rounds_wasted", call, got, f"at most {rounds * (k + 1)}: {rounds} rounds of k + 1")
        return None

    return probe


def _wrong_tokens(call: str, got: Any, expected: list[int]) -> Slip:
    key = ""
    if is_sequence(got):
        values, n = list(got), len(expected)
        if same(values[:2], [1, 2]) and same(values[2 : n + 2], expected[: len(values) - 2]):
            key = "with_prompt"
        elif len(values) > n and same(values[:n], expected):
            key = "too_many"
        elif any(same(value, 4) for value in values):  # the target never says 4: it jumps from 3 to 5
            key = "draft_trusted"
    if not key:
        return Slip(call, show_value(got), show_value(expected), *value_advice(got, expected))
    return _known(key, call, show_value(got), show_value(expected))


EXERCISES: dict[str, Exercise] = {
    "verify_greedy": Exercise(
        (
            Example(
                ([7, 3, 5, 9], [7, 3, 8, 1, 2]),
                [7, 3, 8],
                {
                    "correction_dropped": [7, 3],
                    "wrong_draft_kept": [7, 3, 5],
                    "keeps_going": [7, 3, 8, 1, 2],
                },
            ),
            Example(
                ([7, 3], [7, 3, 9]), [7, 3, 9], {"bonus_forgotten": [7, 3], "bonus_one_too_early": [7, 3, 3]}
            ),
            Example(([7, 3, 5, 9], [7, 3, 8, 9, 2]), [7, 3, 8], {"keeps_going": [7, 3, 8, 9, 2]}),
            Example(
                ([4], [6, 1]),
                [6],
                {"correction_dropped": [], "wrong_draft_kept": [4], "keeps_going": [6, 1]},
            ),
            Example(([], [5]), [5], {"bonus_forgotten": []}),
            Example(([7, 3], [7, 3]), Raises()),
        )
    ),
    "accepted_count": Exercise(
        (
            Example(([7, 3, 5, 9], [7, 3, 8, 1, 2]), 2, {"counts_emitted": 3}),
            Example(([7, 3], [7, 3, 9]), 2, {"counts_emitted": 3}),
            Example(([7, 3, 5, 9], [7, 3, 8, 9, 2]), 2, {"counts_matches": 3, "counts_emitted": 3}),
            Example(([4], [6, 4]), 0),
        )
    ),
    "speculative_generate": Exercise(
        (),
        (
            ("equals plain greedy generation, k = 2", _generates(6, 2, 3)),
            ("returns exactly n_tokens tokens, k = 4", _generates(9, 4, 4)),
            ("works with k = 1", _generates(3, 1, 2)),
        ),
        builds_on=("verify_greedy",),
    ),
}
