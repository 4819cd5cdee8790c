"""Lesson 5: a class of hand-made submissions and the points each must get."""

from __future__ import annotations

from . import SOLUTION, Planned

NUMBERS = {"throughput_per_second": 210.1, "speedup_worked": 2.101, "speedup_low_acceptance": 0.8907}
CHOICE = {"better_draft_slower": "B"}
EASY = {
    "throughput_per_second": 1,
    "speedup_worked": 1,
    "speedup_low_acceptance": 1,
    "better_draft_slower": 1,
}
FUNCTIONS = dict.fromkeys(("throughput", "speedup", "best_k", "break_even"), SOLUTION)
FULL = {**EASY, "throughput": 3, "speedup": 3, "best_k": 4, "break_even": 4}

CLOSED = """
def throughput(a, k, t_verify, t_draft):
    if not (0 <= a <= 1):
        raise ValueError(f"a = {a}")
    if k < 0:
        raise ValueError(f"k = {k}")
    if t_verify <= 0:
        raise ValueError("t_verify")
    if t_draft < 0:
        raise ValueError("t_draft")
    tokens = k + 1 if a == 1 else (1 - a ** (k + 1)) / (1 - a)
    return tokens / (t_verify + k * t_draft)
"""
NUMPY_BEST = """
import numpy as np

def best_k(a, t_target, t_verify, t_draft, k_max):
    if k_max < 0:
        raise ValueError("k_max")
    speeds = np.array([1.0] + [speedup(a, k, t_target, t_verify, t_draft) for k in range(1, k_max + 1)])
    return np.flatnonzero(speeds >= speeds.max() * (1 - 1e-12))[0]
"""
NEWTON = """
def break_even(k, t_target, t_verify, t_draft):
    goal = (t_verify + k * t_draft) / t_target
    if goal <= 1:
        return 0
    if goal > k + 1:
        return None
    a = 1.0
    for _ in range(60):
        slope = sum(i * a ** (i - 1) for i in range(1, k + 1))
        a -= (mean_tokens(a, k) - goal) / slope
    return a
"""
UNGUARDED = """
def throughput(a, k, t_verify, t_draft):
    return mean_tokens(a, k) / (t_verify + k * t_draft)
"""
EXTRA_STEP = """
def throughput(a, k, t_verify, t_draft):
    if not 0 <= a <= 1 or k < 0 or t_verify <= 0 or t_draft < 0:
        raise ValueError("out of bounds")
    return mean_tokens(a, k) / (t_verify + (k + 1) * t_draft)
"""
GAIN = """
def speedup(a, k, t_target, t_verify, t_draft):
    if t_target <= 0:
        raise ValueError("t_target")
    return throughput(a, k, t_verify, t_draft) * t_target - 1
"""
TARGET_FOR_VERIFY = """
def speedup(a, k, t_target, t_verify, t_draft):
    if t_target <= 0:
        raise ValueError("t_target")
    return throughput(a, k, t_target, t_draft) * t_target
"""
SPEEDUP_ALONE = """
def speedup(a, k, t_target, t_verify, t_draft):
    if not 0 <= a <= 1 or k < 0 or min(t_target, t_verify) <= 0 or t_draft < 0:
        raise ValueError("out of bounds")
    return mean_tokens(a, k) * t_target / (t_verify + k * t_draft)
"""
NEVER_ZERO = """
def best_k(a, t_target, t_verify, t_draft, k_max):
    best = 1
    for k in range(2, k_max + 1):
        if speedup(a, k, t_target, t_verify, t_draft) > speedup(a, best, t_target, t_verify, t_draft):
            best = k
    return best
"""
MOST_TOKENS = """
def best_k(a, t_target, t_verify, t_draft, k_max):
    if k_max < 0:
        raise ValueError("k_max")
    return max(range(k_max + 1), key=lambda k: mean_tokens(a, k))
"""
ONE_FOR_NEVER = """
def break_even(k, t_target, t_verify, t_draft):
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if speedup(middle, k, t_target, t_verify, t_draft) >= 1:
            high = middle
        else:
            low = middle
    return high
"""
COARSE = """
def break_even(k, t_target, t_verify, t_draft):
    for hundredths in range(101):
        if speedup(hundredths / 100, k, t_target, t_verify, t_draft) >= 1:
            return hundredths / 100
"""
TYPED_EXAMPLES = """
def throughput(a, k, t_verify, t_draft):
    if not 0 <= a <= 1 or k < 0 or t_verify <= 0 or t_draft < 0:
        raise ValueError("out of bounds")
    table = {(0.8, 4, 12, 1): 0.2101, (0.3, 2, 12, 4): 0.0695, (1, 4, 12, 1): 0.3125}
    return table.get((a, k, t_verify, t_draft), 0.2101)
"""
TYPO = """
def best_k(a, t_target, t_verify, t_draft, k_max)
    return 6
"""

OWN_HELPERS = """
def throughput(a, k, t_verify, t_draft):
    return per_round(a, k) / my_cost(k, t_verify, t_draft)
"""
PER_ROUND = """
def per_round(a, k):
    if not 0 <= a <= 1 or k < 0:
        raise ValueError("a, k")
    return sum(a**i for i in range(k + 1))
"""
MY_COST = """
def my_cost(k, t_verify, t_draft):
    if t_verify <= 0 or t_draft < 0:
        raise ValueError("time")
    return t_verify + k * t_draft
"""

PLANNED = [
    Planned("everything right", {**NUMBERS, **CHOICE, **FUNCTIONS}, FULL),
    Planned("nothing done", {}, {}),
    Planned(
        "right in unusual ways",
        {
            "throughput_per_second": "throughput_per_second = 3.3616 / 0.016",
            "speedup_worked": "from fractions import Fraction\nspeedup_worked = Fraction(33616, 16000)",
            "speedup_low_acceptance": "speedup_low_acceptance = sum(0.3**i for i in range(5)) * 10 / 16",
            "better_draft_slower": "better_draft_slower = ' b) '",
            "throughput": CLOSED,
            "speedup": SOLUTION,
            "best_k": NUMPY_BEST,
            "break_even": NEWTON,
        },
        FULL,
    ),
    Planned("numbers only", {**NUMBERS, **CHOICE}, EASY),
    Planned(
        "misread numbers",
        {
            "throughput_per_second": 312.5,
            "speedup_worked": 1.101,
            "speedup_low_acceptance": 1.4251,
            "better_draft_slower": "A",
            **FUNCTIONS,
        },
        {"throughput": 3, "speedup": 3, "best_k": 4, "break_even": 4},
    ),
    Planned(
        "no bounds anywhere",  # 0.7 of throughput; of speedup, only t_target is tested: 0.8
        {**NUMBERS, **CHOICE, **FUNCTIONS, "throughput": UNGUARDED},
        {**FULL, "throughput": 2, "speedup": 2.5},
    ),
    Planned(
        "one draft step too many, and all that is built on it",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "throughput": EXTRA_STEP},
        EASY,
    ),
    Planned(
        "the gain for the speed-up, the rest on its own",
        {**FUNCTIONS, "speedup": GAIN},
        {"throughput": 3},
    ),
    Planned(
        "t_target for t_verify",
        {**NUMBERS, **FUNCTIONS, "speedup": TARGET_FOR_VERIFY},
        {**dict.fromkeys(NUMBERS, 1), "throughput": 3},
    ),
    Planned(
        "throughput left out",
        {"better_draft_slower": "B", "speedup": SPEEDUP_ALONE, "best_k": SOLUTION, "break_even": SOLUTION},
        {"better_draft_slower": 1, "speedup": 3, "best_k": 4, "break_even": 4},
    ),
    Planned(
        "never k = 0, and 1.0 for never",
        {**FUNCTIONS, "best_k": NEVER_ZERO, "break_even": ONE_FOR_NEVER},
        {"throughput": 3, "speedup": 3, "best_k": 2, "break_even": 3.25},
    ),
    Planned(
        "most tokens, and a coarse search",
        {**FUNCTIONS, "best_k": MOST_TOKENS, "break_even": COARSE},
        {"throughput": 3, "speedup": 3},
    ),
    Planned(
        "the visible examples in a table",
        {**NUMBERS, "throughput": TYPED_EXAMPLES, "speedup": SPEEDUP_ALONE},
        {**dict.fromkeys(NUMBERS, 1), "speedup": 3},
    ),
    Planned(
        "a cell that does not parse, and answers as texts",
        {
            **FUNCTIONS,
            "throughput_per_second": "throughput_per_second = '210.1'",
            "better_draft_slower": "better_draft_slower = 'each of its draft steps costs several times more'",
            "best_k": TYPO,
        },
        {"better_draft_slower": 1, "throughput": 3, "speedup": 3, "break_even": 4},
    ),
    Planned(
        "helpers in a cell of the student's own",
        {
            **NUMBERS,
            **CHOICE,
            "throughput": OWN_HELPERS,
            "speedup": SOLUTION,
        },
        {**EASY, "throughput": 3, "speedup": 3},
        extra_cells=(PER_ROUND, MY_COST),
    ),
]
