"""The specdec command, and the copies that `make lab` gives a learner."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from specdec_helpers import cli
from specdec_helpers.authoring.copies import copy_missing


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(command in shown for command in cli.COMMANDS)
    assert cli.main([]) == 2


def test_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["biuld"]) == 2
    assert "there is no command 'biuld'; choose one of progress, build" in capsys.readouterr().err


def test_what_the_student_package_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name="specdec_helpers.grading")

    monkeypatch.setattr(cli, "import_module", missing)
    assert cli.main(["autograde", "lesson1"]) == 2
    assert (
        "'autograde' is not part of the student package; students have: progress" in capsys.readouterr().err
    )


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'nbgrader'", name="nbgrader.converters")

    monkeypatch.setattr(cli, "import_module", missing)
    assert cli.main(["build"]) == 2
    assert (
        "'build' needs nbgrader.converters, which is not installed: pip install -r" in capsys.readouterr().err
    )


def test_a_broken_installation_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    monkeypatch.setattr(cli, "import_module", missing)
    with pytest.raises(ModuleNotFoundError):
        cli.main(["progress"])


def test_every_owner_is_there_and_help_works() -> None:
    for command in cli.COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "specdec_helpers.cli", command, "--help"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, (command, done.stderr)
        assert f"specdec {command}" in done.stdout


def test_help_does_not_load_the_house() -> None:
    code = (
        "import sys, specdec_helpers.cli as c; c.main(['--help']); "
        "sys.exit(any(m.split('.')[0] in ('numpy', 'nbgrader', 'matplotlib') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).returncode == 0


def test_copies_never_overwrite_a_learners_work(tmp_path: Path) -> None:
    release, lessons = tmp_path / "release", tmp_path / "lessons"
    (release / "lesson1" / ".ipynb_checkpoints").mkdir(parents=True)
    (release / "lesson1" / "a.ipynb").write_text("new")
    (release / "lesson1" / ".ipynb_checkpoints" / "a.ipynb").write_text("old")
    assert copy_missing(release, lessons) == [lessons / "lesson1" / "a.ipynb"]
    (lessons / "lesson1" / "a.ipynb").write_text("mine")
    assert copy_missing(release, lessons) == []
    assert (lessons / "lesson1" / "a.ipynb").read_text() == "mine"


def test_copies_without_notebooks(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="run `make build` first"):
        copy_missing(tmp_path, tmp_path / "lessons")
