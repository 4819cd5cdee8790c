"""The controls that lessons share: the acceptance rate a, the draft length k, and a distribution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from specdec_helpers.explorers.controls import Number, Row


def rate(start: float = 0.8) -> Number:
    """The slider that every lesson has: the acceptance rate a."""
    return Number(
        "a",
        "acceptance rate a",
        0,
        1,
        0.01,
        start,
        "The probability that a drafted token is accepted, from 0 to 1",
    )


def drafted(start: int = 4) -> Number:
    """The other slider that every lesson has: k drafted tokens per verification."""
    return Number(
        "k",
        "drafted tokens k",
        0,
        12,
        1,
        start,
        "How many tokens the draft proposes before each verification, from 0 to 12",
        whole=True,
    )


class Distribution(Row):
    """Editable probabilities, shown divided by their sum.

    While one entry is being changed the sum is not 1, so the picture uses `shares()`. Entries that are all 0
    cannot be divided: the last good shares stay, and `remark()` says so. From code they are a ValueError.

    Args:
        name: "p" or "q".
        tokens: a name for each token.
        start: the first values.
        whose: "target" or "draft".
    """

    def __init__(self, name: str, tokens: Sequence[str], start: Sequence[float], whose: str) -> None:
        super().__init__(
            name,
            [f"{name}({token})" for token in tokens],
            f"the {whose}'s probability",
            0,
            1,
            0.05,
            start,
            f"The {whose}'s probability of this token; all are divided by their sum",
            box_width="88px",
        )
        self._good = tuple(start)

    def check(self, value: object) -> tuple[float, ...]:
        """Return the entries; at least one must be positive."""
        entries = super().check(value)
        if not sum(entries) > 0:
            raise ValueError(
                f"{self.name} = {value!r} sums to 0, so it is no distribution: give at least one entry above 0"
            )
        return entries

    def shares(self) -> NDArray[np.float64]:
        """Return the entries divided by their sum; the last good ones while all entries are 0."""
        entries = self.value()
        if sum(entries) > 0:
            self._good = entries
        values: NDArray[np.float64] = np.asarray(self._good, dtype=float)
        shares: NDArray[np.float64] = values / values.sum()
        return shares

    def remark(self) -> str:
        """Say what was done to entries that do not sum to 1; empty where they do."""
        total = sum(self.value())
        if not total > 0:
            return f"{self.name} is all 0, so its last values stay."
        if abs(total - 1) > 1e-6:
            return f"{self.name} sums to {total:.4g} and is divided by it."
        return ""
