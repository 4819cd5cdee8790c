"""The words in which the sandbox answers: results, deaths, and what a name of the student's holds."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Any

from ..checks.ask import Raised


class OursError(RuntimeError):
    """The grader's own failure: try again; never charge it to a student."""


@dataclass(frozen=True)
class Death:
    """Why a session ended early.

    Attributes:
        kind: "time", "memory", "exit", "signal", "protocol" or "jail" (the whole jail is gone).
        sentence: one plain sentence for the student's feedback.
        doubtful: True where somebody else than the student may have done it (a SIGKILL from outside looks like
            one from inside). Grade such a submission once more in a fresh jail before believing it.
    """

    kind: str
    sentence: str
    doubtful: bool = False


class SessionDied(Exception):
    """The student's process is gone; `death` says why. What was earned before stays earned."""

    def __init__(self, death: Death) -> None:
        super().__init__(death.sentence)
        self.death = death


@dataclass(frozen=True)
class Function:
    """A name in the student's notebook that holds something callable."""

    name: str


@dataclass(frozen=True)
class Unsupported:
    """A name that holds something that cannot travel (a set, a module, an open file …)."""

    reason: str


class Missing:
    """The type of MISSING: the name does not exist in the student's notebook."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


@dataclass
class Budget:
    """Student seconds left for a whole notebook; hand the same one to every session of a submission."""

    seconds: float
    used: float = 0.0
    answering: float = 0.0  # the grader's own seconds in models that the submission called

    @property
    def left(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self.seconds - self.used)


@dataclass(frozen=True)
class CellResult:
    """What one cell did.

    Attributes:
        outputs: nbformat 4 output dicts (stream, display_data, execute_result, error), cut to the limits.
        error: the exception that ended the cell, or None.
        seconds: student seconds used.
        died: None, or the one plain sentence why the process is gone; `session.death` has the details.
        timed_out: True if it died of its time.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: Raised | None = None
    seconds: float = 0.0
    died: str | None = None
    timed_out: bool = False


def death_of(status: int | None, lost: bool) -> Death:
    """The death of a process that ended by itself with this status (None: unknown), or with its whole jail."""
    if lost:
        return Death("jail", "the code ended the whole sandbox it ran in", doubtful=True)
    if status is None:
        return Death("exit", "the code cut its connection to the grader")
    if status >= 0:
        return Death("exit", f"the code ended its own process (exit status {status})")
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return Death("signal", f"the process was ended by {name}", doubtful=name == "SIGKILL")
