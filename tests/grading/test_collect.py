"""Reading a submission's folder: nothing is followed out of it, nothing in it can stop the reading."""

from __future__ import annotations

import datetime
import os
from pathlib import Path

import pytest

from specdec_helpers.grading.collect import MAX_NOTEBOOKS, collect


def names(folder: Path) -> list[str]:
    return sorted(collect("s", folder).files)


def test_plain_notebooks_and_the_stamp(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(b"A")
    (tmp_path / "B.IPYNB").write_bytes(b"B")
    (tmp_path / ".hidden.ipynb").write_bytes(b"C")
    (tmp_path / "notes.txt").write_bytes(b"D")
    (tmp_path / "timestamp.txt").write_text("2026-01-02 03:04:05.678 Europe/Berlin")
    found = collect("s", tmp_path)
    assert found.files == {"a.ipynb": b"A", "B.IPYNB": b"B"}
    assert found.timestamp == datetime.datetime(2026, 1, 2, 2, 4, 5, 678000)
    assert found.remarks == ()


def test_one_folder_too_deep(tmp_path: Path) -> None:
    (tmp_path / "lesson1").mkdir()
    (tmp_path / "lesson1" / "x.ipynb").write_bytes(b"X")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "old.ipynb").write_bytes(b"old")
    assert names(tmp_path) == ["x.ipynb"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX files")
def test_links_pipes_devices_and_folders_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    folder = tmp_path / "s"
    folder.mkdir()
    os.symlink(secret, folder / "link.ipynb")
    os.mkfifo(folder / "pipe.ipynb")
    os.symlink("/dev/zero", folder / "zero.ipynb")
    (folder / "folder.ipynb").mkdir()
    os.symlink(secret, folder / "timestamp.txt")
    os.symlink(secret, folder / "submission_secret.txt")
    found = collect("s", folder)
    assert found.files == {}
    assert found.secret == ""
    assert found.timestamp is None
    assert sorted(remark.text for remark in found.remarks) == [
        f"{name}.ipynb is not a plain file; it was not read" for name in ("folder", "link", "pipe", "zero")
    ]
    os.symlink(folder, tmp_path / "linked")
    linked = collect("s", tmp_path / "linked")
    assert linked.files == {}
    assert linked.remarks[0].look


def test_large_and_many_and_strangely_named_files(tmp_path: Path) -> None:
    (tmp_path / "big.ipynb").write_bytes(b"x" * 1000)
    assert len(collect("s", tmp_path, max_bytes=100).files["big.ipynb"]) == 101
    for i in range(MAX_NOTEBOOKS + 5):
        (tmp_path / f"n{i}.ipynb").write_bytes(b"{}")
    found = collect("s", tmp_path)
    assert len(found.files) == MAX_NOTEBOOKS
    assert "more than 20 notebooks" in found.remarks[0].text
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / ("a\nb" + "x" * 200 + ".ipynb")).write_bytes(b"{}")
    (name,) = names(odd)
    assert name.startswith("a?bx")
    assert len(name) <= 80


def test_the_digest_follows_every_byte_that_matters(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(b"A")
    first = collect("s", tmp_path).sha
    assert collect("s", tmp_path).sha == first
    (tmp_path / "notes.txt").write_text("does not matter")
    assert collect("s", tmp_path).sha == first
    seen = {first}
    for change in (("a.ipynb", "B"), ("timestamp.txt", "2026-01-01 UTC"), ("submission_secret.txt", "ab" * 32)):
        (tmp_path / change[0]).write_text(change[1])
        seen.add(collect("s", tmp_path).sha)
    assert len(seen) == 4
