"""Put a graded submission in its folder: each file replaced in one step, nothing gone before its successor is there."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

PART = ".part"


def publish(folder: Path, files: Mapping[str, bytes], permissions: int = 0o444) -> None:
    """Write `files` (name -> bytes) to a folder and remove what else is in it.

    A reader sees the old file or the new one, never half of one. Raises OSError (a full disk, …) with the old
    files still in place.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        part = folder / f".{name}{PART}"
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        try:
            with open(part, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(part, permissions)
            os.replace(part, folder / name)
        except OSError:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
    for other in os.scandir(folder):
        if other.name not in files:
            if other.is_dir(follow_symlinks=False):
                shutil.rmtree(other.path)
            else:
                os.unlink(other.path)


def published_sha(folder: Path, names: list[str]) -> str:
    """The digest of the published notebooks; "" where one is missing."""
    parts = {}
    for name in names:
        try:
            parts[name] = (folder / name).read_bytes()
        except OSError:
            return ""
    return sha_of(parts)


def sha_of(files: Mapping[str, bytes]) -> str:
    """A digest of named bytes."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + hashlib.sha256(files[name]).digest())
    return digest.hexdigest()


def stamp_text(timestamp: datetime.datetime) -> bytes:
    """A time stamp as nbgrader writes it, from the parsed one: nothing of a forged file is copied."""
    return f"{timestamp:%Y-%m-%d %H:%M:%S.%f} UTC".encode()
