"""`nbgrader autograde` of the notebooks themselves: source/ scores all, release/ nothing; both run to the end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from stock import Person, home

REPOSITORY = Path(__file__).parents[2]
LESSONS = sorted(path.name for path in (REPOSITORY / "source").glob("lesson*"))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Person:
    """A course in which "teacher" handed in every source notebook, and "nobody" every release notebook."""
    root = tmp_path_factory.mktemp("stock")
    course = root / "course"
    shutil.copytree(REPOSITORY / "source", course / "source", ignore=shutil.ignore_patterns(".*"))
    shutil.copy(REPOSITORY / "nbgrader_config.py", course)
    teacher = Person(course, home(root, "teacher"))
    for lesson in LESSONS:
        for student, folder in (("teacher", "source"), ("nobody", "release")):
            shutil.copytree(REPOSITORY / folder / lesson, course / "submitted" / student / lesson)
        teacher.nbgrader("generate_assignment", lesson)
        teacher.nbgrader("autograde", lesson)
    return teacher


def test_source_scores_all_and_release_nothing(graded: Person) -> None:
    scores = graded.scores()
    assert LESSONS
    for lesson in LESSONS:
        assert scores["teacher", lesson][0] == scores["teacher", lesson][1] > 0
        assert scores["nobody", lesson] == (0, scores["teacher", lesson][1])


@pytest.mark.parametrize("student", ["teacher", "nobody"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_graded_notebook_ran_to_its_end(graded: Person, lesson: str, student: str) -> None:
    (path,) = (graded.folder / "autograded" / student / lesson).glob("*.ipynb")
    code = [
        cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"
    ]
    assert all(cell["execution_count"] for cell in code)
    assert [out for cell in code for out in cell["outputs"] if out["output_type"] == "error"] == []
