"""Whatever bytes are handed in, rebuilding gives the lesson's own cells, in order, and no exception.

A few hundred inputs in the quick suite; SPECDEC_FUZZ=100000 for the long run.
"""

from __future__ import annotations

import json
import os
import random
from typing import Any

import fuzz_rebuild
from grading_sample import RIGHT, dumps, master, release
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specdec_helpers.grading.rebuild import Rebuilt, rebuild

COUNT = int(os.environ.get("SPECDEC_FUZZ", "300"))
MASTER = master()
FILE = "draft_and_verify.ipynb"
QUICK = settings(max_examples=COUNT, deadline=None, suppress_health_check=list(HealthCheck), database=None)

IDS = st.sampled_from([*(cell.cell_id for cell in MASTER.cells), "", "x"]) | st.text(max_size=5)
SOURCES = (
    st.sampled_from(
        [
            *RIGHT.values(),
            *(cell.source for cell in MASTER.cells),
            "def double(x):",
            "    return x",
            "%%bash\nls",
            "\x00",
            "a=(",
        ]
    )
    | st.text(max_size=40)
    | st.lists(st.text(max_size=10) | st.none(), max_size=4)
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def cells() -> st.SearchStrategy[Any]:
    whole = st.fixed_dictionaries(
        {
            "cell_type": st.sampled_from(["code", "markdown", "raw", "heading", "x"]) | JSON,
            "source": SOURCES | JSON,
        },
        optional={
            "id": IDS | JSON,
            "metadata": st.fixed_dictionaries(
                {"nbgrader": st.fixed_dictionaries({"grade_id": IDS | JSON}) | JSON}
            )
            | JSON,
            "input": SOURCES,
            "outputs": JSON,
        },
    )
    return st.lists(whole | JSON, max_size=12)


NOTEBOOKS = st.fixed_dictionaries(
    {},
    optional={
        "cells": cells() | JSON,
        "worksheets": st.lists(st.fixed_dictionaries({"cells": cells()}) | JSON, max_size=2),
        "metadata": JSON,
        "nbformat": st.integers(0, 6) | JSON,
    },
)


def holds(rebuilt: Rebuilt) -> None:
    own = [piece.master for piece in rebuilt.pieces if piece.master is not None]
    assert own == list(MASTER.cells)
    for piece in rebuilt.pieces:
        assert isinstance(piece.source, str)
        piece.source.encode()
        if piece.master is not None and piece.master.role in ("test", "fixed"):
            assert piece.source == piece.master.source
            assert piece.kind == piece.master.kind
    for remark in rebuilt.remarks:
        assert remark.text
        assert "\n" not in remark.text
        assert len(remark.text) < 2000


@QUICK
@given(NOTEBOOKS)
def test_any_json(document: Any) -> None:
    holds(rebuild(MASTER, {FILE: json.dumps(document).encode("utf-8", "surrogatepass")}))


@QUICK
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    holds(rebuild(MASTER, {FILE: data}))


@QUICK
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_a_real_notebook_with_broken_bytes_and_shuffled_cells(seed: int, count: int) -> None:
    rng = random.Random(seed)
    notebook = release(**RIGHT)
    rng.shuffle(notebook["cells"])
    data = bytearray(dumps(notebook))
    if seed % 2:
        for _ in range(count):
            data[rng.randrange(len(data))] = rng.randrange(256)
    if seed % 3 == 0:
        del data[rng.randrange(len(data)) :]
    holds(rebuild(MASTER, {FILE: bytes(data), "other.ipynb": bytes(data[::-1])}))


@QUICK
@given(st.dictionaries(st.text(max_size=20), st.binary(max_size=30), max_size=4))
def test_any_file_names(files: dict[str, bytes]) -> None:
    from specdec_helpers.grading.rebuild import safe_name

    holds(rebuild(MASTER, {safe_name(name): data for name, data in files.items()}))


def test_damaged_notebooks() -> None:
    assert set(fuzz_rebuild.run(1500, seed=COUNT)) == {"clean", "with a remark"}
