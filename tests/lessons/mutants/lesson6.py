"""Lesson 6: implementations that must lose points, and unusual ones that must not."""

from __future__ import annotations

import bisect
import itertools
import random
from collections import deque
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from specdec_helpers.reference import lesson6 as reference
from specdec_helpers.trials.lesson6_wrong import WRONG as KNOWN

from . import fine, fine6

block, decode = reference.draft_block, reference.speculative_decode
draw, residual = reference._draw, reference._residual


# ---- draft_block -----------------------------------------------------------------------------------------


def blocks(pick=draw, context=lambda prefix, tokens: prefix + tokens, stored=lambda rows, i: rows[i]):
    """draft_block with one part replaced."""

    def wrong(draft_model, prefix, k, rng):
        tokens, rows = [], []
        for _ in range(k):
            rows.append(draft_model(context(list(prefix), tokens)))
            tokens.append(pick(rows[-1], rng))
        return tokens, [stored(rows, i) for i in range(k)]

    return wrong


def block_mutating(draft_model, prefix, k, rng):
    rows = []
    for _ in range(k):
        rows.append(draft_model(prefix))
        prefix.append(draw(rows[-1], rng))
    return prefix[-k:], rows


def block_one_number(draft_model, prefix, k, rng):
    u = rng.random()
    return blocks(
        pick=lambda row, _: int(np.searchsorted(np.cumsum(row), u, side="right").clip(0, len(row) - 1))
    )(draft_model, prefix, k, rng)


def block_asks_twice(draft_model, prefix, k, rng):
    tokens: list = []
    for _ in range(k):
        tokens.append(draw(draft_model([*prefix, *tokens]), rng))
    return tokens, [draft_model([*prefix, *tokens[: i + 1]]) for i in range(k)]


def block_with_prefix(draft_model, prefix, k, rng):
    tokens, rows = block(draft_model, prefix, k, rng)
    return [*prefix, *tokens], rows


def block_one_more(draft_model, prefix, k, rng):
    return block(draft_model, prefix, k + 1, rng)


def block_swapped(draft_model, prefix, k, rng):
    return block(draft_model, prefix, k, rng)[::-1]


def block_probabilities(draft_model, prefix, k, rng):
    tokens, rows = block(draft_model, prefix, k, rng)
    return tokens, [row[token] for row, token in zip(rows, tokens, strict=True)]


def block_uniform(row, rng):
    return int(rng.choice(np.flatnonzero(row)))


def block_numbers_in_pairs(draft_model, prefix, k, rng):
    numbers = iter(np.repeat(rng.random(k), 2))
    return blocks(pick=lambda row, _: at(row, next(numbers)))(draft_model, prefix, k, rng)


def block_from_the_row_before(draft_model, prefix, k, rng):
    tokens, rows = [], []
    for i in range(k):
        rows.append(draft_model([*prefix, *tokens]))
        tokens.append(draw(rows[max(0, i - 1)], rng))
    return tokens, rows


def block_choice(draft_model, prefix, k, rng):
    tokens, rows = [], []
    for _ in range(k):
        row = np.asarray(draft_model(np.array([*prefix, *tokens])))
        tokens.append(rng.choice(len(row), p=row))
        rows.append(row)
    return np.array(tokens), np.array(rows)


def block_recursive(draft_model, prefix, k, rng):
    if k == 0:
        return [], []
    row = draft_model(tuple(prefix))
    token = bisect.bisect(list(itertools.accumulate(row)), rng.random())
    token = min(token, len(row) - 1)
    tokens, rows = block_recursive(draft_model, (*prefix, token), k - 1, rng)
    return [token, *tokens], [row, *rows]


def block_gumbel(draft_model, prefix, k, rng):
    def pick(row, rng):
        return np.argmax(np.log(np.maximum(row, 1e-300)) + rng.gumbel(size=len(row)))

    return blocks(pick)(draft_model, prefix, k, rng)


def block_all_numbers_first(draft_model, prefix, k, rng):
    numbers = iter(rng.random(k))
    seq, rows = deque(prefix), []
    for u in numbers:
        rows.append(tuple(draft_model(seq)))
        seq.append(min(int((np.cumsum(rows[-1]) <= u).sum()), len(rows[-1]) - 1))
    return list(seq)[len(prefix) :], rows


def block_multinomial(draft_model, prefix, k, rng):
    def pick(row, rng):
        return int(rng.multinomial(1, np.asarray(row) / np.sum(row)).argmax())

    return blocks(pick)(draft_model, prefix, k, rng)


# ---- speculative_decode ----------------------------------------------------------------------------------


def decoder(
    drafts=block,
    accept=lambda p, q, x, rng: rng.random() < p[x] / q[x],
    judged=lambda rows, i: rows[i],
    replace=lambda p, q, x, rng: draw(residual(p, q), rng),
    bonus=lambda p_rows, q_rows, rng: draw(p_rows[-1], rng),
    logged=lambda n, k, missing: n,
    result=lambda seq, prompt, n_tokens: seq[len(prompt) : len(prompt) + n_tokens],
    m=lambda k, missing: k + 1,
):
    """speculative_decode with one part replaced."""

    def wrong(draft_model, target_pass, prompt, n_tokens, k, rng):
        seq, log = list(prompt), []
        while len(seq) < len(prompt) + n_tokens:
            missing = len(prompt) + n_tokens - len(seq)
            tokens, q_rows = drafts(draft_model, list(seq), k, rng)
            p_rows = target_pass(seq + tokens, m(k, missing))
            n = 0
            while n < k and accept(judged(p_rows, n), q_rows[n], tokens[n], rng):
                n += 1
            extra = (
                replace(judged(p_rows, n), q_rows[n], tokens[n], rng) if n < k else bonus(p_rows, q_rows, rng)
            )
            seq += [*tokens[:n], extra]
            log.append(logged(n, k, missing))
        return result(seq, prompt, n_tokens), log

    return wrong


def decode_alone(draft_model, target_pass, prompt, n_tokens, k, rng):
    """The target alone, with a made-up log."""
    seq = list(prompt)
    for _ in range(n_tokens):
        seq.append(draw(target_pass(seq, 1)[0], rng))
    return seq[len(prompt) :], [0] * n_tokens


def decode_alone_disguised(draft_model, target_pass, prompt, n_tokens, k, rng):
    """Drafts are made and passed to the target, but every token is the target's own."""
    seq, log = list(prompt), []
    for _ in range(n_tokens):
        tokens, _ = block(draft_model, seq, k, rng)
        seq.append(draw(target_pass(seq + tokens, k + 1)[0], rng))
        log.append(0)
    return seq[len(prompt) :], log


def decode_many_passes(draft_model, target_pass, prompt, n_tokens, k, rng):
    def one_by_one(seq, m):
        return [target_pass(seq[: len(seq) - m + 1 + j], 1)[0] for j in range(m)]

    return decode(draft_model, one_by_one, prompt, n_tokens, k, rng)


def decode_match(draft_model, target_pass, prompt, n_tokens, k, rng):
    """Right text, fewer accepted: the draft must equal an independent draw of the target's."""
    seq, log = list(prompt), []
    while len(seq) < len(prompt) + n_tokens:
        tokens, _ = block(draft_model, seq, k, rng)
        rows = target_pass(seq + tokens, k + 1)
        n = 0
        while True:
            own = draw(rows[n], rng)
            seq.append(own)
            if n == k or own != tokens[n]:
                break
            n += 1
        log.append(n)
    return seq[len(prompt) : len(prompt) + n_tokens], log


def same_number(draft_model, target_pass, prompt, n_tokens, k, rng):
    """The number that decided the rejection also draws the replacement."""
    last = [0.0]

    def accept(p, q, x, rng):
        last[0] = rng.random()
        return last[0] < p[x] / q[x]

    def replace(p, q, x, rng):
        cumulative = np.cumsum(residual(p, q))
        return int(np.searchsorted(cumulative, last[0] * cumulative[-1], side="right"))

    return decoder(accept=accept, replace=replace)(draft_model, target_pass, prompt, n_tokens, k, rng)


def one_number_a_round(draft_model, target_pass, prompt, n_tokens, k, rng):
    """One random number for all tests of a round."""
    seq, log = list(prompt), []
    while len(seq) < len(prompt) + n_tokens:
        tokens, q_rows = block(draft_model, list(seq), k, rng)
        p_rows = target_pass(seq + tokens, k + 1)
        u, n = rng.random(), 0
        while n < k and u < p_rows[n][tokens[n]] / q_rows[n][tokens[n]]:
            n += 1
        seq += [*tokens[:n], draw(residual(p_rows[n], q_rows[n]) if n < k else p_rows[k], rng)]
        log.append(n)
    return seq[len(prompt) : len(prompt) + n_tokens], log


def residual_of_first(draft_model, target_pass, prompt, n_tokens, k, rng):
    """The residual takes q from the first draft's row."""
    first: list = []

    def drafts(model, prefix, k, rng):
        tokens, rows = block(model, prefix, k, rng)
        first[:] = [rows[0]]
        return tokens, rows

    return decoder(drafts=drafts, replace=lambda p, q, x, rng: draw(residual(p, first[0]), rng))(
        draft_model, target_pass, prompt, n_tokens, k, rng
    )


def no_roll_back(draft_model, target_pass, prompt, n_tokens, k, rng):
    """Rejected drafts stay in the sequence that the target sees."""
    seq, out, log = list(prompt), [], []
    while len(out) < n_tokens:
        tokens, q_rows = block(draft_model, seq, k, rng)
        p_rows = target_pass(seq + tokens, k + 1)
        n = 0
        while n < k and rng.random() < p_rows[n][tokens[n]] / q_rows[n][tokens[n]]:
            n += 1
        extra = draw(residual(p_rows[n], q_rows[n]) if n < k else p_rows[k], rng)
        out += [*tokens[:n], extra]
        seq += [*tokens, extra]
        log.append(n)
    return out[:n_tokens], log


def softmax_residual(p, q, x, rng):
    weights = np.exp(np.maximum(np.asarray(p) - np.asarray(q), 0))
    return draw(weights, rng)


def decode_mutating(draft_model, target_pass, prompt, n_tokens, k, rng):
    start = len(prompt)
    tokens, log = decode(draft_model, target_pass, list(prompt), n_tokens, k, rng)
    prompt += tokens
    return prompt[start:], log


def decode_shorter_last(draft_model, target_pass, prompt, n_tokens, k, rng):
    """Drafts fewer tokens in the last verification: the contract fixes m = k + 1."""
    seq, log = list(prompt), []
    while len(seq) < len(prompt) + n_tokens:
        few = min(k, len(prompt) + n_tokens - len(seq))
        tokens, _ = decode(draft_model, target_pass, seq, few, few, rng)
        seq += tokens
        log.append(len(tokens) - 1)
    return seq[len(prompt) :], log


def greedy_block(draft_model, prefix, k, rng):
    return blocks(pick=lambda row, _: int(np.argmax(row)))(draft_model, prefix, k, rng)


def keep(weights):
    """A replacement that is drawn from other weights, over the tokens that the draft under-supplies."""

    def replace(p, q, x, rng):
        p, q = np.asarray(p, float), np.asarray(q, float)
        row = np.where(p > q, weights(p, q), 0)
        return draw(row if row.any() else p, rng)

    return replace


def other_rows(
    tested=lambda n, k: n,
    p_of=lambda n, k: n,
    q_of=lambda n, k: n,
    accept=lambda n, k, ratio, u: u < ratio,
    replace=lambda p, q, u, rng: draw(residual(p, q), rng),
    bonus=lambda rows, u, rng: draw(rows[-1], rng),
):
    """speculative_decode that looks rows up at other places, or makes other use of its random numbers."""

    def wrong(draft_model, target_pass, prompt, n_tokens, k, rng):
        seq, log = list(prompt), []
        while len(seq) < len(prompt) + n_tokens:
            tokens, q_rows = block(draft_model, list(seq), k, rng)
            p_rows = target_pass(seq + tokens, k + 1)
            n, u = 0, 0.0
            while n < k:
                u = rng.random()
                q = max(q_rows[tested(n, k)][tokens[n]], 1e-9)
                if not accept(n, k, p_rows[n][tokens[n]] / q, u):
                    break
                n += 1
            extra = (
                replace(p_rows[p_of(n, k)], q_rows[q_of(n, k)], u, rng) if n < k else bonus(p_rows, u, rng)
            )
            seq += [*tokens[:n], extra]
            log.append(n)
        return seq[len(prompt) : len(prompt) + n_tokens], log

    return wrong


def at(row, u):
    """The token at the share u of a row."""
    cumulative = np.cumsum(row)
    return min(int(np.searchsorted(cumulative, u * cumulative[-1], side="right")), len(row) - 1)


def draft_number_tests(draft_model, target_pass, prompt, n_tokens, k, rng):
    """The number that drew a draft also tests it."""
    seq, log = list(prompt), []
    while len(seq) < len(prompt) + n_tokens:
        numbers, tokens, q_rows = rng.random(k), [], []
        for u in numbers:
            q_rows.append(draft_model(seq + tokens))
            tokens.append(at(q_rows[-1], u))
        p_rows = target_pass(seq + tokens, k + 1)
        n = 0
        while n < k and numbers[n] < p_rows[n][tokens[n]] / q_rows[n][tokens[n]]:
            n += 1
        seq += [*tokens[:n], draw(residual(p_rows[n], q_rows[n]) if n < k else p_rows[k], rng)]
        log.append(n)
    return seq[len(prompt) : len(prompt) + n_tokens], log


def decode_arrays(draft_model, target_pass, prompt, n_tokens, k, rng):
    """Vectorised: all ratios and all uniform numbers at once."""
    seq, log = np.array(prompt, dtype=int), []
    while len(seq) < len(prompt) + n_tokens:
        tokens, q_rows = block_choice(draft_model, seq, k, rng)
        p_rows = np.asarray(target_pass(np.concatenate([seq, tokens]), k + 1))
        at = np.arange(k)
        good = rng.random(k) < p_rows[at, tokens] / q_rows[at, tokens]
        n = k if good.all() else int(good.argmin())
        rest = p_rows[n] if n == k else np.clip(p_rows[n] - q_rows[n], 0, None)
        extra = rng.choice(len(rest), p=rest / rest.sum())
        seq = np.concatenate([seq, tokens[:n], [extra]])
        log.append(np.int64(n))
    return seq[len(prompt) :][:n_tokens], np.array(log)


def decode_recursive(draft_model, target_pass, prompt, n_tokens, k, rng):
    if n_tokens <= 0:
        return (), ()
    tokens, q_rows = block_recursive(draft_model, prompt, k, rng)
    p_rows = target_pass((*prompt, *tokens), m=k + 1)
    kept: list = []
    for token, p, q in zip(tokens, p_rows, q_rows, strict=False):
        if p[token] < q[token] and rng.uniform() >= Fraction(p[token]) / Fraction(q[token]):
            kept.append(draw(residual(p, q), rng))
            break
        kept.append(token)
    else:
        kept.append(draw(p_rows[k], rng))
    rest, log = decode_recursive(draft_model, target_pass, (*prompt, *kept), n_tokens - len(kept), k, rng)
    return (*kept, *rest)[:n_tokens], (len(kept) - 1, *log)


def decode_logarithms(draft_model, target_pass, prompt, n_tokens, k, rng):
    def accept(p, q, x, rng):
        with np.errstate(divide="ignore"):
            return np.log(rng.random()) < np.log(p[x]) - np.log(q[x])

    return decoder(accept=accept)(draft_model, target_pass, prompt, n_tokens, k, rng)


def decode_rejection_sampling(draft_model, target_pass, prompt, n_tokens, k, rng):
    """The replacement by trying: draw from p, keep with probability max(0, p - q)/p."""

    def replace(p, q, x, rng):
        for _ in range(10_000):
            x = draw(p, rng)
            if rng.random() * p[x] < p[x] - q[x]:
                return x
        return draw(residual(p, q), rng)

    return decoder(replace=replace)(draft_model, target_pass, prompt, n_tokens, k, rng)


# ---- run_statistics --------------------------------------------------------------------------------------


def statistics(check=True, **parts):
    """run_statistics with entries replaced, and perhaps without its tests."""

    def wrong(log, k):
        if check:
            reference.run_statistics(log, k)
        n, accepted = len(log), sum(log)
        rejections = sum(x < k for x in log)
        out = {
            "verifications": n,
            "drafted": n * k,
            "accepted": accepted,
            "tokens_per_verification": 1 + accepted / n,
            "acceptance_rate": accepted / (accepted + rejections),
            "draft_efficiency": accepted / (n * k),
        }
        return {**out, **{name: part(log, k) for name, part in parts.items()}}

    return wrong


def statistics_returning_list(log, k):
    return list(reference.run_statistics(log, k).values())


def statistics_emptying(log, k):
    out = reference.run_statistics(log, k)
    log.clear()
    return out


def statistics_no_upper_bound(log, k):
    if k < 1 or len(log) == 0 or min(log) < 0:
        raise ValueError
    return reference.run_statistics([min(x, k) for x in log], k)


def statistics_assert(log, k):
    assert k >= 1
    assert log
    assert all(0 <= x <= k for x in log)
    return reference.run_statistics(log, k)


def statistics_numpy(log, k):
    counts = np.asarray(log)
    if k < 1 or counts.size == 0 or (counts < 0).any() or (counts > k).any():
        raise ValueError("bad log")
    hits = counts.sum()
    return {
        "draft_efficiency": counts.mean() / k,
        "acceptance_rate": hits / (hits + np.count_nonzero(counts != k)),
        "tokens_per_verification": np.mean(counts + 1),
        "accepted": hits,
        "drafted": np.int64(counts.size * k),
        "verifications": np.float64(counts.size),
    }


class BadLog(ValueError):
    """A subclass of ValueError is a ValueError."""


def statistics_fractions(log, k):
    if k < 1 or not log or any(x < 0 or x > k for x in log):
        raise BadLog(f"{log} {k}")
    hits, tested = sum(log), sum(min(x + 1, k) for x in log)
    return {
        "verifications": len(log),
        "drafted": len(log) * k,
        "accepted": hits,
        "tokens_per_verification": Fraction(hits + len(log), len(log)),
        "acceptance_rate": Fraction(hits, tested),
        "draft_efficiency": Fraction(hits, len(log) * k),
    }


def statistics_loop(log, k):
    if k <= 0:
        raise ValueError("k")
    verifications = accepted = tested = 0
    for x in log:
        if x not in range(k + 1):
            raise ValueError("count")
        verifications += 1
        accepted += x
        tested += x + (x != k)
    if not verifications:
        raise ValueError("empty")
    return {
        "verifications": verifications,
        "drafted": verifications * k,
        "accepted": accepted,
        "tokens_per_verification": (accepted + verifications) / verifications,
        "acceptance_rate": accepted / tested,
        "draft_efficiency": accepted / (verifications * k),
    }


def statistics_from_zero_division(log, k):
    try:
        if min(log, default=-1) < 0 or max(log) > k or k < 1:
            raise ZeroDivisionError
        return statistics(check=False)(log, k)
    except ZeroDivisionError:
        raise ValueError("nothing to count") from None


# ---- choose_k --------------------------------------------------------------------------------------------


def speeds(a, t_target, t_verify, t_draft, first=1.0):
    values = [first]
    for k in range(1, len(t_verify)):
        values.append(sum(a**i for i in range(k + 1)) * t_target / (t_verify[k] + k * t_draft))
    return values


def last_best(a, t_target, t_verify, t_draft):
    values = np.array(speeds(a, t_target, t_verify, t_draft))
    return int(np.flatnonzero(values >= values.max() * (1 - 1e-12))[-1])


def largest_that_pays(a, t_target, t_verify, t_draft):
    values = speeds(a, t_target, t_verify, t_draft)
    return max((k for k, value in enumerate(values) if value > 1), default=0)


def first_that_pays(a, t_target, t_verify, t_draft):
    values = speeds(a, t_target, t_verify, t_draft)
    return next((k for k, value in enumerate(values) if value > 1), 0)


def stops_climbing(a, t_target, t_verify, t_draft):
    values, k = speeds(a, t_target, t_verify, t_draft), 0
    while k + 1 < len(values) and values[k + 1] > values[k]:
        k += 1
    return k


def returns_speed(a, t_target, t_verify, t_draft):
    return max(speeds(a, t_target, t_verify, t_draft))


def argmax_only(a, t_target, t_verify, t_draft):
    """Rounding breaks ties."""
    return int(np.argmax(speeds(a, t_target, list(t_verify), t_draft)))


def generous_ties(a, t_target, t_verify, t_draft):
    """Takes what np.isclose takes for equal: 1e-5 apart."""
    values = speeds(a, t_target, list(t_verify), t_draft)
    return int(np.argmax(np.isclose(values, max(values))))


def closed_form(a, t_target, t_verify, t_draft):
    best, top = 0, 1.0
    for k in range(1, len(t_verify)):
        value = (1 - a ** (k + 1)) / (1 - a) * t_target / (t_verify[k] + k * t_draft)
        if value > top * (1 + 1e-12):
            best, top = k, value
    return best


def zero_uses_pass(a, t_target, t_verify, t_draft):
    """k = 0 by the formula, with t_verify[0], instead of exactly 1."""
    values = speeds(a, t_target, t_verify, t_draft, first=t_target / t_verify[0])
    return max(range(len(values)), key=values.__getitem__)


def one_draft_more(a, t_target, t_verify, t_draft):
    return reference.choose_k(a, t_target, [t + t_draft for t in t_verify], t_draft)


def least_cost(a, t_target, t_verify, t_draft):
    return min(range(len(t_verify)), key=lambda k: t_verify[k] + k * t_draft)


def leaves_out_last(a, t_target, t_verify, t_draft):
    return reference.choose_k(a, t_target, t_verify[:-1], t_draft)


def choose_numpy(a, t_target, t_verify, t_draft):
    t = np.asarray(t_verify, float)
    k = np.arange(len(t))
    speed = np.cumsum(np.power(float(a), k)) * t_target / (t + k * t_draft)
    speed[0] = 1
    return np.flatnonzero(speed >= speed.max() * (1 - 1e-12))[0]


def choose_sorted(a, t_target, t_verify, t_draft):
    values = speeds(a, t_target, list(t_verify), t_draft)
    return sorted(range(len(values)), key=lambda k: (-round(values[k], 12), k))[0]


def choose_fractions(a, t_target, t_verify, t_draft):
    a, t_target, t_draft = Fraction(a), Fraction(t_target), Fraction(t_draft)
    values = [Fraction(1)]
    values += [
        sum(a**i for i in range(k + 1)) * t_target / (Fraction(float(t_verify[k])) + k * t_draft)
        for k in range(1, len(t_verify))
    ]
    return values.index(max(values))


def choose_decimals(a, t_target, t_verify, t_draft):
    """Takes 0.1 for one tenth, so that a tie is a tie."""
    a, t_target, t_draft, *times = (Fraction(str(float(x))) for x in (a, t_target, t_draft, *t_verify))
    values = [Fraction(1)]
    values += [
        sum(a**i for i in range(k + 1)) * t_target / (times[k] + k * t_draft) for k in range(1, len(times))
    ]
    return values.index(max(values))


def choose_recursive(a, t_target, t_verify, t_draft):
    if len(t_verify) == 1:
        return 0
    before = choose_recursive(a, t_target, t_verify[:-1], t_draft)
    values = speeds(a, t_target, t_verify, t_draft)
    return len(t_verify) - 1 if values[-1] > values[before] * (1 + 1e-12) else before


def choose_by_time(a, t_target, t_verify, t_draft):
    """The smallest time for a token, which is the same question."""
    times = [t_target] + [
        (t_verify[k] + k * t_draft) / (1 + sum(a**i for i in range(1, k + 1)))
        for k in range(1, len(t_verify))
    ]
    return int(np.argmin(np.round(np.array(times) / t_target, 12)))


WRONG: dict[str, dict[str, Any]] = {
    "draft_block": {
        "the draft is picked greedily": greedy_block,
        "every call sees the prefix alone": blocks(context=lambda prefix, tokens: prefix),
        "every call sees the drafts alone": blocks(context=lambda prefix, tokens: tokens or prefix),
        "every call sees one token less": blocks(context=lambda prefix, tokens: prefix + tokens[:-1]),
        "the prefix is appended to": block_mutating,
        "one random number for all positions": block_one_number,
        "rows are asked for after the draw": block_asks_twice,
        "rows in reverse": blocks(stored=lambda rows, i: rows[-1 - i]),
        "the prefix is returned too": block_with_prefix,
        "k + 1 drafts": block_one_more,
        "k - 1 drafts": lambda d, prefix, k, rng: block(d, prefix, k - 1, rng),
        "rows and tokens swapped": block_swapped,
        "probabilities instead of rows": block_probabilities,
        "uniform over the possible tokens": blocks(pick=block_uniform),
        "drawn from sharpened rows": blocks(pick=lambda row, rng: draw(np.asarray(row) ** 2, rng)),
        "NumPy's global generator": blocks(pick=lambda row, rng: int(np.random.choice(len(row), p=row))),  # noqa: NPY002
        "a generator of its own": lambda d, prefix, k, rng: block(d, prefix, k, np.random.default_rng()),
        "one random number for two positions": block_numbers_in_pairs,
        "drawn from the row before": block_from_the_row_before,
        "drawn from the two largest entries": blocks(
            pick=lambda row, rng: draw(np.where(np.asarray(row) >= sorted(row)[-2], row, 0), rng)
        ),
        "the last token of the vocabulary is never drawn": blocks(
            pick=lambda row, rng: min(draw(row, rng), len(row) - 2)
        ),
        "a fixed seed": lambda d, prefix, k, rng: block(d, prefix, k, np.random.default_rng(0)),
        "tokens only": lambda d, prefix, k, rng: block(d, prefix, k, rng)[0],
        "nothing": lambda d, prefix, k, rng: None,
    },
    "speculative_decode": {
        "the draft is picked greedily, q is sampled": decoder(drafts=greedy_block),
        "p is read one row late": decoder(judged=lambda rows, i: rows[i + 1]),
        "p is read one row early": decoder(judged=lambda rows, i: rows[max(0, i - 1)]),
        "the bonus is drawn from row k - 1": decoder(bonus=lambda p, q, rng: draw(p[-2], rng)),
        "the bonus is corrected by the residual": decoder(
            bonus=lambda p, q, rng: draw(residual(p[-1], q[-1]), rng)
        ),
        "the bonus is the largest entry": decoder(bonus=lambda p, q, rng: int(np.argmax(p[-1]))),
        "everything is accepted": decoder(accept=lambda p, q, x, rng: True),
        "nothing is accepted": decoder(
            accept=lambda p, q, x, rng: False, replace=lambda p, q, x, rng: draw(p, rng)
        ),
        "accepted where p >= q": decoder(accept=lambda p, q, x, rng: p[x] >= q[x]),
        "accepted with q/p": decoder(accept=lambda p, q, x, rng: p[x] > 0 and rng.random() < q[x] / p[x]),
        "accepted with p": decoder(accept=lambda p, q, x, rng: rng.random() < p[x]),
        "accepted on an independent match": decode_match,
        "replaced by a draw from p": decoder(replace=lambda p, q, x, rng: draw(p, rng)),
        "replaced by a draw from q": decoder(replace=lambda p, q, x, rng: draw(q, rng)),
        "replaced by the largest of p": decoder(replace=lambda p, q, x, rng: int(np.argmax(p))),
        "replaced by the largest of the residual": decoder(
            replace=lambda p, q, x, rng: int(np.argmax(residual(p, q)))
        ),
        "replaced by softmax of the residual": decoder(replace=softmax_residual),
        "replaced by p without the rejected token": decoder(
            replace=lambda p, q, x, rng: draw(np.where(np.arange(len(p)) == x, 1e-12, p), rng)
        ),
        "replaced by |p - q|": decoder(
            replace=lambda p, q, x, rng: draw(np.abs(np.subtract(p, q)) + 1e-15, rng)
        ),
        "replaced with q of the first draft": residual_of_first,
        "accepted with the overlap, whatever the token": decoder(
            accept=lambda p, q, x, rng: p[x] > 0 and rng.random() < np.minimum(p, q).sum()
        ),
        "one number for all tests of a round": one_number_a_round,
        "one number rejects and replaces": same_number,
        "one number accepts and draws the bonus": other_rows(bonus=lambda rows, u, rng: at(rows[-1], u)),
        "one number drafts and tests": draft_number_tests,
        "accepted half as often": decoder(accept=lambda p, q, x, rng: 2 * rng.random() < p[x] / q[x]),
        "accepted twice as often": decoder(accept=lambda p, q, x, rng: rng.random() < 2 * p[x] / q[x]),
        "accepted with the square of p/q": decoder(
            accept=lambda p, q, x, rng: rng.random() < (p[x] / q[x]) ** 2
        ),
        "accepted with the root of p/q": decoder(
            accept=lambda p, q, x, rng: rng.random() < (p[x] / q[x]) ** 0.5
        ),
        "accepted with p/(p + q)": decoder(accept=lambda p, q, x, rng: rng.random() < p[x] / (p[x] + q[x])),
        "accepted with p over the largest q": decoder(
            accept=lambda p, q, x, rng: rng.random() < p[x] / max(q)
        ),
        "accepted with p over the largest p": decoder(
            accept=lambda p, q, x, rng: rng.random() < p[x] / max(p)
        ),
        "accepted with the chance of a rejection": decoder(
            accept=lambda p, q, x, rng: rng.random() > p[x] / q[x]
        ),
        "accepted where p/q > 1/2": decoder(accept=lambda p, q, x, rng: p[x] / q[x] > 0.5),
        "accepted where p >= q, else by a coin": decoder(
            accept=lambda p, q, x, rng: p[x] >= q[x] or (p[x] > 0 and rng.random() < 0.5)
        ),
        "the first draft is never tested": other_rows(
            accept=lambda n, k, ratio, u: (n == 0 and ratio > 0) or u < ratio
        ),
        "the last draft is never tested": other_rows(
            accept=lambda n, k, ratio, u: (n == k - 1 and ratio > 0) or u < ratio
        ),
        "q is read one row early": other_rows(tested=lambda n, k: max(0, n - 1)),
        "the residual takes p one row late": other_rows(p_of=lambda n, k: n + 1),
        "the residual takes p one row early": other_rows(p_of=lambda n, k: max(0, n - 1)),
        "the residual takes q one row late": other_rows(q_of=lambda n, k: min(k - 1, n + 1)),
        "the residual takes q one row early": other_rows(q_of=lambda n, k: max(0, n - 1)),
        "replaced by p where p > q": decoder(replace=keep(lambda p, q: p)),
        "replaced by any token with p > q": decoder(replace=keep(lambda p, q: np.ones(len(p)))),
        "replaced by max(0, q - p)": decoder(replace=lambda p, q, x, rng: draw(residual(q, p), rng)),
        "the residual is not divided by its sum": decoder(
            replace=lambda p, q, x, rng: min(
                int(np.searchsorted(np.cumsum(residual(p, q)), rng.random(), side="right")), len(p) - 1
            )
        ),
        "the bonus is drawn from q": decoder(bonus=lambda p, q, rng: draw(q[-1], rng)),
        "the bonus is drawn from row 0": decoder(bonus=lambda p, q, rng: draw(p[0], rng)),
        "the bonus is any possible token": decoder(bonus=lambda p, q, rng: block_uniform(p[-1], rng)),
        "the bonus is drawn from softmax of its row": decoder(
            bonus=lambda p, q, rng: draw(np.exp(p[-1]), rng)
        ),
        "drafts from sharpened rows": decoder(
            drafts=blocks(pick=lambda row, rng: draw(np.asarray(row) ** 2, rng))
        ),
        "drafts from uniform rows": decoder(drafts=blocks(pick=block_uniform)),
        "a fixed seed": lambda d, t, prompt, n, k, rng: decode(d, t, prompt, n, k, np.random.default_rng(0)),
        "a generator of its own for the replacement": decoder(
            replace=lambda p, q, x, rng: draw(residual(p, q), np.random.default_rng())
        ),
        "a generator of its own for the bonus": decoder(
            bonus=lambda p, q, rng: draw(p[-1], np.random.default_rng())
        ),
        "the target alone": decode_alone,
        "the target alone, drafts as a disguise": decode_alone_disguised,
        "k + 1 passes of one row": decode_many_passes,
        "rejected drafts stay": no_roll_back,
        "the bonus is logged as accepted": decoder(logged=lambda n, k, missing: n + (n == k)),
        "emitted tokens are logged": decoder(logged=lambda n, k, missing: n + 1),
        "always k logged": decoder(logged=lambda n, k, missing: k),
        "the last log entry is cut": decoder(logged=lambda n, k, missing: min(n, missing)),
        "m = k": decoder(m=lambda k, missing: k, bonus=lambda p, q, rng: draw(p[-1], rng)),
        "one token too many": decoder(result=lambda seq, prompt, n: seq[len(prompt) : len(prompt) + n + 1]),
        "one token too few": decoder(result=lambda seq, prompt, n: seq[len(prompt) : len(prompt) + n - 1]),
        "not cut": decoder(result=lambda seq, prompt, n: seq[len(prompt) :]),
        "with the prompt": decoder(result=lambda seq, prompt, n: seq[: len(prompt) + n]),
        "the prompt is appended to": decode_mutating,
        "fewer drafts at the end": decode_shorter_last,
        "a generator of its own": lambda d, t, prompt, n, k, rng: decode(
            d, t, prompt, n, k, np.random.default_rng()
        ),
        "Python's global random": decoder(accept=lambda p, q, x, rng: random.random() < p[x] / q[x]),
        "no log": lambda *args: decode(*args)[0],
        "nothing": lambda *args: None,
    },
    "run_statistics": {
        **{f"known: {name}": wrong for name, wrong in KNOWN["run_statistics"].items()},
        "drafted forgets k": statistics(drafted=lambda log, k: len(log)),
        "drafted counts the bonus": statistics(drafted=lambda log, k: (k + 1) * len(log)),
        "tested = accepted + accepting verifications": statistics(
            acceptance_rate=lambda log, k: sum(log) / (sum(log) + sum(x == k for x in log) + 1e-9)
        ),
        "a as a mean of shares": statistics(
            acceptance_rate=lambda log, k: sum(x / k for x in log) / len(log)
        ),
        "a as the share of full acceptances": statistics(
            acceptance_rate=lambda log, k: log.count(k) / len(log)
        ),
        "yield with the bonus twice": statistics(
            tokens_per_verification=lambda log, k: 1 + (sum(log) + log.count(k)) / len(log)
        ),
        "efficiency over k + 1": statistics(draft_efficiency=lambda log, k: sum(log) / (len(log) * (k + 1))),
        "rounded": statistics(
            acceptance_rate=lambda log, k: round(reference.run_statistics(log, k)["acceptance_rate"], 2)
        ),
        "whole-number division": statistics(tokens_per_verification=lambda log, k: 1 + sum(log) // len(log)),
        "accepted skips the last": statistics(accepted=lambda log, k: sum(log[:-1])),
        "bad logs are let through": statistics(check=False),
        "counts above k are let through": statistics_no_upper_bound,
        "AssertionError": statistics_assert,
        "a list": statistics_returning_list,
        "the log is emptied": statistics_emptying,
        "nothing": lambda log, k: None,
    },
    "choose_k": {
        **{f"known: {name}": wrong for name, wrong in KNOWN["choose_k"].items()},
        "ties go to the larger": last_best,
        "rounding breaks ties": argmax_only,
        "np.isclose calls ties": generous_ties,
        "never beyond 8": lambda a, t, v, d: reference.choose_k(a, t, v[:9], d),
        "the largest that pays": largest_that_pays,
        "the first that pays": first_that_pays,
        "stops at the first dip": stops_climbing,
        "the speed-up itself": returns_speed,
        "division by zero at a = 1": closed_form,
        "k = 0 timed as a pass": zero_uses_pass,
        "k + 1 draft steps": one_draft_more,
        "the cheapest round": least_cost,
        "the last k is left out": leaves_out_last,
        "1-based": lambda *args: reference.choose_k(*args) + 1,
        "always 4": lambda *args: 4,
        "nothing": lambda *args: None,
    },
}

RIGHT: dict[str, dict[str, Any]] = {
    "draft_block": {
        "arrays and rng.choice": block_choice,
        "recursion on tuples": block_recursive,
        "Gumbel noise": block_gumbel,
        "all numbers first, a deque": block_all_numbers_first,
        "rng.multinomial": block_multinomial,
        "keyword-happy": lambda draft_model, prefix, k, rng: tuple(
            block(draft_model, tuple(prefix), k=k, rng=rng)
        ),
    },
    "speculative_decode": {
        "arrays, all ratios at once": decode_arrays,
        "recursion, tuples, fractions, m by keyword": decode_recursive,
        "in logarithms": decode_logarithms,
        "the replacement by trial": decode_rejection_sampling,
        "with Gumbel drafts": decoder(drafts=block_gumbel),
        "min(1, p/q) with the smaller first": decoder(
            accept=lambda p, q, x, rng: p[x] > 0 and rng.random() <= min(1, p[x] / q[x])
        ),
    },
    "run_statistics": {
        "arrays, another order of keys": statistics_numpy,
        "fractions, a subclass of ValueError": statistics_fractions,
        "one loop": statistics_loop,
        "errors from another error": statistics_from_zero_division,
    },
    "choose_k": {
        "arrays": choose_numpy,
        "sorting": choose_sorted,
        "fractions": choose_fractions,
        "recursion": choose_recursive,
        "time for a token": choose_by_time,
        "ties as math.isclose has them": fine6.choosing(tolerance=1e-9),
        "fractions of the decimals": choose_decimals,
        "partial": partial(reference.choose_k),
    },
}

fine.add(WRONG, fine6.WRONG)
