"""The capstone's speed: measured and predicted, for each draft, temperature and k, and for batches.

    python benchmarks/capstone.py [--quick] [--cpu] [--ship] [--json FILE]

Prints, for temperature 0 and 1, the measured speed-up over plain decoding and, beside it, the formula E[N] · t_target /
(t_verify[k] + k · t_draft) with the measured acceptance rate and the measured times. One BLAS thread, a warm run first,
medians of runs in turns. The last table times a batch of B sequences.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ.setdefault(name, "1")  # before NumPy is loaded

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from specdec_helpers import explorers
from specdec_helpers.lm import Target, draft
from specdec_helpers.lm.models import network
from specdec_helpers.measuring.batch import batch_times
from specdec_helpers.measuring.clock import Clock, part_times
from specdec_helpers.measuring.runs import Run, duel, expected_tokens
from specdec_helpers.measuring.verbs import sample_text
from specdec_helpers.reference.lesson6 import speculative_decode

KS = (1, 2, 3, 4, 5, 6, 8)
BATCHES = (1, 4, 8, 16, 32)  # texts at once


def one_draft(name: str, temperature: float, repeats: int, clock: Clock, bar: tqdm) -> dict[str, Any]:
    target, model = Target(temperature), draft(name, temperature)
    runs: dict[int, Run] = {}
    for k in KS:
        *_, runs[k] = duel(speculative_decode, target, model, k, n_tokens=200, repeats=repeats, clock=clock)
        bar.update()
    *_, times = part_times(target, model, sample_text(260), max(KS), turns=2 * repeats, clock=clock)
    bar.update()
    accepted = sum(sum(run.log) for run in runs.values())
    tested = accepted + sum(count < k for k, run in runs.items() for count in run.log)
    a = accepted / tested
    return {
        "draft": name,
        "words": model.words,
        "temperature": temperature,
        "a": a,
        "c": times.t_draft / times.t_target,
        "t_target_ms": 1e3 * times.t_target,
        "verify": [t / times.t_target for t in times.t_verify],
        "k": list(KS),
        "tokens": [runs[k].tokens_per_verification for k in KS],
        "expected": [expected_tokens(a, k) for k in KS],
        "speedup": [runs[k].speedup for k in KS],
        "formula": [times.speedup(runs[k].tokens_per_verification, k) for k in KS],
        "formula_a": [times.speedup(expected_tokens(a, k), k) for k in KS],
    }


def table(found: dict[str, Any]) -> str:
    lines = [
        f"\nDraft {found['draft']}, {found['words']}, temperature {found['temperature']:g}: a = {found['a']:.3f}, "
        f"draft step = {found['c']:.3f} plain steps, plain step = {found['t_target_ms']:.3f} ms",
        "   k  tokens   E[N]  pass/step  speed-up  formula  formula/measured",
    ]
    for i, k in enumerate(found["k"]):
        best = " <- best" if found["speedup"][i] == max(found["speedup"]) else ""
        measured, formula = found["speedup"][i], found["formula"][i]
        lines.append(
            f"{k:>4}  {found['tokens'][i]:6.2f} {found['expected'][i]:6.2f}  {found['verify'][k]:9.2f}"
            f"  {measured:7.2f}x {formula:7.2f}x  {formula / measured:8.2f}{best}"
        )
    return "\n".join(lines)


def ship(found: list[dict[str, Any]]) -> None:
    """Write the points that the explorer shows before the student measures."""
    entries = [
        {
            "name": f["draft"],
            "words": f["words"],
            "a": round(f["a"], 4),
            "cost": round(f["c"], 4),
            "ks": f["k"],
            "tokens": [round(x, 3) for x in f["tokens"]],
            "speed": [round(x, 3) for x in f["speedup"]],
            "formula": [round(x, 3) for x in f["formula"]],
        }
        for f in found
        if f["temperature"] == 1
    ]
    path = Path(explorers.__file__).with_name("lesson6_measured.json")
    path.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path.name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats: a minute instead of three")
    parser.add_argument("--cpu", action="store_true", help="CPU time: for a machine busy with other work")
    parser.add_argument(
        "--ship", action="store_true", help="make the figures those that lesson 6's explorer shows"
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    args = parser.parse_args()
    repeats, clock = 5 if args.quick else 15, time.thread_time if args.cpu else time.perf_counter
    print(
        f"Target {network('target').weight_count:,} weights, draft C {network('draft').weight_count:,}; NumPy "
        f"{np.__version__}, Python {platform.python_version()}, {platform.machine()}, one BLAS thread, "
        f"{'CPU time' if args.cpu else 'wall-clock time'}"
    )
    found = []
    with tqdm(total=6 * (len(KS) + 1) + len(BATCHES), unit="part", disable=None) as bar:
        for temperature in (1.0, 0.0):
            for name in "ABC":
                found.append(one_draft(name, temperature, repeats, clock, bar))
                bar.clear()
                print(table(found[-1]), flush=True)
        i, batches = KS.index(4), []
        print("\nBatch, k = 4, temperature 1 (passes measured, speed-up by the formula)")
        print("   B  pass of 1, ms  pass of 5, ms  ratio  draft A  draft B")
        for size in BATCHES:
            *_, last = batch_times(sample_text(260), size, 4, turns=3 * repeats, clock=clock)
            speeds = [last.speedup(f["tokens"][i], f["c"] * f["t_target_ms"] / 1e3) for f in found[:2]]
            batches.append(
                {"B": size, "one_ms": 1e3 * last.one, "many_ms": 1e3 * last.many, "speedup": speeds}
            )
            bar.update()
            bar.clear()
            print(
                f"{size:>4} {1e3 * last.one:14.2f} {1e3 * last.many:14.2f} {last.many / last.one:6.2f} "
                f"{speeds[0]:7.2f}x {speeds[1]:7.2f}x"
            )
    best = max(found, key=lambda f: max(f["speedup"]))
    off = max(abs(p / m - 1) for f in found for p, m in zip(f["formula"], f["speedup"], strict=True))
    print(
        f"\nBest: draft {best['draft']}, temperature {best['temperature']:g}, {max(best['speedup']):.2f}x. "
        f"The formula is off by at most {off:.0%}."
    )
    if args.json:
        args.json.write_text(
            json.dumps({"drafts": found, "batches": batches}, indent=1) + "\n", encoding="utf-8"
        )
    if args.ship:
        ship(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
