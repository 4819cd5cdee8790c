"""Truth from outside: the reference round against `transformers`' own speculative sampling.

On the same distributions and the same random numbers both must accept as many drafts and add the same token.
Development only: skipped where CPU torch and transformers are not installed. No model is downloaded.

    python -m venv /tmp/outside && /tmp/outside/bin/pip install torch==2.13.0 transformers pytest pytest-timeout numpy
    /tmp/outside/bin/python -m pytest tests/lessons/test_against_transformers.py
"""

from __future__ import annotations

import numpy as np
import pytest

from specdec_helpers.reference.lesson3 import speculative_round

torch = pytest.importorskip("torch")
generation = pytest.importorskip("transformers.generation.utils")

CASES = 3000


def theirs(
    monkeypatch: pytest.MonkeyPatch,
    draft: list[int],
    p_rows: np.ndarray,
    q_rows: np.ndarray,
    u: np.ndarray,
    u_extra: float,
) -> tuple[list[int], int]:
    """transformers' tokens and number of accepted drafts, its two sources of chance replaced by ours."""

    def rand_like(ratio):  # type: ignore[no-untyped-def]
        return torch.from_numpy(u).reshape(ratio.shape)

    def multinomial(weights, num_samples):  # type: ignore[no-untyped-def]
        total = weights.cumsum(-1)
        return (total <= u_extra).sum(-1, keepdim=True).reshape(-1, num_samples)

    monkeypatch.setattr(torch, "rand_like", rand_like)
    monkeypatch.setattr(torch, "multinomial", multinomial)
    with np.errstate(divide="ignore"):
        logits_p, logits_q = (torch.from_numpy(np.log(rows))[None] for rows in (p_rows, q_rows))
    prefix = torch.zeros((1, 2), dtype=torch.long)
    candidates = torch.cat([prefix, torch.tensor([draft])], dim=-1)
    tokens, matches = generation._speculative_sampling(candidates, logits_q, len(draft), logits_p)
    return tokens.flatten().tolist(), int(matches)


def test_the_round_agrees_with_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2211_17192)
    agreed, rejected, complete = 0, 0, 0
    for _ in range(CASES):
        v, k = int(rng.integers(2, 9)), int(rng.integers(1, 7))
        p_rows = rng.dirichlet(np.full(v, 0.7), k + 1)
        q_rows = 0.5 * p_rows[:k] + 0.5 * rng.dirichlet(np.full(v, 0.7), k)
        draft = [int(rng.choice(v, p=row)) for row in q_rows]
        u, u_extra = rng.random(k), float(rng.random())
        tokens, matches = theirs(monkeypatch, draft, p_rows, q_rows, u, u_extra)
        ours = speculative_round(draft, p_rows, q_rows, u, u_extra)
        agreed += ours == tokens and len(ours) - 1 == matches
        rejected += matches < k
        complete += matches == k
    assert min(rejected, complete) > CASES / 10  # both kinds were tried
    assert agreed == CASES
