"""Lesson 1: the page's numbers, the rule's own truths, and the runs that judge a generator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_helpers.checks import lesson1 as checks
from specdec_helpers.checks.ask import Answer
from specdec_helpers.reference.lesson1 import ANSWERS, accepted_count, speculative_generate, verify_greedy
from specdec_helpers.trials import lesson1_runs as runs

tokens = st.integers(0, 5)


def test_the_page_s_numbers() -> None:
    assert ANSWERS == {
        "tokens_produced": 3,
        "drafts_accepted": 2,
        "tokens_when_all_agree": 5,
        "emit_before_verification": "B",
    }
    assert verify_greedy([7, 3, 5, 9], [7, 3, 8, 1, 2]) == [7, 3, 8]
    assert verify_greedy([7, 3, 5, 9], [7, 3, 5, 9, 2]) == [7, 3, 5, 9, 2]


@given(
    st.lists(tokens, max_size=6).flatmap(
        lambda d: st.tuples(st.just(d), st.lists(tokens, min_size=len(d) + 1, max_size=len(d) + 1))
    )
)
def test_what_a_verification_emits(pair: tuple[list[int], list[int]]) -> None:
    draft, target_next = pair
    emitted, accepted = verify_greedy(draft, target_next), accepted_count(draft, target_next)
    assert 1 <= len(emitted) == accepted + 1 <= len(draft) + 1
    assert emitted == target_next[: accepted + 1], "every emitted token is one that the target picks itself"
    assert accepted == len(draft) or draft[accepted] != target_next[accepted]


@given(st.lists(tokens, max_size=4), st.lists(tokens, max_size=6))
def test_only_k_plus_one_entries_are_taken(draft: list[int], target_next: list[int]) -> None:
    if len(target_next) != len(draft) + 1:
        with pytest.raises(ValueError, match=f"{len(draft) + 1}"):
            verify_greedy(draft, target_next)


@given(
    st.integers(0, 10**6),
    st.text("01", min_size=1, max_size=6),
    st.integers(1, 15),
    st.integers(1, 6),
    st.lists(tokens, min_size=1, max_size=4),
)
def test_speculation_equals_plain_greedy_decoding_whatever_the_draft(
    seed: int, agrees: str, n_tokens: int, k: int, prompt: list[int]
) -> None:
    target = runs.target_rule(seed)
    recorder = runs.Recorder(target, 10**6)
    draft = runs.Recorder(runs.draft_rule(target, agrees, len(prompt)), 10**6)
    out = speculative_generate(draft, recorder, prompt, n_tokens, k)
    assert out == runs.plain(target, prompt, n_tokens)
    rounds = len(recorder.log) // (k + 1)
    assert len(draft.log) == rounds * k
    assert rounds <= n_tokens, "every round yields at least one token"
    assert rounds >= n_tokens / (k + 1), "and at most k + 1"


@pytest.mark.parametrize("name", runs.RUNS)
def test_the_runs_are_what_the_judge_takes_them_for(name: str) -> None:
    for seed in range(10):
        run = runs.Run(*runs.RUNS[name], np.random.default_rng(seed), [1, 2])
        out = speculative_generate(*run.case)
        assert run.wrong_text(Answer(value=out)) is None
        assert run.without_draft() is None
        assert run.too_many_calls() is None
        assert run.too_few_drafts() is None
        if name in ("mixed", "wrong"):
            assert run.not_ahead() is None, "a rejection inside a block leaves its trace in the draft's log"


def test_the_rounds_of_a_run_do_not_depend_on_the_draw() -> None:
    for settings in runs.RUNS.values():
        assert (
            len({runs.Run(*settings, np.random.default_rng(seed), [1, 2]).rounds for seed in range(20)}) == 1
        )


def test_two_submissions_meet_different_texts() -> None:
    first, second = (runs.Run(*runs.RUNS["mixed"], np.random.default_rng(seed), [1, 2]) for seed in (1, 2))
    assert first.expected != second.expected


def test_a_recorder_stops_a_loop_without_end() -> None:
    recorder = runs.Recorder(lambda context: 0, limit=3)
    assert [recorder([1]) for _ in range(3)] == [0, 0, 0]
    with pytest.raises(RuntimeError, match="does your loop end"):
        recorder([1])
    assert recorder.overrun
    assert len(recorder.log) == 3


def test_the_bounds_of_the_visible_check_are_those_of_an_honest_run() -> None:
    for n_tokens, k, rounds in ((6, 2, 3), (9, 4, 4), (3, 1, 2)):
        target = checks._Counting(checks._target_model)
        out = speculative_generate(checks._draft_model, target, [1, 2], n_tokens, k)
        assert out == checks._plain_greedy([1, 2], n_tokens)
        assert target.calls == rounds * (k + 1)


def test_a_round_with_one_question_too_few_is_told_so() -> None:
    def generate(draft_model, target_model, prompt, n_tokens, k):  # type: ignore[no-untyped-def]
        tokens = list(prompt)
        while len(tokens) < len(prompt) + n_tokens:
            draft: list[int] = []
            for _ in range(k):
                draft.append(draft_model(tokens + draft))
            tokens += verify_greedy(draft, [target_model(tokens + draft[:i]) for i in range(k)])
        return tokens[len(prompt) :]

    for _, probe in checks.EXERCISES["speculative_generate"].probes:
        slip = probe(generate)
        assert slip is not None
        assert "k + 1 answers" in slip.cause
