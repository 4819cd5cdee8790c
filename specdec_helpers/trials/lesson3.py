"""Lesson 3: hidden trials of residual, sample_from, emitted_distribution and speculative_round."""

from __future__ import annotations

from functools import partial

from specdec_helpers.checks.lesson3 import MISTAKES
from specdec_helpers.reference import lesson3 as reference

from . import lesson3_inputs as inputs
from . import lesson3_rounds as rounds
from . import lesson3_wrong as wrong
from .base import Cases as AnyCases
from .base import Item, Refuses
from .lesson2_inputs import other_length, spoiled_pairs

Cases = partial(AnyCases, rtol=0, atol=1e-8)  # probabilities, and tokens

ITEMS: dict[str, Item] = {
    "residual": Item(
        "residual",
        "lesson3",
        reference.residual,
        (
            Cases(
                "is what the draft under-supplied",
                0.4,
                "residual of two distributions",
                inputs.pairs,
                core=True,
                arrays=True,
            ),
            Cases(
                "copes with zeros",
                0.05,
                "residual with zeros in p or q, or no common token",
                inputs.extreme_pairs,
                arrays=True,
            ),
            Cases(
                "is p where p and q are identical",
                0.15,
                "residual(p, p)",
                inputs.identical_pairs,
                arrays=True,
                cause="nothing is missing where p and q are identical, and 0 / 0 is no number",
                next_step="test for a sum of 0 and return p (as a new sequence)",
            ),
            Cases(
                "takes a sum that misses 1 by rounding",
                0.1,
                "residual with a sum off by less than 1e-6",
                inputs.rounded_pairs,
                atol=1e-5,
            ),
            Refuses("refuses different lengths", 0.1, "residual with len(p) != len(q)", other_length),
            Refuses(
                "refuses a negative entry",
                0.1,
                "residual with an entry below 0, in p or in q",
                spoiled_pairs("negative"),
            ),
            Refuses(
                "refuses a sum that is not 1",
                0.1,
                "residual with a sum off by more than 1e-6, in p or in q",
                spoiled_pairs("sum"),
            ),
        ),
        wrong=wrong.RESIDUAL,
        mistakes=MISTAKES["residual"],
    ),
    "sample_from": Item(
        "sample_from",
        "lesson3",
        reference.sample_from,
        (
            Cases(
                "picks the token that u selects",
                0.4,
                "sample_from with u inside a token's share",
                inputs.every_token,
                core=True,
                arrays=True,
            ),
            Cases(
                "never picks a token of probability 0",
                0.2,
                "sample_from with zeros among the probabilities",
                inputs.with_zeros,
                arrays=True,
            ),
            Cases(
                "survives a sum below u",
                0.15,
                "sample_from with a u just below 1 and a sum just below that",
                inputs.below_u,
                arrays=True,
                cause="no running total exceeds u, because rounding has left the whole sum a little too small",
                next_step="after the loop, return the last token with a probability above 0",
            ),
            Refuses(
                "refuses what is no distribution",
                0.125,
                "sample_from with a negative entry, or a sum that is not 1",
                inputs.no_distributions,
            ),
            Refuses("refuses a u outside [0, 1)", 0.125, "sample_from with u < 0 or u >= 1", inputs.outside),
        ),
        wrong=wrong.SAMPLE_FROM,
        mistakes=MISTAKES["sample_from"],
    ),
    "emitted_distribution": Item(
        "emitted_distribution",
        "lesson3",
        reference.emitted_distribution,
        (
            Cases(
                "adds kept and replaced tokens",
                0.6,
                "emitted_distribution of a partly rejected draft",
                inputs.positions,
                core=True,
                arrays=True,
            ),
            Cases(
                "is q or the replacement at the ends",
                0.2,
                "emitted_distribution with everything kept, or nothing",
                inputs.one_sided,
                arrays=True,
            ),
            Cases(
                "shows that the rule gives p",
                0.2,
                "emitted_distribution with min(1, p/q) and a residual, or p",
                inputs.proofs,
            ),
        ),
        wrong=wrong.EMITTED,
        mistakes=MISTAKES["emitted_distribution"],
    ),
    "speculative_round": Item(
        "speculative_round",
        "lesson3",
        reference.speculative_round,
        (
            Cases(
                "replaces the first rejected token",
                0.45,
                "speculative_round with a rejection somewhere",
                rounds.rejected,
                core=True,
                arrays=True,
            ),
            Cases(
                "adds the bonus token when none is rejected",
                0.25,
                "speculative_round without a rejection",
                rounds.all_kept,
                arrays=True,
            ),
            Cases(
                "treats p = 0 and u = 0 right", 0.05, "speculative_round with u = 0, or p = 0", rounds.edges
            ),
            Cases(
                "works without drafts", 0.05, "speculative_round([], [row], [], [], u)", rounds.without_drafts
            ),
            Refuses(
                "refuses counts that do not fit",
                0.2,
                "speculative_round with a list too long or too short",
                rounds.uneven,
            ),
        ),
        wrong=wrong.ROUND,
        mistakes=MISTAKES["speculative_round"],
    ),
}
