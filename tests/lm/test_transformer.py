"""The NumPy transformer: one pass over many positions, roll-back, and batches all give what a fresh pass gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_helpers.lm.models import Scorer, network
from specdec_helpers.lm.transformer import Transformer, distance_penalty, scaled, softmax

V = 11


def small(capacity: int = 40, dtype: type = np.float64) -> Transformer:
    rng = np.random.default_rng(5)
    shapes = {
        "embed": (V, 8),
        "qkv": (3, 8, 24),
        "mix": (3, 8, 8),
        "up": (3, 8, 16),
        "down": (3, 16, 8),
        "out": (8, V),
    }
    return Transformer(
        {k: rng.normal(size=s) for k, s in shapes.items()}, heads=2, capacity=capacity, dtype=dtype
    )


def fresh(net: Transformer, seq: list[int]) -> np.ndarray:
    """Logits after every prefix, from one pass without any memory."""
    return net.logits(np.array([seq]), np.array([0]), net.new_cache())[0]


def by_the_book(net: Transformer, seq: list[int]) -> np.ndarray:
    """The same network, written position by position with explicit loops, no cache and no batch."""
    h, d = net.heads, net.width
    x = net.embed[seq].copy()
    for qkv, mix, up, down in net.layers:
        normed = np.array([row / np.sqrt(np.mean(row**2) + 1e-6) for row in x])
        q, k, v = normed @ qkv[:, :d], normed @ qkv[:, d : 2 * d], normed @ qkv[:, 2 * d :]
        joined = np.zeros_like(x)
        for head in range(h):
            part = slice(head * d // h, (head + 1) * d // h)
            for i in range(len(seq)):
                slope = 2.0 ** (-8 * (head + 1) / h)
                score = np.array([q[i, part] @ k[j, part] - slope * (i - j) for j in range(i + 1)])
                weight = np.exp(score) / np.exp(score).sum()
                joined[i, part] = sum(w * v[j, part] for j, w in enumerate(weight))
        x = x + joined @ mix
        normed = np.array([row / np.sqrt(np.mean(row**2) + 1e-6) for row in x])
        x = x + np.maximum(normed @ up, 0) @ down
    return np.array([row / np.sqrt(np.mean(row**2) + 1e-6) for row in x]) @ net.out


def test_it_computes_what_the_definition_says() -> None:
    net, seq = small(), [3, 1, 4, 1, 5, 9, 2, 6]
    np.testing.assert_allclose(fresh(net, seq), by_the_book(net, seq), rtol=1e-10)


def test_no_row_depends_on_a_later_token() -> None:
    net = small()
    a, b = fresh(net, [1, 2, 3, 4, 5]), fresh(net, [1, 2, 3, 9, 9])
    np.testing.assert_array_equal(a[:3], b[:3])
    assert np.abs(a[3:] - b[3:]).max() > 1e-3


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_history_of_passes_and_roll_backs_equals_a_fresh_pass(data: st.DataObject) -> None:
    net = small()
    scorer = Scorer(net)
    seq: list[int] = [0]
    for _ in range(data.draw(st.integers(1, 6))):
        keep = data.draw(st.integers(0, len(seq)))
        more = data.draw(st.lists(st.integers(0, V - 1), min_size=1 if keep == 0 else 0, max_size=5))
        seq = seq[:keep] + more
        m = data.draw(st.integers(1, len(seq)))
        np.testing.assert_allclose(scorer.logits([seq], m)[0], fresh(net, seq)[-m:], rtol=1e-9, atol=1e-11)


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_batch_equals_its_sequences_one_by_one(data: st.DataObject) -> None:
    net = small()
    size = data.draw(st.integers(2, 4))
    scorer, seqs = Scorer(net, size), [[0]] * size
    for _ in range(data.draw(st.integers(1, 4))):
        more = [data.draw(st.lists(st.integers(0, V - 1), max_size=5)) for _ in seqs]
        seqs = [seq[: data.draw(st.integers(1, len(seq)))] + new for seq, new in zip(seqs, more, strict=True)]
        m = data.draw(st.integers(1, min(map(len, seqs))))
        rows = scorer.logits(seqs, m)
        for b, seq in enumerate(seqs):
            np.testing.assert_allclose(rows[b], fresh(net, seq)[-m:], rtol=1e-9, atol=1e-11)


def test_m_rows_of_one_pass_are_m_single_passes_on_the_shipped_target() -> None:
    net = network("target", np.float64)
    seq = list(np.random.default_rng(1).integers(0, 65, 60))
    rows = Scorer(net).logits([seq], 9)[0]
    singles = [Scorer(net).logits([seq[: len(seq) - 8 + j]], 1)[0, 0] for j in range(9)]
    np.testing.assert_allclose(rows, singles, rtol=1e-9, atol=1e-9)


def test_only_new_tokens_are_read() -> None:
    class Counting(Transformer):
        def logits(self, tokens, starts, cache):  # type: ignore[no-untyped-def]
            widths.append(tokens.shape[1])
            return super().logits(tokens, starts, cache)

    widths: list[int] = []
    net = small()
    net.__class__ = Counting
    scorer = Scorer(net)
    seq = [1, 2, 3, 4, 5, 6]
    scorer.logits([seq], 1)
    scorer.logits([[*seq, 7, 8, 9]], 3)  # three drafts come
    scorer.logits(
        [[*seq, 7, 0, 4, 4]], 4
    )  # one is kept, one replaced, two more come; the row after seq again
    scorer.logits([[*seq, 7, 0, 4, 4]], 1)  # nothing new: the last row must still be computed
    assert widths == [6, 3, 4, 1]
    assert scorer.passes == 4


def test_forget_and_single_precision() -> None:
    net = small(dtype=np.float32)
    scorer, seq = Scorer(net), [1, 2, 3]
    first = scorer.logits([seq], 3)
    assert first.dtype == np.float32
    scorer.forget()
    np.testing.assert_array_equal(scorer.logits([seq], 3), first)


def test_softmax_and_scaling_survive_extremes() -> None:
    assert softmax(np.array([1000.0, -1000.0, 1000.0])).tolist() == [0.5, 0.0, 0.5]
    assert np.all(scaled(np.zeros((2, 4))) == 0)
    np.testing.assert_allclose(scaled(np.full((1, 4), 1e4)), 1.0)


def test_penalty_is_the_papers() -> None:
    table = distance_penalty(8, 6, np.float64)
    assert table.shape == (8, 6, 6)
    assert table[0, 5].tolist() == [-2.5, -2.0, -1.5, -1.0, -0.5, 0.0]
    assert table[7, 3, 0] == -3 / 256
    assert np.all(np.isneginf(table[:, 2, 3:]))


def test_too_long_a_sequence_is_refused_and_harms_nothing() -> None:
    scorer, seq = Scorer(small(capacity=8)), [1, 2, 3, 4]
    before = scorer.logits([seq], 2)
    with pytest.raises(ValueError, match="9 tokens exceeds the model's capacity of 8"):
        scorer.logits([[*seq, 5, 6, 7, 8, 9]], 1)
    np.testing.assert_allclose(scorer.logits([seq], 2), before, rtol=1e-12)


@pytest.mark.parametrize(
    ("seqs", "m", "message"),
    [
        ([[1, 2]], 0, "m = 0"),
        ([[1, 2]], 3, "m = 3 rows asked of a sequence of 2 tokens"),
        ([[]], 1, "0 tokens"),
        ([[1, V]], 1, f"0..{V - 1}"),
        ([[-1]], 1, "-1"),
        ([[0.5]], 1, "float64"),
        ([[[1]]], 1, "flat"),
        ([[1], [2]], 1, "2 sequences for a scorer made for 1"),
    ],
)
def test_bad_input_is_named(seqs: list, m: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Scorer(small()).logits(seqs, m)


def test_a_batch_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="batch = 0"):
        Scorer(small(), 0)
