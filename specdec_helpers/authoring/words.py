"""The lines of a lesson that the build writes: the header's sums, the label of each exercise, the common mistakes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .course import Cell, Lesson, heading

LABEL_OF_KIND = {"code": "Code", "number": "Trace", "choice": "Choose", "ungraded": "Reflect"}
LESSONS = 6
PART_WORDS = 122  # of the common mistakes in one cell: with its opening below what the lint allows


def plural(count: int, word: str) -> str:
    """Return "1 point", "2 points"."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def totals(lesson: Lesson) -> tuple[int, int]:
    """Return (minutes, points) of a lesson: the sums over its cells."""
    minutes = sum(cell.keys.get("minutes", 0) for cell in lesson.cells)
    return minutes, sum(cell.keys["points"] for cell in lesson.exercises)


def header(lesson: Lesson, cell: Cell) -> str:
    """Return the header: the author's words, with the lesson's place above and the sums below its title."""
    title, _, rest = cell.source.partition("\n")
    minutes, points = totals(lesson)
    counts = {kind: sum(c.kind == kind for c in lesson.cells) for kind in ("number", "code", "choice")}
    names = {"number": "number", "code": "function", "choice": "choice"}
    parts = [plural(count, names[kind]) for kind, count in counts.items() if count]
    sums = f"About {plural(minutes, 'minute')} · {plural(points, 'point')} · {', '.join(parts)}"
    place = f"E7.{lesson.number} · Lesson {lesson.number} of {LESSONS}"
    return f"{place}\n\n{title}\n\n{sums}\n\n{rest.strip()}".rstrip()


def label(cell: Cell) -> str | None:
    """Return the label line of a cell, "**Trace** · easy · 2 minutes · 1 point", or None where it has none."""
    word = cell.keys.get("label") or (LABEL_OF_KIND.get(cell.kind) if cell.kind != "ungraded" else None)
    if word is None and "minutes" not in cell.keys:
        return None
    parts = [f"**{word or LABEL_OF_KIND.get(cell.kind, 'Explore')}**"]
    if "difficulty" in cell.keys:
        parts.append(str(cell.keys["difficulty"]))
    if "minutes" in cell.keys:
        parts.append(plural(cell.keys["minutes"], "minute"))
    if cell.is_exercise:
        parts.append(plural(cell.keys["points"], "point"))
    return " · ".join(parts)


def with_label(markdown: str, line: str) -> str:
    """Put a label line into a markdown text: below the heading it begins with, else on top."""
    first, _, rest = markdown.partition("\n")
    if first.startswith("#"):
        return f"{first}\n\n{line}\n\n{rest.strip()}".rstrip()
    return f"{line}\n\n{markdown}".rstrip()


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """Cut a list into parts of a readable length: a long list of slips becomes several cells."""
    parts: list[list[str]] = []
    for line in lines:
        if not parts or len(re.findall(r"\w[\w'’.,/-]*", " ".join([*parts[-1], line]))) > PART_WORDS:
            parts.append([])
        parts[-1].append(line)
    return parts


def mistakes(cell: Cell, table: Mapping[str, Sequence[tuple[str, str, str]]]) -> list[str]:
    """Return the texts of the common-mistakes cells: the author's opening, then one list a function."""
    texts = [cell.source] if cell.source else []
    for function, known in table.items():
        lines = [f"- **{name}**: {cause}. Way out: {way}." for name, cause, way in known]
        for part, some in enumerate(_parts(lines)):
            texts.append(f"In `{function}`{', continued' if part else ''}:\n\n" + "\n".join(some))
    if texts and not (cell.source and heading(cell)):
        texts[0] = f"### Common mistakes\n\n{texts[0]}"
    return texts
