"""Shared by the tests of grading: one warm jail for all that grade in this process."""

from __future__ import annotations

import pytest


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doors use one warm jail instead of starting one for every test."""
    from classroom import WarmJail

    monkeypatch.setattr("specdec_helpers.grading.work.Jail", WarmJail)
