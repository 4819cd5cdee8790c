"""`kill -9` of something while `specdec autograde` runs: shared by the tests that do it at random moments.

The quick suite kills a few times; SPECDEC_KILLS=50 for the long run, SPECDEC_SEED to repeat one.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psutil
from classroom import FILE, Classroom
from grading_sample import RIGHT, release

from specdec_helpers.grading.batch import Options, run_batch
from specdec_helpers.grading.course import Course
from specdec_helpers.grading.work import Bench, Lesson, Outcome

KILLS = int(os.environ.get("SPECDEC_KILLS", "3"))
SEED = int(os.environ.get("SPECDEC_SEED", "7"))
CLASS = 8
# `specdec autograde`, with the patience of our choice.
COMMAND = (
    "import sys; from specdec_helpers.grading import desk; desk.PATIENCE = float(sys.argv.pop(1));"
    "from specdec_helpers.cli import main; sys.exit(main())"
)
Pick = Callable[
    [int], psutil.Process | None
]  # the driver's pid -> a process to kill, None while there is none


@dataclass(frozen=True)
class Struck:
    """What a kill did: the command's exit status and words, whether anything was hit, and the driver's children."""

    status: int
    text: str
    hit: bool
    wanted: int
    children: list[psutil.Process]


def hand_in(room: Classroom, version: int) -> None:
    """The class's submissions, in one of two versions that score differently everywhere."""
    slow = "import time\ntime.sleep(0.05)\n"
    for i in range(CLASS):
        right = (i + version) % 2 == 0
        answers = {**RIGHT, "double": slow + RIGHT["double"]} if right else {"count": "count = 3"}
        room.submit(f"s{i}", release(**answers))
    room.submit("bad", b"{" if version else b"")


def finish(room: Classroom) -> None:
    """Run to the end, in this process with its warm jail: quicker, and the same code but for the pool."""
    summary = run_batch(Course.here(str(room.folder)), "lesson1", Options(quiet=True))
    assert (summary.status, list(summary.look), summary.ours) == (1, ["bad"], {})


def in_this_process(lesson: Lesson, tasks: Any, workers: int) -> Iterator[Outcome]:
    """Stands in for the pool in `finish`."""
    bench = Bench(lesson)
    for task in tasks:
        yield bench.do(task)


def straight(room: Classroom) -> list[dict[str, bytes]]:
    """What uninterrupted runs leave behind for version 0, then 1; every later run starts from the other version."""
    whole = []
    for version in (0, 1):
        hand_in(room, version)
        finish(room)
        whole.append(room.everything())
    assert whole[0] != whole[1]
    return whole


def family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def strike(
    room: Classroom, pick: Pick, patience: float = 60.0, then: Callable[[], None] = lambda: None
) -> Struck:
    """Start the command, kill what `pick` finds at a random moment, then do `then`; wait for the command's end."""
    command = [sys.executable, "-c", COMMAND, str(patience), "autograde", "lesson1", "--workers", "2"]
    said = room.folder / "said.txt"
    with open(said, "wb") as file:
        driver = subprocess.Popen(command, cwd=room.folder, stdout=file, stderr=file)
    # Wait until grading has begun or a bit of it is done, then a random while: moments fall everywhere.
    before = {p: p.stat().st_mtime_ns for p in room.folder.glob(f"autograded/*/lesson1/{FILE}")}
    wanted = random.randrange(CLASS)
    deadline = time.monotonic() + 60
    while driver.poll() is None and time.monotonic() < deadline:
        changed = sum(
            p.stat().st_mtime_ns != before.get(p) for p in room.folder.glob(f"autograded/*/lesson1/{FILE}")
        )
        if changed >= wanted and pick(driver.pid) is not None:
            break
        time.sleep(0.01)
    time.sleep(random.random() * 0.3)
    children = family(driver.pid)
    target = pick(driver.pid) if driver.poll() is None else None
    if target is not None:
        try:
            target.kill()
        except psutil.NoSuchProcess:
            target = None
    if target is not None:
        then()
    return Struck(driver.wait(timeout=300), said.read_text(), target is not None, wanted, children)
