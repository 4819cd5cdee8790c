"""Toy language models small enough to write down: a table of distributions, looked up by the last token.

They stand in for real models wherever an exact answer is wanted. A sequence is any list of token numbers; a model is
a function from a sequence to the distribution of its next token (a list of V numbers), or, when greedy, to the next
token itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Distribution = Callable[[Sequence[int]], list[float]]


class Table:
    """A model that knows only the last token: `rows[t]` is the distribution of what follows token t.

    Args:
        rows: (V, V) probabilities, one row a token.
        first: (V,) the distribution after an empty sequence; row 0 if not given.

    >>> rain = Table([[0.9, 0.1], [0.5, 0.5]])
    >>> rain([0, 1])
    [0.5, 0.5]
    >>> rain.last_rows([0, 1], 2)        # after [0], and after [0, 1], in one call
    [[0.9, 0.1], [0.5, 0.5]]

    Raises:
        ValueError: the table is not square, or a row is not a distribution (message names the row).
    """

    def __init__(self, rows: Any, first: Sequence[float] | None = None) -> None:
        table = np.array(rows, dtype=float)
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError(
                f"a table needs a row of V numbers for each of V tokens, got shape {table.shape}"
            )
        for token, row in enumerate(table):
            if row.min() < 0 or abs(row.sum() - 1) > 1e-9:
                raise ValueError(f"row {token} is not a distribution: smallest {row.min()}, sum {row.sum()}")
        self.rows: list[list[float]] = table.tolist()
        self.first = self.rows[0] if first is None else [float(x) for x in first]

    def __call__(self, seq: Sequence[int]) -> list[float]:
        """The distribution of the token after `seq`."""
        return list(self.rows[int(seq[-1])] if len(seq) else self.first)

    def last_rows(self, seq: Sequence[int], m: int) -> list[list[float]]:
        """The distributions after the last m prefixes of `seq`, shortest first: what a target returns from one pass.

        Raises:
            ValueError: m < 1, or more prefixes asked for than `seq` has.
        """
        if not 1 <= m <= len(seq) + 1:
            raise ValueError(f"m = {m} is outside 1..{len(seq) + 1} for a sequence of {len(seq)} tokens")
        return [self(seq[:length]) for length in range(len(seq) - m + 1, len(seq) + 1)]

    def greedy(self, seq: Sequence[int]) -> int:
        """The most likely next token, the first one on ties."""
        return int(np.argmax(self(seq)))


def random_table(vocabulary: int, seed: int, spread: float = 1.0) -> Table:
    """A table with rows drawn at random: the smaller `spread`, the more each row favours a few tokens.

    Args:
        vocabulary: V, at least 1.
        seed: for `np.random.default_rng`; one seed, one table.
        spread: concentration of the Dirichlet distribution the rows are drawn from, > 0.
    """
    rng = np.random.default_rng(seed)
    return Table(rng.dirichlet(np.full(vocabulary, float(spread)), size=vocabulary))


def blend(table: Table, other: Table, share: float) -> Table:
    """A draft for `table`: each row keeps `share` of it and takes the rest from `other`.

    Raises:
        ValueError: share outside 0..1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share = {share} is outside 0..1")
    return Table(share * np.array(table.rows) + (1 - share) * np.array(other.rows))


def sharpen(table: Table) -> Table:
    """The same table at temperature 0: all mass on each row's most likely token."""
    rows = np.array(table.rows)
    return Table(np.eye(len(rows))[rows.argmax(axis=1)])


class Recorder:
    """A model that notes down the arguments of every call, to see afterwards how it was used.

    >>> watched = Recorder(random_table(3, seed=0).greedy)
    >>> _ = watched([0, 1])
    >>> watched.calls
    [([0, 1],)]
    """

    def __init__(self, model: Callable[..., Any]) -> None:
        self.model = model
        self.calls: list[tuple[Any, ...]] = []

    def __call__(self, seq: Any, *more: Any, **named: Any) -> Any:
        """Note the call, then answer as the model does."""
        self.calls.append(([int(token) for token in seq], *more, *named.values()))
        return self.model(seq, *more, **named)
