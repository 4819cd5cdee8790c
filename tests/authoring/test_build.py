"""The build: same bytes, whole or nothing, nbgrader's metadata, the sealed notes, the words it writes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from small_course import REPOSITORY, Course

from specdec_helpers.authoring.build import BuildError, find_root
from specdec_helpers.authoring.clear import ClearCourseSolutions
from specdec_helpers.authoring.commands import main
from specdec_helpers.authoring.course import CourseErrors
from specdec_helpers.authoring.house import tables
from specdec_helpers.checks import sealed

SOURCE = Path("source/lesson1/draft_and_verify.ipynb")
RELEASE = Path("release/lesson1/draft_and_verify.ipynb")


def notebook(data: bytes) -> dict[str, dict]:
    return {cell["id"]: cell for cell in json.loads(data)["cells"]}


def text(cell: dict) -> str:
    return "".join(cell["source"])


def test_a_second_build_has_the_same_bytes(course: Course) -> None:
    first = course.build()
    assert first.write(course.root) == sorted(first.files)
    second = course.build()
    assert second.files == first.files
    assert second.drift(course.root) == []
    assert second.write(course.root) == []


def test_notebooks_are_valid_nbformat_without_outputs_and_with_unique_ids(course: Course) -> None:
    for path, data in course.build().files.items():
        if path.suffix == ".ipynb":
            made = nbformat.reads(data.decode(), 4)
            nbformat.validate(made)
            ids = [cell.id for cell in made.cells]
            assert len(set(ids)) == len(ids)
            assert all(not cell.get("outputs") for cell in made.cells)
            assert set(made.metadata) == {"kernelspec", "language_info"}


def test_a_label_stands_above_all_texts_of_its_exercise(course: Course) -> None:
    course.edit(1, "# The draft is 7 3 5 9.\n", "# The draft is 7 3 5 9.\n\n# %% [markdown]\n# A hint.\n")
    cells = notebook(course.build().files[RELEASE])
    label = "**Trace** · easy · 2 minutes · 1 point"
    (told,) = [text(cell) for cell in cells.values() if label in text(cell)]
    assert told.startswith(f"### How many tokens?\n\n{label}\n")


def test_nbgrader_metadata_is_derived(course: Course) -> None:
    cells = notebook(course.build().files[SOURCE])
    solution, test = (cells[name]["metadata"]["nbgrader"] for name in ("first_of", "test_first_of"))
    assert (solution["solution"], solution["grade"], solution["locked"]) == (True, False, False)
    assert (test["solution"], test["grade"], test["locked"], test["points"]) == (False, True, True, 4)
    demo = cells["lesson1-the-idea-2"]["metadata"]
    assert demo["nbgrader"]["locked"]
    assert demo["editable"] is False
    assert "nbgrader" not in cells["prediction"]["metadata"]
    assert text(cells["test_first_of"]) == (
        "check(first_of=first_of)\n### BEGIN HIDDEN TESTS\nfrom specdec_helpers.grading import compare\n"
        "compare(first_of=first_of, points=4)\n### END HIDDEN TESTS"
    )


def test_release_has_stubs_and_no_hidden_tests(course: Course) -> None:
    cells = notebook(course.build().files[RELEASE])
    assert text(cells["tokens_out"]) == "tokens_out = None"
    assert text(cells["emit_early"]) == "emit_early = None"
    assert text(cells["first_of"]).endswith('    """\n    raise NotImplementedError')
    assert text(cells["test_first_of"]) == "check(first_of=first_of)"
    assert all("SOLUTION" not in text(cell) and "HIDDEN" not in text(cell) for cell in cells.values())


def test_generated_words(course: Course) -> None:
    cells = notebook(course.build().files[RELEASE])
    header = text(cells["lesson1-start-1"])
    assert header.startswith("E7.1 · Lesson 1 of 6\n\n# Draft and verify\n\nAbout 17 minutes · 6 points · ")
    assert "**Where you are.** At the start." in header
    assert text(cells["lesson1-the-idea-3"]).startswith(
        "### How many tokens?\n\n**Trace** · easy · 2 minutes · 1 point\n\nThe draft"
    )
    assert "**Explore** · 3 minutes" in text(cells["lesson1-the-idea-1"])
    assert "**Code** · medium · 10 minutes · 4 points" in text(cells["lesson1-part-2-1"])
    mistakes = text(cells["lesson1-chapter-reference-2"])
    assert mistakes == (
        "### Common mistakes\n\nIn `first_of`:\n\n"
        "- **the last is taken**: items[-1] is the end. Way out: use items[0]."
    )


def test_the_chapter_stands_before_what_next_or_where_it_is_asked_for(course: Course) -> None:
    order = list(notebook(course.build().files[RELEASE]))
    assert order.index("lesson1-chapter-reference-1") < order.index("lesson1-what-next-1")
    course.edit(
        1,
        "# %% [markdown]\n# ## Part 2",
        '# %% [markdown] generated="chapter"\n\n# %% [markdown]\n# ## Part 2',
    )
    order = list(notebook(course.build().files[RELEASE]))
    assert order.index("lesson1-chapter-reference-1") < order.index("lesson1-part-2-1")
    assert sum("chapter-reference" in cell_id for cell_id in order) == 3


def test_notes_are_sealed_and_open_with_their_answers(course: Course) -> None:
    data = course.build().files[Path("specdec_helpers/checks/notes.json")]
    notes = json.loads(data)
    assert set(notes) == {"tokens_out", "emit_early", "rate"}
    assert b"counted only" not in data
    entry = notes["tokens_out"]
    assert (entry["lesson"], entry["kind"], entry["places"]) == ("lesson1", "number", 0)
    assert sealed.unseal("tokens_out", "3", entry["notes"]) == (
        True,
        "Yes. Two accepted drafts and the target's own token.",
    )
    assert sealed.unseal("tokens_out", "2", entry["notes"]) == (
        False,
        "You counted only the accepted drafts.",
    )
    assert sealed.unseal("tokens_out", "4", entry["notes"]) is None
    assert notes["emit_early"]["options"] == {"A": "Yes", "B": "No"}
    assert sealed.unseal("emit_early", "B", notes["emit_early"]["notes"]) == (True, "Right, never.")


def test_a_failed_build_leaves_the_old_notebooks(course: Course) -> None:
    course.build().write(course.root)
    before = {path: path.read_bytes() for path in course.root.rglob("*.ipynb")}
    course.edit(1, "    ### END SOLUTION\n", "")
    course.edit(2, "# Accept or reject", "# Another title")
    with pytest.raises(CourseErrors):
        course.build().write(course.root)
    assert {path: path.read_bytes() for path in course.root.rglob("*.ipynb")} == before


def test_a_renamed_lesson_takes_its_old_notebook_away_and_nothing_else(course: Course) -> None:
    course.build().write(course.root)
    data = course.root / "source/lesson1/data.csv"
    data.write_text("1,2")
    path = course.lesson(1)
    path.rename(path.with_name("lesson1_trace_it.py"))
    built = course.build()
    assert SOURCE in built.drift(course.root)
    built.write(course.root)
    assert not (course.root / SOURCE).exists()
    assert (course.root / "source/lesson1/trace_it.ipynb").exists()
    assert data.exists()


def test_one_lesson_can_be_built_alone(course: Course) -> None:
    course.build().write(course.root)
    course.edit(1, "points=4", "points=400")  # the other lesson is broken, and is left alone
    course.edit(2, "rate = 0.7\n# note 0.7: Yes.", "rate = 0.7\n# note 0.7: Indeed.")
    built = course.build("lesson2")
    assert {path.parent.name for path in built.files if path.suffix == ".ipynb"} == {"lesson2"}
    built.write(course.root)
    notes = json.loads((course.root / "specdec_helpers/checks/notes.json").read_text())
    assert set(notes) == {"tokens_out", "emit_early", "rate"}
    with pytest.raises(
        BuildError, match="'lesson9' is no lesson of this course; choose from lesson1, lesson2"
    ):
        course.build("lesson9")


def test_stock_generate_assignment_makes_the_same_release(course: Course) -> None:
    built = course.build()
    built.write(course.root)
    shutil.copy(REPOSITORY / "nbgrader_config.py", course.root)
    stock = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", "lesson1", "--force"],
        cwd=course.root,
        capture_output=True,
        text=True,
        env=stock_environment(),
        timeout=120,
    )
    assert stock.returncode == 0, stock.stderr
    assert (course.root / "gradebook.db").exists()
    assert built.drift(course.root) == []


def stock_environment() -> dict[str, str]:
    """nbgrader calls alembic by its bare name, so the environment's scripts must be on the path."""
    import os

    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_building_opens_no_gradebook(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(course.root)
    course.build().write(course.root)
    assert not list(course.root.rglob("gradebook.db*"))


@pytest.mark.parametrize(
    ("source", "cleared"),
    [
        ("x = None\n### BEGIN SOLUTION\nx = 3\n### END SOLUTION", "x = None"),
        (
            "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n\ndef g():\n"
            "    ### BEGIN SOLUTION\n    return 2\n    ### END SOLUTION",
            "def f():\n    raise NotImplementedError\n\ndef g():\n    raise NotImplementedError",
        ),
        ("y = 2", "y = 2"),
    ],
)
def test_clear(source: str, cleared: str) -> None:
    cell = nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"solution": True, "grade": False}})
    made, _ = ClearCourseSolutions().preprocess_cell(cell, {}, 0)
    assert made.source == cleared


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", "begins inside another"),
        ("### BEGIN SOLUTION\nx = 1", "never closed"),
    ],
)
def test_clear_refuses(source: str, message: str) -> None:
    cell = nbformat.v4.new_code_cell(source, metadata={"nbgrader": {"solution": True, "grade": False}})
    with pytest.raises(RuntimeError, match=message):
        ClearCourseSolutions().preprocess_cell(cell, {}, 0)


def test_clear_refuses_a_solution_outside_a_solution_cell() -> None:
    cell = nbformat.v4.new_code_cell("### BEGIN SOLUTION\nx = 1\n### END SOLUTION")
    with pytest.raises(RuntimeError, match="outside a solution cell"):
        ClearCourseSolutions().preprocess_cell(cell, {}, 0)


def test_the_command_says_what_is_wrong_and_writes_nothing(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(REPOSITORY / "nbgrader_config.py", course.root)
    course.lesson(2).unlink()
    course.edit(1, "points=4", "points=40")
    assert main("build", ["--root", str(course.root)]) == 2
    said = capsys.readouterr().err
    assert "lesson1_draft_and_verify.py:" in said
    assert "points is 40 for 'first_of'; it must be a whole number from 1 to 20" in said
    assert "nothing was written" in said
    assert not (course.root / "source").exists()


def test_a_broken_table_is_named(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise SyntaxError("bad table")

    monkeypatch.setattr("specdec_helpers.authoring.house.import_module", broken)
    with pytest.raises(
        BuildError, match=r"checks/lesson1.py cannot be imported: SyntaxError\('bad table'\); mend it"
    ):
        tables("lesson1")


def test_the_root_is_found_from_below_or_asked_for(tmp_path: Path) -> None:
    assert find_root(REPOSITORY / "tests" / "authoring") == REPOSITORY
    with pytest.raises(BuildError, match="give --root"):
        find_root(tmp_path)
