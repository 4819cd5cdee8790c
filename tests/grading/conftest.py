"""Shared by the tests of grading: one warm jail for all that grade in this process, and a database server."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from database_server import BIN, Server


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doors use one warm jail instead of starting one for every test."""
    from classroom import WarmJail

    monkeypatch.setattr("specdec_helpers.grading.work.Jail", WarmJail)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A PostgreSQL server; the test is skipped where there is none."""
    pytest.importorskip("psycopg")
    if not BIN:
        pytest.skip("needs PostgreSQL's server programs (Debian package postgresql)")
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        running = Server(Path(folder))
        try:
            yield running
        finally:
            running.stop()
