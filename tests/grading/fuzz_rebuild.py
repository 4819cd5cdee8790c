"""A long fuzz of the rebuilder: ``python tests/grading/fuzz_rebuild.py [inputs] [seed]``; a short one is a test.

Submissions are real notebooks with cells shuffled, doubled, dropped and damaged, notebooks grown from a broken grammar,
and files cut off or with wrong bytes. Each must come back as the lesson's own cells in order, with no exception, no
import, and memory bounded.
"""

from __future__ import annotations

import copy
import json
import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from grading_sample import RIGHT, dumps, master, release

from specdec_helpers.grading.rebuild import Rebuilt, rebuild

MASTER = master()
FILE = "draft_and_verify.ipynb"
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    4,
    10**30,
    1.5,
    float("nan"),
    "",
    "code",
    "markdown",
    "\x00",
    "\ud800",
    [],
    {},
    [[]],
]
SOURCES = [
    *RIGHT.values(),
    *(cell.source for cell in MASTER.cells),
    "def double(x):",
    "    return x",
    "%%bash\nls",
    "a=(",
]
KEYS = [
    "cell_type",
    "source",
    "id",
    "metadata",
    "outputs",
    "input",
    "nbgrader",
    "grade_id",
    "cells",
    "nbformat",
    "worksheets",
]


def value(rng: random.Random, depth: int = 0) -> Any:
    """A random JSON value that often looks like a part of a notebook."""
    pick = rng.random()
    if depth > 4 or pick < 0.4:
        return rng.choice(VALUES)
    if pick < 0.6:
        return rng.choice(SOURCES)
    if pick < 0.8:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(KEYS): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def damage(rng: random.Random, node: Any) -> None:
    """Change something somewhere below `node`, in place."""
    while isinstance(node, dict | list) and node:
        key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
        if rng.random() < 0.4 or not isinstance(node[key], dict | list):
            if rng.random() < 0.3:
                del node[key]
            else:
                node[key] = value(rng)
            return
        node = node[key]


def submission(rng: random.Random, real: dict[str, Any]) -> bytes:
    """The bytes of one submitted file."""
    pick = rng.random()
    if pick < 0.15:
        document = {rng.choice(KEYS): value(rng) for _ in range(4)} | {
            "cells": [value(rng) for _ in range(5)]
        }
        return json.dumps(document).encode("ascii")
    notebook = copy.deepcopy(real)
    cells = notebook["cells"]
    for _ in range(rng.randrange(4)):
        do = rng.randrange(5)
        if do == 0:
            rng.shuffle(cells)
        elif do == 1 and cells:
            cells.insert(rng.randrange(len(cells)), copy.deepcopy(rng.choice(cells)))
        elif do == 2 and cells:
            del cells[rng.randrange(len(cells))]
        elif do == 3:
            notebook["nbformat"] = rng.choice([3, 4, 5, "4", None])
        else:
            damage(rng, notebook)
    data = bytearray(json.dumps(notebook).encode("ascii") if rng.random() < 0.8 else dumps(real))
    if rng.random() < 0.3:
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.1:
        del data[rng.randrange(len(data)) :]
    return bytes(data)


def holds(rebuilt: Rebuilt) -> None:
    """The lesson's own cells, in order; tests and text from the master; remarks of one line."""
    own = [piece for piece in rebuilt.pieces if piece.master is not None]
    assert [piece.master for piece in own] == list(MASTER.cells)
    for piece in own:
        if piece.master is not None and piece.master.role in ("test", "fixed"):
            assert (piece.source, piece.kind) == (piece.master.source, piece.master.kind)
    for piece in rebuilt.pieces:
        piece.source.encode()
    for remark in rebuilt.remarks:
        assert remark.text
        assert "\n" not in remark.text
        assert len(remark.text) < 2000


def run(inputs: int, seed: int = 0) -> Counter:
    """Rebuild so many submissions; how many came with a remark. AssertionError for anything out of order."""
    rng, real, found, modules = random.Random(seed), release(**RIGHT), Counter(), None
    for number in range(inputs):
        data = submission(rng, real)
        try:
            rebuilt = rebuild(MASTER, {FILE: data})
            holds(rebuilt)
        except Exception:
            print(f"input {number} of seed {seed}: {data[:2000]!r}", file=sys.stderr)
            raise
        found["with a remark" if rebuilt.remarks else "clean"] += 1
        modules = modules or set(sys.modules)
    assert set(sys.modules) <= (modules or set()), "rebuilding imported something"
    return found


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for kind, number in sorted(run(count, int(sys.argv[2]) if len(sys.argv) > 2 else 0).items()):
        print(f"{number:>9} {kind}")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{count} submissions in {time.perf_counter() - began:.0f} s; memory grew by {grown:.0f} MB")
