"""The batch: everything gets a row, only what changed is graded again, ours is told apart from theirs."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from classroom import FILE, FULL, ZERO, Classroom
from grading_sample import RIGHT, code, dumps, hidden, release, source_notebook
from sqlalchemy.exc import OperationalError

from specdec_helpers.grading import batch, desk, keys, pool, work
from specdec_helpers.grading.batch import Options, run_batch
from specdec_helpers.grading.commands import main
from specdec_helpers.grading.course import Course, CourseError
from specdec_helpers.grading.publish import publish
from specdec_helpers.grading.rebuild import Remark
from specdec_helpers.grading.store import Busy, Record, Store, only_one
from specdec_helpers.grading.table import Summary
from specdec_helpers.grading.work import Bench, Outcome


@pytest.fixture
def room(tmp_path: Path, warm: None, monkeypatch: pytest.MonkeyPatch) -> Classroom:
    """A course folder whose batches run in this process, with the warm jail of the tests."""

    def here(lesson: work.Lesson, tasks: Any, workers: int) -> Iterator[Outcome]:
        bench = Bench(lesson)
        for task in tasks:
            yield bench.do(task)

    monkeypatch.setattr(batch, "run_local", here)
    return Classroom(tmp_path / "course")


def run(room: Classroom, **options: Any) -> Summary:
    return run_batch(Course.here(str(room.folder)), "lesson1", Options(quiet=True, **options))


def test_five_bad_in_a_hundred(room: Classroom) -> None:
    good = release(**RIGHT)
    for i in range(95):
        room.submit(f"s{i:03}", good)
    bad = [b"", dumps(good)[:500], b"[]", dumps({"cells": []}), dumps({**good, "cells": [code("1", "x")]})]
    for i, data in enumerate(bad):
        room.submit(f"bad{i}", data)
    summary = run(room)
    assert summary.status == 1
    assert len(summary.graded) == 100
    assert sorted(summary.look) == [f"bad{i}" for i in range(5)]
    assert all(len(lines) == 1 for lines in summary.look.values())
    scores = room.scores()
    assert len(scores) == 100
    assert all(scores[f"s{i:03}"] == FULL for i in range(95))
    assert all(scores[f"bad{i}"] == ZERO for i in range(5))
    before = room.everything()
    again = run(room)
    assert (len(again.graded), len(again.unchanged), again.status) == (0, 100, 1)
    assert room.everything() == before
    assert sorted(again.look) == sorted(summary.look)  # a second run still says who needs a look
    forced = run(room, force=True, students=("s00*", "bad0"))
    assert len(forced.graded) == 11
    assert room.everything() == before


def test_a_changed_submission_alone_is_graded_again(room: Classroom) -> None:
    for name in ("a", "b"):
        room.submit(name, release(**RIGHT))
    run(room)
    room.submit("a", release(double=RIGHT["double"]))
    summary = run(room)
    assert (summary.graded, summary.unchanged) == (["a"], ["b"])
    assert summary.differences == {"a": {"test_triple": (2.0, 0.0), "test_count": (1.0, 0.0)}}
    assert "a: test_count 1 → 0, test_triple 2 → 0" in summary.text()


def test_a_changed_test_grades_its_lesson_again_and_says_what_changed(room: Classroom) -> None:
    room.write_source(source_notebook(), "lesson2")
    for lesson in ("lesson1", "lesson2"):
        room.submit("a", release(**RIGHT), lesson=lesson)
        run_batch(Course.here(str(room.folder)), lesson, Options(quiet=True))
    changed = source_notebook()
    changed["cells"][8]["source"] = hidden("", "0.25")
    room.write_source(changed)
    summary = run(room)
    assert summary.differences == {"a": {"test_count": (1.0, 0.25)}}
    other = run_batch(Course.here(str(room.folder)), "lesson2", Options(quiet=True))
    assert (other.graded, other.unchanged) == ([], ["a"])


def test_keys_know_what_matters() -> None:
    from grading_sample import master

    from specdec_helpers.grading.limits import Limits

    tests = keys.tests_key("lesson1", {"x": master()})
    assert tests != keys.tests_key("lesson2", {"x": master()})
    base = ("s", tests, Limits(), 1, "")
    key = keys.result_key(*base)
    assert key == keys.result_key(*base)
    for other in [
        ("t", *base[1:]),
        ("s", "u", *base[2:]),
        ("s", tests, replace(Limits(), cell_seconds=5.0), 1, ""),
    ]:
        assert keys.result_key(*other) != key
    assert keys.result_key("s", tests, Limits(), 2, "") != key


def test_a_gradebook_or_notebook_that_was_lost_is_made_again(room: Classroom) -> None:
    room.submit("a", release(**RIGHT))
    run(room)
    whole = room.everything()
    os.unlink(room.folder / "autograded" / "a" / "lesson1" / FILE)
    assert run(room).graded == ["a"]
    with sqlite3.connect(room.folder / "gradebook.db") as db:
        db.execute("UPDATE grade SET auto_score = 99")
    assert run(room).graded == ["a"]
    assert room.everything() == whole
    (room.folder / ".specdec" / "lesson1.results.db").write_bytes(b"not a database at all" * 500)
    assert run(room).graded == ["a"]
    assert room.everything() == whole


def test_a_full_disk_a_lost_database_a_locked_one(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "PATIENCE", 0.3)
    room.submit("a", release(**RIGHT))
    run(room)
    before = room.everything()
    room.submit("a", release(double=RIGHT["double"]))
    real_publish, real_write = desk.publish, desk.Book.write

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(desk, "publish", full)
    summary = run(room)
    assert summary.status == 2
    assert "No space left on device" in summary.ours["a"]
    assert room.graded("a") == before["autograded/a/lesson1/" + FILE]  # nothing lost
    monkeypatch.setattr(desk, "publish", real_publish)
    tries = []

    def flaky(self: Any, *args: Any) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError("UPDATE", {}, sqlite3.OperationalError("database is locked"))
        real_write(self, *args)

    monkeypatch.setattr(desk, "PATIENCE", 30.0)
    monkeypatch.setattr(desk.Book, "write", flaky)
    summary = run(room)
    assert (summary.status, summary.graded, len(tries)) == (0, ["a"], 3)
    assert room.scores() == {"a": {**ZERO, "test_double": 4.0}}


def test_a_really_locked_sqlite_file_is_waited_for(room: Classroom) -> None:
    import threading
    import time

    room.submit("a", release(**RIGHT))
    run(room)
    room.submit("a", release())
    holder = sqlite3.connect(room.folder / "gradebook.db", check_same_thread=False)
    holder.execute("BEGIN EXCLUSIVE")
    threading.Thread(target=lambda: (time.sleep(1.0), holder.rollback()), daemon=True).start()
    # Opening the gradebook reads it first; SQLite waits 5 s for that by itself.
    assert run(room).graded == ["a"]
    assert room.scores() == {"a": ZERO}


def test_failures_of_ours_are_retried_and_labelled(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    from specdec_helpers.grading.sandbox import OursError

    room.submit("a", release(**RIGHT))
    room.submit("b", release(**RIGHT))
    real = work.grade
    failures = {"left": 2}

    def weak(*args: Any) -> Any:
        if failures["left"] > 0:
            failures["left"] -= 1
            raise OursError("no memory on this machine")
        return real(*args)

    monkeypatch.setattr(work, "grade", weak)
    monkeypatch.setattr(work.time, "sleep", lambda s: None)
    summary = run(room)
    assert (summary.status, sorted(summary.graded)) == (0, ["a", "b"])
    failures["left"] = 3
    summary = run(room, force=True)
    assert summary.status == 2
    assert summary.ours == {"a": "OursError: no memory on this machine"}
    assert summary.graded == ["b"]
    assert room.scores() == {"a": FULL, "b": FULL}  # what was earned before is kept
    assert "not the student's fault" in summary.text()


def test_one_run_at_a_time(room: Classroom) -> None:
    room.submit("a", release(**RIGHT))
    with (
        only_one(room.folder / ".specdec", "lesson1"),
        pytest.raises(Busy, match=rf"being graded by process {os.getpid()}"),
    ):
        run(room)


def test_nothing_collected_and_wrong_calls(room: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CourseError, match="run `nbgrader collect lesson1` first"):
        run(room)
    assert main("autograde", ["lesson1", "--course", str(room.folder)]) == 2
    assert "specdec autograde: no submission was found" in capsys.readouterr().err
    assert main("autograde", ["draft_and_verify", "--course", str(room.folder)]) == 2
    assert "lessons here: lesson1" in capsys.readouterr().err
    (room.folder / "elsewhere").mkdir()
    assert main("autograde", ["lesson1", "--course", str(room.folder / "elsewhere")]) == 2
    assert "Is this the course folder?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main("autograde", ["lesson1", "--workers", "0"])
    assert "'0' is not a number of workers; give 1 to 256" in capsys.readouterr().err


def test_json_and_exit_status(room: Classroom, capsys: pytest.CaptureFixture[str]) -> None:
    room.submit("a", release(**RIGHT))
    assert main("autograde", ["lesson1", "--json", "--course", str(room.folder)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["graded"], data["status"], data["totals"]) == (["a"], 0, {"a": 7.0})


def test_publish_leaves_only_ours(tmp_path: Path) -> None:
    place = tmp_path / "x"
    place.mkdir()
    (place / "old.html").write_text("<script>")
    (place / "sub").mkdir()
    os.symlink("/etc/passwd", place / "n.ipynb")
    publish(place, {"n.ipynb": b"new"})
    assert os.listdir(place) == ["n.ipynb"]
    assert not (place / "n.ipynb").is_symlink()
    assert (place / "n.ipynb").stat().st_mode & 0o777 == 0o444


def test_store_forgets_first_and_remembers_last(tmp_path: Path) -> None:
    store = Store(tmp_path, "lesson1")
    record = Record("a", "k", "s", {"t": 1.5}, ["r"], True, {"t": ["m"]}, "sealed", 0.5)
    store.remember(record)
    store.close()
    again = Store(tmp_path, "lesson1")
    assert again.records() == {"a": record}
    again.forget("a")
    assert again.records() == {}
    again.close()


def kill_self(task: work.Task) -> Outcome:
    """Play a worker that dies: once for "dies once", always for "dies always"."""
    marks = Path(task.files["marks"].decode())
    mark = marks / task.student
    if task.student == "always" or (task.student == "once" and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(task.student, remarks=(Remark("done"),))


def test_lost_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from specdec_helpers.grading.limits import Limits

    monkeypatch.setattr(pool, "_do", kill_self)
    lesson = work.Lesson("lesson1", {}, Limits())
    names = ["one", "once", "always", "two"]
    tasks = [work.Task(name, {"marks": str(tmp_path).encode()}, 1) for name in names]
    outcomes = {outcome.student: outcome for outcome in pool.run_local(lesson, tasks, 2)}
    assert sorted(outcomes) == sorted(names)
    assert [name for name in names if outcomes[name].ours] == ["always"]
    assert "lost three times" in outcomes["always"].ours


def test_real_workers_give_the_same_as_the_stock_door(tmp_path: Path, warm: None) -> None:
    room = Classroom(tmp_path / "stock")
    batch_room = Classroom(tmp_path / "batch")
    submissions = {
        "right": release(**RIGHT),
        "half": release(double="def double(x):\n    return 2 if x == 1 else 10"),
        "killer": release(**{**RIGHT, "triple": "import os\ndef triple(x):\n    os._exit(3)"}),
        "empty": b"",
        "loop": release(**{**RIGHT, "count": "import sys\nsys.exit(1)"}),
    }
    for name, data in submissions.items():
        room.submit(name, data)
        batch_room.submit(name, data, when="")
    room.stock("autograde", "lesson1")
    done = batch_room.run("specdec", "autograde", "lesson1", "--workers", "2")
    assert done.returncode == 1, done.stderr
    assert batch_room.everything() == room.everything()
    assert batch_room.scores()["killer"] == {"test_double": 4.0, "test_triple": 0.0, "test_count": 1.0}


def quick(task: work.Task) -> Outcome:
    return Outcome(task.student)


def test_workers_lost_while_the_next_task_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel may take a worker just when nobody waits for it; handing out the next task is what notices."""
    import multiprocessing
    import time

    from specdec_helpers.grading.limits import Limits

    monkeypatch.setattr(pool, "_do", quick)

    def tasks() -> Iterator[work.Task]:
        yield work.Task("a", {}, 1)
        yield work.Task("b", {}, 1)
        for process in multiprocessing.active_children():
            process.kill()
            process.join()
        time.sleep(0.5)
        yield work.Task("c", {}, 1)
        yield work.Task("d", {}, 1)

    outcomes = list(pool.run_local(work.Lesson("lesson1", {}, Limits()), tasks(), 1))
    assert sorted(outcome.student for outcome in outcomes) == ["a", "b", "c", "d"]
    assert not any(outcome.ours for outcome in outcomes)


def test_a_failure_of_the_program_is_not_a_student_who_needs_a_look(
    room: Classroom, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: Any) -> Any:
        raise RuntimeError("a bug of ours")

    room.submit("a", release(**RIGHT))
    monkeypatch.setattr(batch, "run_local", broken)
    assert main("autograde", ["lesson1", "--course", str(room.folder)]) == 2
    assert "a bug of ours" in capsys.readouterr().err


def test_a_bug_of_ours_in_one_submission_stops_nobody(
    room: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        room.submit(name, release(**RIGHT))
    os.makedirs(os.fsencode(room.folder / "submitted") + b"/n\xffme/lesson1")  # a name that is not UTF-8
    monkeypatch.setattr(work.time, "sleep", lambda s: None)
    real = work.grade

    def buggy(master: Any, files: Any, jail: Any, seed: int, limits: Any) -> Any:
        if seed == bad:
            raise KeyError("nobody thought of this")
        return real(master, files, jail, seed, limits)

    bad = work_seed("b")
    monkeypatch.setattr(work, "grade", buggy)
    summary = run(room)
    assert sorted(summary.graded) == ["a", "c"]
    assert sorted(summary.ours) == ["b", "n?me"]
    assert "KeyError: 'nobody thought of this' (test_batch.py, line" in summary.ours["b"]
    summary.text().encode()
    assert summary.status == 2


def work_seed(student: str) -> int:
    from specdec_helpers.grading.tasks import seed_of

    return seed_of("specdec", "lesson1", student)


def test_progress_on_a_terminal_and_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from specdec_helpers.grading import table
    from specdec_helpers.grading.table import Progress

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    bar = Progress(3, stream=screen)
    bar.step(False)
    bar.step(True)
    bar.say("a word")
    bar.step(False)
    bar.close()
    assert "3/3" in screen.getvalue()
    assert "need a look=1" in screen.getvalue()
    assert "a word" in screen.getvalue()
    log = io.StringIO()
    now = [0.0]
    monkeypatch.setattr(table.time, "monotonic", lambda: now[0])
    lines = Progress(100, stream=log)
    for _ in range(100):
        now[0] += 1
        lines.step(False)
    assert len(log.getvalue().splitlines()) == 10  # one in ten seconds, and the last
    assert log.getvalue().splitlines()[0] == "11 of 100 done, 1.0 a second, 89 s left, 0 need a look"
    silent = io.StringIO()
    quiet = Progress(1, quiet=True, stream=silent)
    quiet.step(True)
    quiet.say("x")
    quiet.close()
    assert silent.getvalue() == ""
