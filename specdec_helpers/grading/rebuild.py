"""Rebuild a submission from the master: the student's answers and own cells, and nothing else of theirs.

Metadata, tags, points, order, tests and read-only cells always come from the instructor's notebook. So a tag
that skips a test, a deleted or edited test, a forged schema version, have nothing to act on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .master import Master, MasterCell
from .match import Match, match_cells, unanswered
from .read import MAX_BYTES, MAX_CODE, Cell, Reading, read_notebook

MAX_REMARK = 600  # characters


@dataclass(frozen=True)
class Remark:
    """One line about a submission. `look` asks a person to have a look.

    Texts quote what students wrote, so line breaks and other control characters become spaces here, once for all.
    """

    text: str
    look: bool = False

    def __post_init__(self) -> None:
        line = " ".join("".join(c if c.isprintable() else " " for c in self.text).split())
        object.__setattr__(self, "text", line if len(line) <= MAX_REMARK else line[: MAX_REMARK - 1] + "…")


@dataclass(frozen=True)
class Piece:
    """One cell of the rebuilt notebook: the master's (a solution holds the student's source), or an added one."""

    kind: str
    source: str
    master: MasterCell | None = None

    @property
    def is_test(self) -> bool:
        """Whether the judge, not the sandbox, runs this cell."""
        return self.master is not None and self.master.role == "test"


@dataclass(frozen=True)
class Rebuilt:
    """The notebook to grade, and what there is to say about the one that was handed in."""

    pieces: tuple[Piece, ...]
    remarks: tuple[Remark, ...] = field(default=())
    readable: bool = True


def rebuild(master: Master, files: Mapping[str, bytes], max_bytes: int = MAX_BYTES) -> Rebuilt:
    """Rebuild from the notebooks of a submission, `files`: name -> bytes (as `collect_files` reads them).

    Never raises for what is in them. Where nothing can be read, every answer is empty and a remark says why.
    """
    if not files:
        return _empty(master, Remark("no notebook was handed in; every exercise counts as empty", True))
    name, reading, match, remarks = _choose(master, files, max_bytes)
    if reading.trouble:
        return _empty(
            master, *remarks, Remark(f"{name}: {reading.trouble}; every exercise counts as empty", True)
        )
    remarks += [Remark(f"{note}") for note in reading.notes]
    if not match.answers:
        text = (
            f"{name}: none of the exercises of {master.lesson} is in this notebook; is it another lesson's?"
        )
        return _empty(master, *remarks, Remark(text, True))
    notes, missing = (
        _sum_up(match.notes),
        [c.grade_id for c in master.solutions if c.index not in match.answers],
    )
    remarks += [Remark(note) for note in notes]
    if missing:
        remarks.append(Remark(f"no answer was found for {_list(missing)}; left empty"))
    return Rebuilt(_pieces(master, reading.cells, match), tuple(remarks))


def _choose(
    master: Master, files: Mapping[str, bytes], max_bytes: int
) -> tuple[str, Reading, Match, list[Remark]]:
    """The notebook to grade among those handed in: the one under the right name, unless another answers more."""
    right = f"{master.name}.ipynb"
    found, room = [], MAX_CODE
    for name in sorted(files, key=lambda n: (n != right, n))[:20]:
        reading = read_notebook(files[name], max_bytes, room)
        room = max(0, room - sum(len(cell.source) for cell in reading.cells if cell.kind == "code"))
        match = match_cells(master, reading.cells)
        done = sum(not unanswered(master.cells[index], source) for index, source in match.answers.items())
        found.append((name, reading, match, done))
    # Most answered exercises first; the right name breaks a tie (the list is already in that order).
    name, reading, match, done = max(found, key=lambda item: (item[3], bool(item[2].answers)))
    if found[0][3] and found[0][0] == right:
        name, reading, match, done = found[0]
    remarks = []
    if len(files) > 1:
        others = [other for other in sorted(files) if other != name]
        remarks.append(
            Remark(f"{len(files)} notebooks were handed in; {name} was graded, not {_list(others)}", True)
        )
    elif name != right:
        remarks.append(Remark(f"the notebook is called {name}, not {right}; it was recognised by its cells"))
    return name, reading, match, remarks


def _pieces(master: Master, cells: Sequence[Cell], match: Match) -> tuple[Piece, ...]:
    """The master's cells in order, each followed by what the student added after it."""
    added: dict[int, list[Piece]] = defaultdict(list)
    anchor = -1
    for i, cell in enumerate(cells):
        if i in match.anchors:
            anchor = match.anchors[i]
        elif cell.source.strip():
            added[anchor].append(Piece(cell.kind, cell.source))
    pieces = list(added[-1])
    for own in master.cells:
        source = own.source
        if own.role in ("solution", "manual"):
            source = match.answers.get(own.index, "")
        elif own.role == "open":
            source = match.edits.get(own.index, own.source)
        pieces.append(Piece(own.kind, source, own))
        pieces += added[own.index]
    return tuple(pieces)


def _empty(master: Master, *remarks: Remark) -> Rebuilt:
    pieces = (
        Piece(cell.kind, "" if cell.role in ("solution", "manual") else cell.source, cell)
        for cell in master.cells
    )
    return Rebuilt(tuple(pieces), remarks, readable=False)


def _sum_up(notes: Sequence[tuple[str, str]]) -> list[str]:
    """One line for many of a kind (a Colab export loses every id at once)."""
    groups: dict[str, list[str]] = defaultdict(list)
    for subject, rest in notes:
        groups[rest].append(subject)
    return [_list(subjects) + rest for rest, subjects in groups.items()]


def _list(names: Sequence[str], most: int = 4) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def safe_name(name: str) -> str:
    """A file name fit to be printed: no control characters, not too long."""
    text = "".join(c if c.isprintable() else "?" for c in name.encode("utf-8", "replace").decode())
    return text if len(text) <= 80 else text[:77] + "…"
