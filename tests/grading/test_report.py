"""The class report: the gradebook's scores, misconceptions, who needs a look; safe to open anywhere."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from classroom import Classroom
from grading_sample import RIGHT, release

from specdec_helpers.grading.commands import main
from specdec_helpers.grading.report import ClassReport
from specdec_helpers.grading.report_page import class_page
from specdec_helpers.grading.store import Record

POINTS = {"test_double": 4.0, "test_count": 1.0}


def sample() -> ClassReport:
    scores = {
        "ann": {"test_double": 4.0, "test_count": 1.0},
        '=HYPERLINK("http://spy")': {"test_double": 2.0, "test_count": 0.0},
        "<script>steal()</script>": {"test_double": 0.0, "test_count": 0.0},
    }
    records = {
        "ann": Record("ann", "k", "s", scores["ann"], mode="sealed"),
        "<script>steal()</script>": Record(
            "<script>steal()</script>", "k", "s", {}, ["@SUM(1)\n<b>look</b>"], True,
            {"test_double": ["off_by_one"]}, "not sandboxed",
        ),
    }  # fmt: skip
    return ClassReport("lesson1", POINTS, scores, records, ("zoe",))


def test_figures() -> None:
    report = sample()
    assert report.most == 5
    assert report.totals == [0.0, 2.0, 5.0]
    assert [count for _, count in report.bands] == [1, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    assert report.bands[-1][0] == "4.5 to 5"
    assert report.mistakes == [("double", "off_by_one", 1)]
    assert list(report.look) == ["<script>steal()</script>"]
    assert "NOT SANDBOXED: 1" in report.text()
    assert "collected but not graded: zoe" in report.text()
    assert json.loads(report.json())["scores"]["ann"]["test_double"] == 4.0


def test_what_a_late_submission_costs_is_taken_off() -> None:
    report = replace(sample(), late={"ann": 1.5, "<script>steal()</script>": 2.0})
    assert report.total("ann") == 3.5
    assert report.totals == [0.0, 2.0, 3.5]
    row = next(row for row in csv.DictReader(io.StringIO(report.csv())) if row["student"] == "ann")
    assert (row["double"], row["late penalty"], row["total"], row["of"]) == ("4", "1.5", "3.5", "5")
    assert "because it came late: 2 students" in report.text()
    assert "Late penalty" in class_page(report)
    assert json.loads(report.json())["totals"]["ann"] == 3.5
    assert "late" not in sample().text()
    assert "Late penalty" not in class_page(sample())


def test_no_formula_reaches_a_spreadsheet_and_no_script_a_browser() -> None:
    report = sample()
    rows = list(csv.reader(io.StringIO(report.csv())))
    assert rows[0][:3] == ["student", "double", "count"]
    assert all(not cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert len(rows) == 4
    page = class_page(report)
    assert "<script" not in page
    assert "<b>look" not in page
    assert "&lt;script&gt;" in page
    assert "Content-Security-Policy" in page
    assert "Not sandboxed" in page


def test_report_command(tmp_path: Path, warm: None, capsys: pytest.CaptureFixture[str]) -> None:
    from nbgrader.api import Gradebook

    room = Classroom(tmp_path / "course")
    assert main("report", ["lesson1", "--course", str(room.folder)]) == 2
    assert "nothing of lesson1 is graded yet" in capsys.readouterr().err
    room.submit("a", release(**RIGHT))
    room.submit("b", b"")
    room.stock("autograde", "lesson1")
    with Gradebook(f"sqlite:///{room.folder}/gradebook.db") as book:
        book.find_grade("test_double", "draft_and_verify", "lesson1", "a").manual_score = 3.0
        book.db.commit()
    files = [room.folder / "x.csv", room.folder / "x.html"]
    words = ["lesson1", "--course", str(room.folder), "--csv", str(files[0]), "--html", str(files[1])]
    assert main("report", words) == 1
    out = capsys.readouterr().out
    assert "2 graded, mean 3.00, median 3.00 of 7 points; 1 need a look" in out
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(files[0].read_text()))}
    assert (rows["a"]["double"], rows["a"]["total"]) == ("3", "6")  # a person's mark counts
    assert rows["b"]["needs a look"] == "yes"
    assert "the file is empty" in files[1].read_text()
