"""Try again while a database or a disk is away: what goes wrong there is ours, and often passes."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
DISK = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EAGAIN,
    errno.ENOMEM,
    errno.EMFILE,
    errno.ENFILE,
    errno.EROFS,
}


class Away(RuntimeError):
    """A step did not work; `waited` tells whether all our patience was spent on it."""

    def __init__(self, text: str, waited: bool) -> None:
        super().__init__(text)
        self.waited = waited


def patiently(
    step: Callable[[], T],
    what: str,
    seconds: float,
    say: Callable[[str], None],
    tidy: Callable[[], None] = lambda: None,
) -> T:
    """Do a step, again and again for some seconds while a database or a disk refuses it.

    Args:
        step: leaves nothing behind, or nothing that a second try minds, when it fails.
        what: what it does, as in "cannot ...".
        seconds: how long to go on trying.
        say: takes a line when it lasts.
        tidy: done between two tries; its own errors do not count.

    Raises Away, or whatever else the step raises.
    """
    from sqlalchemy.exc import DBAPIError  # here, because SQLAlchemy takes its time

    until = time.monotonic() + seconds
    pause = 0.1
    while True:
        try:
            return step()
        except (DBAPIError, sqlite3.OperationalError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in DISK:
                raise Away(f"cannot {what}: {error}", waited=False) from error
            reason = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
            if time.monotonic() + pause > until:
                raise Away(f"cannot {what}: {reason}", waited=True) from error
            if pause > 0.3:
                say(f"still trying to {what}: {reason}")
            with contextlib.suppress(Exception):
                tidy()
            time.sleep(pause)
            pause = min(pause * 2, 5.0)
