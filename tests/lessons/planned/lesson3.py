"""Lesson 3: a class of hand-made submissions and the points each must get."""

from __future__ import annotations

from . import SOLUTION, Planned

NUMBERS = {"rejection_chance": 0.4, "residual_first": 0.75, "biased_first": 0.26}
CHOICE = {"replacement_source": "B"}
EASY = {"rejection_chance": 1, "residual_first": 1, "biased_first": 1, "replacement_source": 1}
FUNCTIONS = dict.fromkeys(("residual", "sample_from", "emitted_distribution", "speculative_round"), SOLUTION)
FULL = {**EASY, "residual": 3, "sample_from": 3, "emitted_distribution": 3, "speculative_round": 5}

TESTED = """
def tested(row):
    row = [float(x) for x in row]
    if any(x < 0 for x in row):
        raise ValueError(f"negative: {row}")
    if abs(sum(row) - 1) > 1e-6:
        raise ValueError(f"sum: {sum(row)}")
    return row
"""
ARRAY_RESIDUAL = """
import numpy as np

def residual(p, q):
    p, q = np.array(tested(p)), np.array(tested(q))
    if len(p) != len(q):
        raise ValueError("lengths")
    rest = np.maximum(0, p - q)
    return rest / rest.sum() if rest.any() else p
"""
BISECTION = """
from bisect import bisect_right
from itertools import accumulate

def sample_from(probs, u):
    row = tested(probs)
    if u < 0 or u >= 1:
        raise ValueError(f"u = {u}")
    possible = [token for token, x in enumerate(row) if x]
    return possible[min(bisect_right([*accumulate(row[t] for t in possible)], u), len(possible) - 1)]
"""
MARKOV = """
import numpy as np

def emitted_distribution(q, accept, replacement):
    accept = np.array(accept, dtype=float)
    return np.array(q) @ (np.diag(accept) + np.outer(1 - accept, replacement))
"""
RECURSION = """
def speculative_round(draft, p_rows, q_rows, u, u_extra):
    if [len(p_rows), len(q_rows), len(u)] != [len(draft) + 1, len(draft), len(draft)]:
        raise ValueError("counts")
    if len(draft) == 0:
        return [sample_from(p_rows[0], u_extra)]
    x = draft[0]
    if u[0] * q_rows[0][x] >= p_rows[0][x]:
        return [sample_from(residual(p_rows[0], q_rows[0]), u_extra)]
    return [x] + speculative_round(draft[1:], p_rows[1:], q_rows[1:], u[1:], u_extra)
"""
PADDED = """
import numpy as np

def speculative_round(draft, p_rows, q_rows, u, u_extra):
    k = len(draft)
    if len(p_rows) != k + 1 or len(q_rows) != k or len(u) != k:
        raise ValueError("counts")
    n = 0
    while n < k and u[n] < p_rows[n][draft[n]] / q_rows[n][draft[n]]:
        n += 1
    below = q_rows[n] if n < k else np.zeros(len(p_rows[0]))
    rest = np.maximum(0, np.array(p_rows[n]) - np.array(below))
    return (*draft[:n], sample_from(rest / rest.sum(), u_extra))
"""
RAW_RESIDUAL = """
def residual(p, q):
    if len(p) != len(q):
        raise ValueError("lengths")
    for row in (p, q):
        if min(row) < 0 or abs(sum(row) - 1) > 1e-6:
            raise ValueError("no distribution")
    return [max(0, a - b) for a, b in zip(p, q)]
"""
SOFTMAX_RESIDUAL = """
import numpy as np

def residual(p, q):
    if len(p) != len(q):
        raise ValueError("lengths")
    for row in (p, q):
        if min(row) < 0 or abs(sum(row) - 1) > 1e-6:
            raise ValueError("no distribution")
    weights = np.exp(np.maximum(0, np.subtract(p, q)))
    return weights / weights.sum()
"""
DIVIDES_BY_ZERO = """
def residual(p, q):
    if len(p) != len(q):
        raise ValueError("lengths")
    for row in (p, q):
        if min(row) < 0 or abs(sum(row) - 1) > 1e-6:
            raise ValueError("no distribution")
    missing = [max(0, a - b) for a, b in zip(p, q)]
    return [x / sum(missing) for x in missing]
"""
UNGUARDED_RESIDUAL = """
def residual(p, q):
    missing = [max(0, a - b) for a, b in zip(p, q)]
    total = sum(missing)
    return [x / total for x in missing] if total else list(p)
"""
AT_LEAST = """
def sample_from(probs, u):
    if min(probs) < 0 or abs(sum(probs) - 1) > 1e-6 or not 0 <= u < 1:
        raise ValueError("bad input")
    total = 0
    for token, x in enumerate(probs):
        total += x
        if total >= u:
            return token
    return max(t for t, x in enumerate(probs) if x > 0)
"""
LAST_ENTRY = """
import numpy as np

def sample_from(probs, u):
    if min(probs) < 0 or abs(sum(probs) - 1) > 1e-6 or not 0 <= u < 1:
        raise ValueError("bad input")
    return min(np.searchsorted(np.cumsum(probs), u, side="right"), len(probs) - 1)
"""
GREEDY_DRAW = """
import numpy as np

def sample_from(probs, u):
    if min(probs) < 0 or abs(sum(probs) - 1) > 1e-6 or not 0 <= u < 1:
        raise ValueError("bad input")
    return int(np.argmax(probs))
"""
UNWEIGHTED = """
import numpy as np

def emitted_distribution(q, accept, replacement):
    return np.multiply(q, accept) + (1 - np.mean(accept)) * np.array(replacement)
"""
KEPT_ONLY = """
def emitted_distribution(q, accept, replacement):
    return [a * b for a, b in zip(q, accept)]
"""
FROM_P = """
def speculative_round(draft, p_rows, q_rows, u, u_extra):
    k = len(draft)
    if len(p_rows) != k + 1 or len(q_rows) != k or len(u) != k:
        raise ValueError("counts")
    for i, x in enumerate(draft):
        if u[i] >= min(1, p_rows[i][x] / q_rows[i][x]):
            return list(draft[:i]) + [sample_from(p_rows[i], u_extra)]
    return list(draft) + [sample_from(p_rows[k], u_extra)]
"""
SAME_NUMBER = FROM_P.replace(
    "sample_from(p_rows[i], u_extra)", "sample_from(residual(p_rows[i], q_rows[i]), u[i])"
)
NO_BONUS = FROM_P.replace(
    "sample_from(p_rows[i], u_extra)", "sample_from(residual(p_rows[i], q_rows[i]), u_extra)"
).replace("return list(draft) + [sample_from(p_rows[k], u_extra)]", "return list(draft)")
UNCOUNTED = """
def speculative_round(draft, p_rows, q_rows, u, u_extra):
    for i, x in enumerate(draft):
        if u[i] >= accept_probability(p_rows[i][x], q_rows[i][x]):
            return [*draft[:i], sample_from(residual(p_rows[i], q_rows[i]), u_extra)]
    return [*draft, sample_from(p_rows[len(draft)], u_extra)]
"""
CHANGES_DRAFT = """
def speculative_round(draft, p_rows, q_rows, u, u_extra):
    k = len(draft)
    if len(p_rows) != k + 1 or len(q_rows) != k or len(u) != k:
        raise ValueError("counts")
    if type(draft) is not list:
        draft = list(draft)
    for i, x in enumerate(draft):
        if u[i] >= accept_probability(p_rows[i][x], q_rows[i][x]):
            del draft[i:]
            draft.append(sample_from(residual(p_rows[i], q_rows[i]), u_extra))
            return draft
    draft.append(sample_from(p_rows[k], u_extra))
    return draft
"""

PLANNED = [
    Planned("the course's answers", {**NUMBERS, **CHOICE, **FUNCTIONS}, FULL),
    Planned("nothing", {}, {}),
    Planned(
        "right, with arrays, bisection, a matrix and recursion",
        {
            "rejection_chance": "rejection_chance = 1 - 0.6",
            "residual_first": "from fractions import Fraction\n\nresidual_first = Fraction(3, 4)",
            "biased_first": "import numpy as np\n\nbiased_first = np.array(0.26)",
            "replacement_source": "b)",
            "residual": ARRAY_RESIDUAL,
            "sample_from": BISECTION,
            "emitted_distribution": MARKOV,
            "speculative_round": RECURSION,
        },
        FULL,
        extra_cells=(TESTED,),
    ),
    Planned(
        "right, with a row of zeros for the bonus",
        {
            **NUMBERS,
            "replacement_source": "max(0, p − q) divided by its sum",
            **FUNCTIONS,
            "speculative_round": PADDED,
        },
        FULL,
    ),
    Planned("numbers and choice only", {**NUMBERS, **CHOICE}, EASY),
    Planned(
        "the round without its helpers",
        {**NUMBERS, **CHOICE, "emitted_distribution": SOLUTION, "speculative_round": SOLUTION},
        {**EASY, "emitted_distribution": 3},  # residual and sample_from are still stubs
    ),
    Planned(
        "resampled from p",
        {
            "rejection_chance": 0.4,
            "residual_first": 0.4,
            "biased_first": 0.4,
            "replacement_source": "A",
            **FUNCTIONS,
            "speculative_round": FROM_P,
        },
        {"rejection_chance": 1, "residual": 3, "sample_from": 3, "emitted_distribution": 3},
    ),
    Planned(
        "not normalised",
        {**NUMBERS, "residual_first": 0.3, **CHOICE, **FUNCTIONS, "residual": RAW_RESIDUAL},
        # sample_from refuses what is no distribution, so the round fails with it
        {**FULL, "residual_first": 0, "residual": 0, "speculative_round": 0},
    ),
    Planned(
        "a softmax of the residual",
        {**NUMBERS, "residual_first": 0.303, **CHOICE, **FUNCTIONS, "residual": SOFTMAX_RESIDUAL},
        {**FULL, "residual_first": 0, "residual": 0, "speculative_round": 0},
    ),
    Planned(
        "0 divided by 0 where p and q are identical",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "residual": DIVIDES_BY_ZERO},
        {**FULL, "residual": 2.5},
    ),
    Planned(
        "one number for two decisions",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "speculative_round": SAME_NUMBER},
        {**FULL, "speculative_round": 0},
    ),
    Planned(
        "no bonus token, and q until something passes",
        {**NUMBERS, "replacement_source": "C", **FUNCTIONS, "speculative_round": NO_BONUS},
        {**FULL, "replacement_source": 0, "speculative_round": 3.5},
    ),
    Planned(
        "nothing is refused",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "residual": UNGUARDED_RESIDUAL, "speculative_round": UNCOUNTED},
        {**FULL, "residual": 2.25, "speculative_round": 4},
    ),
    Planned(
        "the edges of a draw",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "sample_from": AT_LEAST},
        {**FULL, "sample_from": 2.5, "speculative_round": 4.75},  # u_extra = 0 emits an impossible token
    ),
    Planned(
        "the last entry, possible or not",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "sample_from": LAST_ENTRY},
        {**FULL, "sample_from": 2.5},
    ),
    Planned(
        "greedy draws and an unweighted mean",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "sample_from": GREEDY_DRAW, "emitted_distribution": UNWEIGHTED},
        {**FULL, "sample_from": 0, "emitted_distribution": 0, "speculative_round": 0},
    ),
    Planned(
        "the draft list is reused, and rejections emit nothing",
        {
            **NUMBERS,
            "biased_first": 0.1,
            **CHOICE,
            **FUNCTIONS,
            "emitted_distribution": KEPT_ONLY,
            "speculative_round": CHANGES_DRAFT,
        },
        {**FULL, "biased_first": 0, "emitted_distribution": 0, "speculative_round": 4.5},
    ),
]
