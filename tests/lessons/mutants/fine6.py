"""Implementations of lesson 6 that are right but for a cap, a window, a threshold or a little too much chance.

On small inputs they agree with the reference. What finds them are many drafts, a long prefix, a large sum, a best k far
out, and rows in which many rare tokens share much of the probability.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson6 as reference

MANY = 10**6
draw = reference._draw


# ---- draft_block -----------------------------------------------------------------------------------------


def drafting(see: Callable = lambda row: row, window: int = MANY, most: int = MANY) -> Callable:
    """Draws from what `see` makes of a row, and shows the draft model the last `window` tokens."""

    def draft_block(draft_model, prefix, k, rng):
        seq, rows = list(prefix), []
        for _ in range(min(k, most)):
            rows.append(draft_model(seq[-window:]))
            seq.append(draw(see(np.asarray(rows[-1], float)), rng))
        return seq[len(prefix) :], rows

    return draft_block


# ---- speculative_decode ----------------------------------------------------------------------------------


def decoding(
    accept: Callable = lambda p, q: p / q,
    residual: Callable = lambda p, q: np.maximum(0, p - q),
    most: int = MANY,
    window: int = MANY,
) -> Callable:
    """Shows both models the last `window` tokens, and the drafts."""

    def speculative_decode(draft_model, target_pass, prompt, n_tokens, k, rng):
        k, seq, log = min(k, most), list(prompt), []
        while len(seq) < len(prompt) + n_tokens:
            drafts, q = reference.draft_block(draft_model, seq[-window:], k, rng)
            p, q = np.asarray(target_pass(seq[-window:] + drafts, k + 1), float), np.asarray(q, float)
            n = 0
            while n < k and rng.random() < accept(p[n][drafts[n]], q[n][drafts[n]]):
                n += 1
            seq += [*drafts[:n], draw(residual(p[n], q[n]) if n < k else p[k], rng)]
            log.append(n)
        return seq[len(prompt) :][:n_tokens], log

    return speculative_decode


# ---- run_statistics --------------------------------------------------------------------------------------


def seeing(see: Callable = lambda log, k: (log, k), accepted: Callable = lambda count: count) -> Callable:
    """The statistics of what `see` makes of the arguments; `accepted` is passed through a function."""

    def run_statistics(log, k):
        reference.run_statistics(log, k)  # refuses what is impossible
        out = reference.run_statistics(*see(list(log), k))
        return {**out, "accepted": accepted(out["accepted"])}

    return run_statistics


def up_to_12(log: Any, k: int) -> Any:
    if k > 12:
        raise ValueError("that is a lot of drafts")
    return log, k


# ---- choose_k --------------------------------------------------------------------------------------------


def choosing(
    tolerance: float = 1e-12,
    most: int = MANY,
    gives_up: int = MANY,
    stop_below: float = 0.0,
    see: Callable[[float], float] = float,
) -> Callable:
    """Looks no further than `most`, than `gives_up` steps past the best k, or than a speed-up under `stop_below`."""

    def choose_k(a, t_target, t_verify, t_draft):
        best, top = 0, 1.0
        for k in range(1, min(len(t_verify), most + 1)):
            speed = sum(a**i for i in range(k + 1)) * t_target / (see(t_verify[k]) + k * t_draft)
            if speed > top * (1 + tolerance):
                best, top = k, speed
            elif k - best >= gives_up or speed < stop_below:
                break
        return best

    return choose_k


WRONG: dict[str, dict[str, Callable]] = {
    "draft_block": {
        "a window of 12": drafting(window=12),
        "a window of 32": drafting(window=32),
        "at most 8 drafts": drafting(most=8),
        "at most 12 drafts": drafting(most=12),
        "repeats in the prefix dropped": lambda d, prefix, k, rng: reference.draft_block(
            d, list(dict.fromkeys(prefix)), k, rng
        ),
        "smoothed by 0.1": drafting(lambda row: row + 0.1),
        "smoothed by 0.02": drafting(lambda row: row + 0.02),
        "entries below 0.06 dropped": drafting(lambda row: np.where(row < 0.06, 0, row)),
    },
    "speculative_decode": {
        "at most 8 drafts": decoding(most=8),
        "at most 12 drafts": decoding(most=12),
        "a window of 32": decoding(window=32),
        "accepted with 1.2 p/q": decoding(lambda p, q: 1.2 * p / q),
        "replaced by the residual squared": decoding(residual=lambda p, q: np.maximum(0, p - q) ** 2),
    },
    "run_statistics": {
        "more than 12 drafts refused": seeing(up_to_12),
        "the first 50 counts": seeing(lambda log, k: (log[:50], k)),
        "k is the largest count": seeing(lambda log, k: (log, max(*log, 1))),
        "True for one accepted": seeing(accepted=lambda count: True if count == 1 else count),
        "a signed sum of 8 bits": seeing(accepted=lambda count: (count + 128) % 256 - 128),
        "a sum of 8 bits": seeing(accepted=lambda count: count % 256),
    },
    "choose_k": {
        "ties within 1e-7": choosing(tolerance=1e-7),
        "ties within 1e-3": choosing(tolerance=1e-3),
        "at most 12": choosing(most=12),
        "at most 16": choosing(most=16),
        "gives up after two": choosing(gives_up=2),
        "gives up after ten": choosing(gives_up=10),
        "ends at the first loss": choosing(stop_below=1.0),
        "a = 0 never pays": lambda a, t, v, d: reference.choose_k(a, t, v, d) if a else 0,
        "times rounded": choosing(see=lambda t: round(t, 2)),
    },
}
