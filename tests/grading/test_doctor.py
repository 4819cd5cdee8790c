"""`specdec doctor` tries the sandbox for real and says what is missing."""

from __future__ import annotations

import pytest
from jails import sealed_modes

from specdec_helpers.grading import doctor
from specdec_helpers.grading import jail as walls


@pytest.mark.skipif(not sealed_modes(), reason="needs bubblewrap")
def test_a_machine_with_everything_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main([]) == 0
    said = capsys.readouterr().out
    assert "the sealed sandbox starts" in said
    assert "BAD" not in said


def test_a_machine_without_bubblewrap_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(walls, "bubblewrap", lambda: None)
    assert doctor.main([]) == 1
    said = capsys.readouterr().out
    assert "NOT SANDBOXED" in said
    assert "apt-get install bubblewrap" in said


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PACKAGES", ("no-such-package",))
    assert [(f.ok, f.text) for f in doctor.packages()] == [(False, "no-such-package is missing")]
