"""The page a student gets: points on top, then each exercise with the answer, the visible test and the messages.

It is made by `nbgrader generate_feedback` (and formgrader's button): nbgrader_config.py names `FeedbackPage` as the
exporter. It holds no script, no hidden test, nothing of the lesson's prose, and only files that we made.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from html import escape, unescape
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import GenerateFeedback

from .clean import text_of
from .collect import read_plain
from .master import HIDDEN_NOTE, strip_hidden
from .page import code, code_style, exercise, number, outputs, page, plain


@dataclass(frozen=True)
class Marks:
    """What the gradebook says about one submitted notebook."""

    score: float
    most: float
    penalty: float = 0.0
    grades: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # grade id -> (score, most)
    comments: Mapping[str, str] = field(default_factory=dict)  # a person's words
    pending: frozenset[str] = frozenset()  # still to be graded by a person


class FeedbackPage(Exporter):  # type: ignore[misc]
    """An nbconvert exporter from a graded notebook to its feedback page."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if isinstance(self.parent, GenerateFeedback):
            self.parent.init_destination = lambda assignment, student: _wanted(self.parent, student)
            self.parent.init_assignment = partial(_own_files_only, self.parent)

    def _file_extension_default(self) -> str:
        return ".html"

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> tuple[Any, Any]:
        """Make the page of one graded notebook; its scores come from the gradebook."""
        names = resources["nbgrader"]
        notebook = json.loads(Path(filename).read_bytes())
        with Gradebook(names["db_url"]) as gradebook:
            marks = _marks(gradebook, names["notebook"], names["assignment"], names["student"])
        resources.setdefault("output_extension", ".html")
        resources.setdefault("outputs", {})
        return feedback_page(notebook, names["assignment"], marks), resources


def _wanted(converter: GenerateFeedback, student: str) -> bool:
    """Feedback is made anew each time: it is quick, and grades or comments may have changed."""
    return student not in converter.coursedir.student_id_exclude.split(",")


def _own_files_only(converter: GenerateFeedback, assignment: str, student: str) -> None:
    """Prepare the feedback folder: the two small files that `release_feedback` needs, and nothing else."""
    source, folder = (
        Path(converter._format_source(assignment, student)),
        Path(converter._format_dest(assignment, student)),
    )
    folder.mkdir(parents=True, exist_ok=True)
    keep = {f"{Path(name).stem}.html" for name in converter.notebooks}
    for old in folder.iterdir():
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        elif old.name not in keep or old.is_symlink():
            old.unlink()
    # Without them `release_feedback` stops for the whole class; an empty one only means that nobody can fetch it.
    for name in ("timestamp.txt", "submission_secret.txt"):
        (folder / name).write_bytes(read_plain(source / name, 200) or b"-")


def _marks(gradebook: Gradebook, notebook: str, assignment: str, student: str) -> Marks:
    try:
        found = gradebook.find_submission_notebook(notebook, assignment, student)
    except MissingEntry:
        return Marks(0.0, 0.0)
    return Marks(
        score=float(found.score or 0),
        most=float(found.max_score or 0),
        penalty=float(found.late_submission_penalty or 0),
        grades={grade.name: (float(grade.score or 0), float(grade.max_score or 0)) for grade in found.grades},
        comments={comment.name: comment.comment for comment in found.comments if comment.comment},
        pending=_pending(found.grades),
    )


def _pending(grades: Iterable[Any]) -> frozenset[str]:
    """The tests that wait for a person. nbgrader also marks a person's own score after a regrade: that one is given."""
    return frozenset(g.name for g in grades if g.needs_manual_grade and g.manual_score is None)


def feedback_page(notebook: dict[str, Any], lesson: str, marks: Marks) -> str:
    """The page of one graded notebook (nbformat 4, as the engine writes it)."""
    cells = notebook.get("cells", [])
    own = notebook.get("metadata", {}).get("specdec")
    title = next((found for cell in cells if (found := _heading(cell))), lesson)
    tests = [cell for cell in cells if _nbgrader(cell).get("grade")]
    body = [
        f"<header><p class='soft'>{escape(lesson)} · feedback</p><h1>{plain(title)}</h1>",
        _summary(tests, marks),
    ]
    remarks = own.get("remarks", []) if isinstance(own, dict) else []
    if remarks:
        items = "".join(f"<li>{plain(text_of(remark))}</li>" for remark in remarks)
        body.append(
            f'<div class="note"><strong>About the notebook you handed in</strong><ul>{items}</ul></div>'
        )
    body.append("</header><main>")
    body += _cells(cells, marks, trusted=isinstance(own, dict))
    body.append("</main>")
    return page(f"{title} – feedback", "\n".join(body), code_style())


def _summary(tests: list[dict[str, Any]], marks: Marks) -> str:
    rows = []
    for cell in tests:
        grade_id = _nbgrader(cell)["grade_id"]
        score, most = marks.grades.get(grade_id, (0.0, float(_nbgrader(cell).get("points", 0))))
        rows.append(
            f'<tr><td><a href="#{escape(grade_id)}">{exercise(grade_id)}</a></td>'
            f"<td>{_verdict(score, most, grade_id in marks.pending)}</td>"
            f'<td class="number">{number(score)} of {number(most)}</td></tr>'
        )
    late = ""
    if marks.penalty:
        late = f'<p class="none">{number(marks.penalty)} points were taken off because it came late.</p>'
    total = max(0.0, marks.score - marks.penalty)
    return (
        f'<p class="score">{number(total)} <span class="soft">of {number(marks.most)} points</span></p>{late}'
        '<table><thead><tr><th scope="col">Exercise</th><th scope="col">Result</th>'
        f'<th scope="col" class="number">Points</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )


def _verdict(score: float, most: float, pending: bool) -> str:
    if pending:
        return '<span class="part long">◐ a person will look at it</span>'
    if score >= most:
        return '<span class="full">✓ all right</span>'
    if score > 0:
        return '<span class="part">◐ partly right</span>'
    return '<span class="none">✗ no points yet</span>'


def _cells(cells: list[dict[str, Any]], marks: Marks, trusted: bool) -> list[str]:
    """Exercises with their answers and tests; the student's own cells; of our prose only the headings."""
    parts: list[str] = []
    answer: list[str] = []  # the answer waits for its test, so that both are in one box
    for place, cell in enumerate(cells):
        info, source = _nbgrader(cell), text_of(cell.get("source"))
        if info.get("solution"):
            parts += answer
            answer = [_answer(cell, info["grade_id"], source, marks)]
        elif info.get("grade"):
            parts.append(_exercise(cell, info["grade_id"], source, marks, "".join(answer), trusted))
            answer = []
        elif cell.get("cell_type") == "markdown":
            if str(cell.get("id", "")).startswith("added-"):
                answer.append(f"<pre>{plain(unescape(source))}</pre>")  # shown as typed; it was made harmless
            elif place and (heading := _heading(cell)):
                parts += answer
                answer = []
                parts.append(f"<h2>{plain(heading)}</h2>")
        elif cell.get("cell_type") == "code" and not info.get("locked"):
            answer.append(_own_cell(cell, source))
        elif shown := outputs(cell, False, "this cell"):
            answer.append(shown)
    return _without_empty_headings([*parts, *answer])


def _answer(cell: dict[str, Any], grade_id: str, source: str, marks: Marks) -> str:
    if cell.get("cell_type") == "markdown":
        shown = f"<pre>{plain(source)}</pre>"
    else:
        shown = code(source) if source.strip() else '<p class="soft">(empty)</p>'
    comment = marks.comments.get(grade_id, "")
    note = f'<p class="comment">{plain(comment)}</p>' if comment else ""
    return f"<h3>Your answer</h3>{shown}{outputs(cell, False, f'your cell {grade_id}')}{note}"


def _exercise(
    cell: dict[str, Any], grade_id: str, source: str, marks: Marks, answer: str, trusted: bool
) -> str:
    score, most = marks.grades.get(grade_id, (0.0, 0.0))
    visible = strip_hidden(source).replace(HIDDEN_NOTE, "").strip()
    test = f"<details><summary>The test you could see</summary>{code(visible)}</details>" if visible else ""
    return (
        f'<section class="exercise" id="{escape(grade_id)}"><h3>{exercise(grade_id)} · '
        f"{_verdict(score, most, grade_id in marks.pending)} · {number(score)} of {number(most)} points</h3>"
        f"{answer}<h3>What the tests say</h3>{outputs(cell, trusted, f'the test {grade_id}')}{test}</section>"
    )


def _own_cell(cell: dict[str, Any], source: str) -> str:
    shown = outputs(cell, False, "your cell")
    if not source.strip() and not shown:
        return ""
    return f"<details><summary>A cell of yours</summary>{code(source)}</details>{shown}"


def _without_empty_headings(parts: list[str]) -> list[str]:
    return [
        part
        for part, following in zip(parts, [*parts[1:], "<h2>"], strict=True)
        if part and not (part.startswith("<h2>") and following.startswith("<h2>"))
    ]


def _nbgrader(cell: dict[str, Any]) -> dict[str, Any]:
    found = cell.get("metadata", {}).get("nbgrader", {})
    return found if isinstance(found, dict) and found.get("grade_id") else {}


def _heading(cell: dict[str, Any]) -> str:
    if cell.get("cell_type") != "markdown" or str(cell.get("id", "")).startswith("added-"):
        return ""
    found = re.search(r"(?m)^#{1,3}\s+(.+?)\s*$", text_of(cell.get("source")))
    return re.sub(r"[*_`]", "", found.group(1)) if found else ""
