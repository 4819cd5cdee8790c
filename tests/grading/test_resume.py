"""`kill -9` of driver, worker or sandbox at random moments: the next run ends where an uninterrupted one does.

Three moments in the quick suite; SPECDEC_KILLS=50 for the long run, SPECDEC_SEED to repeat one.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from classroom import FILE, Classroom
from grading_sample import RIGHT, release

from specdec_helpers.grading import batch
from specdec_helpers.grading.batch import Options, run_batch
from specdec_helpers.grading.course import Course
from specdec_helpers.grading.work import Bench, Lesson, Outcome

KILLS = int(os.environ.get("SPECDEC_KILLS", "3"))
SEED = int(os.environ.get("SPECDEC_SEED", "7"))
CLASS = 8
SPECDEC = [str(Path(sys.executable).parent / "specdec"), "autograde", "lesson1", "--workers", "2"]


def hand_in(room: Classroom, version: int) -> None:
    """The class's submissions, in one of two versions that score differently everywhere."""
    slow = "import time\ntime.sleep(0.05)\n"
    for i in range(CLASS):
        right = (i + version) % 2 == 0
        answers = {**RIGHT, "double": slow + RIGHT["double"]} if right else {"count": "count = 3"}
        room.submit(f"s{i}", release(**answers))
    room.submit("bad", b"{" if version else b"")


def start(room: Classroom) -> subprocess.Popen[bytes]:
    return subprocess.Popen(SPECDEC, cwd=room.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def family(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def victim(driver: int, kind: str) -> psutil.Process | None:
    """A process to kill: the driver, one of its workers, or one of the sandboxes' processes."""
    if kind == "driver":
        return psutil.Process(driver)
    found = []
    for process in family(driver):
        try:
            sandboxed = any("bwrap" in p.name() for p in [process, *process.parents()])
            spawned = "spawn_main" in " ".join(process.cmdline())
        except psutil.Error:
            continue
        if (kind == "sandbox" and sandboxed) or (kind == "worker" and spawned and not sandboxed):
            found.append(process)
    return random.choice(found) if found else None


def finish(room: Classroom) -> None:
    """Run to the end, in this process with its warm jail: quicker, and the same code but for the pool."""
    summary = run_batch(Course.here(str(room.folder)), "lesson1", Options(quiet=True))
    assert (summary.status, list(summary.look), summary.ours) == (1, ["bad"], {})


def in_this_process(lesson: Lesson, tasks: Any, workers: int) -> Iterator[Outcome]:
    bench = Bench(lesson)
    for task in tasks:
        yield bench.do(task)


@pytest.mark.skipif(sys.platform != "linux", reason="finds its victims in /proc")
@pytest.mark.timeout(3600)
def test_killed_at_any_moment(tmp_path: Path, warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "run_local", in_this_process)
    random.seed(SEED)
    whole: list[dict[str, bytes]] = []
    straight = Classroom(tmp_path / "straight")
    for version in (0, 1):
        hand_in(straight, version)
        finish(straight)
        whole.append(straight.everything())
    assert whole[0] != whole[1]
    room = Classroom(tmp_path / "killed")
    hand_in(room, 0)
    finish(room)
    log: list[Any] = []
    for moment in range(KILLS):
        version = (moment + 1) % 2
        hand_in(room, version)
        kind = ("driver", "worker", "sandbox")[moment % 3]
        driver = start(room)
        # Wait until grading has begun or a bit of it is done, then a random while: moments fall everywhere.
        before = {p: p.stat().st_mtime_ns for p in room.folder.glob(f"autograded/*/lesson1/{FILE}")}
        wanted = random.randrange(CLASS)
        deadline = time.monotonic() + 60
        while driver.poll() is None and time.monotonic() < deadline:
            changed = sum(
                p.stat().st_mtime_ns != before.get(p)
                for p in room.folder.glob(f"autograded/*/lesson1/{FILE}")
            )
            if changed >= wanted and victim(driver.pid, kind) is not None:
                break
            time.sleep(0.01)
        time.sleep(random.random() * 0.3)
        children = family(driver.pid)
        target = victim(driver.pid, kind) if driver.poll() is None else None
        if target is not None:
            try:
                target.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                target = None
        status = driver.wait(timeout=300)
        if kind == "driver":
            _, alive = psutil.wait_procs(children, timeout=15)
            assert not alive, f"left over after the driver was killed: {alive}"
        else:
            assert status == 1, f"moment {moment}: {kind} killed, exit status {status}"
            assert room.everything() == whole[version], f"moment {moment}: {kind}"
        finish(room)
        assert room.everything() == whole[version], f"moment {moment}: {kind}, seed {SEED}"
        log.append((kind, wanted, target is not None))
    print(f"{sum(hit for _, _, hit in log)} of {len(log)} kills hit", log)
