"""The unit of work: one submission in, one outcome out. It runs in this process, in a worker, or on another machine."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .engine import Graded, grade
from .limits import Limits
from .master import Master
from .rebuild import Remark
from .sandbox import Jail, OursError

TRIES = 3


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


class Bench:
    """A place to work: one warm jail, one lesson. Not to be shared between threads."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.masters = lesson.masters()
        self._jail: Jail | None = None

    @property
    def jail(self) -> Jail:
        """The warm jail; started when first needed. Raises OursError."""
        if self._jail is None:
            self._jail = Jail(self.lesson.limits, mode=self.lesson.mode, hide=self.lesson.hide)
        return self._jail

    def do(self, task: Task) -> Outcome:
        """Grade a task. A failure of ours is tried again in a new jail, then reported in the outcome."""
        began = time.perf_counter()
        trouble = ""
        for attempt in range(TRIES):
            try:
                graded = {
                    name: grade(master, self._files(task, name), self.jail, task.seed, self.lesson.limits)
                    for name, master in self.masters.items()
                }
            except Exception as error:  # whatever it is, it is not the student's, and the others go on
                trouble = _told(error)
                with contextlib.suppress(Exception):
                    self.close()
                time.sleep(0.2 * 4**attempt if attempt + 1 < TRIES else 0)
                continue
            remarks = (*task.remarks, *_without_repeats(graded.values()))
            return Outcome(task.student, graded, remarks, wall=time.perf_counter() - began)
        return Outcome(task.student, ours=trouble, wall=time.perf_counter() - began)

    def _files(self, task: Task, name: str) -> Mapping[str, bytes]:
        """The files that may be this notebook: all but those under the name of another one of the lesson."""
        others = {f"{other}.ipynb" for other in self.masters if other != name}
        return {file: data for file, data in task.files.items() if file not in others}

    def close(self) -> None:
        """Stop the jail."""
        if self._jail is not None:
            jail, self._jail = self._jail, None
            jail.close()


def _told(error: Exception) -> str:
    """An exception in one line; where it is a bug of ours, with its place."""
    text = f"{type(error).__name__}: {error}".replace("\n", " ")[:500]
    if isinstance(error, OursError | OSError):
        return text
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{text} ({Path(frame.filename).name}, line {frame.lineno})"


def _without_repeats(graded: Iterable[Graded]) -> list[Remark]:
    seen: dict[str, Remark] = {}
    for one in graded:
        for remark in one.remarks:
            seen.setdefault(remark.text, remark)
    return list(seen.values())


_benches = threading.local()


def work(lesson: Lesson, task: Task) -> Outcome:
    """Grade a task at this thread's own bench, which stays warm for the next task of the same lesson."""
    bench: Bench | None = getattr(_benches, "bench", None)
    if bench is None or bench.lesson != lesson:
        if bench is not None:
            bench.close()
        bench = _benches.bench = Bench(lesson)
    return bench.do(task)
