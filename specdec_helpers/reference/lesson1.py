"""Lesson 1, Draft and verify: greedy verification and greedy speculative generation.

Source: the course's page "Draft and verify" (E7.1); Leviathan, Kalman, Matias 2023 (arXiv 2211.17192), section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Model = Callable[[list[int]], int]


def verify_greedy(draft: Sequence[int], target_next: Sequence[int]) -> list[int]:
    """Tokens emitted by one verification.

    draft: k proposed tokens. target_next: k + 1 entries, the target's own choice at each of the k positions and
    after the last of them. Accepted tokens are followed by exactly one token of the target: its correction at
    the first disagreement, or the bonus token. ValueError unless ``len(target_next) == len(draft) + 1``.
    """
    if len(target_next) != len(draft) + 1:
        raise ValueError(
            f"target_next has {len(target_next)} entries, but a draft of {len(draft)} needs {len(draft) + 1}"
        )
    n = accepted_count(draft, target_next)
    return [*draft[:n], target_next[n]]


def accepted_count(draft: Sequence[int], target_next: Sequence[int]) -> int:
    """How many draft tokens are accepted: the length of the agreeing prefix, 0 … k."""
    for n, (token, choice) in enumerate(zip(draft, target_next, strict=False)):
        if token != choice:
            return n
    return len(draft)


def speculative_generate(
    draft_model: Model, target_model: Model, prompt: Sequence[int], n_tokens: int, k: int
) -> list[int]:
    """The first `n_tokens` tokens that greedy decoding with `target_model` would generate after `prompt`.

    Both models map a token sequence to its next token. Each round drafts k tokens with `draft_model`, asks
    `target_model` at the k + 1 drafted prefixes (the single verification pass), and keeps what
    `verify_greedy` emits.
    """
    tokens = list(prompt)
    while len(tokens) < len(prompt) + n_tokens:
        draft: list[int] = []
        for _ in range(k):
            draft.append(draft_model(tokens + draft))
        target_next = [target_model(tokens + draft[:i]) for i in range(k + 1)]
        tokens += verify_greedy(draft, target_next)
    return tokens[len(prompt) : len(prompt) + n_tokens]


_DRAFT, _DISAGREES, _AGREES = [7, 3, 5, 9], [7, 3, 8, 1, 2], [7, 3, 5, 9, 2]

ANSWERS: dict[str, int | float | str] = {
    "tokens_produced": len(verify_greedy(_DRAFT, _DISAGREES)),
    "drafts_accepted": accepted_count(_DRAFT, _DISAGREES),
    "tokens_when_all_agree": len(verify_greedy(_DRAFT, _AGREES)),
    "emit_before_verification": "B",
}
