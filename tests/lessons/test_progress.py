"""A learner can stop anywhere and come back: the progress file, `specdec progress`, and the card of `start`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from specdec_helpers import checks, cli
from specdec_helpers.checks import progress
from specdec_helpers.checks.report import Card, collecting


@pytest.fixture
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder with six lessons, from inside lesson 5."""
    for number in range(1, 7):
        (tmp_path / f"lesson{number}").mkdir()
    monkeypatch.chdir(tmp_path / "lesson5")
    return tmp_path


def cards_of_start(lesson: str) -> list[Card]:
    cards: list[Card] = []
    with collecting(cards.append):
        checks.start(lesson)
    return cards


def test_a_check_is_remembered_above_the_lesson_s_folder(
    lessons: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checks.check(speedup_worked=2.101)
    checks.check(throughput_per_second=1)
    assert progress.load() == {"lesson5": {"speedup_worked": True, "throughput_per_second": False}}
    assert (lessons / progress.FILE).is_file()
    checks.check(speedup_worked=2)
    assert progress.load()["lesson5"]["speedup_worked"] is False
    capsys.readouterr()


def test_nothing_is_remembered_while_grading(lessons: Path) -> None:
    with collecting(lambda card: None):
        checks.check(speedup_worked=2.101)
    assert not (lessons / progress.FILE).exists()


def test_the_folder_called_lessons_is_no_lesson(lessons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (lessons / "lessons").mkdir()
    monkeypatch.chdir(lessons / "lessons")
    progress.find(None).write_text('{"lesson5": {"speedup_worked": true}}')
    assert (lessons / "lessons" / progress.FILE).is_file()
    monkeypatch.chdir(lessons)
    assert progress.find(None) == lessons / "lessons" / progress.FILE


@pytest.mark.parametrize(
    "broken", ["", "{", "[1]", '{"lesson5": 3}', '{"lesson5": {"speedup_worked": "yes"}}', "\0"]
)
def test_a_broken_file_counts_as_empty(
    lessons: Path, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (lessons / progress.FILE).write_text(broken)
    assert cli.main(["progress"]) == 0
    assert "0 of 8" in capsys.readouterr().out
    assert "0 of 8 exercises passed" in cards_of_start("lesson5")[0].text()


def test_the_table_shows_all_six_lessons(lessons: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = checks.known_items("lesson5")
    written = {"lesson5": dict.fromkeys(items, True), "lesson1": {"tokens_produced": True}}
    (lessons / progress.FILE).write_text(json.dumps(written))
    assert cli.main(["progress"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line[0] for line in out[1:7]] == list("123456")
    assert [title in line for title, line in zip(progress.TITLES.values(), out[1:7], strict=True)] == [
        True
    ] * 6
    assert "8 of 8" in out[5]
    assert out[5].endswith("all passed")
    assert out[1].endswith("drafts_accepted")
    assert out[2].endswith("not started")
    assert "9 of " in out[7]
    assert cli.main(["progress", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lesson5"]["passed"] == items


def test_a_fresh_folder_says_how_to_begin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["progress", str(tmp_path)]) == 0
    assert "Nothing is noted yet" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stopped:
        cli.main(["progress", str(tmp_path / "nowhere")])
    assert stopped.value.code == 2
    assert "nowhere" in capsys.readouterr().err


def test_exercises_come_in_the_order_of_the_notebook() -> None:
    assert checks.known_items("lesson5") == [
        "throughput_per_second",
        "speedup_worked",
        "speedup_low_acceptance",
        "throughput",
        "speedup",
        "best_k",
        "break_even",
        "better_draft_slower",
    ]


def test_start_says_where_the_learner_stands(lessons: Path) -> None:
    (card,) = cards_of_start("lesson5")
    assert card.status == "unstarted"
    assert "When it pays" in card.text()
    assert "In the whole course" not in card.text()
    (lessons / progress.FILE).write_text(
        '{"lesson1": {"tokens_produced": true}, "lesson5": {"throughput_per_second": true}}'
    )
    (card,) = cards_of_start("lesson5")
    assert card.status == "partial"
    assert "1 of 8" in card.text()
    assert "next: speedup_worked" in card.text()
    assert "In the whole course: 2 of " in card.text()
    (lessons / progress.FILE).write_text(
        json.dumps({"lesson5": dict.fromkeys(checks.known_items("lesson5"), True)})
    )
    (card,) = cards_of_start("lesson5")
    assert card.status == "pass"
    assert "all passed" in card.text()


def test_a_function_built_on_a_failing_one_sends_the_reader_there_first(lessons: Path) -> None:
    def half_done(a: float, k: int, *times: float) -> float:
        return 1.0

    def shown(**passed: bool) -> str:
        (lessons / progress.FILE).write_text(json.dumps({"lesson5": passed}))
        return checks.check_function("lesson5", "speedup", half_done).text()

    assert "first make `throughput` pass" in shown(throughput=False)
    assert "first make" not in shown(throughput=True)
    assert "first make" not in shown()
    with collecting(lambda card: None):  # a grader knows nothing of the reader's own notes
        assert "first make" not in shown(throughput=False)


@pytest.mark.parametrize("lesson", checks.LESSONS)
def test_what_a_function_builds_on_comes_before_it(lesson: str) -> None:
    order = checks.known_items(lesson)
    for name, exercise in checks.table(lesson).EXERCISES.items():
        for base in exercise.builds_on:
            assert order.index(base) < order.index(name)


def test_start_knows_its_lessons() -> None:
    with pytest.raises(ValueError, match="lesson9"):
        checks.start("lesson9")


def test_start_names_what_is_missing(lessons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("specdec_helpers.checks.start")
    monkeypatch.setattr(module, "NEEDED", {"numpy": (99, 0), "no-such-package": (1, 2)})
    (card,) = cards_of_start("lesson5")
    assert card.status == "fail"
    assert "99.0" in card.text()
    assert 'pip install "no-such-package>=1.2"' in card.text()


@pytest.mark.parametrize(("graded", "told"), [("0", True), ("1", False)])
def test_a_missing_answer_is_followed_by_the_way_out(lessons: Path, graded: str, told: bool) -> None:
    cells = [
        'from specdec_helpers import check, start\nstart("lesson1")',
        "check(tokens_produced=tokens_produced)",
        "tokens_produced = three",
    ]
    code = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        f"for cell in {cells!r}: shell.run_cell(cell)\n"
    )
    environment = os.environ | {"SPECDEC_GRADING": graded, "IPYTHONDIR": str(lessons / ".ipython")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    shown = done.stdout + done.stderr
    assert "name 'tokens_produced' is not defined" in shown
    assert ("tokens_produced does not exist yet: run the cell that defines it" in shown) is told
    assert "name 'three' is not defined" in shown
    assert "three does not exist" not in shown
