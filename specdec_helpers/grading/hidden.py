"""`compare(name=value, points=4)`: the hidden part of a test cell. It runs the trials and returns the points.

It reads the same in the instructor's own notebook, where the names are plain local functions, and in the judge, where
they are proxies of functions in the sandbox. Its card says which named checks passed and, for one that did not,
what kind of call it was, what kind of value came back, and the way out: never the hidden input itself.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np

from specdec_helpers import checks, trials
from specdec_helpers.checks import sealed
from specdec_helpers.checks.report import Card, Line, Slip, Status, show
from specdec_helpers.checks.values import describe
from specdec_helpers.trials.base import earned

SEED: ContextVar[int] = ContextVar("specdec_seed", default=0)


def compare(*, points: float, **items: Any) -> float:
    """Points (0 … `points`) that one answer earns against the reference.

    Exactly one ``name=value`` is given. The value is a function (local or remote), a number or a choice. Raises
    ValueError for an unknown name, or if several are given.
    """
    if len(items) != 1:
        raise ValueError(
            f"compare() takes exactly one name=value besides points, got {len(items)}: {', '.join(items)}"
        )
    ((name, value),) = items.items()
    share, card = judge_value(name, value) if name in trials.answers() else judge_function(name, value)
    show(card)
    if share >= 1:
        return float(points)
    # Quarters of a point are fair; 1.3333 in a gradebook is noise. What is not all right is never rounded up to all.
    return max(0.0, min(round(share * points * 4) / 4, points - 0.25))


def judge_function(name: str, function: Any) -> tuple[float, Card]:
    """(share, card) of a function, from its hidden trials."""
    item = trials.item(name)
    if item is None:
        raise ValueError(f"no hidden trials for {name!r}; add an Item to specdec_helpers/trials/lessonN.py")
    if not callable(function) and not hasattr(function, "ask_batch"):
        slip = Slip(
            name,
            describe(function),
            "a function",
            "the name holds another value",
            f"define it with `def {name}(…)`",
        )
        return 0.0, Card(name, "fail", "0 % of the points", (Line("is a function", slip),))
    seed = np.random.SeedSequence([SEED.get(), *name.encode()])
    results = trials.run_item(item, function, np.random.default_rng(seed))
    share = earned(results)
    slips = [result.slip for result in results if result.slip]
    if share == 0 and slips and all("NotImplementedError" in slip.got for slip in slips):
        return 0.0, Card(f"{name}, hidden tests", "unstarted", "not started, 0 points")
    status: Status = "pass" if share >= 1 else "partial" if share > 0 else "fail"
    lines = tuple(Line(result.name, result.slip) for result in results)
    return share, Card(f"{name}, hidden tests", status, f"{share:.0%} of the points", lines)


def judge_value(name: str, value: Any) -> tuple[float, Card]:
    """(share, card) of a number or a choice: right or not, compared as the visible check compares it."""
    entry = checks.notes()[name]
    right = trials.answers()[name]
    if entry["kind"] == "choice":
        got = sealed.canonical_choice(value, entry["options"])
        expected = sealed.canonical_choice(right, entry["options"])
    else:
        got = sealed.canonical_number(value, entry["places"])
        expected = sealed.canonical_number(right, entry["places"])
    if value is None:
        return 0.0, Card(name, "unstarted", "no answer, 0 points")
    passed = got is not None and got == expected
    return float(passed), Card(
        name, "pass" if passed else "fail", "right" if passed else "not the right answer"
    )
