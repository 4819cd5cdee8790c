"""What travels between the driver and its workers. It imports next to nothing, so that both are quick to start."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .limits import Limits

if TYPE_CHECKING:
    from .engine import Graded
    from .master import Master
    from .rebuild import Remark

SEALED, PLAIN = "sealed", "not sandboxed"


@dataclass(frozen=True)
class Task:
    """A submission to grade: plain bytes, so that it can travel."""

    student: str
    files: dict[str, bytes]
    seed: int
    remarks: tuple[Remark, ...] = ()


@dataclass(frozen=True)
class Lesson:
    """What is the same for every submission: the source notebooks, the limits, how to sandbox. It travels once."""

    name: str
    notebooks: dict[str, bytes]
    limits: Limits
    mode: str = "auto"
    hide: tuple[str, ...] = ()

    def masters(self) -> dict[str, Master]:
        """The notebooks, parsed and compiled."""
        from .master import Master

        return {name: Master(data, self.name, name) for name, data in self.notebooks.items()}


@dataclass(frozen=True)
class Outcome:
    """What came of a task: graded notebooks by name, or the reason why we failed (`ours`)."""

    student: str
    graded: dict[str, Graded] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    ours: str = ""
    wall: float = 0.0

    @property
    def scores(self) -> dict[str, float]:
        """Points by grade id, over all notebooks."""
        return {name: points for graded in self.graded.values() for name, points in graded.scores.items()}

    @property
    def mistakes(self) -> dict[str, list[str]]:
        """Named misconceptions by grade id."""
        return {name: ids for graded in self.graded.values() for name, ids in graded.mistakes.items()}

    @property
    def look(self) -> bool:
        """Whether a person should look."""
        return any(remark.look for remark in self.remarks)


def seed_of(course: str, lesson: str, student: str) -> int:
    """The seed of a submission: the same on every run, another one for every student."""
    digest = hashlib.sha256("\0".join((course, lesson, student)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:7], "big")
