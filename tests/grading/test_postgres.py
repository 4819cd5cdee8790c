"""The gradebook on a real PostgreSQL server: two batches at once, and a server that stops in the middle."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from classroom import FULL, ZERO, Classroom
from grading_sample import RIGHT, release, source_notebook

from specdec_helpers.grading import batch, desk, work
from specdec_helpers.grading.batch import Options, run_batch
from specdec_helpers.grading.course import Course
from specdec_helpers.grading.report import read_class
from specdec_helpers.grading.work import Bench

pytest.importorskip("psycopg")
PLACES = [
    *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"))),
    *os.environ.get("PATH", "").split(os.pathsep),
]
BIN = next((place for place in reversed(PLACES) if (Path(place) / "initdb").exists()), "")
pytestmark = pytest.mark.skipif(
    not BIN, reason="needs PostgreSQL's server programs (Debian package postgresql)"
)


class Server:
    """A PostgreSQL server of our own, as an unprivileged user."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        # PostgreSQL refuses to run as root.
        self.how: dict[str, Any] = (
            {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        )
        if self.how:
            shutil.chown(folder, "postgres", "postgres")
        self._do("initdb", "-D", str(self.data), "-A", "trust", "-U", "grader", "--no-sync", "-E", "UTF8")
        self.start()

    def _do(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [f"{BIN}/{program}", *words],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            **self.how,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses=127.0.0.1 -p {self.port} -c fsync=off"
        self._do("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self, how: str = "immediate") -> None:
        self._do("pg_ctl", "-D", str(self.data), "-w", "-m", how, "stop")

    def url(self, name: str = "postgres") -> str:
        return f"postgresql+psycopg://grader@127.0.0.1:{self.port}/{name}"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        running = Server(Path(folder))
        try:
            yield running
        finally:
            running.stop()


def test_two_lessons_at_once_and_a_server_that_goes_away(
    tmp_path: Path, server: Server, warm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbgrader.api import Gradebook

    url = server.url()
    room = Classroom(tmp_path / "course", f'\nc.CourseDirectory.db_url = "{url}"\n')
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{Path(sys.executable).parent}")
    Gradebook(url, "specdec").close()
    room.write_source(source_notebook(), "lesson2")
    for i in range(6):
        room.submit(f"s{i}", release(**RIGHT), when="2026-01-02 03:04:05 UTC")
        room.submit(f"s{i}", release(double=RIGHT["double"]), lesson="lesson2")
    room.submit("bad", b"{")
    done: dict[str, Any] = {}

    def grade(lesson: str) -> None:
        done[lesson] = room.run("specdec", "autograde", lesson, "--workers", "1")

    threads = [threading.Thread(target=grade, args=(lesson,)) for lesson in ("lesson1", "lesson2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (done["lesson1"].returncode, done["lesson2"].returncode) == (1, 0), done
    monkeypatch.chdir(room.folder)
    course = Course.here(str(room.folder))
    first, second = read_class(course, "lesson1"), read_class(course, "lesson2")
    assert first.scores == {"bad": ZERO, **{f"s{i}": FULL for i in range(6)}}
    assert second.scores == {f"s{i}": {**ZERO, "test_double": 4.0} for i in range(6)}
    with Gradebook(url) as book:  # nbgrader's own API agrees
        assert book.find_submission("lesson1", "s3").score == 7.0
        assert str(book.find_submission("lesson1", "s3").timestamp) == "2026-01-02 03:04:05"

    # The server stops in the middle of a batch and comes back: nothing is lost, nobody is charged.
    def here(lesson: work.Lesson, tasks: Any, workers: int) -> Iterator[Any]:
        bench = Bench(lesson)
        for n, task in enumerate(tasks):
            outcome = bench.do(task)
            if n == 2:
                server.stop()
                threading.Thread(target=lambda: (time.sleep(1.5), server.start()), daemon=True).start()
            yield outcome

    monkeypatch.setattr(batch, "run_local", here)
    monkeypatch.setattr(desk, "PATIENCE", 60.0)
    for i in range(6):
        room.submit(f"s{i}", release(triple=RIGHT["triple"]))
    summary = run_batch(course, "lesson1", Options(quiet=True))
    assert (summary.status, len(summary.graded), summary.ours) == (1, 6, {})
    assert read_class(course, "lesson1").scores["s5"] == {**ZERO, "test_triple": 2.0}
