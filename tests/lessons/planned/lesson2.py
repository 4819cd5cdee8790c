"""Lesson 2: a class of hand-made submissions and the points each must get."""

from __future__ import annotations

from . import SOLUTION, Planned

NUMBERS = {"keep_chance": 0.6, "overlap": 0.7, "tokens_at_overlap": 2.7731}
CHOICE = {"target_likes_it_more": "B"}
EASY = {"keep_chance": 1, "overlap": 1, "tokens_at_overlap": 1, "target_likes_it_more": 1}
FUNCTIONS = dict.fromkeys(
    ("to_distribution", "accept_probability", "acceptance_rate", "accepted_prefix"), SOLUTION
)
FULL = {**EASY, "to_distribution": 4, "accept_probability": 2, "acceptance_rate": 3, "accepted_prefix": 4}

LOOPS = """
from math import exp

def to_distribution(logits, temperature, top_k=None):
    logits = [float(x) for x in logits]
    if not logits:
        raise ValueError("no logits")
    if temperature < 0:
        raise ValueError(f"temperature {temperature}")
    if top_k is not None and top_k <= 0:
        raise ValueError(f"top_k {top_k}")
    if temperature == 0:
        temperature, top_k = 1, 1
    order = sorted(range(len(logits)), key=lambda i: -logits[i])
    stay = set(order[:top_k])
    weights = [exp((x - logits[order[0]]) / temperature) if i in stay else 0 for i, x in enumerate(logits)]
    return tuple(w / sum(weights) for w in weights)
"""
NESTED_IFS = """
def accept_probability(p_x, q_x):
    if 0 < q_x <= 1 and 0 <= p_x <= 1:
        if p_x >= q_x:
            return 1
        return p_x / q_x
    raise ValueError((p_x, q_x))
"""
HALF_DISTANCE = """
import numpy as np

def acceptance_rate(p, q):
    p, q = np.asarray(p, float), np.asarray(q, float)
    if p.shape != q.shape or (p < 0).any() or (q < 0).any():
        raise ValueError("no pair of distributions")
    if max(abs(p.sum() - 1), abs(q.sum() - 1)) > 1e-6:
        raise ValueError("the sum is not 1")
    return 1 - np.abs(p - q).sum() / 2
"""
CUMPROD = """
import numpy as np

def accepted_prefix(draft, p_rows, q_rows, u):
    rows = list(zip(draft, p_rows, q_rows, u, strict=True))
    return np.cumprod([v < p[x] / q[x] for x, p, q, v in rows]).sum() if rows else 0
"""
LIST_OF_ZIP = """
def accepted_prefix(draft, p_rows, q_rows, u):
    n = 0
    for x, p, q, v in list(zip(draft, p_rows, q_rows, u, strict=True)):
        if v * q[x] >= p[x]:
            break
        n += 1
    return n
"""
UPSIDE_DOWN = """
def accept_probability(p_x, q_x):
    if not 0 < q_x <= 1 or not 0 <= p_x <= 1:
        raise ValueError("bounds")
    return min(1, q_x / p_x)
"""
NO_MIN = """
def accept_probability(p_x, q_x):
    if not 0 < q_x <= 1 or not 0 <= p_x <= 1:
        raise ValueError("bounds")
    return p_x / q_x
"""
UNGUARDED_RATIO = """
def accept_probability(p_x, q_x):
    return min(1, p_x / q_x)
"""
PRODUCT = """
def acceptance_rate(p, q):
    if len(p) != len(q):
        raise ValueError("lengths")
    for row in (p, q):
        if min(row) < 0 or abs(sum(row) - 1) > 1e-6:
            raise ValueError("no distribution")
    return sum(a * b for a, b in zip(p, q))
"""
UNGUARDED_OVERLAP = """
def acceptance_rate(p, q):
    return sum(min(a, b) for a, b in zip(p, q))
"""
ONE_MINUS = """
def acceptance_rate(p, q):
    if len(p) != len(q) or min(*p, *q) < 0 or max(abs(sum(p) - 1), abs(sum(q) - 1)) > 1e-6:
        raise ValueError("no distribution")
    return 1 - sum(map(min, p, q))
"""
GREATER_ONLY = """
def accepted_prefix(draft, p_rows, q_rows, u):
    if not len(draft) == len(p_rows) == len(q_rows) == len(u):
        raise ValueError("lengths")
    for i, x in enumerate(draft):
        if p_rows[i][x] < q_rows[i][x]:
            return i
    return len(draft)
"""
COUNT_ALL = """
def accepted_prefix(draft, p_rows, q_rows, u):
    if not len(draft) == len(p_rows) == len(q_rows) == len(u):
        raise ValueError("lengths")
    return sum(u[i] < p_rows[i][x] / q_rows[i][x] for i, x in enumerate(draft))
"""
TRUSTING = """
def accepted_prefix(draft, p_rows, q_rows, u):
    for i, x in enumerate(draft):
        if u[i] >= p_rows[i][x] / q_rows[i][x]:
            return i
    return len(draft)
"""
AT_MOST = """
def accepted_prefix(draft, p_rows, q_rows, u):
    if not len(draft) == len(p_rows) == len(q_rows) == len(u):
        raise ValueError("lengths")
    for i, x in enumerate(draft):
        if u[i] > p_rows[i][x] / q_rows[i][x]:
            return i
    return len(draft)
"""
NAIVE_SOFTMAX = """
import numpy as np

def to_distribution(logits, temperature, top_k=None):
    if len(logits) == 0 or temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError("bad input")
    logits = np.array(logits, float)
    if temperature == 0:
        return np.eye(len(logits))[logits.argmax()]
    weights = np.exp(logits / temperature)
    if top_k is not None:
        weights[np.argsort(logits)[::-1][top_k:]] = 0
    return weights / weights.sum()
"""
LOST_MASS = """
import numpy as np

def to_distribution(logits, temperature, top_k=None):
    if len(logits) == 0 or temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError("bad input")
    logits = np.array(logits, float)
    if temperature == 0:
        return np.eye(len(logits))[logits.argmax()]
    weights = np.exp((logits - logits.max()) / temperature)
    shares = weights / weights.sum()
    if top_k is not None:
        shares[np.argsort(logits)[::-1][top_k:]] = 0
    return shares
"""
MULTIPLIED = """
import numpy as np

def to_distribution(logits, temperature, top_k=None):
    if len(logits) == 0 or temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError("bad input")
    scores = np.array(logits, float) * temperature
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()
"""
IN_PLACE = """
import numpy as np

def to_distribution(logits, temperature, top_k=None):
    if len(logits) == 0 or temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError("bad input")
    best = max(logits)
    for i in range(len(logits)):
        logits[i] = float(logits[i] - best)
    logits = np.array(logits)
    if temperature == 0:
        return np.eye(len(logits))[logits.argmax()]
    weights = np.exp(logits / temperature)
    if top_k is not None:
        weights[np.argsort(logits)[::-1][top_k:]] = 0
    return weights / weights.sum()
"""

PLANNED = [
    Planned("the course's answers", {**NUMBERS, **CHOICE, **FUNCTIONS}, FULL),
    Planned("nothing", {}, {}),
    Planned(
        "right, with loops and without numpy",
        {
            "keep_chance": "keep_chance = 3 / 5",
            "overlap": "overlap = 1 - 0.3",
            "tokens_at_overlap": "tokens_at_overlap = sum(0.7 ** i for i in range(5))",
            "target_likes_it_more": "b",
            "to_distribution": LOOPS,
            "accept_probability": NESTED_IFS,
            "acceptance_rate": HALF_DISTANCE,
            "accepted_prefix": CUMPROD,
        },
        FULL,
    ),
    Planned(
        "right, as a fraction",
        {
            **NUMBERS,
            "keep_chance": "from fractions import Fraction\n\nkeep_chance = Fraction(3, 5)",
            "target_likes_it_more": "(B)",
            **FUNCTIONS,
            "accepted_prefix": LIST_OF_ZIP,
        },
        FULL,
    ),
    Planned(
        "a lazy zip notices the lengths too late",
        {
            **NUMBERS,
            **CHOICE,
            **FUNCTIONS,
            "accepted_prefix": LIST_OF_ZIP.replace("list(zip(", "(zip("),
        },
        {**FULL, "accepted_prefix": 3.25},
    ),
    Planned("numbers and choice only", {**NUMBERS, **CHOICE}, EASY),
    Planned("functions only", FUNCTIONS, {k: v for k, v in FULL.items() if k not in EASY}),
    Planned(
        "q over p",
        {
            **NUMBERS,
            "keep_chance": 1.6667,
            "target_likes_it_more": "A",
            **FUNCTIONS,
            "accept_probability": UPSIDE_DOWN,
        },
        # accepted_prefix of the course calls accept_probability: wrong as well
        {"overlap": 1, "tokens_at_overlap": 1, "to_distribution": 4, "acceptance_rate": 3},
    ),
    Planned(
        "the minimum forgotten",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "accept_probability": NO_MIN},
        {**FULL, "accept_probability": 1.25},  # u < p / q needs no minimum: the prefix stays right
    ),
    Planned(
        "independent match",
        {"keep_chance": 0.15, "overlap": 0.31, **FUNCTIONS, "acceptance_rate": PRODUCT},
        {"to_distribution": 4, "accept_probability": 2, "accepted_prefix": 4},
    ),
    Planned(
        "only where the target agrees",
        {"keep_chance": 0, "overlap": 0.2, **CHOICE, **FUNCTIONS, "accepted_prefix": GREATER_ONLY},
        {"target_likes_it_more": 1, "to_distribution": 4, "accept_probability": 2, "acceptance_rate": 3},
    ),
    Planned(
        "no input is refused",
        {
            **NUMBERS,
            **CHOICE,
            "to_distribution": SOLUTION,
            "accept_probability": UNGUARDED_RATIO,
            "acceptance_rate": UNGUARDED_OVERLAP,
            "accepted_prefix": TRUSTING,
        },
        {**FULL, "accept_probability": 1.5, "acceptance_rate": 2, "accepted_prefix": 3.25},
    ),
    Planned(
        "a softmax that overflows",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "to_distribution": NAIVE_SOFTMAX},
        {**FULL, "to_distribution": 3.5},
    ),
    Planned(
        "mass lost after top-k, and u = 0 let through",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "to_distribution": LOST_MASS, "accepted_prefix": AT_MOST},
        {**FULL, "to_distribution": 3.5, "accepted_prefix": 3.75},
    ),
    Planned(
        "temperature multiplied, counting goes on",
        {**NUMBERS, **FUNCTIONS, "to_distribution": MULTIPLIED, "accepted_prefix": COUNT_ALL},
        {
            **FULL,
            "target_likes_it_more": 0,
            "to_distribution": 0,
            "accepted_prefix": 0,
        },
    ),
    Planned(
        "arguments changed in place",
        {**NUMBERS, **CHOICE, **FUNCTIONS, "to_distribution": IN_PLACE},
        {**FULL, "to_distribution": 3.5},
    ),
    Planned(
        "the rejection rate, and a cell that does not parse",
        {
            "keep_chance": 0.4,
            "overlap": 0.3,
            "tokens_at_overlap": 1.7731,
            "target_likes_it_more": "C",
            **FUNCTIONS,
            "acceptance_rate": ONE_MINUS,
            "accept_probability": "def accept_probability(p_x, q_x):\n    return min(1, p_x / q_x",
        },
        {"to_distribution": 4},
    ),
]
