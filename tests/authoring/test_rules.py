"""What the build refuses: each with file, line, value, bound and way out."""

from __future__ import annotations

import pytest
from small_course import TABLES, Course

from specdec_helpers.authoring.course import CourseError, CourseErrors
from specdec_helpers.authoring.house import Tables, tables

L1, L2 = "lesson1_draft_and_verify.py", "lesson2_accept_or_reject.py"

# name: (lesson, old text, new text, parts of the message)
WRONG = {
    "duplicate in a lesson": (
        1,
        'code="first_of"',
        'code="tokens_out"',
        ["'tokens_out' is already used at", "unique"],
    ),
    "duplicate across lessons": (
        2,
        'number="rate"',
        'number="first_of"',
        [L2, "'first_of' is already used at " + L1],
    ),
    "name outside the scheme": (1, 'code="first_of"', 'code="firstOf"', ["'firstOf' is outside the scheme"]),
    "keyword": (2, 'number="rate"', 'number="lambda"', ["'lambda' is outside the scheme"]),
    "taken name": (1, 'code="first_of"', 'code="check"', ["'check' is taken", "choose another name"]),
    "points too many": (1, "points=4", "points=21", ["points is 21 for 'first_of'", "from 1 to 20"]),
    "points none": (1, "points=4", "points=0", ["points is 0 for 'first_of'", "from 1 to 20"]),
    "points a half": (1, "points=4", "points=2.5", ["points is 2.5 for 'first_of'", "whole number"]),
    "points missing": (1, " points=4", "", ["points is missing for 'first_of'; add points=2"]),
    "minutes missing": (1, " minutes=10", "", ["minutes is missing for 'first_of'; add minutes=5"]),
    "difficulty missing": (1, ' difficulty="medium"', "", ["difficulty is missing for 'first_of'"]),
    "difficulty unknown": (1, '"medium"', '"nice"', ["difficulty is 'nice'", "easy, medium, hard"]),
    "unknown kind": (
        1,
        'code="first_of"',
        'function="first_of"',
        ["unknown key 'function'", "code, number, choice"],
    ),
    "unknown key": (
        1,
        "minutes=10",
        "minutes=10 colour=3",
        ["unknown key 'colour' (value 3) on a code cell"],
    ),
    "two kinds": (
        1,
        'code="first_of"',
        'code="first_of" number="b"',
        ["this one has code and number", "split"],
    ),
    "unknown label": (1, 'label="Explore"', 'label="Play"', ["label is 'Play'", "Predict, Explore"]),
    "no solution": (
        1,
        "    ### BEGIN SOLUTION\n    return items[0]\n    ### END SOLUTION\n",
        "    return 1\n",
        ["'first_of' has no solution"],
    ),
    "solution unclosed": (
        1,
        "    ### END SOLUTION\n",
        "",
        ["'### BEGIN SOLUTION' without its '### END SOLUTION'"],
    ),
    "solution unopened": (
        1,
        "    ### BEGIN SOLUTION\n",
        "",
        ["'### END SOLUTION' without its '### BEGIN SOLUTION'"],
    ),
    "solution nested": (
        1,
        "    return items[0]\n",
        "    ### BEGIN SOLUTION\n    return items[0]\n",
        ["a second '### BEGIN SOLUTION'"],
    ),
    "solution outside the function": (
        1,
        "    ### BEGIN SOLUTION\n    return items[0]\n    ### END SOLUTION\n",
        "### BEGIN SOLUTION\n### END SOLUTION\n",
        ["inside the function's body"],
    ),
    "solution in a demonstration": (
        1,
        'code="first_of" points=4 minutes=10 difficulty="medium"',
        "",
        ["outside an exercise"],
    ),
    "other function": (
        1,
        "def first_of(items):",
        "def second_of(items):",
        ["named 'first_of' but defines second_of"],
    ),
    "syntax": (1, "def first_of(items):", "def first_of(items:", ["'first_of' does not parse"]),
    "no note for the right number": (
        1,
        "# note 3: Yes.",
        "# note 4: Yes.",
        ["'tokens_out' has no note for its right value 3"],
    ),
    "no note for an option": (
        1,
        "# note A: Nothing leaves before the target has checked it.\n",
        "",
        ["'emit_early' has no note for option A", "# note A: …"],
    ),
    "a note for no option": (
        1,
        "# note A:",
        "# note C:",
        ["'C' is no answer to 'emit_early'", "one of the options A, B"],
    ),
    "a note for no number": (
        1,
        "# note 2:",
        "# note two:",
        ["'two' is no answer to 'tokens_out'", "a finite number"],
    ),
    "two notes for one value": (1, "# note 2:", "# note 3.0:", ["two notes for 3 (at 0 places)"]),
    "empty note": (2, "# note 0.7: Yes.", "# note 0.7:", ["the note for 0.7 of 'rate' is empty"]),
    "no options": (1, "# - **A.** Yes\n# - **B.** No\n", "# Yes or no?\n", ["'emit_early' has 0 options"]),
    "not an assignment": (2, "rate = 0.7", "print(0.7)", ["must be one line like `rate = 3`"]),
    "unlike the reference": (
        2,
        "rate = 0.7\n# note 0.7",
        "rate = 0.6\n# note 0.6",
        ["rate = 0.6 here, but the reference says 0.7"],
    ),
    "no header": (2, ' generated="header"', "", ["header is missing or not the first cell (none)"]),
    "header without a title": (
        2,
        "# # Accept or reject",
        "# Accept or reject",
        ["must begin with the lesson's title"],
    ),
    "generated unknown": (
        1,
        "# %% [markdown]\n# ## The idea",
        '# %% [markdown] generated="idea"\n# ',
        ["generated='idea' is unknown"],
    ),
    "no set-up": (
        2,
        "# %% setup",
        "# %%",
        ["the first code cell must be the only `# %% setup` cell; found 0"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused(course: Course, case: str) -> None:
    lesson, old, new, parts = WRONG[case]
    course.edit(lesson, old, new)
    with pytest.raises((CourseError, CourseErrors)) as caught:
        course.build()
    message = str(caught.value)
    assert f"lesson{lesson}_" in message.partition(":")[0]
    assert int(message.split(":")[1]) >= 1
    for part in parts:
        assert part in message


def test_the_line_is_where_the_author_looks(course: Course) -> None:
    course.edit(1, "# note 2: You", "# note two: You")
    lines = course.lesson(1).read_text(encoding="utf-8").splitlines()
    with pytest.raises(CourseErrors) as caught:
        course.build()
    line = int(str(caught.value).split(":")[1])
    assert lines[line - 1].startswith("# note two")


def test_all_errors_come_at_once(course: Course) -> None:
    course.edit(1, "points=4", "points=40")
    course.edit(2, "minutes=2", "minutes=-2")
    with pytest.raises(CourseErrors) as caught:
        course.build()
    assert len(caught.value.errors) == 2


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        (
            Tables(exercises=frozenset({"first_of"}), answers={"tokens_out": 3, "emit_early": "B"}),
            "ITEMS of trials/lesson1.py",
        ),
        (
            Tables(trials=frozenset({"first_of"}), answers={"tokens_out": 3, "emit_early": "B"}),
            "EXERCISES of checks/lesson1.py",
        ),
        (
            Tables(frozenset({"first_of"}), frozenset({"first_of"}), {"emit_early": "B"}),
            "ANSWERS of reference/lesson1.py",
        ),
    ],
)
def test_an_exercise_without_tests_is_refused(course: Course, lacking: Tables, said: str) -> None:
    with pytest.raises(CourseErrors, match="has no tests: add its entry to") as caught:
        course.build(tables={**TABLES, "lesson1": lacking})
    assert said in str(caught.value)


def test_a_lesson_without_tables_lacks_everything() -> None:
    nothing = tables("lesson9")
    assert nothing.lacking("code", "x") == ["EXERCISES of checks", "ITEMS of trials"]
    assert nothing.lacking("number", "x") == ["ANSWERS of reference"]


def test_file_names(course: Course) -> None:
    path = course.lesson(2)
    path.rename(path.with_name("Lesson2.py"))
    with pytest.raises(
        CourseError, match=r"'Lesson2.py' is no lesson's name; call it lesson1_draft_and_verify.py"
    ):
        course.build()
    path.with_name("Lesson2.py").rename(path.with_name("lesson1_again.py"))
    with pytest.raises(CourseError, match="one file a lesson"):
        course.build()


def test_no_lessons(course: Course) -> None:
    for path in (course.root / "course").glob("lesson*.py"):
        path.unlink()
    with pytest.raises(CourseError, match="no lesson is here"):
        course.build()


def test_text_that_looks_like_a_cell_mark(course: Course) -> None:
    path = course.lesson(2)
    path.write_text("import this\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(CourseError, match="begin every cell, also the first one, with a '# %%' line"):
        course.build()


def test_not_utf8(course: Course) -> None:
    course.lesson(2).write_bytes(b"# %% [markdown]\n# caf\xe9\n")
    with pytest.raises(CourseError, match="is not UTF-8"):
        course.build()
