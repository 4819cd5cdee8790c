"""Hold the built notebooks against the house's style: one line for everything that is out of bounds.

The limits are those of the course's style page; each message names the cell, the value, the bound and the way out.
Cells are named by their id, which stands in the notebook and begins with the lesson and the section.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from .build import Built
from .course import Lesson
from .rules import LABELS

MEDIAN_WORDS, MOST_WORDS, MAX_WORDS = 60, 130, 200
STUDENT_LINES, FIRST_LINES = 15, 5
FORBIDDEN_IN_RELEASE = (
    "BEGIN HIDDEN",
    "END HIDDEN",
    "BEGIN SOLUTION",
    "END SOLUTION",
    "specdec_helpers.grading",
    "specdec_helpers.reference",
    "specdec_helpers.trials",
    "compare(",
    "# note ",
)
INSTALL = re.compile(r"^\s*[%!]?\s*(pip|conda|mamba|uv)\b.*\binstall\b", re.MULTILINE)
SECTIONS = (
    "The idea",
    "Predict first",
    "Chapter context",
    "Part 1",
    "Part 2",
    "Check your understanding",
    "Chapter reference",
    "Math",
    "Worked example",
    "Reference code",
    "Common mistakes",
    "What next",
)
IMAGE = re.compile(r"!\[([^\]]*)\]\(|<img\b([^>]*)>", re.IGNORECASE)
DETAILS = re.compile(r"<details>(.*?)</details>", re.DOTALL)
PLOTS = re.compile(r"\bplt\.|\.savefig\(|\bsubplots\(")
DRAWN = re.compile(r"\balt=|aria-label|\bdescribe")


@dataclass(frozen=True)
class Page:
    """A built notebook: its path, its cells as JSON, and the lesson it came from."""

    path: Path
    cells: list[dict[str, Any]]
    lesson: Lesson

    def finding(self, cell: dict[str, Any] | None, message: str) -> str:
        """Return one line that says where and what."""
        where = f" [{cell['id']}]" if cell else ""
        return f"{self.path.as_posix()}{where}: {message}"


def source(cell: dict[str, Any]) -> str:
    """Return a cell's source as one text."""
    text = cell["source"]
    return text if isinstance(text, str) else "".join(text)


def words(markdown: str) -> int:
    """Count the words of a text cell; formulas, code and HTML tags count by what they show."""
    text = re.sub(r"```.*?```|\$\$.*?\$\$|<[^>]+>", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"\$[^$]*\$", "formula", text)
    return len(re.findall(r"\w[\w'’.,/-]*", text))


def _prose(page: Page) -> Iterator[str]:
    counts = [(words(source(cell)), cell) for cell in page.cells if cell["cell_type"] == "markdown"]
    numbers = sorted(count for count, _ in counts)
    if not numbers:
        return
    if median(numbers) > MEDIAN_WORDS:
        yield page.finding(
            None, f"the median text cell has {median(numbers):g} words, at most {MEDIAN_WORDS}; cut"
        )
    long = [(count, cell) for count, cell in counts if count > MOST_WORDS]
    if len(long) > 0.1 * len(counts):
        names = ", ".join(f"{cell['id']} ({count})" for count, cell in long)
        yield page.finding(
            None,
            f"{len(long)} of {len(counts)} text cells exceed {MOST_WORDS} words, at most a tenth may; shorten {names}",
        )
    for count, cell in counts:
        if count > MAX_WORDS:
            yield page.finding(cell, f"{count} words, at most {MAX_WORDS}; split the cell or cut")


def _code(page: Page) -> Iterator[str]:
    code = [cell for cell in page.cells if cell["cell_type"] == "code"]
    for cell in code:
        text = source(cell)
        lines = len(text.splitlines())
        if cell is code[0] and lines > FIRST_LINES:
            yield page.finding(cell, f"the first code cell has {lines} lines, at most {FIRST_LINES}")
        editable = cell["metadata"].get("editable", True)
        if editable and lines > STUDENT_LINES:
            yield page.finding(
                cell,
                f"{lines} lines in a cell that students edit, at most {STUDENT_LINES}; split or shorten its docstring",
            )
        if "http" in text:
            yield page.finding(
                cell, "'http' in a code cell: nothing is fetched in a lesson; move the link to a text cell"
            )
        if INSTALL.search(text):
            yield page.finding(
                cell, "an install in a code cell; the requirements belong to requirements-student.txt"
            )
        if PLOTS.search(text) and not DRAWN.search(text):
            yield page.finding(cell, "a plot without a text description; give it one (alt=… or describe…)")
        if cell.get("outputs") or cell.get("execution_count") is not None:
            yield page.finding(cell, "carries an output or a count; notebooks are committed without")
        if "widgets" in cell["metadata"]:
            yield page.finding(cell, "carries widget state; notebooks are committed without")


def _text(page: Page) -> Iterator[str]:
    for cell in page.cells:
        if cell["cell_type"] != "markdown":
            continue
        text = source(cell)
        for match in IMAGE.finditer(text):
            described = match[1] or re.search(r'alt="[^"]+"', match[2] or "")
            if not described:
                yield page.finding(
                    cell, 'an image without a description; write ![what it shows](…) or alt="…"'
                )
        if text.count("<details>") != text.count("</details>"):
            yield page.finding(cell, "<details> and </details> do not pair up")
        for match in DETAILS.finditer(text):
            yield from (page.finding(cell, problem) for problem in _hint(match, text))


def _hint(match: re.Match[str], text: str) -> Iterator[str]:
    body = re.sub(r"<summary>.*?</summary>", "", match[1], flags=re.DOTALL)
    if "<summary>" not in match[1]:
        yield "a hint without <summary>; say in it what opening it gives"
    if "$" in body or "\\(" in body or "\\[" in body:
        yield "mathematics inside a hint does not render in JupyterLab's <details>; write it in plain text"
    indented = [line for line in match[1].splitlines() if line.startswith((" ", "\t"))]
    if indented:
        yield f"an indented line inside a hint ({indented[0].strip()[:40]!r}) turns into code; remove the indentation"
    before, after = text[: match.start()], text[match.end() :]
    if (before and not before.endswith("\n\n")) or (after.strip() and not after.startswith("\n\n")):
        yield "a hint needs a blank line before <details> and after </details>"
    if not re.match(r"\s*<summary>.*?</summary>\n\n", match[1], re.DOTALL) or not match[1].endswith("\n\n"):
        yield "a hint needs a blank line after </summary> and before </details>, or its text is not read as Markdown"


def _release(page: Page) -> Iterator[str]:
    for cell in page.cells:
        for marker in FORBIDDEN_IN_RELEASE:
            if marker in source(cell):
                yield page.finding(
                    cell, f"{marker!r} must not reach students; look at the lesson's exercise cells"
                )
    for exercise in page.lesson.exercises:
        if exercise.kind == "code":
            lines = [line.strip() for line in _solution(exercise.source) if len(line.strip()) > 24]
            for other in page.cells:
                if any(line in source(other) for line in lines) and other["cell_type"] == "code":
                    yield page.finding(other, f"shows a line of the solution of {exercise.name}; reword it")


def _solution(text: str) -> list[str]:
    inside, lines = False, []
    for line in text.splitlines():
        if "BEGIN SOLUTION" in line or "END SOLUTION" in line:
            inside = "BEGIN" in line
        elif inside:
            lines.append(line)
    return lines


def _order(page: Page) -> Iterator[str]:
    headings = [
        line.lstrip("#").strip()
        for cell in page.cells
        if cell["cell_type"] == "markdown"
        for line in source(cell).splitlines()
        if line.startswith("#")
    ]
    last, last_name = -1, "the header"
    for name in SECTIONS:
        places = [i for i, text in enumerate(headings) if text.lower().startswith(name.lower())]
        if not places:
            yield page.finding(
                None, f"the section {name!r} is missing; the template's order is {', '.join(SECTIONS)}"
            )
        elif places[0] < last:
            yield page.finding(
                None, f"the section {name!r} stands before {last_name!r}; the template has it after"
            )
        else:
            last, last_name = places[0], name
    shown = "\n".join(source(cell) for cell in page.cells if cell["cell_type"] == "markdown")
    for label in LABELS:
        if f"**{label}**" not in shown:
            yield page.finding(None, f"no exercise is labelled {label}; give a cell label={label!r}")


def lint(built: Built) -> list[str]:
    """Return what is out of bounds in a build, one line each; empty when all is well."""
    by_name = {lesson.assignment: lesson for lesson in built.lessons}
    findings: list[str] = []
    for path, data in built.files.items():
        if path.suffix != ".ipynb":
            continue
        page = Page(path, json.loads(data)["cells"], by_name[path.parent.name])
        checks = (_prose, _code, _text, _release, _order) if path.parts[0] == "release" else ()
        for check in checks:
            findings += check(page)
    return findings
