"""The notebook lint: each rule finds what it is for, and a good page passes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_course import Course

from specdec_helpers.authoring.build import Built
from specdec_helpers.authoring.course import Cell, Lesson
from specdec_helpers.authoring.lint import SECTIONS, lint, words

PATH = Path("release/lesson1/draft_and_verify.ipynb")
LABELS = "**Predict** **Explore** **Trace** **Code** **Choose** **Reflect**"


def text(source: str, **more: object) -> dict:
    return {"cell_type": "markdown", "id": "a-text", "metadata": {}, "source": source, **more}


def code(source: str, editable: bool = True, **more: object) -> dict:
    meta = {} if editable else {"editable": False}
    return {"cell_type": "code", "id": "a-code", "metadata": meta, "outputs": [], "source": source, **more}


GOOD = [text(f"## {name}\n\nA few words.") for name in SECTIONS]
GOOD[0]["source"] += f"\n\n{LABELS}"
GOOD.insert(1, code('start("lesson1")', editable=False))


def findings(*cells: dict, exercises: tuple[Cell, ...] = ()) -> list[str]:
    lesson = Lesson(1, "draft_and_verify", Path("course/lesson1_draft_and_verify.py"), list(exercises))
    data = json.dumps({"cells": [*GOOD, *cells]}).encode()
    return lint(Built({PATH: data}, [lesson]))


def test_a_good_page_passes() -> None:
    assert findings() == []


HINT = "<details>\n<summary>Hint</summary>\n\nThink.\n\n</details>"

BAD = {
    "long text": ([text("word " * 201)], "201 words, at most 200; split the cell or cut"),
    "many long texts": (
        [text("word " * 131)] * 2,
        "2 of 14 text cells exceed 130 words, at most a tenth may",
    ),
    "median": ([text("word " * 61)] * 20, "the median text cell has 61 words, at most 60"),
    "long student cell": ([code("x = 1\n" * 16)], "16 lines in a cell that students edit, at most 15"),
    "http": ([code("# see http://example.org")], "'http' in a code cell"),
    "install": ([code("%pip install numpy")], "an install in a code cell"),
    "shell install": ([code("!pip install numpy")], "an install in a code cell"),
    "output": ([code("1", outputs=[{"output_type": "stream"}])], "carries an output or a count"),
    "count": ([code("1", execution_count=3)], "carries an output or a count"),
    "plot": ([code("plt.plot([1])")], "a plot without a text description"),
    "image": ([text("![](strip.png)")], "an image without a description"),
    "img": ([text('<img src="strip.png">')], "an image without a description"),
    "hint with mathematics": ([text(HINT.replace("Think.", "$a^k$"))], "mathematics inside a hint"),
    "indented hint": ([text(HINT.replace("Think.", "  Think."))], "an indented line inside a hint"),
    "hint without summary": ([text("<details>\n\nThink.\n\n</details>")], "a hint without <summary>"),
    "hint without blank line before": ([text(f"Text.\n{HINT}")], "a blank line before <details>"),
    "hint without blank line inside": (
        [text(HINT.replace("</summary>\n\n", "</summary>\n"))],
        "after </summary>",
    ),
    "hint not closed": ([text(HINT.replace("</details>", ""))], "do not pair up"),
    "hidden test": ([code("### BEGIN HIDDEN TESTS\ncompare(x=x)")], "'BEGIN HIDDEN' must not reach students"),
    "solution": ([code("### BEGIN SOLUTION")], "'BEGIN SOLUTION' must not reach students"),
    "note": ([code("x = None\n# note 3: Yes.")], "'# note ' must not reach students"),
    "reference": (
        [code("from specdec_helpers.reference import lesson1")],
        "'specdec_helpers.reference' must not reach",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_found(case: str) -> None:
    cells, message = BAD[case]
    found = findings(*cells)
    assert any(message in line for line in found), found
    assert all(line.startswith(PATH.as_posix()) for line in found)


FINE = {
    "long read-only cell": code("x = 1\n" * 30, editable=False),
    "described image": text("![the strip of five tokens](strip.png)"),
    "described img": text('<img src="strip.png" alt="the strip">'),
    "hint": text(f"Text.\n\n{HINT}\n\n{HINT}"),
    "two hundred words": text("word " * 125),
    "link in a text": text("[the paper](https://example.org)"),
}


@pytest.mark.parametrize("case", FINE)
def test_not_found(case: str) -> None:
    assert findings(FINE[case]) == []


def test_first_code_cell_is_short() -> None:
    lesson = Lesson(1, "draft_and_verify", Path("course/x.py"), [])
    cells = [code("import numpy\n" * 6, editable=False), *GOOD]
    found = lint(Built({PATH: json.dumps({"cells": cells}).encode()}, [lesson]))
    assert any("the first code cell has 6 lines, at most 5" in line for line in found)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_is_asked_for(section: str) -> None:
    lesson = Lesson(1, "draft_and_verify", Path("course/x.py"), [])
    cells = [cell for cell in GOOD if not cell["source"].startswith(f"## {section}\n")]
    found = lint(Built({PATH: json.dumps({"cells": cells}).encode()}, [lesson]))
    assert any(f"the section {section!r} is missing" in line for line in found)


def test_sections_in_another_order() -> None:
    lesson = Lesson(1, "draft_and_verify", Path("course/x.py"), [])
    cells = [*GOOD[:2], GOOD[3], GOOD[2], *GOOD[4:]]
    found = lint(Built({PATH: json.dumps({"cells": cells}).encode()}, [lesson]))
    assert any("stands before" in line for line in found)


def test_every_label_is_asked_for() -> None:
    lesson = Lesson(1, "draft_and_verify", Path("course/x.py"), [])
    cells = [{**cell, "source": cell["source"].replace("**Reflect**", "")} for cell in GOOD]
    found = lint(Built({PATH: json.dumps({"cells": cells}).encode()}, [lesson]))
    assert found == [f"{PATH.as_posix()}: no exercise is labelled Reflect; give a cell label='Reflect'"]


def test_a_line_of_a_solution_elsewhere_in_the_release() -> None:
    body = "def f(x):\n    ### BEGIN SOLUTION\n    return sum(value * x for value in range(x))\n    ### END SOLUTION"
    exercise = Cell("code", "f", body, Path("course/x.py"), 1)
    told = code("def g(x):\n    return sum(value * x for value in range(x))", editable=False)
    assert any("shows a line of the solution of f" in line for line in findings(told, exercises=(exercise,)))
    assert findings(exercises=(exercise,)) == []


def test_words_counts_what_is_read() -> None:
    assert words("One $a^k \\cdot b$ three <b>four</b>") == 4
    assert words("$$a + b$$") == 0
    assert words("```\nnot prose\n```\nprose") == 1


def test_the_build_hands_its_release_to_the_lint(course: Course) -> None:
    assert any("the section 'Predict first' is missing" in line for line in lint(course.build()))
