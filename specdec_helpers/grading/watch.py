"""Looking at a session's processes from outside: memory, number, and time spent waiting for a processor.

Nothing here runs for a cell that answers quickly. Reads /proc, so it knows nothing on macOS (and says so by None).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True)
class Usage:
    """What the descendants of one process use: resident bytes, processes."""

    memory: int
    processes: int


def descendants(root: int) -> list[int]:
    """The process numbers of all descendants of `root`; empty where there is no /proc."""
    parents: dict[int, int] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    line = file.read()
            except OSError:
                continue
            # The command name may hold anything, so count from the last bracket.
            parents[int(name)] = int(line[line.rindex(b")") + 2 :].split()[1])
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    found, todo = [], [root]
    while todo:
        new = children.pop(todo.pop(), [])
        found += new
        todo += new
    return found


def usage(root: int, base: int = 0) -> Usage:
    """Memory and number of the descendants of `root`.

    Counted is resident memory without shared file pages, less `base` bytes for each process: what a fork has in
    common with the warm process.
    """
    pids, memory = descendants(root) if root else [], 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                words = file.read().split()
        except OSError:
            continue
        memory += max(0, (int(words[1]) - int(words[2])) * _PAGE - base)
    return Usage(memory, len(pids))


def children(pid: int) -> list[int]:
    """The children of a process."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            return [int(word) for word in file.read().split()]
    except OSError:  # a kernel without this file
        return descendants(pid)


def outer_pid(candidates: Iterable[int], inner: int) -> int | None:
    """Which of these processes calls itself `inner` in its own process namespace."""
    for pid in candidates:
        try:
            with open(f"/proc/{pid}/status") as file:
                for line in file:
                    if line.startswith("NSpid:"):
                        if int(line.split()[-1]) == inner:
                            return pid
                        break
        except OSError:
            continue
    return None


def stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal (SIGSTOP)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            line = file.read()
    except OSError:
        return False
    return line[line.rindex(b")") + 2 :][:1] in (b"T", b"t")


class Waiting:
    """For how long a process was ready to run but had no processor; 0 where the kernel does not tell.

    `pid` None means the thread that makes this. Keeps one descriptor open, so that asking costs microseconds.
    """

    def __init__(self, pid: int | None) -> None:
        self._fd = -1
        path = "/proc/thread-self/schedstat" if pid is None else f"/proc/{pid}/schedstat"
        with contextlib.suppress(OSError):
            self._fd = os.open(path, os.O_RDONLY)
        self._last = 0.0

    def seconds(self) -> float:
        """Seconds so far; the last known value once the process is gone."""
        if self._fd >= 0:
            try:
                self._last = int(os.pread(self._fd, 100, 0).split()[1]) / 1e9
            except (OSError, IndexError, ValueError):
                self.close()
        return self._last

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def kills_by_the_kernel() -> int:
    """How many processes the kernel has killed for want of memory since boot; 0 where it does not tell."""
    try:
        with open("/proc/vmstat") as file:
            for line in file:
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def kill_tree(pid: int) -> None:
    """Kill the descendants of a process, as far as they can be found."""
    for _ in range(20):
        found = descendants(pid)
        if not found:
            return
        for each in found:
            with contextlib.suppress(OSError):
                os.kill(each, signal.SIGKILL)
        time.sleep(0.01)
