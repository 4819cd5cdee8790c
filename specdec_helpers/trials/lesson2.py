"""Lesson 2: hidden trials of to_distribution, accept_probability, acceptance_rate and accepted_prefix."""

from __future__ import annotations

from functools import partial

import numpy as np

from specdec_helpers.checks.lesson2 import MISTAKES
from specdec_helpers.reference import lesson2 as reference

from . import lesson2_inputs as inputs
from . import lesson2_wrong as wrong
from .base import Cases as AnyCases
from .base import Item, Refuses

Cases = partial(AnyCases, rtol=0, atol=1e-8)  # probabilities, and numbers of tokens

ITEMS: dict[str, Item] = {
    "to_distribution": Item(
        "to_distribution",
        "lesson2",
        reference.to_distribution,
        (
            Cases(
                "softens with the temperature",
                0.3,
                "to_distribution with a temperature above 0",
                inputs.softened,
                core=True,
                arrays=True,
            ),
            Cases(
                "puts all mass on one token at temperature 0",
                0.15,
                "to_distribution with temperature 0",
                inputs.greedy,
                arrays=True,
            ),
            Cases(
                "survives logits of ±1000",
                0.15,
                "to_distribution with logits near ±1000, or a tiny temperature",
                inputs.extreme,
                arrays=True,
                cause="exp() of a large number overflows, of very negative ones alone it gives 0 / 0",
                next_step="subtract the largest logit itself from all of them before exp(), and clip nothing",
            ),
            Cases(
                "keeps the top k only",
                0.15,
                "to_distribution with top_k < V",
                inputs.top_k,
                arrays=True,
                zeros=True,
                cause="a token outside the top k keeps some probability, or one inside loses its own",
                next_step="set the weights of all other tokens to 0 after exp(), then divide by what is left",
            ),
            Cases(
                "keeps all when top_k is V or more",
                0.05,
                "to_distribution with top_k >= V",
                inputs.top_k_of_all,
            ),
            Refuses(
                "refuses empty logits",
                0.05,
                "to_distribution without logits",
                lambda rng: [([], 1.0), (np.array([]), 0.5), ([], 0)],
            ),
            Refuses(
                "refuses a negative temperature",
                0.05,
                "to_distribution with temperature < 0",
                lambda rng: [
                    (inputs.logits(rng, 3), -1),
                    (inputs.logits(rng, 3), -0.01),
                    (np.array([1.0, 2.0]), -2.5, 1),
                ],
            ),
            Refuses(
                "refuses top_k below 1",
                0.1,
                "to_distribution with top_k < 1",
                lambda rng: [
                    (inputs.logits(rng, 3), 1, 0),
                    (inputs.logits(rng, 3), 0.5, -2),
                    (inputs.logits(rng, 3), 0, 0),
                ],
            ),
        ),
        wrong=wrong.TO_DISTRIBUTION,
        mistakes=MISTAKES["to_distribution"],
    ),
    "accept_probability": Item(
        "accept_probability",
        "lesson2",
        reference.accept_probability,
        (
            Cases(
                "keeps an over-proposed token with p / q",
                0.35,
                "accept_probability with p_x < q_x",
                inputs.over_proposed,
                core=True,
            ),
            Cases(
                "always keeps a token with p >= q",
                0.3,
                "accept_probability with p_x >= q_x",
                inputs.under_proposed,
            ),
            Cases(
                "takes 0 and 1 for what they are",
                0.1,
                "accept_probability with p_x = 0, p_x = 1 or q_x = 1",
                inputs.bounds,
            ),
            Refuses(
                "refuses a q_x outside (0, 1]",
                0.125,
                "accept_probability with q_x <= 0 or q_x > 1",
                lambda rng: [(0.5, 0), (0, 0.0), (0.3, -5e-7), (0.4, 1 + 5e-7), (1, 1.5)],
            ),
            Refuses(
                "refuses a p_x outside [0, 1]",
                0.125,
                "accept_probability with p_x < 0 or p_x > 1",
                lambda rng: [(-5e-7, 0.5), (1 + 5e-7, 0.5), (-0.3, 1), (2, 1)],
            ),
        ),
        wrong=wrong.ACCEPT_PROBABILITY,
        mistakes=MISTAKES["accept_probability"],
    ),
    "acceptance_rate": Item(
        "acceptance_rate",
        "lesson2",
        reference.acceptance_rate,
        (
            Cases(
                "sums the overlap",
                0.45,
                "acceptance_rate of two distributions",
                inputs.pairs,
                core=True,
                arrays=True,
            ),
            Cases(
                "is 1 for equal, 0 for disjoint distributions",
                0.1,
                "acceptance_rate of equal or disjoint p and q",
                inputs.extreme_pairs,
                arrays=True,
            ),
            Cases(
                "takes a sum that misses 1 by rounding",
                0.1,
                "acceptance_rate with a sum off by less than 1e-6",
                inputs.rounded_pairs,
                rtol=0,
                atol=1e-6,
            ),
            Refuses(
                "refuses different lengths", 0.1, "acceptance_rate with len(p) != len(q)", inputs.other_length
            ),
            Refuses(
                "refuses a negative entry",
                0.1,
                "acceptance_rate with an entry below 0, in p or in q",
                inputs.spoiled_pairs("negative"),
            ),
            Refuses(
                "refuses a sum that is not 1",
                0.15,
                "acceptance_rate with a sum off by more than 1e-6, in p or in q",
                inputs.spoiled_pairs("sum"),
            ),
        ),
        wrong=wrong.ACCEPTANCE_RATE,
        mistakes=MISTAKES["acceptance_rate"],
    ),
    "accepted_prefix": Item(
        "accepted_prefix",
        "lesson2",
        reference.accepted_prefix,
        (
            Cases(
                "stops at the first rejection",
                0.4,
                "accepted_prefix with a rejection somewhere",
                inputs.rejected,
                core=True,
                arrays=True,
            ),
            Cases(
                "counts all when none is rejected",
                0.25,
                "accepted_prefix without a rejection",
                inputs.all_kept,
                arrays=True,
            ),
            Cases(
                "treats p = 0 and u = 0 right",
                0.1,
                "accepted_prefix with u = 0, or p = 0 for the token",
                inputs.edges,
            ),
            Cases(
                "works without drafts",
                0.05,
                "accepted_prefix([], [], [], [])",
                lambda rng: [([], [], [], [])],
            ),
            Refuses(
                "refuses different lengths",
                0.2,
                "accepted_prefix with lists of different lengths",
                inputs.uneven,
            ),
        ),
        wrong=wrong.ACCEPTED_PREFIX,
        mistakes=MISTAKES["accepted_prefix"],
    ),
}
