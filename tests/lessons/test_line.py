"""The line through the course: every lesson says where the learner is, stands alone, and leads to the next."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import nbformat
import pytest

from specdec_helpers import checks
from specdec_helpers.authoring.course import Lesson, read_course
from specdec_helpers.checks.progress import TITLES

ROOT = Path(__file__).parents[2]
LESSONS = read_course(ROOT / "course")
OBJECTIVE = (
    "**Objective.** Trace draft-and-verify decoding, explain distribution-preserving acceptance, and calculate a "
    "simplified speedup."
)
SECTIONS = [
    "What you will learn",
    "The idea",
    "Predict first",
    "Chapter context",
    "Part 1 · Hands-on",
    "Part 2 · Code",
    "Check your understanding",
    "Chapter reference: math, worked example & code",
    "What next",
]


def texts(lesson: Lesson) -> list[str]:
    return [cell.source for cell in lesson.cells if cell.markdown]


def test_there_are_six() -> None:
    assert [lesson.assignment for lesson in LESSONS] == list(TITLES) == list(checks.LESSONS)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.assignment)
def test_the_header_says_goal_place_and_what_comes(lesson: Lesson) -> None:
    head = " ".join(lesson.cells[0].source.split())
    assert head.startswith(f"# {TITLES[lesson.assignment]} ")
    assert OBJECTIVE in head
    assert "**Lesson goal.**" in head
    place = head.partition("**Where you are.** ")[2]
    assert place, "where the learner is"
    if lesson.number > 1:
        assert "esson 1" in place or "essons 1" in place, "what was built in earlier lessons"
    if lesson.number < 6:
        assert f"Lesson {lesson.number + 1}" in place, "what comes"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.assignment)
def test_the_sections_come_in_the_order_of_the_template(lesson: Lesson) -> None:
    found = [line[3:] for text in texts(lesson) for line in text.splitlines() if line.startswith("## ")]
    assert found == SECTIONS


@pytest.mark.parametrize("lesson", LESSONS[:-1], ids=lambda lesson: lesson.assignment)
def test_the_end_leads_to_the_next_lesson(lesson: Lesson) -> None:
    last = " ".join(next(text for text in reversed(texts(lesson)) if text.startswith("## What next")).split())
    following = f"lesson{lesson.number + 1}"
    assert f"**Lesson {lesson.number + 1}, {TITLES[following]}**" in last


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.assignment)
def test_every_lesson_has_its_notation_and_its_explorer(lesson: Lesson) -> None:
    (notation,) = [text for text in texts(lesson) if text.startswith("### Notation")]
    for symbol in ("p", "q", "a", "k"):
        assert re.search(rf"^\| [^|]*\b{symbol}\b", notation, re.MULTILINE), symbol
    assert "Leviathan et al." in notation
    assert "swap p and q" in " ".join(notation.split())
    code = "\n".join(cell.source for cell in lesson.cells if not cell.markdown)
    assert f'start("{lesson.assignment}")' in code
    assert f'explore("{lesson.assignment}")' in code


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.assignment)
def test_every_label_stands_below_its_heading_or_opens_what_follows_a_code_cell(lesson: Lesson) -> None:
    (path,) = (ROOT / "release" / lesson.assignment).glob("*.ipynb")
    cells = nbformat.read(path, 4).cells
    found = 0
    for before, cell in itertools.pairwise(cells):
        lines = [line for line in cell.source.splitlines() if line] if cell.cell_type == "markdown" else []
        for i, line in enumerate(lines):
            if re.match(r"\*\*(Predict|Explore|Trace|Code|Choose|Reflect)\*\* · .*minute", line):
                found += 1
                if i == 0:
                    assert before.cell_type == "code", line
                else:
                    assert lines[i - 1].startswith("#"), (lines[i - 1], line)
    assert found == sum("label" in c.keys or c.is_exercise for c in lesson.cells)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.assignment)
def test_a_notebook_stands_alone(lesson: Lesson) -> None:
    """No cell uses a function that only another lesson's notebook defines."""
    others = {cell.name for other in LESSONS if other is not lesson for cell in other.exercises}
    code = "\n".join(
        cell.source for cell in lesson.cells if not cell.markdown and cell.kind not in ("number", "choice")
    )
    others -= {
        node.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)
    }  # re-stated
    for cell in lesson.cells:
        if cell.markdown or cell.kind in ("number", "choice"):
            continue
        used = {node.id for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Name)}
        assert not used & others, (lesson.assignment, cell.line, used & others)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.assignment)
def test_start_counts_every_exercise_in_the_notebook_s_order(lesson: Lesson) -> None:
    assert checks.known_items(lesson.assignment) == [cell.name for cell in lesson.exercises]


@pytest.mark.parametrize("name", ["student", "instructor", "glossary", "further_reading"])
def test_links_between_the_documents_lead_somewhere(name: str) -> None:
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", text):
        assert (ROOT / "docs" / target).exists(), target
    assert max(map(len, text.splitlines())) < 400


def test_the_glossary_has_the_words_of_the_course() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| \*\*([^*]+)\*\*", text, re.MULTILINE)
    assert len(words) > 40
    assert len(set(words)) == len(words)
    for word in (
        "draft, q",
        "target, p",
        "residual",
        "bonus token",
        "KV cache",
        "break-even",
        "verification",
    ):
        assert word in words


def test_what_the_instructor_reads_of_limits_and_commands_is_true() -> None:
    from specdec_helpers.cli import COMMANDS
    from specdec_helpers.grading.limits import MB, Limits

    text = (ROOT / "docs" / "instructor.md").read_text(encoding="utf-8")
    limits = Limits()
    assert (
        f"| `cell_seconds`, `notebook_seconds` | {limits.cell_seconds:g}, {limits.notebook_seconds:g} |"
        in text
    )
    assert f"| `memory_bytes` | {limits.memory_bytes / MB / 1024:g} GB |" in text
    assert f"| `processes`, `open_files` | {limits.processes}, {limits.open_files} |" in text
    assert f"| `written_bytes` | {limits.written_bytes // MB} MB |" in text
    assert f"{limits.cell_output_bytes // MB} MB, {limits.notebook_output_bytes // MB} MB" in text
    assert f"| {limits.cell_outputs}, {limits.cell_figures} |" in text
    assert f"| {limits.model_calls:,}, {limits.model_depth} |" in text
    for name in limits.as_dict():
        assert f"`{name}`" in text
    for command in re.findall(r"`specdec ([a-z]+)|^specdec ([a-z]+)", text, re.MULTILINE):
        assert "".join(command) in COMMANDS
