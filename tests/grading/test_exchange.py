"""One course through nbgrader's exchange on one machine, every step a stock command.

generate_assignment, release_assignment, fetch, submit, collect, autograde, generate_feedback, release_feedback, fetch
the feedback, export: two lessons, three students, each in a folder of their own.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from stock import Person, home

REPOSITORY = Path(__file__).parents[2]
LESSONS = {"lesson1": "draft_and_verify", "lesson4": "expected_progress"}
STUDENTS = ("ada", "0123", "a.b@uni.edu")  # right, untouched, half right


@dataclass
class Classroom:
    """The course folder of the instructor, the exchange, and the folders of the students."""

    instructor: Person
    students: dict[str, Person]


def solutions(lesson: str) -> dict[str, str]:
    """{grade id: source} of a lesson's solution cells."""
    path = REPOSITORY / "source" / lesson / f"{LESSONS[lesson]}.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    marked = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("solution")]
    return {cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"]) for cell in marked}


def points(lesson: str) -> dict[str, float]:
    """{name of the exercise: points} of a lesson."""
    path = REPOSITORY / "source" / lesson / f"{LESSONS[lesson]}.ipynb"
    metas = [
        cell["metadata"].get("nbgrader", {}) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
    ]
    return {meta["grade_id"].removeprefix("test_"): meta["points"] for meta in metas if meta.get("grade")}


def solve(notebook: Path, answers: dict[str, str]) -> None:
    """Type answers into a fetched notebook, as a student would."""
    document = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in document["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell["source"] = answers[name]
    notebook.write_text(json.dumps(document), encoding="utf-8")


def half(lesson: str) -> dict[str, str]:
    """The numbers and choices of a lesson: every solution that is no function."""
    return {name: source for name, source in solutions(lesson).items() if "def " not in source}


@pytest.fixture(scope="module")
def classroom(tmp_path_factory: pytest.TempPathFactory) -> Classroom:
    """A class after everything has gone through the exchange once."""
    root = tmp_path_factory.mktemp("a course")
    exchange, course = root / "exchange", root / "course"
    exchange.mkdir()
    exchange.chmod(0o777)
    (course / "source").mkdir(parents=True)
    for lesson in LESSONS:
        shutil.copytree(REPOSITORY / "source" / lesson, course / "source" / lesson)
        shutil.copytree(REPOSITORY / "release" / lesson, root / "committed" / lesson)
    place = f"\nc.Exchange.root = {str(exchange)!r}\n"
    config = (REPOSITORY / "nbgrader_config.py").read_text(encoding="utf-8")
    (course / "nbgrader_config.py").write_text(config + place, encoding="utf-8")
    instructor = Person(course, home(root, "instructor"))
    people = {}
    for number, student in enumerate(STUDENTS):
        folder = root / f"student {number}"
        folder.mkdir()
        mine = f"c = get_config()\nc.CourseDirectory.course_id = 'specdec'{place}"
        (folder / "nbgrader_config.py").write_text(mine, encoding="utf-8")
        people[student] = Person(folder, home(root, f"home {number}"))
    room = Classroom(instructor, people)
    for lesson in LESSONS:
        run(room, lesson)
    return room


def run(room: Classroom, lesson: str) -> None:
    """Take a lesson from source/ to the feedback in the students' hands."""
    teacher = room.instructor
    teacher.nbgrader("generate_assignment", lesson)
    teacher.nbgrader("release_assignment", lesson)
    for student, person in room.students.items():
        person.nbgrader("fetch_assignment", lesson)
        answers = {"ada": solutions(lesson), "0123": {}}.get(student, half(lesson))
        solve(person.folder / lesson / f"{LESSONS[lesson]}.ipynb", answers)
        person.nbgrader("submit", lesson, f'--student="{student}"')
    teacher.nbgrader("collect", lesson)
    teacher.nbgrader("autograde", lesson)
    teacher.nbgrader("generate_feedback", lesson)
    teacher.nbgrader("release_feedback", lesson)


def test_what_is_fetched_is_the_committed_release(classroom: Classroom) -> None:
    for lesson, name in LESSONS.items():
        folder = classroom.instructor.folder
        handed_out, committed = (
            place / lesson / f"{name}.ipynb" for place in (folder / "release", folder.parent / "committed")
        )
        assert handed_out.read_bytes() == committed.read_bytes()


def test_everybody_gets_the_planned_score(classroom: Classroom) -> None:
    scores = classroom.instructor.scores()
    for lesson in LESSONS:
        most = sum(points(lesson).values())
        assert scores["ada", lesson] == (most, most)
        assert scores["0123", lesson] == (0, most)
        some = sum(points(lesson)[name] for name in half(lesson))
        assert 0 < some < most
        assert scores["a.b@uni.edu", lesson] == (some, most)


def test_every_submission_has_feedback_without_hidden_tests(classroom: Classroom) -> None:
    for lesson, name in LESSONS.items():
        for student in STUDENTS:
            page = classroom.instructor.folder / "feedback" / student / lesson / f"{name}.html"
            text = page.read_text(encoding="utf-8")
            assert "specdec_helpers.grading" not in text
            assert "HIDDEN TESTS" not in text
            assert "Traceback (most" not in text


def test_students_fetch_their_own_feedback(classroom: Classroom) -> None:
    person = classroom.students["ada"]
    person.nbgrader("fetch_feedback", "lesson1")
    pages = list((person.folder / "lesson1" / "feedback").rglob("*.html"))
    assert [page.name for page in pages] == ["draft_and_verify.html"]


def test_submitting_again_counts_the_new_work(classroom: Classroom) -> None:
    lesson = "lesson1"
    person = classroom.students["0123"]
    solve(person.folder / lesson / f"{LESSONS[lesson]}.ipynb", solutions(lesson))
    person.nbgrader("submit", lesson, '--student="0123"')
    classroom.instructor.nbgrader("collect", lesson, "--update")
    classroom.instructor.nbgrader("autograde", lesson)
    most = sum(points(lesson).values())
    assert classroom.instructor.scores()["0123", lesson] == (most, most)
