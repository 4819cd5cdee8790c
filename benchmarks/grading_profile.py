"""Where the time of grading goes, submission by submission, in one process with one jail."""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grading_class import Course, lessons

from specdec_helpers.grading import (
    batch,
    collect,
    desk,
    engine,
    judge,
    pool,
    sandbox,
    session,
    testcell,
    work,
)
from specdec_helpers.grading.course import Course as Folder
from specdec_helpers.grading.gradebook import Book

PARTS: list[tuple[str, Any, str]] = [
    ("start and end of a session", sandbox.Jail, "session"),
    ("start and end of a session", session.Session, "close"),
    ("copies of the process for tests", session.Session, "snapshot"),
    ("cells of the student", session.Session, "run_cell"),
    ("values and calls for the tests", session.Session, "lookup"),
    ("values and calls for the tests", session.Session, "call_batch"),
    ("tests here (calls included)", testcell.Running, "show"),
    ("tests here (calls included)", testcell.Running, "hide"),
    ("reading and rebuilding", engine, "rebuild"),
    ("cleaning outputs", judge, "clean_outputs"),
    ("writing the notebook's bytes", engine, "_notebook"),
    ("reading the submission's files", collect, "collect"),
    ("gradebook", Book, "write"),
    ("publishing files", desk, "publish"),
]


def profile(folder: Path, count: int) -> None:
    """Print a table of milliseconds a submission by part. Parts in brackets of others are counted in both."""
    wall: dict[str, float] = defaultdict(float)
    starts: dict[str, float] = defaultdict(float)
    for part, owner, name in PARTS:
        if hasattr(owner, name):
            setattr(owner, name, _timed(getattr(owner, name), wall, part))
    batch.collect = collect.collect  # type: ignore[attr-defined]
    course, total, cpu = Course(folder / "profile"), 0.0, 0.0
    which = lessons()

    def here(lesson: work.Lesson, tasks: Any, workers: int) -> Any:
        bench, began = work.Bench(lesson), time.perf_counter()
        bench.jail  # noqa: B018 - its start is not a submission's
        starts["a sandbox"] += time.perf_counter() - began
        began = time.perf_counter()
        tasks.desk  # noqa: B018
        starts["gradebook and records"] += time.perf_counter() - began
        nonlocal total, cpu
        before, began = _cpu(), time.perf_counter()
        for task in tasks:
            yield bench.do(task)
        total += time.perf_counter() - began
        bench.close()
        cpu += _cpu() - before

    real, batch.run_local = pool.run_local, here
    try:
        for lesson in which:
            course.hand_in(lesson, count)
            batch.run_batch(Folder.here(str(course.folder)), lesson, batch.Options(quiet=True))
    finally:
        batch.run_local = real
    graded = count * len(which)
    print(f"\nwhere the time goes, one process, ms a submission ({graded} submissions)")
    for part, seconds in sorted(wall.items(), key=lambda item: -item[1]):
        print(f"  {part:<36}{1000 * seconds / graded:>8.1f}")
    print(f"  {'all of it (wall)':<36}{1000 * total / graded:>8.1f}")
    print("and once a command and worker, ms, of a lesson that the gradebook does not know yet")
    for part, seconds in starts.items():
        print(f"  {part:<36}{1000 * seconds / len(which):>8.0f}")


def _cpu() -> float:
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def _timed(function: Callable[..., Any], wall: dict[str, float], part: str) -> Callable[..., Any]:
    def timed(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            wall[part] += time.perf_counter() - began

    return timed
