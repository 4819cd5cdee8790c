"""The verbs that lesson 6 calls. Each takes the student's own function, runs it with a progress bar, and shows a table.

Nothing here returns a value: seconds differ from machine to machine and are never part of an exercise. While a
notebook is graded (SPECDEC_GRADING=1) they do nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from specdec_helpers.lm.models import Draft, Target, draft
from specdec_helpers.lm.text import decode as decode_text
from specdec_helpers.lm.text import encode, novels
from specdec_helpers.measuring.batch import batch_times
from specdec_helpers.measuring.clock import Times, part_times
from specdec_helpers.measuring.runs import PROMPT, Decode, Run, checked, duel, expected_tokens
from specdec_helpers.measuring.show import Progress, Table, coloured, origins, say, show

TURNS, REPEATS = 12, 7


class SelfDraft(Draft):
    """The target drafting for itself: always right, and as dear as the target."""

    name, words = "the target itself", "drafting for itself"

    def __init__(self, temperature: float = 1.0) -> None:
        self._model = Target(temperature)

    def distribution(self, seq: Sequence[int]) -> np.ndarray:
        """(V,): one pass of the target."""
        row: np.ndarray = self._model.distributions(seq, 1)[0]
        return row


def _verb(function: Callable[..., None]) -> Callable[..., None]:
    """Silent while grading; calm where the student's function is still the stub."""

    @wraps(function)
    def verb(decode: Decode, *args: Any, **kwargs: Any) -> None:
        if os.environ.get("SPECDEC_GRADING") == "1":
            return
        if not callable(decode):
            raise ValueError(f"{function.__name__} needs your function speculative_decode, got {decode!r}")
        try:
            function(decode, *args, **kwargs)
        except NotImplementedError:
            say(
                f"{function.__name__}: not yet. Write the function first and let its check pass, then run this cell."
            )

    return verb


def sample_text(length: int) -> list[int]:
    """The first tokens of the novels: a text to time passes on."""
    return encode(novels()[:length])


Item = TypeVar("Item")


def last(steps: Iterable[Item], bar: Progress, words: str) -> Item:
    """The last of some growing results, with one step of the bar for each."""
    found: list[Item] = []
    for item in steps:
        found = [item]
        bar.step(words)
    return found[0]


def timed(target: Target, model: Draft, k_max: int, bar: Progress) -> Times:
    """The parts' times, after all turns."""
    return last(
        part_times(target, model, sample_text(240), k_max, TURNS), bar, f"timing the parts: {model.words}"
    )


def raced(decode: Decode, target: Target, model: Draft, k: int, bar: Progress) -> Run:
    """Runs of a decoder against plain decoding, after all repeats."""
    return last(duel(decode, target, model, k, repeats=REPEATS), bar, f"decoding, k = {k}: {model.words}")


def show_models(prompt: str) -> None:
    """Show what the target and the three drafts expect after a text: their likeliest next characters.

    Args:
        prompt: letters, spaces and plain signs; at least one character.
    """
    if os.environ.get("SPECDEC_GRADING") == "1":
        return
    seq = encode(prompt)
    if not seq:
        raise ValueError("prompt is empty: give at least one character")
    models = [("target", Target().distributions(seq, 1)[0])]
    models += [(f"draft {m.name}, {m.words}", m.distribution(seq)) for m in map(draft, "ABC")]
    p = models[0][1]
    rows = []
    for name, row in models:
        likely = np.argsort(-row)[:4]
        shown = [f"{decode_text([token])!r} {row[token]:.2f}" for token in likely]
        rows.append((name, *shown, f"{np.minimum(p, row).sum():.2f}" if name != "target" else ""))
    Table(
        f"After {prompt!r}",
        ("", "likeliest", "second", "third", "fourth", "overlap with the target"),
        rows,
        "The overlap is the chance that this draft's guess is accepted here (lesson 2).",
    ).show()


@_verb
def measure(decode: Decode, draft_name: str = "A", k: int = 4, temperature: float = 1.0) -> None:
    """Run your `speculative_decode` on the shipped models and lay the formula beside the clock.

    Args:
        decode: your function.
        draft_name: "A" (4-character n-gram table), "B" (bigram table) or "C" (one-layer transformer).
        k: drafts per verification, at least 1.
        temperature: of both models; 0 is greedy.

    Raises:
        ValueError: an unknown draft, k < 1, a bad temperature, or a result that is not (tokens, log).
    """
    target, model = Target(temperature), draft(draft_name, temperature)
    with Progress("warming up", TURNS + REPEATS) as bar:
        run = raced(decode, target, model, k, bar)
        times = timed(target, model, k, bar)
    a = run.acceptance_rate
    rows = [
        ("acceptance rate a", f"{a:.3f}", ""),
        ("tokens per verification", f"{run.tokens_per_verification:.2f}", f"{expected_tokens(a, k):.2f}"),
        ("speed-up", f"{run.speedup:.2f}×", f"{times.speedup(expected_tokens(a, k), k):.2f}×"),
    ]
    Table(
        f"Draft {model.name}, {model.words}, k = {k}, temperature {temperature:g}",
        ("", "measured", "formula"),
        rows,
        f"One plain step takes {1e3 * times.t_target:.3f} ms, a pass over {k + 1} positions "
        f"{1e3 * times.t_verify[k]:.3f} ms ({times.t_verify[k] / times.t_target:.2f} steps), a draft step "
        f"{1e3 * times.t_draft:.3f} ms. {len(run.log)} verifications, plain decoding of as many tokens beside them.",
    ).show()


@_verb
def measure_k(
    decode: Decode,
    choose_k: Callable[..., int],
    draft_name: str = "A",
    ks: Sequence[int] = (1, 2, 3, 4, 6, 8),
) -> None:
    """Measure over several k, and let your `choose_k` pick one from the measured times.

    Args:
        decode: your `speculative_decode`.
        choose_k: your function; it gets the measured a and times.
        draft_name: "A", "B" or "C".
        ks: the draft lengths to run, each at least 1.
    """
    target, model = Target(), draft(draft_name)
    with Progress("warming up", TURNS + REPEATS * len(ks)) as bar:
        runs = [raced(decode, target, model, k, bar) for k in ks]
        times = timed(target, model, max(ks), bar)
    accepted = sum(sum(run.log) for run in runs)
    a = accepted / (accepted + sum(count < run.k for run in runs for count in run.log))
    chosen = choose_k(a, times.t_target, np.array(times.t_verify), times.t_draft)
    rows = [
        (
            f"k = {run.k}",
            f"{run.tokens_per_verification:.2f}",
            f"{expected_tokens(a, run.k):.2f}",
            f"{times.t_verify[run.k] / times.t_target:.2f}",
            f"{run.speedup:.2f}×",
            f"{times.speedup(expected_tokens(a, run.k), run.k):.2f}×",
        )
        for run in runs
    ]
    fastest = max(runs, key=lambda run: run.speedup)
    Table(
        f"Draft {model.name}, {model.words}: measured a = {a:.3f}",
        ("", "tokens", "E[N]", "pass / step", "speed-up", "formula"),
        rows,
        f"Your choose_k picks k = {chosen} from the measured times; by the clock k = {fastest.k} was fastest. "
        "Neighbouring k often lie within the noise.",
    ).show()


@_verb
def measure_losses(decode: Decode) -> None:
    """A small win, and three ways to lose it on your machine: a low a, a costly draft, a big batch."""
    target, bigram, own, many = Target(), draft("B"), SelfDraft(), 32
    with Progress("warming up", 3 * REPEATS + 2 * TURNS + 15) as bar:
        win, low = raced(decode, target, bigram, 4, bar), raced(decode, target, bigram, 12, bar)
        times = timed(target, bigram, 12, bar)
        dear, dear_times = raced(decode, target, own, 4, bar), timed(target, own, 4, bar)
        batch = last(batch_times(sample_text(240), many, 4), bar, f"timing a batch of {many}")
    batched = batch.speedup(win.tokens_per_verification, times.t_draft)
    rows = [
        (
            name,
            f"{run.acceptance_rate:.2f}",
            f"{run.tokens_per_verification:.2f}",
            f"{cost:.2f}",
            f"{speed:.2f}×",
        )
        for name, run, cost, speed in (
            ("a small win: bigram, k = 4", win, _cost(times, 4), win.speedup),
            ("low a: the same with k = 12", low, _cost(times, 12), low.speedup),
            ("costly draft: the target itself, k = 4", dear, _cost(dear_times, 4), dear.speedup),
            (
                f"big batch: the small win, {many} texts at once",
                win,
                win.tokens_per_verification / batched,
                batched,
            ),
        )
    ]
    Table(
        "A small win, and three ways to lose",
        ("", "a", "tokens", "cost in plain steps", "speed-up"),
        rows,
        "A round pays when it yields more tokens than it costs plain steps. The batch's speed-up is the formula "
        f"with measured passes: over 5 positions of each of {many} texts a pass takes {batch.many / batch.one:.1f} "
        "times as long as over 1.",
    ).show()


def _cost(times: Times, k: int) -> float:
    return (times.t_verify[k] + k * times.t_draft) / times.t_target


@_verb
def write(
    decode: Decode,
    prompt: str = PROMPT,
    draft_name: str = "A",
    k: int = 4,
    n_tokens: int = 400,
    temperature: float = 0.7,
    seed: int = 1,
) -> None:
    """Let your `speculative_decode` write, and show which tokens were accepted, recovered or bonus.

    Args:
        decode: your function.
        prompt: how the text begins: letters, spaces, new lines and plain signs.
        draft_name: "A", "B" or "C".
        k: drafts per verification.
        n_tokens: characters to write; prompt and text together at most about 1,000.
        temperature: lower is tamer; 0 always takes the likeliest character.
        seed: another seed, another text.
    """
    target, model = Target(temperature), draft(draft_name, temperature)
    rng = np.random.default_rng(seed)
    result = decode(model.distribution, target.distributions, encode(prompt), n_tokens, k, rng)
    tokens, log = checked(result, n_tokens, k)
    show(*coloured(prompt, origins(tokens, log, k)))
