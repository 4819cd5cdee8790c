"""A mixed class, graded: every planned submission gets exactly its planned points.

Twice: with the test cells run beside the student's code in one plain process (fast, and independent of the sealed
grading), and through the engine that `nbgrader autograde` and `specdec autograde` use.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest

import specdec_helpers
from specdec_helpers.checks import LESSONS
from specdec_helpers.checks.report import collecting
from specdec_helpers.grading import compare
from specdec_helpers.grading.engine import grade
from specdec_helpers.grading.limits import Limits
from specdec_helpers.grading.master import Master
from specdec_helpers.grading.sandbox import Jail

from . import ROOT, SOLUTION, Planned, items, module, notebook_path, planned, submission

WITH_PLANS = [lesson for lesson in LESSONS if module(lesson)]
PLANS = planned()
LEAST = 12


def expected(lesson: str, plan: Planned) -> dict[str, float]:
    return {item: float(plan.points.get(item, 0)) for item in items(lesson)}


def grade_plainly(lesson: str, plan: Planned) -> dict[str, float]:
    """Run the submission's cells here, and judge what they define; the visible checks run too."""
    names: dict[str, Any] = {}
    points: dict[str, float] = {}
    cards: list[Any] = []
    quiet = {name: (lambda *args, **kwargs: None) for name in specdec_helpers.__all__}
    check = specdec_helpers.check
    with (
        collecting(cards.append),
        contextlib.redirect_stdout(io.StringIO()),
        pytest.MonkeyPatch.context() as patch,
    ):
        for name, nothing in quiet.items():
            patch.setattr(specdec_helpers, name, nothing, raising=False)
        for cell in submission(lesson, plan).cells:
            meta = cell.metadata.get("nbgrader", {})
            if cell.cell_type != "code":
                continue
            if meta.get("grade"):
                item = meta["grade_id"].removeprefix("test_")
                check(**{item: names.get(item)})
                points[item] = compare(**{item: names.get(item)}, points=meta["points"])
            else:
                with contextlib.suppress(Exception):
                    exec(compile(cell.source, cell.id, "exec"), names)
    for card in cards:  # a card must be readable in both forms
        assert card.title in card.text()
        assert "<script" not in card.html()
    return points


@pytest.mark.parametrize(("lesson", "plan"), PLANS, ids=[f"{lesson}-{plan}" for lesson, plan in PLANS])
def test_a_planned_submission_gets_its_points(lesson: str, plan: Planned) -> None:
    assert grade_plainly(lesson, plan) == expected(lesson, plan)


@pytest.fixture(scope="module")
def jail() -> Iterator[Jail]:
    with Jail(Limits()) as jail:
        yield jail


@pytest.mark.parametrize(("lesson", "plan"), PLANS, ids=[f"{lesson}-{plan}" for lesson, plan in PLANS])
def test_the_engine_gives_the_same_points(lesson: str, plan: Planned, jail: Jail) -> None:
    path = notebook_path(lesson, "source")
    files = {path.name: nbformat.writes(submission(lesson, plan)).encode()}
    graded = grade(Master.load(path, lesson), files, jail, 11, Limits())
    scores = {name.removeprefix("test_"): points for name, points in graded.scores.items()}
    assert scores == expected(lesson, plan)


@pytest.mark.parametrize("lesson", WITH_PLANS)
def test_a_lesson_has_a_whole_class(lesson: str) -> None:
    plans = [plan for each, plan in PLANS if each == lesson]
    assert len(plans) >= LEAST
    assert len({plan.name for plan in plans}) == len(plans)
    full = items(lesson)
    totals = [sum(plan.points.values()) for plan in plans]
    assert 0 in totals, "one hands in nothing"
    assert sum(full.values()) in totals, "one gets everything"
    for plan in plans:
        assert set(plan.points) <= set(full), plan.name
        assert all(0 <= value <= full[item] for item, value in plan.points.items()), plan.name


@pytest.mark.parametrize(
    "lesson", [lesson for lesson in LESSONS if list(ROOT.glob(f"source/{lesson}/*.ipynb"))]
)
def test_the_course_s_own_answers_get_everything(lesson: str) -> None:
    full = items(lesson)
    assert grade_plainly(lesson, Planned("the course", dict.fromkeys(full, SOLUTION), full)) == full
