"""The unit of work: one submission in, one outcome out. It runs in this process, in a worker, or on another machine."""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path

from .engine import Graded, grade
from .launch import Running
from .rebuild import Remark
from .sandbox import Jail, OursError
from .tasks import Lesson, Outcome, Task

__all__ = ["Bench", "Lesson", "Outcome", "Task", "own_bench", "work"]

TRIES = 3


class Bench:
    """A place to work: one warm jail, one lesson. Not to be shared between threads."""

    def __init__(self, lesson: Lesson, running: Running | None = None) -> None:
        """`running` is a warm process that was started for this lesson in advance."""
        self.lesson = lesson
        self.masters = lesson.masters()
        self._jail: Jail | None = None
        self._running = running

    @property
    def jail(self) -> Jail:
        """The warm jail; started when first needed. Raises OursError."""
        if self._jail is None:
            running, self._running = self._running, None
            early = {"running": running} if running is not None else {}
            lesson = self.lesson
            self._jail = Jail(lesson.limits, mode=lesson.mode, hide=lesson.hide, **early)
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
        if self._running is not None:
            running, self._running = self._running, None
            running.stop()
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


def own_bench(lesson: Lesson, running: Running | None = None) -> Bench:
    """This thread's bench for a lesson; it stays warm until another lesson is asked for."""
    bench: Bench | None = getattr(_benches, "bench", None)
    if bench is None or bench.lesson != lesson:
        if bench is not None:
            bench.close()
        bench = _benches.bench = Bench(lesson, running)
    return bench


def work(lesson: Lesson, task: Task) -> Outcome:
    """Grade a task at this thread's own bench."""
    return own_bench(lesson).do(task)
