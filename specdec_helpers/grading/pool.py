"""Grade in parallel on this machine: a pool of worker processes, each with a warm jail of its own.

A worker that dies (the kernel was out of memory, somebody killed it) breaks the pool; it is made anew, and what was
in flight is done again, one at a time, so that only the submission that breaks it alone twice is reported as ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection
from operator import length_hint

from .launch import launch_early
from .tasks import Lesson, Outcome, Task

AHEAD = 2  # tasks handed out per worker: one in work, one waiting, and no more bytes in memory than that
PATIENCE = 10.0  # seconds that workers get to close their jails at the end
TICK = 2.0  # seconds between looks at a pool that says nothing
_PR_SET_PDEATHSIG = 1

_lesson: Lesson | None = None


def _settle(lesson: Lesson, driver: int, workers: int) -> None:
    """Run in a new worker: leave Ctrl-C to the driver, end when the driver ends, get everything ready.

    The sandbox is started first: it warms up while this process imports, parses and compiles.
    """
    global _lesson
    _lesson = lesson
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != driver:
            os._exit(1)
    running = launch_early(lesson.mode, lesson.limits, lesson.hide)
    from .work import own_bench

    with contextlib.suppress(Exception):  # the first task tries again, and its outcome says what is wrong
        _share_a_processor(own_bench(lesson, running).jail.warm_pid, driver, workers)


def _share_a_processor(warm: int, driver: int, workers: int) -> None:
    """Put this worker and its warm process on one processor, another one for each worker, where there are enough.

    They take turns, and handing over on one processor costs much less than waking up another. Where to begin
    differs from batch to batch.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    processors = sorted(os.sched_getaffinity(0))
    number = multiprocessing.current_process().name.rpartition("-")[2]
    if workers > len(processors) or not number.isdigit():
        return
    for pid in (0, warm):
        os.sched_setaffinity(pid, {processors[(driver + int(number)) % len(processors)]})


def _do(task: Task) -> Outcome:
    from .work import work

    assert _lesson is not None
    return work(_lesson, task)


def _nothing() -> None:
    """What a worker is started with before there is a task for it."""


def run_local(lesson: Lesson, tasks: Iterable[Task], workers: int) -> Iterator[Outcome]:
    """Grade tasks on `workers` processes; outcomes in the order they are done. Tasks are taken as they are needed.

    As many workers as there are tasks for certain (`length_hint`) are started before the first task is asked for.
    """
    waiting: dict[Future[Outcome], Task] = {}
    # Student time is bounded; a worker that takes this long is stuck in something of ours.
    too_long = 8 * lesson.limits.notebook_seconds + 300
    executor, progress = _executor(lesson, workers), time.monotonic()
    try:
        with contextlib.suppress(BrokenProcessPool):  # the first task will notice
            for _ in range(min(length_hint(tasks), workers)):
                executor.submit(_nothing)
        source = iter(tasks)
        while True:
            suspects: list[Task] = []
            for task in itertools.islice(source, AHEAD * workers - len(waiting)):
                try:
                    waiting[executor.submit(_do, task)] = task
                except BrokenProcessPool:  # a worker died since the last outcome was taken
                    suspects.append(task)
                    break
            if not waiting and not suspects:
                return
            done, _ = wait(waiting, timeout=0 if suspects else TICK, return_when=FIRST_COMPLETED)
            if done:
                progress = time.monotonic()
            elif not suspects and not _broken(executor) and time.monotonic() - progress < too_long:
                continue
            else:  # broken without a word to these futures, or stuck
                suspects += waiting.values()
                waiting.clear()
            for future in done:
                task = waiting.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    suspects.append(task)
                except Exception as error:  # an outcome that does not travel
                    yield Outcome(task.student, ours=f"{type(error).__name__}: {error}"[:500])
            if suspects:
                suspects += waiting.values()
                waiting.clear()
                _end(executor, patience=0)
                yield from (_alone(lesson, task) for task in suspects)
                executor, progress = _executor(lesson, workers), time.monotonic()
    finally:
        _end(executor, patience=0 if sys.exc_info()[0] is not None else PATIENCE)


def _executor(lesson: Lesson, workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")  # no threads or locks of the driver in a worker
    return ProcessPoolExecutor(workers, context, _settle, (lesson, os.getpid(), workers))


def _alone(lesson: Lesson, task: Task) -> Outcome:
    """Do a task in a pool of its own, so that nobody else suffers if it breaks it."""
    for _ in range(2):
        executor = _executor(lesson, 1)
        try:
            return executor.submit(_do, task).result(timeout=8 * lesson.limits.notebook_seconds + 300)
        except (BrokenProcessPool, TimeoutError):
            pass
        finally:
            _end(executor, patience=0)
    return Outcome(task.student, ours="the worker process was lost three times while grading this submission")


def _broken(executor: ProcessPoolExecutor) -> bool:
    return bool(getattr(executor, "_broken", False))


def _end(executor: ProcessPoolExecutor, patience: float) -> None:
    """Shut a pool down; kill the workers that have not ended by themselves after `patience` seconds.

    The pool's own shutdown would wait forever for a worker that was just being started, and for one that waits for a
    lock which a killed worker took along.
    """
    workers = {
        process.sentinel: process for process in (getattr(executor, "_processes", None) or {}).values()
    }
    executor.shutdown(wait=False, cancel_futures=True)
    deadline = time.monotonic() + patience
    while workers and (left := deadline - time.monotonic()) > 0:
        for sentinel in connection.wait(list(workers), left):
            del workers[sentinel]  # type: ignore[arg-type]
    for process in workers.values():
        process.kill()
