"""The stock door: `nbgrader autograde`, formgrader's button, export; the gradebook says what nbgrader would say."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from classroom import FILE, FULL, ZERO, Classroom
from grading_sample import RIGHT, code, dumps, hidden, nbgrader, release, source_notebook

from specdec_helpers.grading.course import Course
from specdec_helpers.grading.report import read_class


@pytest.fixture
def room(tmp_path: Path, warm: None) -> Classroom:
    return Classroom(tmp_path / "a course")


def autograde(room: Classroom, *words: str) -> str:
    """`nbgrader autograde lesson1`, in this process; its log and its exit status."""
    return room.stock("autograde", "lesson1", *words)


def test_a_class_with_bad_ones_gets_all_its_rows(room: Classroom) -> None:
    room.submit("good", release(**RIGHT), when="2026-01-02 03:04:05 UTC")
    room.submit("0123", release(double=RIGHT["double"]))
    room.submit("a.b+c@uni.edu", b"{ not json")
    room.submit("renamed", release(**RIGHT), "draft_and_verify-Copy1.ipynb")
    test = release(**RIGHT)
    test["cells"][4]["metadata"]["nbgrader"]["schema_version"] = 99
    test["cells"].append(test["cells"][4])
    room.submit("schema", test)
    link = room.submit("linked", b"")
    (link / FILE).unlink()
    os.symlink(room.folder / "source" / "lesson1" / FILE, link / FILE)
    os.mkfifo(link / "pipe.ipynb")
    done = room.run("nbgrader", "autograde", "lesson1")
    log = done.stdout + done.stderr
    assert done.returncode == 0, log
    assert room.scores() == {
        "good": FULL,
        "0123": {**ZERO, "test_double": 4.0},
        "a.b+c@uni.edu": ZERO,
        "renamed": FULL,
        "schema": FULL,
        "linked": ZERO,
    }
    assert "draft_and_verify.ipynb is not a plain file" in log
    assert sorted(p.name for p in (room.folder / "autograded" / "good" / "lesson1").iterdir()) == [
        FILE,
        "submission_secret.txt",
        "timestamp.txt",
    ]
    stamps = dict(room.query("SELECT student_id, timestamp FROM submitted_assignment"))
    assert stamps["good"].startswith("2026-01-02 03:04:05")
    assert stamps["0123"] is None
    # nbgrader's own export reads the same totals.
    assert room.run("nbgrader", "export").returncode == 0
    with open(room.folder / "grades.csv", newline="") as file:
        exported = {
            row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)
        }
    assert exported["good"] == (7.0, 7.0)
    assert exported["0123"] == (4.0, 7.0)


def test_resubmission_scores_what_the_new_one_earns(room: Classroom) -> None:
    room.submit("a", release(**RIGHT))
    autograde(room)
    first = room.graded("a")
    worse = release(double=RIGHT["double"])
    worse["cells"] = [cell for cell in worse["cells"] if cell["id"] != "test_triple"]
    room.submit("a", worse)
    log = autograde(room)
    assert room.scores() == {"a": {**ZERO, "test_double": 4.0}}
    assert "test_triple was missing; it was put back" in log
    assert room.graded("a") != first


def test_skips_what_is_unchanged_unless_forced(room: Classroom) -> None:
    room.submit("a", release(**RIGHT))
    autograde(room)
    bytes_before = room.graded("a")
    assert "Skipping existing assignment" in autograde(room)
    assert "Skipping" not in autograde(room, "--force")
    assert room.graded("a") == bytes_before


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_late_penalty_and_comments_as_stock(tmp_path: Path, warm: None) -> None:
    room = Classroom(tmp_path / "course", '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    room.submit(
        "late",
        release(**{**RIGHT, "triple": release()["cells"][5]["source"]}),
        when="2026-02-02 00:00:00 UTC",
    )
    room.submit("early", release(**RIGHT), when="2026-01-01 00:00:00 UTC")
    assert (
        room.run("nbgrader", "db", "assignment", "add", "lesson1", "--duedate", "2026-01-15").returncode == 0
    )
    autograde(room)
    rows = dict(
        room.query(
            "SELECT s.student_id, n.late_submission_penalty FROM submitted_notebook n "
            "JOIN submitted_assignment s ON s.id = n.assignment_id"
        )
    )
    assert rows == {"late": 5.0, "early": None}
    report = read_class(Course.here(str(room.folder)), "lesson1")
    assert room.run("nbgrader", "export", "--to", "grades.csv").returncode == 0
    exported = {row["student_id"]: float(row["score"]) for row in _rows(room.folder / "grades.csv")}
    assert {student: report.total(student) for student in report.scores} == exported
    assert report.late == {"late": 5.0}
    comments = room.query(
        "SELECT s.student_id, c.name, k.auto_comment FROM comment k JOIN base_cell c ON c.id = k.cell_id "
        "JOIN submitted_notebook n ON n.id = k.notebook_id JOIN submitted_assignment s ON s.id = n.assignment_id "
        "WHERE k.auto_comment IS NOT NULL"
    )
    assert comments == [("late", "triple", "No response.")]


@pytest.mark.parametrize(
    "stamp", ["nonsense", "9999-01-01 00:00:00 UTC", "\x00\x01", "2026-01-01 00:00:00 UTC\n<script>"]
)
def test_a_forged_time_stamp_stops_nobody(room: Classroom, stamp: str) -> None:
    room.submit("a", release(**RIGHT), when=stamp)
    room.submit("b", release(**RIGHT))
    log = autograde(room)
    assert room.scores() == {"a": FULL, "b": FULL}
    published = room.folder / "autograded" / "a" / "lesson1" / "timestamp.txt"
    if "<script>" in stamp:  # nbgrader's parser reads the part before it, and that alone is published
        assert published.read_text() == "2026-01-01 00:00:00.000000 UTC"
    else:
        assert "timestamp.txt" in log
        assert not published.exists()


def test_formgrader_button_and_manual_scores(room: Classroom, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGrader
    from nbgrader.apps.api import NbGraderAPI

    room.submit("a", release(**RIGHT))
    monkeypatch.chdir(room.folder)
    app = NbGrader()
    app.initialize([])
    api = NbGraderAPI(parent=app)
    result = api.autograde("lesson1", "a")
    assert result["success"], result
    with Gradebook(app.coursedir.db_url) as book:
        grade = book.find_grade("test_double", "draft_and_verify", "lesson1", "a")
        assert (grade.auto_score, grade.needs_manual_grade) == (4.0, False)
        grade.manual_score = 1.0
        book.db.commit()
    room.submit("a", release(double=RIGHT["double"]))
    assert api.autograde("lesson1", "a")["success"]
    with Gradebook(app.coursedir.db_url) as book:
        grade = book.find_grade("test_double", "draft_and_verify", "lesson1", "a")
        assert (grade.auto_score, grade.manual_score, grade.needs_manual_grade) == (4.0, 1.0, True)


def test_stock_scores_of_the_graded_notebook_are_the_gradebooks(room: Classroom) -> None:
    from nbformat import from_dict
    from nbgrader.utils import determine_grade, is_grade

    room.submit("half", release(double="def double(x):\n    return 2 if x == 1 else 10", count="count = 3"))
    autograde(room)
    cells = [from_dict(cell) for cell in json.loads(room.graded("half"))["cells"]]
    read = {c.metadata.nbgrader.grade_id: determine_grade(c)[0] for c in cells if is_grade(c)}
    assert read == room.scores()["half"] == {"test_double": 2.0, "test_triple": 0.0, "test_count": 1.0}


def test_changed_and_added_tests(room: Classroom) -> None:
    room.submit("a", release(**RIGHT))
    autograde(room)
    changed = source_notebook()
    changed["cells"][8]["source"] = hidden("", "0.5")
    room.write_source(changed)
    autograde(room)
    assert room.scores()["a"]["test_count"] == 0.5
    more: dict[str, Any] = source_notebook()
    more["cells"].append(code("1", "test_more", nbgrader("test_more", 1, grade=True, locked=True)))
    room.write_source(more)
    log = autograde(room)
    assert "has other cells in source/ than in the gradebook" in log
    assert "nbgrader db assignment remove lesson1" in log
    assert room.scores()["a"]["test_count"] == 0.5


def test_unknown_lesson(room: Classroom) -> None:
    room.submit("a", release(**RIGHT), lesson="lesson9")
    log = room.stock("autograde", "lesson9")
    assert "status 1" in log
    assert "there is no notebook in" in log
    assert "lessons here: lesson1" in log


def test_nothing_of_the_old_result_goes_before_the_new_one_is_there(room: Classroom) -> None:
    room.submit("a", release(**RIGHT))
    autograde(room)
    before = room.graded("a")
    room.submit("a", dumps(release())[:100])
    source = room.folder / "source" / "lesson1" / FILE
    source.write_text("broken")
    assert "is not a complete notebook" in autograde(room, "--force")
    assert room.graded("a") == before
    assert room.scores() == {"a": FULL}
