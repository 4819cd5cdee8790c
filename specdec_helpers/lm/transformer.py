"""A small decoder-only transformer in plain NumPy.

It can do the one thing that speculative decoding asks of a target: score several positions in one pass. Give it the
m newest tokens of a sequence and it returns m rows of logits, each for the token after one more prefix. Older tokens
are not computed again: their keys and values wait in a cache, and a cache is rolled back by counting fewer of its
entries as valid.

Shapes, throughout:

    B sequences side by side · m new tokens of each · T tokens of each so far, new ones included
    d width of the stream · H heads of width d/H · V characters

The model: each layer adds attention and then a two-matrix ReLU network to the stream, both reading it after
division by its root mean square (Zhang and Sennrich 2019, arXiv 1910.07467). Position enters as a penalty on the
attention scores that grows with distance, at a slope of its own for each head (ALiBi: Press, Smith and Lewis 2022,
arXiv 2108.12409), so that the model can run on past the 256 characters it was trained with.
`tools/train_models.py` is the same model in torch.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


class Cache:
    """Keys and values of every token already read, for B sequences of at most `capacity` tokens.

    Nothing is ever erased. Rolling back to a prefix means starting the next pass at its length: what lies behind
    is masked now and overwritten when its turn comes.
    """

    def __init__(self, layers: int, batch: int, heads: int, capacity: int, width: int, dtype: type) -> None:
        shape = (layers, batch, heads, capacity, width)
        self.keys: np.ndarray = np.zeros(shape, dtype)
        self.values: np.ndarray = np.zeros(shape, dtype)


class Transformer:
    """The network and its weights; it holds no state between passes.

    Args:
        weights: the arrays `embed` (V, d), `qkv` (layers, d, 3d), `mix` (layers, d, d), `up` (layers, d, hidden),
            `down` (layers, hidden, d) and `out` (d, V). The attention scale 1/sqrt(d/H) is already inside `qkv`.
        heads: number of attention heads, H.
        capacity: the longest sequence, in tokens.
        dtype: `np.float32` to be fast; `np.float64` where passes of different lengths must agree to the last place
            that matters, as when two ways of greedy decoding are compared token by token.
    """

    def __init__(
        self, weights: Mapping[str, np.ndarray], heads: int, capacity: int = 1024, dtype: type = np.float32
    ) -> None:
        w: dict[str, np.ndarray] = {name: array.astype(dtype) for name, array in weights.items()}
        self.embed, self.out, self.dtype = w["embed"], w["out"], dtype
        self.layers = list(zip(w["qkv"], w["mix"], w["up"], w["down"], strict=True))
        self.heads, self.capacity, self.width = heads, capacity, self.embed.shape[1]
        self.penalty = distance_penalty(heads, capacity, dtype)
        self.weight_count = sum(array.size for array in w.values())

    def new_cache(self, batch: int = 1) -> Cache:
        """An empty cache for `batch` sequences."""
        return Cache(len(self.layers), batch, self.heads, self.capacity, self.width // self.heads, self.dtype)

    def logits(self, tokens: np.ndarray, starts: np.ndarray, cache: Cache) -> np.ndarray:
        """Read m new tokens of each sequence in one pass.

        Args:
            tokens: (B, m) token numbers; row b holds positions starts[b] … starts[b] + m - 1 of sequence b.
            starts: (B,) how many tokens of each sequence are in the cache and stay valid.
            cache: keys and values of the tokens before; the new ones are written into it.

        Returns:
            (B, m, V) logits; entry [b, j] is about the token that follows tokens[b, j].

        Raises:
            ValueError: a sequence would outgrow the capacity.
        """
        batch, m = tokens.shape
        total = int(starts.max()) + m
        if total > self.capacity:
            raise ValueError(
                f"a sequence of {total} tokens exceeds the model's capacity of {self.capacity}: generate less"
            )
        # Which cache entries are the new tokens': for one sequence a plain slice, which costs no copying.
        where: tuple[object, ...]
        if batch == 1:
            new = slice(total - m, total)
            where, penalty = (slice(None), slice(None), new), self.penalty[:, new, :total]
        else:
            position = starts[:, None] + np.arange(m)
            where = (np.arange(batch)[:, None, None], np.arange(self.heads)[:, None], position[:, None])
            penalty = self.penalty[:, position, :total].swapaxes(0, 1)

        x = self.embed[tokens.ravel()]  # the stream: (B·m, d)
        for (qkv, mix, up, down), keys, values in zip(self.layers, cache.keys, cache.values, strict=True):
            heads = (scaled(x) @ qkv).reshape(batch, m, 3, self.heads, -1).transpose(2, 0, 3, 1, 4)
            q, keys[where], values[where] = heads  # each (B, H, m, d/H)
            score = q @ keys[:, :, :total].swapaxes(2, 3)
            score += penalty
            mixed = softmax(score) @ values[:, :, :total]
            x += mixed.swapaxes(1, 2).reshape(batch * m, -1) @ mix
            x += np.maximum(scaled(x) @ up, 0) @ down
        logits: np.ndarray = (scaled(x) @ self.out).reshape(batch, m, -1)
        return logits


def scaled(x: np.ndarray) -> np.ndarray:
    """Each row of x divided by its root mean square."""
    mean_square = np.einsum("ij,ij->i", x, x)[:, None] / x.shape[1]
    result: np.ndarray = x / np.sqrt(mean_square + 1e-6)
    return result


def softmax(x: np.ndarray) -> np.ndarray:
    """Exponentials of the last axis, scaled to sum to 1; the largest is taken off first so that none overflows.

    Works in place.
    """
    x -= x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


def distance_penalty(heads: int, capacity: int, dtype: type = np.float32) -> np.ndarray:
    """What is added to the attention score of token j at position i: -slope·(i - j), and -inf for a later token.

    Returns:
        (H, capacity, capacity), a view of one ramp of 2·capacity numbers a head: each position sees the ramp
        shifted by one. The slopes are 2^(-8/H), 2^(-16/H), … 2^(-8), as in the paper.
    """
    slope = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    offset = np.arange(1 - capacity, capacity)  # j - i
    ramp: np.ndarray = np.where(offset > 0, -np.inf, slope[:, None] * offset).astype(dtype)
    return sliding_window_view(ramp, capacity, axis=1)[:, ::-1]
