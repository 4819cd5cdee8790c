"""Lesson 5: the inputs that its hidden tests draw.

Draws are chosen so that every wrong implementation of `lesson5_wrong` differs from the reference at least once,
whatever the seed; no draw of `best_k` is nearly a tie, but for those that are ties on purpose.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from specdec_helpers.checks.ask import Case
from specdec_helpers.reference import lesson5 as reference

from . import lesson5_wrong as wrong

Generator = np.random.Generator


def _times(rng: Generator) -> tuple[float, float, float]:
    """(t_target, t_verify, t_draft): verification a little dearer than a target step, drafting cheap."""
    target = float(rng.uniform(2, 40))
    return target, target * float(rng.uniform(1.05, 1.7)), target * float(rng.uniform(0.01, 0.3))


# ---- throughput and speedup -------------------------------------------------------------------------------


def rounds(rng: Generator) -> list[Case]:
    """(a, k, t_target, t_verify, t_draft) of ordinary rounds: whole numbers, decimals, tiny ones (any unit will do)."""
    target, verify, draft = (1e-8 * time for time in _times(rng))
    cases: list[Case] = [(0.97, 40, *_times(rng)), (float(rng.uniform(0.1, 0.95)), 6, target, verify, draft)]
    for k in (1, 2, 3, 4, 9):
        cases.append((float(rng.uniform(0.1, 0.95)), k, *_times(rng)))
    whole = int(rng.integers(8, 30))
    cases.append((0.75, 5, whole, whole + int(rng.integers(1, 9)), int(rng.integers(1, 4))))
    # A verification may be cheaper than a target step: only its own bound counts.
    cases.append((float(rng.uniform(0.1, 0.95)), 4, whole, 0.9 * whole, 0.5))
    # The same a and k with other times: what was computed before does not help.
    cases.append((0.75, 5, *_times(rng)))
    return cases


def ends(rng: Generator) -> list[Case]:
    """Rounds at the ends of a and k. a comes as 0 and 0.0, 1 and 1.0."""
    whole = int(rng.integers(8, 20))
    edges: list[tuple[float, int]] = [
        (0, 4),
        (0.0, 3),
        (1, 4),
        (1.0, 7),
        (0, 0),
        (1, 0),
        (1 - 2e-6, 8),
        (5e-6, 5),
    ]
    edges.append((float(rng.uniform(0.2, 0.9)), 0))
    odd: list[Case] = [
        (1, 3, whole, whole + 2, 1),
        (0.6, 2, whole, 5, 12.5),  # a draft dearer than the pass is no good idea, but legal
        (0.7, 3, whole, whole + 3.0, 0),  # a free draft
        (0, 2, 1, 0.5, 0.25),  # a throughput and a speed-up of exactly 1
        (0.5, 3, 1.0, 900.0, 40),  # a tiny result: nothing may be rounded
    ]
    return [(a, k, *_times(rng)) for a, k in edges] + odd


def no_target(draw: Callable[[Generator], list[Case]]) -> Callable[[Generator], list[Case]]:
    """The same cases without t_target: the arguments of throughput."""
    return lambda rng: [(a, k, verify, draft) for a, k, _, verify, draft in draw(rng)]


def free_draft(rng: Generator) -> list[Case]:
    """Rounds whose draft steps take no time, as 0 and as 0.0."""
    return [
        (float(rng.uniform(0.2, 0.9)), k, *_times(rng)[:2], zero) for k, zero in ((1, 0), (4, 0.0), (7, 0))
    ]


def bad_times(rng: Generator) -> list[Case]:
    """A verification that takes no time or less, a draft step that takes less than none."""
    target, verify, draft = _times(rng)
    return [(0.7, 3, target, bad, draft) for bad in (0, 0.0, -1e-6 * verify)] + [
        (0.7, 3, target, verify, -draft),
        (0.7, 2, target, verify, -1e-6),
        (0.7, 0, target, verify, -draft),
    ]


def bad_rates(rng: Generator) -> list[Case]:
    """Acceptance rates outside [0, 1], negative k."""
    return [(a, 3, *_times(rng)) for a in (-1e-6, 1 + 1e-6, -1, 2)] + [
        (a, k, *_times(rng)) for a, k in ((0.7, -1), (1, -3))
    ]


def bad_target(rng: Generator) -> list[Case]:
    """A target step that takes no time or less."""
    target, verify, draft = _times(rng)
    return [(0.7, 3, bad, verify, draft) for bad in (0, 0.0, -1e-6 * target)]


# ---- best_k -----------------------------------------------------------------------------------------------


def _clear(case: Case) -> bool:
    """Whether the best k of a case wins by more than rounding."""
    a, target, verify, draft, k_max = case
    speeds = sorted(
        [1.0, *(reference.speedup(a, k, target, verify, draft) for k in range(1, k_max + 1))], reverse=True
    )
    return len(speeds) < 2 or speeds[0] > speeds[1] * (1 + 1e-6)


def telling(rng: Generator) -> list[Case]:
    """Ordinary cases, drawn until each wrong implementation has been told from the reference."""
    cases: list[Case] = []
    open_ids = {"most_tokens", "stops_early", "returns_speedup", "extra", "target", "accepted"}
    for _ in range(200):
        dear = float(rng.uniform(1.4, 2.2)) if len(cases) % 3 == 2 else float(rng.uniform(1.05, 1.6))
        target, k_max = float(rng.uniform(2, 40)), int(rng.integers(8, 14))
        draft = target * float(rng.uniform(0.02, 0.25))
        case = (float(rng.uniform(0.5, 0.93)), target, target * dear, draft, k_max)
        right = reference.best_k(*case)
        if not 1 <= right < k_max or not _clear(case):
            continue
        told = {key for key in open_ids if wrong.SLIPS[key](*case) != right}
        if told or len(cases) < 6:
            cases.append(case)
        open_ids -= told
        if len(cases) >= 6 and not open_ids:
            break
    # Whatever was drawn: a dear verification that only many drafts pay for, a cheap one, and a draft dearer than both.
    return [*cases, (0.95, 10.0, 70.0, 2.0, 40), (0.75, 20, 25, 4, 10), (0.9, 10, 1, 10, 4)]


def never_pays(rng: Generator) -> list[Case]:
    """No k from 1 on reaches speed-up 1."""
    cases: list[Case] = [(0, 10, 12, 1, 5), (0.25, 10, 13.5, 2, 9), (1, 10, 12, 12, 5)]
    for a in rng.uniform(0.05, 0.4, 3):
        target = float(rng.uniform(5, 20))
        cases.append((float(a), target, target * float(rng.uniform(1.7, 2.5)), target * 0.05, 8))
    return cases


def cheap_pass(rng: Generator) -> list[Case]:
    """Verification cheaper than a target step: with k = 0 the formula would beat every k from 1 on, wrongly."""
    cases: list[Case] = []
    for a in rng.uniform(0.02, 0.08, 3):
        target = float(rng.uniform(8, 20))
        cases.append((float(a), target, target * float(rng.uniform(0.7, 0.8)), target * 0.1, 6))
    return cases


def limits(rng: Generator) -> list[Case]:
    """Cases that k_max decides."""
    target, verify, _ = _times(rng)
    cheap = target * 0.01
    return [
        (1, target, verify, cheap, int(rng.integers(35, 45))),
        (1.0, 10, 12, 1, 1),
        (0.95, target, verify, cheap, 3),
        (0.9, target, verify, cheap, 0),
        (0, target, verify, cheap, 0),
    ]


def ties(rng: Generator) -> list[Case]:
    """Exact ties (binary fractions), ties that rounding breaks one way or the other, and what is nearly one."""
    scale = float(2 ** int(rng.integers(0, 4)))
    exact: list[Case] = [
        (0.5, 16 * scale, 10 * scale, 2 * scale, 8),  # k = 1 and k = 2
        (0, 8, 4, 0, 5),  # a useless, free draft and a cheap pass: k = 1 … 5
        (0.5, 12 * scale, 16 * scale, 2 * scale, 1),  # k = 0 and k = 1
    ]
    # No tie: k = 1 is faster, by three parts in 10^8. What math.isclose takes for equal (10^-9) is left alone.
    exact.append((0.5, 10.0000003, 14, 1, 1))
    return [*exact, (0.3, 10, 12, 1, 12), (0.3, 7, 8.1, 1, 12), (0.3, 3, 3.4, 0.5, 12), (0.4, 7, 9.7, 0.1, 1)]


def negative_limit(rng: Generator) -> list[Case]:
    """A k_max below 0."""
    return [(0.8, *_times(rng), bad) for bad in (-1, -int(rng.integers(2, 9)))]


# ---- break_even -------------------------------------------------------------------------------------------


def _with_rate(rng: Generator, rate: float, k: int) -> Case:
    """Times for which `rate` is the break-even acceptance rate."""
    target = float(rng.uniform(4, 30))
    draft = target * min(float(rng.uniform(0.02, 0.3)), 0.6 * wrong.mean(rate, k) / k)
    return k, target, wrong.mean(rate, k) * target - k * draft, draft


def rates(rng: Generator) -> list[Case]:
    """Break-even rates with a 5 in the sixth decimal, so that five decimals are not enough."""
    return [
        _with_rate(rng, (int(rng.integers(8000, 90000)) + 0.5) / 1e5, k) for k in (1, 1, 2, 3, 4, 5, 8, 11)
    ]


def extreme_rates(rng: Generator) -> list[Case]:
    """Break-even rates close to 0 and to 1."""
    drawn = [
        _with_rate(rng, rate, k) for rate, k in ((4e-6, 2), (0.0012345, 5), (0.9987655, 3), (1 - 4e-6, 7))
    ]
    return [*drawn, (3, 8, 26, 2)]  # here a = 1 suffices, exactly


def always(rng: Generator) -> list[Case]:
    """A round that costs no more than one target step: a = 0 is enough, even at exactly the same cost."""
    cases: list[Case] = [(2, 8, 6, 1), (0, 8, 8, 1), (0, 10, 7, 3), (1, 10, 8, 1)]
    for k in (2, 3, 5):
        target = float(rng.uniform(5, 20))
        cases.append((k, target, target * float(rng.uniform(0.5, 0.7)), target * 0.04))
    return cases


def never(rng: Generator) -> list[Case]:
    """A round that costs more than k + 1 target steps."""
    cases: list[Case] = [(2, 10, 12, 12), (0, 10, 12, 1), (4, 10, 50.001, 0)]
    for k in (1, 3, 6):
        target = float(rng.uniform(5, 20))
        cases.append((k, target, target * (k + 1.5), target * float(rng.uniform(0.01, 0.5))))
    return cases
