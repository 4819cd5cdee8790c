"""Lesson 5, When it pays: throughput, speed-up, the best k and the break-even acceptance rate.

One round costs one verification and k draft steps and yields E[N] = 1 + a + … + a^k tokens.

Source: the chapter's reference (worked example); Leviathan, Kalman, Matias 2023 (arXiv 2211.17192), theorem 3.8 and
corollary 3.9, where c = t_draft / t_target and t_verify = t_target.
"""

from __future__ import annotations

TIE = 1e-12  # two speed-ups this close, relative to the larger, are a tie


def _expected_tokens(a: float, k: int) -> float:
    """E[N] = 1 + a + … + a^k. ValueError unless 0 <= a <= 1 and k >= 0."""
    if not 0 <= a <= 1:
        raise ValueError(f"a is {a!r}; an acceptance rate lies in [0, 1]")
    if k < 0:
        raise ValueError(f"k is {k!r}; it must be 0 or more")
    return float(sum(float(a) ** i for i in range(int(k) + 1)))


def throughput(a: float, k: int, t_verify: float, t_draft: float) -> float:
    """Tokens per unit of time: E[N] / (t_verify + k t_draft).

    a: acceptance rate, in [0, 1]. k: drafted tokens a verification, >= 0. t_verify: time of one verification pass, > 0.
    t_draft: time of one draft step, >= 0, in the same unit. ValueError for a value outside these bounds.
    """
    if t_verify <= 0:
        raise ValueError(f"t_verify is {t_verify!r}; a pass takes time, give a number above 0")
    if t_draft < 0:
        raise ValueError(f"t_draft is {t_draft!r}; it must be 0 or more")
    return _expected_tokens(a, k) / (float(t_verify) + int(k) * float(t_draft))


def speedup(a: float, k: int, t_target: float, t_verify: float, t_draft: float) -> float:
    """Throughput relative to decoding with the target alone, which makes 1 / t_target tokens per unit of time.

    k = 0 verifies without any draft and so costs t_verify. ValueError as `throughput`, and for t_target <= 0.
    """
    if t_target <= 0:
        raise ValueError(f"t_target is {t_target!r}; a pass takes time, give a number above 0")
    return throughput(a, k, t_verify, t_draft) * float(t_target)


def best_k(a: float, t_target: float, t_verify: float, t_draft: float, k_max: int) -> int:
    """The k in 0 … k_max with the largest speed-up.

    Here k = 0 stands for plain decoding, whose speed-up is exactly 1. Of two that are equal (to 1e-12, relative) the
    smaller k is taken. ValueError if k_max < 0.
    """
    if k_max < 0:
        raise ValueError(f"k_max is {k_max!r}; it must be 0 or more")
    best, best_speed = 0, 1.0
    for k in range(1, int(k_max) + 1):
        speed = speedup(a, k, t_target, t_verify, t_draft)
        if speed > best_speed * (1 + TIE):
            best, best_speed = k, speed
    return best


def break_even(k: int, t_target: float, t_verify: float, t_draft: float) -> float | None:
    """The smallest acceptance rate with a speed-up of at least 1, accurate to 1e-6.

    0.0 if a = 0 already suffices, None if even a = 1 does not. The speed-up grows with a, so halving the interval
    finds it.
    """
    if speedup(0.0, k, t_target, t_verify, t_draft) >= 1:
        return 0.0
    if speedup(1.0, k, t_target, t_verify, t_draft) < 1:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if speedup(middle, k, t_target, t_verify, t_draft) >= 1:
            high = middle
        else:
            low = middle
    return high


# The chapter's worked example: 10 ms a token with the target alone, 12 ms a verification, 1 ms a draft step, k = 4.
ANSWERS: dict[str, int | float | str] = {
    "throughput_per_second": throughput(0.8, 4, 0.012, 0.001),
    "speedup_worked": speedup(0.8, 4, 10, 12, 1),
    "speedup_low_acceptance": speedup(0.3, 4, 10, 12, 1),
    "better_draft_slower": "B",
}
