"""The instructor's and the student's page in Chromium: nothing sticks out on a phone, and the columns stay together."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from specdec_helpers.checks import LESSONS, table
from specdec_helpers.grading.feedback import Marks, feedback_page
from specdec_helpers.grading.report import ClassReport
from specdec_helpers.grading.report_page import class_page
from specdec_helpers.grading.store import Record


def points(lesson: str) -> dict[str, float]:
    names = [*import_module(f"specdec_helpers.reference.{lesson}").ANSWERS, *table(lesson).EXERCISES]
    return {f"test_{name}": 4.0 for name in names}


def report(lesson: str) -> str:
    most = points(lesson)
    scores = {f"student{i:03}": dict.fromkeys(most, i % 5 * 1.0) for i in range(40)}
    mistakes = {f"test_{name}": list(told) for name, told in table(lesson).MISTAKES.items()}
    records = {s: Record(s, "k", "s", marks, ["why. " * 20], True, mistakes) for s, marks in scores.items()}
    return class_page(ClassReport(lesson, most, scores, records, ("zoe",)))


def feedback(lesson: str) -> str:
    marks = {name: (float(i % 5) * 0.75, 4.0) for i, name in enumerate(points(lesson))}
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "id": name,
            "source": f"check({name}={name})",
            "outputs": [],
            "metadata": {"nbgrader": {"grade": True, "grade_id": name, "points": 4}},
        }
        for name in marks
    ]
    pending = frozenset(list(marks)[:1])
    return feedback_page(
        {"cells": cells, "metadata": {}}, lesson, Marks(9, 28, grades=marks, pending=pending)
    )


@pytest.fixture(scope="module")
def phone(chromium: Browser) -> Any:
    page = chromium.new_page(viewport={"width": 400, "height": 900})
    yield page
    page.close()


@pytest.mark.parametrize("make", [report, feedback])
@pytest.mark.parametrize("lesson", LESSONS)
def test_nothing_sticks_out_on_a_phone(phone: Page, lesson: str, make: Any) -> None:
    phone.set_content(make(lesson))
    out = phone.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(e => !e.closest('.wide')
              && e.getBoundingClientRect().right > document.body.getBoundingClientRect().right - 15)
           .map(e => e.tagName + ' ' + e.textContent.slice(0, 40))"""
    )
    assert out == []
    assert phone.evaluate("document.documentElement.scrollWidth") == 400


@pytest.mark.parametrize("width", [400, 1000])
def test_figures_stand_beside_their_bars(chromium: Browser, width: int) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.set_content(report("lesson1"))
    gaps = page.locator("tr:has(.bar)").evaluate_all(
        """rows => rows.map(row => {
            const bar = row.querySelector('.bar'), range = document.createRange();
            range.selectNodeContents(bar.closest('td').previousElementSibling);
            return bar.getBoundingClientRect().left - range.getBoundingClientRect().right;
        })"""
    )
    assert len(gaps) > 10
    assert all(4 < gap < 20 for gap in gaps), gaps
    page.close()
