"""Text, tables, n-grams and the shipped models: what they promise."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from specdec_helpers.lm import (
    ALPHABET,
    Recorder,
    Table,
    Target,
    blend,
    decode,
    draft,
    encode,
    novels,
    random_table,
    sharpen,
)
from specdec_helpers.lm.models import Draft, NGramDraft, network, ngram_table
from specdec_helpers.lm.ngram import NGram
from specdec_helpers.lm.text import novel_tokens

ROOT = Path(__file__).resolve().parents[2]
PROMPT = encode("It is a truth universally acknowledged, that a single man")


def test_text_is_whole_and_in_the_alphabet() -> None:
    assert len(ALPHABET) == len(set(ALPHABET)) == 65
    text = novels()
    assert 3_900_000 < len(text) < 4_100_000
    assert set(text) <= set(ALPHABET)
    for novel in ("Elinor", "Mr. Darcy", "Fanny", "Emma Woodhouse", "Tilney", "Wentworth"):
        assert novel in text
    assert decode(novel_tokens()[:23]) == text[:23] == "The family of Dashwood "


def test_the_tools_use_the_same_alphabet() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import extract_text
    finally:
        sys.path.remove(str(ROOT / "tools"))
    assert extract_text.ALPHABET == ALPHABET


def test_encode_and_decode_are_inverse_and_name_what_they_refuse() -> None:
    assert decode(encode(ALPHABET)) == ALPHABET
    with pytest.raises(ValueError, match="'7' at place 2"):
        encode("ab7")
    with pytest.raises(ValueError, match=r"token 65 at place 1 is outside 0\.\.64"):
        decode([0, 65])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ngram_rows_are_distributions_and_follow_the_recipe(n: int) -> None:
    rng = np.random.default_rng(n)
    tokens, v = rng.integers(0, 4, 300), 5
    table = NGram(tokens, n, v)
    np.testing.assert_allclose(table.rows.sum(axis=1), 1, atol=1e-5)
    assert table.rows.min() > 0  # also the token that never occurs

    def recipe(context: list[int]) -> np.ndarray:
        if not context:
            once = np.bincount(tokens, minlength=v) + 1.0
            return once / once.sum()
        length = len(context)
        seen = np.zeros(v)
        for i in range(len(tokens) - length):
            if tokens[i : i + length].tolist() == context:
                seen[tokens[i + length]] += 1
        shorter = recipe(context[1:])
        count, different = seen.sum(), (seen > 0).sum()
        return (seen + different * shorter) / (count + different) if count else shorter

    for _ in range(25):
        seq = rng.integers(0, 5, 6).tolist()
        length = n  # an unseen context falls back to its longest seen ending
        while length and not any(
            tokens[i : i + length].tolist() == seq[-length:] for i in range(len(tokens) - length)
        ):
            length -= 1
        np.testing.assert_allclose(table.rows[table.row(seq)], recipe(seq[len(seq) - length :]), rtol=1e-5)


def test_ngram_of_a_short_or_empty_sequence_and_bad_input() -> None:
    table = NGram(np.array([0, 1, 0, 1, 1]), 2, 2)
    assert table.row([]) == 0
    assert table.row([1]) == table.row((np.int64(1),))
    with pytest.raises(ValueError, match="n = 0"):
        NGram(np.zeros(9, int), 0, 2)
    with pytest.raises(ValueError, match="needs 4"):
        NGram(np.zeros(3, int), 3, 2)


def test_shipped_weights_are_small_and_of_the_stated_size() -> None:
    data = ROOT / "specdec_helpers" / "lm" / "data"
    assert (data / "weights.npz").stat().st_size < 1_000_000
    assert network("target").weight_count == 401_536
    assert network("draft").weight_count == 24_640


def test_the_target_has_learnt_the_language() -> None:
    """Held-out characters: the target well under the drafts, as the course tells it (nats a character)."""
    end = novel_tokens()[-3000:].astype(np.int64)
    target, small = Target(), draft("C")
    loss = {"target": [], "C": []}
    for s in range(0, 2800, 200):
        seq, known = end[s : s + 200], end[s + 100 : s + 200]
        rows = target.distributions(seq[:-1], 100)
        loss["target"] += (-np.log(rows[np.arange(100), known])).tolist()
        loss["C"] += [-np.log(small.distribution(seq[:i])[seq[i]]) for i in range(100, 200, 10)]
    assert np.mean(loss["target"]) < 1.45
    assert np.mean(loss["target"]) + 0.1 < np.mean(loss["C"]) < 1.8


def test_the_target_runs_on_past_the_length_it_was_trained_with() -> None:
    end, losses = novel_tokens()[-12_000:].astype(np.int64), []
    for s in range(0, 12_000, 1000):
        rows = Target().distributions(end[s : s + 999], 400)
        losses.append(-np.log(rows[np.arange(400), end[s + 600 : s + 1000]]).mean())
    assert np.mean(losses) < 1.45


@pytest.mark.parametrize("temperature", [0, 0.5, 1.0])
def test_every_model_gives_distributions(temperature: float) -> None:
    rows = Target(temperature).distributions(PROMPT, 5)
    assert rows.shape == (5, 65)
    assert rows.dtype == np.float64
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)
    for name in "ABC":
        model = draft(name, temperature)
        row = model.distribution(PROMPT)
        assert model.name == name
        assert row.shape == (65,)
        assert row.dtype == np.float64
        assert abs(row.sum() - 1) < 1e-12
        assert row.min() >= 0
        if temperature == 0:
            assert row.max() == 1.0
        row[:] = 0  # the answer belongs to the caller: the model must not be harmed
        assert model.distribution(PROMPT).sum() > 0.99


def test_temperature_sharpens_one_and_the_same_model() -> None:
    warm, cold, frozen = (Target(t).distributions(PROMPT, 1)[0] for t in (1.0, 0.5, 0))
    np.testing.assert_allclose(cold, warm**2 / (warm**2).sum(), rtol=1e-4)
    assert frozen.argmax() == warm.argmax()
    a, b = draft("A").distribution(PROMPT), draft("A", 0.5).distribution(PROMPT)
    np.testing.assert_allclose(b, a**2 / (a**2).sum(), rtol=1e-4)


def test_temperature_is_checked() -> None:
    for bad in (-0.1, float("nan"), float("inf")):
        for make in (Target, lambda t: draft("A", t), lambda t: draft("C", t)):
            with pytest.raises(ValueError, match="temperature"):
                make(bad)


def test_batch_of_the_target_equals_singles() -> None:
    target, alone = Target(batch=3, dtype=np.float64), Target(dtype=np.float64)
    seqs = [PROMPT, PROMPT[:20], PROMPT[5:50]]
    together = target.distributions_of_batch(seqs, 4)
    for rows, seq in zip(together, seqs, strict=True):
        np.testing.assert_allclose(rows, alone.distributions(seq, 4), atol=1e-9)
    assert target.passes == 1


def test_draft_names() -> None:
    with pytest.raises(ValueError, match="'D'"):
        draft("D")
    assert isinstance(draft("A"), Draft)
    assert ngram_table(4) is NGramDraft(4)._table
    with pytest.raises(NotImplementedError):
        Draft().distribution([1])


def test_table_models() -> None:
    table = Table([[0.9, 0.1], [0.5, 0.5]], first=[0.2, 0.8])
    assert table([]) == [0.2, 0.8]
    assert table((np.int64(1), 0)) == [0.9, 0.1]
    assert table.last_rows([0, 1], 3) == [[0.2, 0.8], [0.9, 0.1], [0.5, 0.5]]
    assert table.greedy([1]) == 0
    assert sharpen(table).rows == [[1.0, 0.0], [1.0, 0.0]]
    assert blend(table, Table(np.eye(2)), 0.5).rows == [[0.95, 0.05], [0.25, 0.75]]
    for m in (0, 4):
        with pytest.raises(ValueError, match=rf"m = {m} is outside 1\.\.3"):
            table.last_rows([0, 1], m)
    with pytest.raises(ValueError, match="row 1"):
        Table([[1, 0], [0.5, 0.6]])
    with pytest.raises(ValueError, match=r"\(1, 2\)"):
        Table([[0.5, 0.5]])
    with pytest.raises(ValueError, match=r"share = 1\.5"):
        blend(table, table, 1.5)


def test_random_tables_repeat_and_recorders_note() -> None:
    one, same, other = random_table(4, 1), random_table(4, 1), random_table(4, 2)
    assert one.rows == same.rows != other.rows
    assert max(map(max, random_table(4, 3, spread=0.01).rows)) > 0.99
    watched = Recorder(one.last_rows)
    seq = [0, 1]
    watched(seq, 2)
    seq.append(3)
    assert watched.calls == [([0, 1], 2)]
