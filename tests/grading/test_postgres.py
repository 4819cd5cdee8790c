"""The gradebook on a real PostgreSQL server: two batches at once, and a server that stops in the middle."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from classroom import FULL, ZERO, Classroom
from database_server import Server
from grading_sample import RIGHT, release, source_notebook

from specdec_helpers.grading import batch, desk, work
from specdec_helpers.grading.batch import Options, run_batch
from specdec_helpers.grading.course import Course, CourseError
from specdec_helpers.grading.report import read_class
from specdec_helpers.grading.work import Bench


def test_two_lessons_at_once_and_a_server_that_goes_away(
    tmp_path: Path, server: Server, warm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbgrader.api import Gradebook

    url = server.new("both")
    room = Classroom(tmp_path / "course", url=url)
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


def test_a_server_that_is_away_at_the_start(
    tmp_path: Path, server: Server, warm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "run_local", lambda lesson, tasks, workers: map(Bench(lesson).do, tasks))
    room = Classroom(tmp_path / "course", url=server.new("away"))
    course = Course.here(str(room.folder))
    room.submit("a", release(**RIGHT))
    assert run_batch(course, "lesson1", Options(quiet=True)).status == 0
    room.submit("a", release(double=RIGHT["double"]))
    server.stop()
    monkeypatch.setattr(desk, "PATIENCE", 0.5)
    with pytest.raises(CourseError, match=r"cannot open the gradebook.*nothing was graded"):
        run_batch(course, "lesson1", Options(quiet=True))
    monkeypatch.setattr(desk, "PATIENCE", 60.0)
    threading.Thread(target=lambda: (time.sleep(1.0), server.start()), daemon=True).start()
    assert run_batch(course, "lesson1", Options(quiet=True)).graded == ["a"]
    assert room.scores() == {"a": {**ZERO, "test_double": 4.0}}
