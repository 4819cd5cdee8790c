"""What the sandbox costs: its start, a fork, a cell, a snapshot, a batch of calls, a call of a model.

    python benchmarks/sandbox_cost.py [sessions]

CPU is the honest figure on a busy machine; wall time is printed beside it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from specdec_helpers.grading.limits import Limits
from specdec_helpers.grading.sandbox import Jail

CELL = "def f(x):\n    return [2 * v for v in x]\ny = f([1, 2, 3])\ny"
MODEL = "def g(model, n):\n    for _ in range(n):\n        model([1, 2, 3])\n    return n"
CELLS = 25


def cpu_of(jail: Jail) -> float:
    """CPU seconds of the warm process and of all sessions that have ended."""
    with open(f"/proc/{jail.warm_pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


def memory_of(jail: Jail) -> float:
    """Resident memory of the warm process (MB)."""
    with open(f"/proc/{jail.warm_pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(jail: Jail, times: int, play: Callable[[Any], object]) -> tuple[float, float, float]:
    """Milliseconds a session: CPU inside, CPU of the driver, wall."""
    with jail.session() as session:
        play(session)
    inside, driver, wall = cpu_of(jail), time.process_time(), time.perf_counter()
    for _ in range(times):
        with jail.session() as session:
            play(session)
    spent = (cpu_of(jail) - inside, time.process_time() - driver, time.perf_counter() - wall)
    return tuple(1e3 * each / times for each in spent)  # type: ignore[return-value]


def main(sessions: int = 100) -> None:
    """Print the table."""
    began = time.perf_counter()
    jail = Jail(Limits(cell_seconds=60, notebook_seconds=300))
    print(f"mode {jail.mode}, start {time.perf_counter() - began:.2f} s, {memory_of(jail):.0f} MB resident")

    def cells(session: Any) -> None:
        for index in range(CELLS):
            session.run_cell(CELL, index + 1)

    def calls(session: Any) -> None:
        session.run_cell(CELL, 1)
        for _ in range(100):
            session.call_batch("f", [([1, 2, 3],)])

    def snapshots(session: Any) -> None:
        for _ in range(4):
            session.snapshot()

    def models(session: Any) -> None:
        session.run_cell(MODEL, 1)
        session.call_batch("g", [(lambda tokens: 1, 2000)])

    empty = measure(jail, sessions, lambda session: None)
    rows = [
        ("fork and clear away", empty, 1, (0.0, 0.0, 0.0)),
        (f"the same with {CELLS} small cells", measure(jail, sessions, cells), 1, (0.0, 0.0, 0.0)),
        ("a snapshot", measure(jail, sessions, snapshots), 4, empty),
        ("a batch of one call", measure(jail, max(5, sessions // 5), calls), 100, empty),
        ("a call of a model", measure(jail, 5, models), 2000, empty),
    ]
    print(f"{'milliseconds':<28} {'CPU inside':>11} {'CPU driver':>11} {'wall':>9}")
    for name, spent, share, base in rows:
        each = [(a - b) / share for a, b in zip(spent, base, strict=True)]
        print(f"{name:<28} {each[0]:>11.3f} {each[1]:>11.3f} {each[2]:>9.3f}")
    print(f"{memory_of(jail):.0f} MB resident after the last session, {jail.starts} start")
    jail.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
