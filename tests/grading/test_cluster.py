"""A class on a real Dask cluster: a scheduler and two workers on loopback, no disk and no database in common."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from classroom import FULL, ZERO, Classroom
from grading_sample import RIGHT, release

from specdec_helpers.grading import batch
from specdec_helpers.grading.batch import Options, run_batch
from specdec_helpers.grading.cluster import NoCluster, run_on_cluster
from specdec_helpers.grading.course import Course
from specdec_helpers.grading.limits import Limits
from specdec_helpers.grading.work import Lesson

pytest.importorskip("distributed")
DASK = [sys.executable, "-c", "import sys; from dask.__main__ import main; sys.argv[0] = 'dask'; main()"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """(address, workers) of a scheduler and two workers, each in an empty folder of its own."""
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = [
        "scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
        "--scheduler-file",
        str(file),
    ]
    processes = [subprocess.Popen([*DASK, *words], cwd=tmp_path, **quiet)]  # type: ignore[call-overload]
    try:
        for _ in range(300):
            if file.exists() and file.read_text().strip().endswith("}"):
                break
            time.sleep(0.2)
        address = json.loads(file.read_text())["address"]
        for name in ("one", "two"):
            place = tmp_path / name
            place.mkdir()
            words = ["worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name]
            words += ["--death-timeout", "120", "--local-directory", str(place)]
            processes.append(subprocess.Popen([*DASK, *words], cwd=place, **quiet))  # type: ignore[call-overload]
        yield address, processes[1:]
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_same_scores_with_a_worker_lost_on_the_way(
    tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    address, workers = cluster
    with Client(address, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)
    room = Classroom(tmp_path / "course")
    half = release(double="def double(x):\n    return 2 if x == 1 else 10")
    for i in range(12):
        room.submit(f"s{i:02}", half if i % 3 == 0 else release(**RIGHT))
    room.submit("bad", b"not a notebook")
    lost = []

    def losing(lesson: Lesson, tasks: Any, scheduler: str) -> Iterator[Any]:
        for outcome in run_on_cluster(lesson, tasks, scheduler):
            if not lost:
                lost.append(workers[0].pid)
                os.kill(workers[0].pid, signal.SIGKILL)
            yield outcome

    monkeypatch.setattr(batch, "run_on_cluster", losing)
    summary = run_batch(Course.here(str(room.folder)), "lesson1", Options(scheduler=address, quiet=True))
    assert lost
    assert (summary.status, len(summary.graded), summary.ours) == (1, 13, {})
    scores = room.scores()
    assert scores["bad"] == ZERO
    for i in range(12):
        assert scores[f"s{i:02}"] == ({**ZERO, "test_double": 2.0} if i % 3 == 0 else FULL)
    again = run_batch(Course.here(str(room.folder)), "lesson1", Options(scheduler=address, quiet=True))
    assert len(again.unchanged) == 13


def test_no_scheduler_there() -> None:
    with pytest.raises(NoCluster, match="no scheduler answers at tcp://127"):
        next(run_on_cluster(Lesson("lesson1", {}, Limits()), iter([]), "tcp://127.0.0.1:9", timeout=1.0))
