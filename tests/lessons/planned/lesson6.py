"""Lesson 6: a class of hand-made submissions and the points each must get."""

from __future__ import annotations

from . import SOLUTION, Planned

NUMBERS = {"log_tokens_per_verification": 3.4, "log_acceptance_rate": 0.8, "log_predicted_speedup": 2.33}
CHOICE = {"acceptance_estimate": "B"}
EASY = {**dict.fromkeys(NUMBERS, 1), "acceptance_estimate": 1}
FUNCTIONS = dict.fromkeys(("draft_block", "speculative_decode", "run_statistics", "choose_k"), SOLUTION)
FULL = {**EASY, "draft_block": 3, "speculative_decode": 6, "run_statistics": 3, "choose_k": 3}

WITH_CHOICE = """
def draft_block(draft_model, prefix, k, rng):
    seq = tuple(prefix)
    rows = []
    for _ in range(k):
        row = np.array(draft_model(seq))
        seq += (rng.choice(len(row), p=row),)
        rows.append(row)
    return np.array(seq[len(prefix):]), np.array(rows)
"""
VECTORISED = """
import numpy

def speculative_decode(draft_model, target_pass, prompt, n_tokens, k, rng):
    text, log = numpy.array(prompt, dtype=int), []
    while text.size < len(prompt) + n_tokens:
        x, q = draft_block(draft_model, text.tolist(), k, rng)
        x, q = numpy.array(x), numpy.array(q)
        p = numpy.array(target_pass(numpy.concatenate([text, x]).tolist(), m=k + 1))
        at = numpy.arange(k)
        bad = numpy.flatnonzero(rng.random(k) >= p[at, x] / q[at, x])
        n = bad[0] if bad.size else k
        rest = numpy.clip(p[n] - q[n], 0, None) if n < k else p[k]
        text = numpy.concatenate([text, x[:n], [rng.choice(rest.size, p=rest / rest.sum())]])
        log.append(n)
    return text[len(prompt):][:n_tokens], log
"""
BY_LOOP = """
def run_statistics(log, k):
    if k <= 0:
        raise ValueError("k")
    accepted = tested = 0
    for n in log:
        if n < 0 or n > k:
            raise ValueError("count")
        accepted += n
        tested += min(n + 1, k)
    if not log:
        raise ValueError("empty")
    return dict(acceptance_rate=accepted / tested, draft_efficiency=accepted / k / len(log), drafted=len(log) * k,
                tokens_per_verification=(len(log) + accepted) / len(log), verifications=len(log), accepted=accepted)
"""
BY_SORTING = """
def choose_k(a, t_target, t_verify, t_draft):
    speed = [1] + [sum(a**i for i in range(k + 1)) * t_target / (t_verify[k] + k * t_draft)
                   for k in range(1, len(t_verify))]
    near = [round(x, 12) for x in speed]
    return near.index(max(near))
"""
GREEDY_BLOCK = """
def draft_block(draft_model, prefix, k, rng):
    tokens, rows = [], []
    for _ in range(k):
        rows.append(draft_model(list(prefix) + tokens))
        tokens.append(int(np.argmax(rows[-1])))
    return tokens, rows
"""
PREFIX_ONLY = """
def draft_block(draft_model, prefix, k, rng):
    rows = [draft_model(prefix) for _ in range(k)]
    return [draw(row, rng) for row in rows], rows
"""
GROWS_PREFIX = """
def draft_block(draft_model, prefix, k, rng):
    rows = []
    for _ in range(k):
        rows.append(draft_model(prefix))
        prefix.append(draw(rows[-1], rng))
    return prefix[-k:], rows
"""
DECODE = """
def speculative_decode(draft_model, target_pass, prompt, n_tokens, k, rng):
    seq, log = list(prompt), []
    while len(seq) < len(prompt) + n_tokens:
        drafts, q_rows = draft_block(draft_model, list(seq), k, rng)
        p_rows = target_pass(seq + drafts, k + 1)
        n = 0
        while n < k and ACCEPT:
            n += 1
        if n < k:
            extra = draw(REPLACE, rng)
        else:
            extra = draw(BONUS, rng)
        seq += [*drafts[:n], extra]
        log.append(LOG)
    return RESULT, log
"""
ONE_LATE = "rng.random() < p_rows[n + 1][drafts[n]] / q_rows[n][drafts[n]]"
PARTS = {
    "ACCEPT": "rng.random() < p_rows[n][drafts[n]] / q_rows[n][drafts[n]]",
    "REPLACE": "np.maximum(0, np.subtract(p_rows[n], q_rows[n]))",
    "BONUS": "p_rows[k]",
    "LOG": "n",
    "RESULT": "seq[len(prompt):len(prompt) + n_tokens]",
}


def decode(**changed: str) -> str:
    """A speculative_decode with some parts of its own."""
    text = DECODE
    for part, code in {**PARTS, **changed}.items():
        text = text.replace(part, code)
    return text


TARGET_ALONE = """
def speculative_decode(draft_model, target_pass, prompt, n_tokens, k, rng):
    seq = list(prompt)
    for _ in range(n_tokens):
        seq.append(draw(target_pass(seq, 1)[0], rng))
    return seq[len(prompt):], [0] * n_tokens
"""
OVER_DRAFTED = """
def run_statistics(log, k):
    if k < 1 or not log or min(log) < 0 or max(log) > k:
        raise ValueError("log")
    accepted, n = sum(log), len(log)
    return {"verifications": n, "drafted": k * n, "accepted": accepted, "tokens_per_verification": 1 + accepted / n,
            "acceptance_rate": accepted / (k * n), "draft_efficiency": accepted / (k * n)}
"""
UNCHECKED = """
def run_statistics(log, k):
    accepted, n = sum(log), len(log)
    return {"verifications": n, "drafted": k * n, "accepted": accepted, "tokens_per_verification": 1 + accepted / n,
            "acceptance_rate": accepted / (accepted + sum(x < k for x in log)), "draft_efficiency": accepted / (k * n)}
"""
NEVER_ZERO = """
def choose_k(a, t_target, t_verify, t_draft):
    return max(range(1, len(t_verify)),
               key=lambda k: sum(a**i for i in range(k + 1)) / (t_verify[k] + k * t_draft), default=0)
"""
DRAFT_FREE = """
def choose_k(a, t_target, t_verify, t_draft):
    speed = [1] + [sum(a**i for i in range(k + 1)) * t_target / t_verify[k] for k in range(1, len(t_verify))]
    return speed.index(max(speed))
"""


def plan(name: str, points: dict[str, float], **answers: object) -> Planned:
    """Everything right but what is named; the points that differ from full marks."""
    return Planned(name, {**NUMBERS, **CHOICE, **FUNCTIONS, **answers}, {**FULL, **points})


PLANNED = [
    plan("everything right", {}),
    Planned("nothing done", {}, {}),
    plan(
        "right in unusual ways",
        {},
        draft_block=WITH_CHOICE,
        speculative_decode=VECTORISED,
        run_statistics=BY_LOOP,
        choose_k=BY_SORTING,
    ),
    Planned("part 1 and the choice only", {**NUMBERS, **CHOICE}, EASY),
    Planned(
        "the algorithm only",
        {"draft_block": SOLUTION, "speculative_decode": SOLUTION},
        {"draft_block": 3, "speculative_decode": 6},
    ),
    plan(
        "numbers of the misconceptions",
        dict.fromkeys(NUMBERS, 0),
        log_tokens_per_verification=2.4,
        log_acceptance_rate=0.6,
        log_predicted_speedup=2.46,
    ),
    plan("the draft is greedy", {"draft_block": 1.75, "speculative_decode": 3.25}, draft_block=GREEDY_BLOCK),
    plan("drafts from the prefix alone", {"draft_block": 0, "speculative_decode": 0}, draft_block=PREFIX_ONLY),
    plan(
        "the prefix grows, the decoder hands out a copy",
        {"draft_block": 0},
        draft_block=GROWS_PREFIX,
        speculative_decode=decode(),
    ),
    plan("replaced by a draw from p", {"speculative_decode": 3.25}, speculative_decode=decode(REPLACE="p_rows[n]")),
    plan(
        "bonus corrected by the residual",
        {"speculative_decode": 3.25},
        speculative_decode=decode(
            BONUS="np.maximum(0, np.subtract(p_rows[k], q_rows[k - 1])) + 1e-9 * np.array(p_rows[k])"
        ),
    ),
    plan("everything accepted", {"speculative_decode": 0}, speculative_decode=decode(ACCEPT="True")),
    plan("rows off by one", {"speculative_decode": 0}, speculative_decode=decode(ACCEPT=ONE_LATE)),
    plan("bonus logged as accepted", {"speculative_decode": 0}, speculative_decode=decode(LOG="n + (n == k)")),
    plan("prompt returned too", {"speculative_decode": 0}, speculative_decode=decode(RESULT="seq[:-1]")),
    plan("the target alone", {"speculative_decode": 0}, speculative_decode=TARGET_ALONE),
    plan(
        "accepted over drafted",
        {"run_statistics": 0, "acceptance_estimate": 0},
        run_statistics=OVER_DRAFTED,
        acceptance_estimate="A",
    ),
    plan("no input checks", {"run_statistics": 2.25}, run_statistics=UNCHECKED),
    plan("k is never 0", {"choose_k": 2}, choose_k=NEVER_ZERO),
    plan("drafting costs nothing", {"choose_k": 0}, choose_k=DRAFT_FREE),
]  # fmt: skip
