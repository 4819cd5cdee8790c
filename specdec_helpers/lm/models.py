"""The course's language models, ready to use: one target and three drafts.

`Target.distributions(seq, m)` is the verification pass: m distributions in one go. `Draft.distribution(seq)` is one
draft step. A sequence is a list of token numbers (`lm.text` turns text into them). Temperature is part of a
model: p and q are always the distributions that tokens are really drawn from, and at temperature 0 they are all mass
on one token.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np

from specdec_helpers.lm.ngram import NGram
from specdec_helpers.lm.text import VOCABULARY_SIZE, novel_tokens
from specdec_helpers.lm.transformer import Transformer, softmax

HEADS = {"target": 4, "draft": 4}


def at_temperature(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Distributions of the last axis at a temperature, in float64.

    Temperature 0 gives all mass to the largest logit, the first one on ties.

    Raises:
        ValueError: temperature < 0 or not finite.
    """
    if not (temperature >= 0 and np.isfinite(temperature)):
        raise ValueError(f"temperature = {temperature} must be a finite number >= 0")
    if temperature == 0:
        one_hot: np.ndarray = np.eye(logits.shape[-1])[logits.argmax(axis=-1)]
        return one_hot
    return softmax(np.divide(logits, temperature, dtype=np.float64))


class Scorer:
    """A transformer that remembers what it read, one memory for each sequence of a batch.

    Asked about sequences, it finds how far each agrees with what it read last, rolls back to there, and reads only
    the rest. The result is always that of a fresh pass.

    Args:
        network: the transformer.
        batch: B, how many sequences it follows side by side.
    """

    def __init__(self, network: Transformer, batch: int = 1) -> None:
        if batch < 1:
            raise ValueError(f"batch = {batch} must be at least 1")
        self.network, self.batch = network, batch
        self.passes = 0  # how many times the network was run
        self.forget()

    def forget(self) -> None:
        """Drop all that was read, as if new."""
        self._cache = self.network.new_cache(self.batch)
        self._read = [np.zeros(0, np.int64) for _ in range(self.batch)]

    def logits(self, seqs: Sequence[Sequence[int]], m: int) -> np.ndarray:
        """Logits after the last m prefixes of each sequence, in one pass.

        Args:
            seqs: B sequences of token numbers, each of at least m tokens; their lengths may differ.
            m: rows wanted of each, at least 1.

        Returns:
            (B, m, V); entry [b, j] is about the token after seqs[b][: len(seqs[b]) - m + 1 + j].

        Raises:
            ValueError: the number of sequences, m, a token or a length is out of bounds.
        """
        if len(seqs) != self.batch:
            raise ValueError(f"{len(seqs)} sequences for a scorer made for {self.batch}")
        vocabulary = len(self.network.embed)
        arrays = [as_tokens(seq, vocabulary) for seq in seqs]
        lengths = np.array([len(array) for array in arrays])
        if not 1 <= m <= lengths.min():
            raise ValueError(
                f"m = {m} rows asked of a sequence of {lengths.min()} tokens; m must be at least 1, and each row needs "
                "a prefix of at least one token to look at"
            )
        agree = np.array([common_prefix(old, new) for old, new in zip(self._read, arrays, strict=True)])
        news = int((lengths - np.minimum(agree, lengths - m)).max())  # as many for all: one rectangular pass
        starts = np.maximum(lengths - news, 0)
        # A short sequence ends in zeros that nothing looks at.
        tokens = np.zeros((self.batch, news), np.int64)
        for row, array, start in zip(tokens, arrays, starts, strict=True):
            row[: len(array) - start] = array[start:]
        self._read = [array[:start] for array, start in zip(arrays, starts, strict=True)]
        logits: np.ndarray = self.network.logits(tokens, starts, self._cache)
        self._read = arrays
        self.passes += 1
        wanted = (lengths - starts - m)[:, None] + np.arange(m)
        rows: np.ndarray = logits[np.arange(self.batch)[:, None], wanted]
        return rows


class Target:
    """The model whose text is wanted: 8 layers, d = 64, about 400,000 weights.

    Args:
        temperature: of the distributions it returns; 0 is greedy.
        batch: number of sequences for `distributions_of_batch`.
        dtype: `np.float32`, or `np.float64` for passes that agree to the last digit that matters.
    """

    def __init__(self, temperature: float = 1.0, batch: int = 1, dtype: type = np.float32) -> None:
        at_temperature(np.zeros(1), temperature)
        self.temperature = temperature
        self._scorer = Scorer(network("target", dtype), batch)

    def distributions(self, seq: Sequence[int], m: int) -> np.ndarray:
        """(m, V): the distributions after the last m prefixes of `seq`, shortest prefix first, in one pass.

        With seq = everything so far + k drafts and m = k + 1, row i judges draft i and row k is the bonus row.

        Raises:
            ValueError: m < 1, m > len(seq), a token outside the vocabulary, or a sequence over the capacity.
        """
        return at_temperature(self._scorer.logits([seq], m)[0], self.temperature)

    def distributions_of_batch(self, seqs: Sequence[Sequence[int]], m: int) -> np.ndarray:
        """(B, m, V): `distributions` of B sequences side by side, still in one pass."""
        return at_temperature(self._scorer.logits(seqs, m), self.temperature)

    def forget(self) -> None:
        """Empty the cache, so that the next pass reads its whole sequence."""
        self._scorer.forget()

    @property
    def passes(self) -> int:
        """How many passes were made since it was built."""
        return self._scorer.passes


class Draft:
    """A cheap model that proposes. Subclasses say how; all answer `distribution(seq)`.

    Attributes:
        name: short name, shown in tables and plots.
        words: what it is, in a few words.
    """

    name = ""
    words = ""

    def distribution(self, seq: Sequence[int]) -> np.ndarray:
        """(V,): the distribution of the token after `seq`, which holds at least one token."""
        raise NotImplementedError


class NGramDraft(Draft):
    """Looks up what followed the last n characters (draft A: n = 4) or the last one (draft B: n = 1).

    Args:
        n: characters of context, at least 1.
        temperature: of the distributions it returns; 0 is greedy.
    """

    def __init__(self, n: int = 4, temperature: float = 1.0) -> None:
        self.name, self.words = ("A", f"{n}-character n-gram table") if n > 1 else ("B", "bigram table")
        self._table = ngram_table(n)
        self._rows = tempered_rows(n, temperature)

    def distribution(self, seq: Sequence[int]) -> np.ndarray:
        """(V,): one row of the table, a fresh float64 array."""
        row: np.ndarray = self._rows[self._table.row(seq)].copy()
        return row


class TransformerDraft(Draft):
    """Draft C: one layer, d = 32, about 25,000 weights. It agrees as often as A, and costs far more."""

    name, words = "C", "one-layer transformer"

    def __init__(self, temperature: float = 1.0, dtype: type = np.float32) -> None:
        at_temperature(np.zeros(1), temperature)
        self.temperature = temperature
        self._scorer = Scorer(network("draft", dtype))

    def distribution(self, seq: Sequence[int]) -> np.ndarray:
        """(V,): one pass of the small network."""
        return at_temperature(self._scorer.logits([seq], 1)[0, 0], self.temperature)


def draft(name: str, temperature: float = 1.0) -> Draft:
    """Draft "A" (4-character n-gram), "B" (bigram) or "C" (one-layer transformer), at a temperature.

    Raises:
        ValueError: another name, or a bad temperature.
    """
    if name == "A":
        return NGramDraft(4, temperature)
    if name == "B":
        return NGramDraft(1, temperature)
    if name == "C":
        return TransformerDraft(temperature)
    raise ValueError(
        f"no draft is called {name!r}: choose 'A' (4-character n-gram), 'B' (bigram) or 'C' (one layer)"
    )


def as_tokens(seq: Sequence[int], vocabulary: int) -> np.ndarray:
    """A sequence as an int64 array, checked against the vocabulary.

    Raises:
        ValueError: not a flat sequence of whole numbers in 0..vocabulary - 1.
    """
    array = np.asarray(seq)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(
            f"a sequence is a flat list of token numbers, got {array.dtype} of shape {array.shape}"
        )
    if array.size and not 0 <= int(array.min()) <= int(array.max()) < vocabulary:
        raise ValueError(f"tokens must lie in 0..{vocabulary - 1}, got {array.min()}..{array.max()}")
    return array.astype(np.int64)


def common_prefix(old: np.ndarray, new: np.ndarray) -> int:
    """How many first tokens two sequences share."""
    shared = min(len(old), len(new))
    differ = old[:shared] != new[:shared]
    first = int(differ.argmax()) if shared else 0
    return first if shared and differ[first] else shared


@cache
def network(name: str, dtype: type = np.float32) -> Transformer:
    """The shipped "target" or "draft" network; loaded once and shared, since it holds no state."""
    with (
        resources.files(__package__).joinpath("data/weights.npz").open("rb") as file,
        np.load(file) as arrays,
    ):
        weights = {key.split(".")[1]: arrays[key] for key in arrays if key.startswith(f"{name}.")}
    return Transformer(weights, HEADS[name], dtype=dtype)


@cache
def ngram_table(n: int) -> NGram:
    """The n-gram table of the course's text, counted once."""
    return NGram(novel_tokens(), n, VOCABULARY_SIZE)


@cache
def tempered_rows(n: int, temperature: float) -> np.ndarray:
    """(contexts, V) float64: every row of a table at a temperature, each summing to 1 as exactly as can be."""
    rows = ngram_table(n).rows.astype(np.float64)
    if temperature != 1:
        rows = at_temperature(np.log(rows), temperature)
    rows /= rows.sum(axis=1, keepdims=True)
    return rows
