"""Lesson 5: hidden trials of throughput, speedup, best_k and break_even.

All four are plain arithmetic, so a right function passes for every draw; the tolerance only leaves room for the order
of the operations.
"""

from __future__ import annotations

from specdec_helpers.checks.lesson5 import MISTAKES
from specdec_helpers.reference import lesson5 as reference

from . import lesson5_draws as draw
from . import lesson5_wrong as wrong
from .base import Cases, Item, Refuses

RTOL, ATOL = 1e-6, 1e-12  # single precision is enough; four decimals are not
RATE = 1.5e-6  # break_even promises 1e-6


ITEMS: dict[str, Item] = {
    "throughput": Item(
        "throughput",
        "lesson5",
        reference.throughput,
        (
            Cases(
                "divides the expected tokens by the time of a round",
                0.5,
                "throughput of an ordinary round",
                draw.no_target(draw.rounds),
                core=True,
                rtol=RTOL,
                atol=ATOL,
                cause="the tokens of a round or its cost differ",
                next_step="print E[N] and t_verify + k * t_draft for one round and check both by hand",
            ),
            Cases(
                "works for a = 0, a = 1 and k = 0",
                0.15,
                "throughput at the ends of a and k",
                draw.no_target(draw.ends),
                rtol=RTOL,
                atol=ATOL,
            ),
            Cases(
                "takes a draft that costs nothing",
                0.05,
                "throughput with t_draft = 0",
                draw.no_target(draw.free_draft),
            ),
            Refuses(
                "refuses times out of bounds",
                0.15,
                "throughput with t_verify <= 0 or t_draft < 0",
                draw.no_target(draw.bad_times),
            ),
            Refuses(
                "refuses a and k out of bounds",
                0.15,
                "throughput with a outside [0, 1] or k < 0",
                draw.no_target(draw.bad_rates),
            ),
        ),
        wrong={
            "extra_draft_step": lambda a, k, verify, draft: wrong.mean(a, k) / (verify + (k + 1) * draft),
            "accepted_only": lambda a, k, verify, draft: (wrong.mean(a, k) - 1) / (verify + k * draft),
            "all_accepted": lambda a, k, verify, draft: (k + 1) / (verify + k * draft),
            "one_draft_step": lambda a, k, verify, draft: wrong.mean(a, k) / (verify + draft),
            "draft_free": lambda a, k, verify, draft: wrong.mean(a, k) / verify,
            "time_per_token": lambda a, k, verify, draft: (verify + k * draft) / wrong.mean(a, k),
        },
        mistakes=MISTAKES["throughput"],
        unchanged=False,
    ),
    "speedup": Item(
        "speedup",
        "lesson5",
        reference.speedup,
        (
            Cases(
                "compares a round with the target alone",
                0.5,
                "speedup of an ordinary round",
                draw.rounds,
                core=True,
                rtol=RTOL,
                atol=1e-6,  # six decimals are not wrong altogether; the next check asks for a tiny result
                cause="the ratio of the two throughputs differs",
                next_step="print both throughputs of one example, and check each by hand",
            ),
            Cases(
                "works for a = 0 and a = 1, and pays for the pass at k = 0",
                0.2,
                "speedup at the ends of a and k",
                draw.ends,
                rtol=RTOL,
                atol=ATOL,
            ),
            Refuses("refuses t_target <= 0", 0.1, "speedup with t_target <= 0", draw.bad_target),
            Refuses(
                "refuses other times out of bounds",
                0.1,
                "speedup with a bad t_verify or t_draft",
                draw.bad_times,
            ),
            Refuses(
                "refuses a and k out of bounds", 0.1, "speedup with a outside [0, 1] or k < 0", draw.bad_rates
            ),
        ),
        wrong={
            "target_for_verify": wrong.TARGET,
            "tokens_only": lambda a, k, target, verify, draft: wrong.mean(a, k),
            "gain": lambda *args: wrong.PAID(*args) - 1,
            "inverse": lambda *args: 1 / wrong.PAID(*args),
            "throughput_only": lambda a, k, target, verify, draft: wrong.mean(a, k) / (verify + k * draft),
            "divided_by_time": lambda *args: wrong.PAID(*args) / args[2] ** 2,
            "extra_draft_step": wrong.EXTRA,
            "plain_at_zero": lambda a, k, *times: wrong.PAID(a, k, *times) if k else 1.0,
        },
        mistakes=MISTAKES["speedup"],
        unchanged=False,
    ),
    "best_k": Item(
        "best_k",
        "lesson5",
        reference.best_k,
        (
            Cases(
                "finds the k with the largest speed-up",
                0.4,
                "best_k where some k between 1 and k_max wins",
                draw.telling,
                core=True,
                cause="another k was taken for the best",
                next_step="print the speed-up of every k from 0 to k_max for one example and look for the largest",
            ),
            Cases(
                "says 0 where drafting never pays",
                0.15,
                "best_k where every k >= 1 is a slow-down",
                draw.never_pays,
            ),
            Cases(
                "takes k = 0 for plain decoding, with speed-up exactly 1",
                0.1,
                "best_k where a verification is cheaper than a target step",
                draw.cheap_pass,
            ),
            Cases("tries k_max, and nothing beyond it", 0.15, "best_k where k_max decides", draw.limits),
            Cases("gives ties to the smaller k", 0.1, "best_k where two k are equally fast", draw.ties),
            Refuses("refuses k_max < 0", 0.1, "best_k with k_max < 0", draw.negative_limit),
        ),
        wrong={
            "never_zero": wrong.search(wrong.PAID, first=1),
            "most_tokens": wrong.SLIPS["most_tokens"],
            "formula_at_zero": wrong.formula_at_zero,
            "later_tie": wrong.search(wrong.PAID, later=True),
            "k_max_left_out": wrong.search(wrong.PAID, beyond=0),
            "stops_early": wrong.stops_early,
            "returns_speedup": wrong.returns_speedup,
        },
        mistakes=MISTAKES["best_k"],
        unchanged=False,
    ),
    "break_even": Item(
        "break_even",
        "lesson5",
        reference.break_even,
        (
            Cases(
                "finds the rate with speed-up 1, to 1e-6",
                0.5,
                "break_even of an ordinary round",
                draw.rates,
                core=True,
                rtol=0,
                atol=RATE,
                cause="the speed-up at the rate that came back is not 1",
                next_step="put your result into your `speedup`: it should give 1 to six digits",
            ),
            Cases(
                "is as exact near 0 and near 1",
                0.1,
                "break_even with a rate near 0 or 1",
                draw.extreme_rates,
                rtol=0,
                atol=RATE,
            ),
            Cases(
                "says 0.0 where a = 0 suffices",
                0.2,
                "break_even of a round that costs no more than a target step",
                draw.always,
                rtol=0,
                atol=RATE,
            ),
            Cases(
                "says None where even a = 1 is too slow",
                0.2,
                "break_even of a round that costs too much",
                draw.never,
                rtol=0,
                atol=RATE,
            ),
        ),
        wrong={
            "one_for_never": wrong.solve(wrong.PAID),
            "target_for_verify": wrong.solve(wrong.TARGET),
            "straight_line": wrong.straight_line,
            "ceiling": wrong.ceiling,
            "coarse": wrong.coarse,
            "out_of_bounds": wrong.solve(wrong.PAID, -0.5, 5.0),
        },
        mistakes=MISTAKES["break_even"],
        unchanged=False,
    ),
}
