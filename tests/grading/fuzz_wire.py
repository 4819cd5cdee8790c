"""A long fuzz of the wire decoder: ``python tests/grading/fuzz_wire.py [inputs] [seed]``; a short one is a test.

Frames are grown from the grammar, from broken grammar and from mutated right frames. Every one must decode to plain
values or be a WireError, import nothing, and keep memory bounded.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from specdec_helpers.grading import shown
from specdec_helpers.grading.inside import wire

TAGS = ["t", "d", "a", "n", "p", "f", "s", "w", "x", "__class__", "py/object", "", "e"]
NAMES = [*wire.DTYPES, "O8", "f16", "c8", "U4", "os", ""]
TEXTS = ["", "AAAA", "AAAAAAAA8D8=", "!!", "A" * 50, "\\ud800", "é", "\ud83d", "f8", "__import__('os')"]


def tree(rng: random.Random, depth: int = 0) -> Any:
    """A random JSON tree that often looks like the grammar."""
    pick = rng.random()
    if depth > 5 or pick < 0.3:
        return rng.choice(
            [None, True, False, 0, -1, 1.5, float("nan"), float("inf"), -0.0, rng.randrange(-(2**70), 2**70),
             10 ** rng.randrange(0, 700), rng.choice(TEXTS)]
        )  # fmt: skip
    if pick < 0.5:
        return [tree(rng, depth + 1) for _ in range(rng.randrange(5))]
    if pick < 0.62:
        return {
            "a": [
                rng.choice(NAMES),
                [rng.choice([0, 1, 2, -1, 2**31, True, 1.0]) for _ in range(rng.randrange(20))],
                rng.choice(TEXTS),
            ]
        }
    if pick < 0.72:
        return {"n": [rng.choice(NAMES), tree(rng, 9)]}
    if pick < 0.8:
        return {rng.choice(TAGS): tree(rng, depth + 1) for _ in range(rng.randrange(3))}
    return {rng.choice(TAGS): tree(rng, depth + 1)}


def frames(rng: random.Random) -> Iterator[bytes]:
    """Endless payloads."""
    right = [
        wire.dump(wire.to_wire(value))
        for value in (
            [1, 2.5, "a"],
            (1, (2,)),
            {"k": [1.0] * 9},
            np.arange(6.0).reshape(2, 3),
            np.float32(2),
            {"t": [1]},
        )
    ]
    while True:
        pick = rng.random()
        if pick < 0.5:
            yield json.dumps(tree(rng)).encode("ascii")
            continue
        data = bytearray(rng.choice(right) if pick < 0.8 else json.dumps(tree(rng)).encode("ascii"))
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(data) + 1)
            if rng.random() < 0.4:
                data[place:place] = rng.choice(
                    [
                        b"[" * rng.randrange(1, 3000),
                        b"{",
                        b'"',
                        b",",
                        b"\\u",
                        b"9" * 400,
                        b"\xff",
                        b"\0",
                        b"1e999",
                    ]
                )
            elif rng.random() < 0.5 and place < len(data):
                data[place] = rng.randrange(256)
            else:
                del data[place : place + rng.randrange(1, 9)]
        yield bytes(data)


def plain(value: Any) -> bool:
    """Whether a value is of exactly the schema's types."""
    kind = type(value)
    if kind in (list, tuple):
        return all(map(plain, value))
    if kind is dict:
        return all(type(key) is str and plain(item) for key, item in value.items())
    if kind is np.ndarray:
        return value.dtype.kind in "biuf" and value.dtype.itemsize <= 8
    return kind in (type(None), bool, int, float, str) or (
        isinstance(value, np.generic) and value.dtype.kind in "biuf"
    )


def run(inputs: int, seed: int = 0) -> Counter:
    """Decode so many frames; counts of what became of them. AssertionError for anything but plain or WireError."""
    rng, became, modules = random.Random(seed), Counter(), set(sys.modules)
    for _, payload in zip(range(inputs), frames(rng), strict=False):
        try:
            loaded = wire.load(payload)
        except wire.WireError:
            became["no frame"] += 1
            continue
        for name, check in (
            ("value", wire.from_wire),
            ("answers", lambda got: shown.answers(got, len(got) if isinstance(got, list) else 1)),
            ("outputs", lambda got: shown.outputs(got, 100)),
            ("names", lambda got: shown.held(["a"], got)),
        ):
            try:
                value = check(loaded)
            except wire.WireError:
                became[f"no {name}"] += 1
                continue
            became[name] += 1
            assert name != "value" or plain(value), payload
    assert set(sys.modules) <= modules, set(sys.modules) - modules
    return became


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for kind, number in sorted(run(count, int(sys.argv[2]) if len(sys.argv) > 2 else 0).items()):
        print(f"{number:>9} {kind}")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{count} frames in {time.perf_counter() - began:.0f} s, memory grew by {grown:.0f} MB")
