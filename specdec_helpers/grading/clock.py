"""Student seconds: wall time, less what was spent in the grader and less waiting for a busy machine's processor.

A cell that sleeps uses its time; a cell that is ready to run but has no processor (the machine grades many others) does
not, up to a factor: `STRETCH` wall seconds count as one at least, so that every wait ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable

STRETCH = 3.0


class Clock:
    """Counts the student seconds of one request.

    `waiting()` tells for how long, since some fixed moment, the processes concerned have waited for a processor.
    """

    def __init__(self, allowed: float, waiting: Callable[[], float]) -> None:
        self.allowed = allowed
        self._waiting, self._waited = waiting, waiting()
        self._wall, self._since = 0.0, time.monotonic()
        self._paused, self._stopped = False, 0.0

    def pause(self) -> None:
        """From here on the time is the grader's."""
        self._wall, self._paused = self.wall(), True
        self._stopped = time.monotonic()

    def resume(self) -> float:
        """From here on the time is the student's again; returns the seconds that were the grader's."""
        now = time.monotonic()
        taken = now - self._stopped
        self._since, self._paused = now, False
        return taken

    def wall(self) -> float:
        """Wall seconds so far, without those of the grader."""
        return self._wall if self._paused else self._wall + time.monotonic() - self._since

    def used(self) -> float:
        """Student seconds so far."""
        wall = self.wall()
        return max(wall - (self._waiting() - self._waited), wall / STRETCH)

    def left(self) -> float:
        """Student seconds left; not positive when the time is over."""
        return self.allowed - self.used()
