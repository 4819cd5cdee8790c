"""Lesson 6: the wrong implementations behind the misconceptions of `checks.lesson6.MISTAKES`, under the same ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specdec_helpers.reference.lesson6 import run_statistics


def _statistics(
    change: Callable[[dict[str, float], list[int], int], Mapping[str, float]],
) -> Callable[[Sequence[int], int], dict[str, float]]:
    """run_statistics with some entries replaced."""

    def wrong(log: Sequence[int], k: int) -> dict[str, float]:
        right = run_statistics(log, k)
        return {**right, **change(right, list(log), k)}

    return wrong


def _best(
    speed: Callable[[float, int, float, Sequence[float], float], float], first: int = 0
) -> Callable[[float, float, Sequence[float], float], int]:
    """choose_k by another speed; `first` = 0 includes plain decoding, with its speed 1."""

    def wrong(a: float, t_target: float, t_verify: Sequence[float], t_draft: float) -> int:
        best, best_speed = (0, 1.0) if first == 0 else (first, -1.0)
        for k in range(max(1, first), len(t_verify)):
            value = speed(a, k, t_target, t_verify, t_draft)
            if value > best_speed * (1 + 1e-12):
                best, best_speed = k, value
        return best

    return wrong


def _tokens(a: float, k: int) -> float:
    return sum(a**i for i in range(k + 1))


def _speed(a: float, k: int, t_target: float, t_verify: Sequence[float], t_draft: float) -> float:
    return _tokens(a, k) * t_target / (t_verify[k] + k * t_draft)


WRONG: dict[str, dict[str, Callable[..., Any]]] = {
    "run_statistics": {
        "accepted_over_drafted": _statistics(lambda s, log, k: {"acceptance_rate": s["draft_efficiency"]}),
        "bonus_counted": _statistics(
            lambda s, log, k: {
                "acceptance_rate": (s["accepted"] + log.count(k)) / s["drafted"],
                "accepted": s["accepted"] + log.count(k),
            }
        ),
        "target_token_forgotten": _statistics(
            lambda s, log, k: {"tokens_per_verification": s["accepted"] / s["verifications"]}
        ),
        "rejection_everywhere": _statistics(
            lambda s, log, k: {"acceptance_rate": s["accepted"] / (s["accepted"] + s["verifications"])}
        ),
    },
    "choose_k": {
        "never_zero": _best(_speed, first=1),
        "tokens_only": _best(lambda a, k, t, v, d: _tokens(a, k)),
        "draft_free": _best(lambda a, k, t, v, d: _tokens(a, k) * t / v[k]),
        "pass_too_short": _best(lambda a, k, t, v, d: _speed(a, k, t, [v[0], *v], d)),
        "one_pass_time": _best(lambda a, k, t, v, d: _speed(a, k, t, [v[0]] * len(v), d)),
        "accepted_only": _best(lambda a, k, t, v, d: (_tokens(a, k) - 1) * t / (v[k] + k * d)),
    },
}
