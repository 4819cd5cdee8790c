"""The answers of numbers and choices, and the notes beside them: read from a course cell, sealed for the students.

tokens_produced = 3
# note 3: Yes. Two accepted drafts and the target's own token.
# note 2: You counted only the accepted drafts.
#         A longer note goes on like this.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .course import Cell, CourseError

NOTE = re.compile(r"#\s*note\s+([^:]+?)\s*:\s*(.*)")
CONTINUED = re.compile(r"#\s{2,}(\S.*)")
OPTION = re.compile(r"^[-*]\s+(?:\*\*\(?([A-H])[.):]?\*\*[.):]?|\(?([A-H])[.):])\s+(\S.*)$")


class Seals(Protocol):
    """What the build needs of checks/sealed.py."""

    canonical_number: Callable[..., str | None]
    canonical_choice: Callable[..., str | None]
    seal: Callable[..., dict[str, str]]


@dataclass
class Answer:
    """A number or choice: its right value as Python text, its notes by canonical answer, and its options' texts."""

    item: str
    kind: str
    places: int
    literal: str
    right: str
    notes: dict[str, str]
    options: dict[str, str]


def options_of(markdown: str) -> dict[str, str]:
    """Return {letter: text} of the list `- **A.** text` in a markdown cell."""
    found: dict[str, str] = {}
    for line in markdown.splitlines():
        match = OPTION.match(line)
        if match:
            found[match[1] or match[2]] = match[3].strip()
    return found


def _read_notes(cell: Cell) -> tuple[list[str], list[tuple[int, str, str]]]:
    """Return (code lines, notes as (line in the cell, value, text))."""
    code: list[str] = []
    notes: list[tuple[int, str, str]] = []
    for index, line in enumerate(cell.source.splitlines(), start=1):
        match, more = NOTE.fullmatch(line.strip()), CONTINUED.fullmatch(line.strip())
        if match:
            notes.append((index, match[1].strip().strip("\"'"), match[2].strip()))
        elif notes and more:
            where, value, text = notes[-1]
            notes[-1] = (where, value, f"{text} {more[1].strip()}".strip())
        elif line.strip():
            code.append(line)
    return code, notes


def _literal(cell: Cell, code: list[str]) -> Any:
    """Return the value assigned in `name = value`, or raise a CourseError."""
    example = f"{cell.name} = {'3' if cell.kind == 'number' else chr(34) + 'B' + chr(34)}"
    try:
        (statement,) = ast.parse("\n".join(code)).body
        if not isinstance(statement, ast.Assign) or [ast.unparse(t) for t in statement.targets] != [
            cell.name
        ]:
            raise ValueError
        return ast.literal_eval(statement.value)
    except (ValueError, SyntaxError) as error:
        raise cell.wrong(
            f"the cell of {cell.name!r} must be one line like `{example}`, then its notes; found {' / '.join(code)!r}"
        ) from error


def read_answer(cell: Cell, before: Cell | None, seals: Seals) -> Answer:
    """Return the answer of a number or choice cell.

    Parameters
    ----------
    cell : a cell of kind "number" or "choice"
    before : the markdown cell before it; a choice's options are read there

    Raises
    ------
    CourseError
        No note for the right value, an option without a note, two notes for one value, a value that is none.
    """
    code, notes = _read_notes(cell)
    value = _literal(cell, code)
    places = cell.keys.get("places", 0)
    options = (
        options_of(before.source) if cell.kind == "choice" and before is not None and before.markdown else {}
    )
    if cell.kind == "choice" and len(options) < 2:
        raise cell.wrong(
            f"the choice {cell.name!r} has {len(options)} options; list at least two in the markdown cell before it, "
            "each as `- **A.** text`"
        )
    accepted: Any = tuple(options) if cell.kind == "choice" else places

    def canonical(raw: Any, line: int) -> str:
        text: str | None
        if cell.kind == "choice":
            text = seals.canonical_choice(raw, accepted)
            bound = f"one of the options {', '.join(options)}"
        else:
            try:
                number = ast.literal_eval(raw) if isinstance(raw, str) else raw
            except (ValueError, SyntaxError):
                number = None
            text, bound = seals.canonical_number(number, places), "a finite number"
        if text is None:
            raise cell.wrong(f"{raw!r} is no answer to {cell.name!r}: it must be {bound}", line)
        return text

    right = canonical(value, 1)
    sealed: dict[str, str] = {}
    for line, raw, text in notes:
        answer = canonical(raw, line)
        if answer in sealed:
            raise cell.wrong(
                f"{cell.name!r} has two notes for {answer} (at {places} places); merge them", line
            )
        if not text:
            raise cell.wrong(
                f"the note for {raw} of {cell.name!r} is empty; say what it means, or delete it", line
            )
        sealed[answer] = text
    lacking = [letter for letter in ([right, *options] if options else [right]) if letter not in sealed]
    if lacking:
        who = "its right value" if right in lacking else "option"
        raise cell.wrong(
            f"{cell.name!r} has no note for {who} {', '.join(dict.fromkeys(lacking))}; "
            f"add a line `# note {lacking[0]}: …` below the answer"
        )
    return Answer(cell.name, cell.kind, places, json.dumps(value), right, sealed, options)


def sealed_notes(answers: list[Answer], seals: Seals) -> dict[str, dict[str, Any]]:
    """Return what checks/notes.json holds: {item: {kind, places, options, notes}}, with no answer in clear.

    Notes are ordered by their tags, so that their order tells nothing.
    """
    table = {}
    for answer in answers:
        notes = [seals.seal(answer.item, a, text, a == answer.right) for a, text in answer.notes.items()]
        table[answer.item] = {
            "kind": answer.kind,
            "places": answer.places,
            "options": answer.options,
            "notes": sorted(notes, key=lambda note: note["tag"]),
        }
    return table


__all__ = ["Answer", "CourseError", "Seals", "options_of", "read_answer", "sealed_notes"]
