"""Counting models: what followed the last n characters, in all the text.

One look-up in a table is all that a step costs, which makes them good drafts: less often right than a network, but some
fifty times cheaper. A context seen rarely says little, so each order is blended with the next shorter one
(Witten and Bell 1991, method C: a context seen N times with D different followers trusts itself N / (N + D)).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class NGram:
    """Distributions of the next token, a row for each context of up to n tokens that the text holds.

    Args:
        tokens: (length,) token numbers of the text, each in 0..vocabulary - 1.
        n: the longest context, in tokens. 1 is a bigram model.
        vocabulary: V, the number of different tokens.

    Attributes:
        rows: (contexts, V) float32 probabilities. Row 0 belongs to the empty context.

    Raises:
        ValueError: n < 1, or a text shorter than n + 1 tokens.
    """

    def __init__(self, tokens: np.ndarray, n: int, vocabulary: int) -> None:
        if n < 1:
            raise ValueError(f"an n-gram table needs at least 1 token of context, got n = {n}")
        if len(tokens) <= n:
            raise ValueError(
                f"a text of {len(tokens)} tokens is too short for contexts of {n}: it needs {n + 1}"
            )
        self.n, self.vocabulary = n, vocabulary
        text = tokens.astype(np.int64)
        once = np.bincount(text, minlength=vocabulary) + 1.0  # every token possible, also one never seen
        codes, rows = np.zeros(1, np.int64), (once / once.sum()).astype(np.float32)[None]
        self._place: list[dict[int, int]] = [{0: 0}]  # for each order: context's code -> its row
        blocks = [rows]
        for order in range(1, n + 1):
            codes, rows = longer(text, order, codes, rows)
            first = sum(map(len, blocks))
            self._place.append(dict(zip(codes.tolist(), range(first, first + len(codes)), strict=True)))
            blocks.append(rows)
        self.rows = np.concatenate(blocks)

    def row(self, seq: Sequence[int]) -> int:
        """The number of the row for what follows `seq`: that of its longest ending which the text holds."""
        for order in range(min(self.n, len(seq)), 0, -1):
            code = 0
            for token in seq[-order:]:
                code = code * self.vocabulary + int(token)
            place = self._place[order].get(code)
            if place is not None:
                return place
        return 0


def longer(
    text: np.ndarray, order: int, codes: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """From the rows for contexts of order - 1 tokens, those for contexts of `order` tokens.

    A context is coded as a number in base V, its oldest token first.

    Args:
        text: (length,) token numbers, int64.
        order: number of tokens in a context, 1 or more.
        codes: (shorter contexts,) their codes, ascending.
        rows: (shorter contexts, V) their distributions.

    Returns:
        codes and rows of the contexts that occur in the text.
    """
    vocabulary = rows.shape[1]
    context = np.zeros(len(text) - order, np.int64)
    for age in range(order):
        context = context * vocabulary + text[age : age + len(context)]
    pair, count = np.unique(context * vocabulary + text[order:], return_counts=True)
    before, after = np.divmod(pair, vocabulary)
    longer_codes, first, followers = np.unique(before, return_index=True, return_counts=True)
    weight = np.add.reduceat(count, first) + followers  # N + D
    shorter = np.searchsorted(codes, longer_codes % vocabulary ** (order - 1))
    blended = rows[shorter] * (followers / weight).astype(np.float32)[:, None]
    row = np.repeat(np.arange(len(longer_codes)), followers)
    blended[row, after] += (count / weight[row]).astype(np.float32)
    return longer_codes, blended
