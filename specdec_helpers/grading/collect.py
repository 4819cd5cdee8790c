"""Read a collected submission from disk without being led anywhere else: no link, device or pipe is followed."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from .read import MAX_BYTES
from .rebuild import Remark, safe_name

MAX_NOTEBOOKS = 20


@dataclass(frozen=True)
class Submission:
    """A submission's notebooks as bytes, its time stamp, what was odd about its folder, and its secret.

    The secret is what `nbgrader submit` draws; the exchange names the student's feedback page after it.
    """

    student: str
    files: dict[str, bytes]
    timestamp: datetime.datetime | None = None
    remarks: tuple[Remark, ...] = ()
    secret: str = ""

    @property
    def sha(self) -> str:
        """A digest of all that grading depends on."""
        about = (self.timestamp, self.secret, [(r.text, r.look) for r in self.remarks])
        digest = hashlib.sha256(repr(about).encode())
        for name in sorted(self.files):
            digest.update(name.encode("utf-8", "replace") + b"\0" + hashlib.sha256(self.files[name]).digest())
        return digest.hexdigest()


def collect(student: str, folder: Path, max_bytes: int = MAX_BYTES) -> Submission:
    """Read the notebooks and the time stamp of a submission. Never raises for what is in the folder.

    A file over `max_bytes` is read to one byte beyond it, which is enough to say that it is too large.
    """
    remarks: list[Remark] = []
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        remarks.append(Remark("the submission's folder is a link or a file; it was not followed", True))
        return Submission(student, {}, None, tuple(remarks))
    files: dict[str, bytes] = {}
    places = [folder]
    if not any(name.lower().endswith(".ipynb") for name in _names(folder)):
        places += [  # unpacked one level too deep: read it all the same
            folder / name
            for name in _names(folder)[:50]
            if not name.startswith(".") and stat.S_ISDIR(os.lstat(folder / name).st_mode)
        ]
    for place in places:
        for name in _names(place):
            if not name.lower().endswith(".ipynb") or name.startswith("."):
                continue
            if len(files) >= MAX_NOTEBOOKS:
                remarks.append(Remark(f"more than {MAX_NOTEBOOKS} notebooks; the others were not read", True))
                break
            data = read_plain(place / name, max_bytes + 1)
            if data is None:
                remarks.append(Remark(f"{safe_name(name)} is not a plain file; it was not read", True))
            else:
                files.setdefault(safe_name(name), data)
    stamp, remark = _timestamp(folder / "timestamp.txt")
    if remark:
        remarks.append(remark)
    return Submission(student, files, stamp, tuple(remarks), _secret(folder / "submission_secret.txt"))


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def read_plain(path: Path, limit: int) -> bytes | None:
    """At most `limit` bytes of a regular file; None for a link, a device, a pipe, or what cannot be read."""
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_CLOEXEC", 0)
    )
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # opening a pipe or a device can already do something
            return None
        descriptor = os.open(path, flags)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(limit)


def _timestamp(path: Path) -> tuple[datetime.datetime | None, Remark | None]:
    data = read_plain(path, 200)
    if data is None or not data.strip():
        return None, None
    try:
        stamp = _utc(data.decode("utf-8", "replace").strip())
    except (ValueError, OverflowError, TypeError, AttributeError):
        return None, Remark("timestamp.txt is not a time; the submission counts as having none", True)
    if stamp > datetime.datetime.now(datetime.UTC).replace(tzinfo=None) + datetime.timedelta(days=1):
        return None, Remark("timestamp.txt lies in the future; the submission counts as having none", True)
    return stamp, None


def _utc(text: str) -> datetime.datetime:
    """A time stamp as UTC without a time zone, read as nbgrader reads it. Raises ValueError and the like."""
    with contextlib.suppress(ValueError):  # as nbgrader writes it, unless told otherwise
        return datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f UTC")
    from dateutil import parser, tz

    parts = text.split(" ")
    if len(parts) == 3:
        zone = int(parts[2]) if re.fullmatch(r"\s*[+-]?[0-9_]+\s*", parts[2]) else tz.gettz(parts[2])
        stamp: datetime.datetime = parser.parse(f"{parts[0]} {parts[1]} TZ", tzinfos={"TZ": zone})
    else:
        stamp = parser.parse(text)
    if stamp.tzinfo is not None:
        stamp = (stamp - (stamp.utcoffset() or datetime.timedelta())).replace(tzinfo=None)
    return stamp


def _secret(path: Path) -> str:
    """The submission's secret; "" for one that `nbgrader submit` would not have written."""
    data = (read_plain(path, 200) or b"").strip()
    return data.decode() if re.fullmatch(rb"[0-9a-f]{32,128}", data) else ""
