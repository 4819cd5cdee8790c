"""Find, in the cells of a submission, which cell answers which exercise, whatever happened to the metadata."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from .master import Master, MasterCell, defined_names, without_magics
from .read import Cell


@dataclass
class Match:
    """What was found: master index -> source of the answer; submitted index -> the master cell it stands for."""

    answers: dict[int, str] = field(default_factory=dict)
    edits: dict[int, str] = field(default_factory=dict)  # the same for cells without points
    anchors: dict[int, int] = field(default_factory=dict)  # submitted index -> master index, not to be added
    notes: list[tuple[str, str]] = field(default_factory=list)  # (which cell, what about it)


def match_cells(master: Master, cells: Sequence[Cell]) -> Match:
    """Match the submitted cells with the master's.

    Order of trust: the nbgrader grade id, then the cell id, then (for a cell without either) the exact source
    of a fixed cell, then the names that a code cell defines.
    """
    match = Match()
    groups = _by_identity(master, cells)
    for cell in master.solutions:
        _take_solution(master, cell, cells, groups[cell.index], match)
    for cell in master.cells:
        if cell.role == "open":
            _take_open(cell, cells, groups[cell.index], match)
        elif cell.role in ("fixed", "test"):
            _take_fixed(cell, cells, groups[cell.index], match)
    _by_definition(master, cells, match)
    return match


def _by_identity(master: Master, cells: Sequence[Cell]) -> dict[int, list[int]]:
    """Master index -> submitted indices that claim to be this cell."""
    grade_ids = {cell.grade_id: cell.index for cell in master.cells if cell.grade_id}
    cell_ids = {cell.cell_id: cell.index for cell in master.cells}
    sources: dict[str, int] = {}
    for cell in master.cells:
        if cell.role in ("fixed", "test", "open") and cell.visible.strip():
            sources.setdefault(_squeeze(cell.visible), cell.index)
    groups: dict[int, list[int]] = defaultdict(list)
    for i, submitted in enumerate(cells):
        index = grade_ids.get(submitted.grade_id)
        if index is None:
            index = cell_ids.get(submitted.cell_id)
        if index is None and not submitted.grade_id:
            index = sources.get(_squeeze(submitted.source))
            if index is not None and master.cells[index].kind != submitted.kind:
                index = None
        if index is not None:
            groups[index].append(i)
    return groups


def _squeeze(source: str) -> str:
    return "\n".join(line.rstrip() for line in source.strip().split("\n"))


def _take_solution(
    master: Master, cell: MasterCell, cells: Sequence[Cell], found: list[int], match: Match
) -> None:
    """Choose the answer among the submitted cells that claim to be this solution cell."""
    if not found:
        return
    parts = _split_parts(cell, cells, found)
    if parts:
        match.answers[cell.index] = "\n".join(cells[i].source for i in parts)
        if len(parts) > 1:
            match.notes.append(
                (cell.grade_id, f": the answer was split over {len(parts)} cells; they were joined")
            )
        match.anchors.update(dict.fromkeys(parts, cell.index))
        return
    chosen = found[0]
    if len(found) > 1:
        by_id = [i for i in found if cells[i].cell_id == cell.cell_id]
        edited = [i for i in found if not unanswered(cell, cells[i].source)]
        same_kind = [i for i in found if cells[i].kind == cell.kind]
        # The copy with the original's own id is the original; but an untouched stub never beats a written answer.
        pool = [i for i in edited if i in same_kind] or edited or found
        chosen = next((i for i in by_id if i in pool), pool[0])
        which = "first" if chosen == found[0] else "one with an answer"
        match.notes.append(
            (cell.grade_id, f": {len(found)} cells carry this exercise's id; the {which} was graded")
        )
    if cells[chosen].kind != cell.kind:
        match.notes.append(
            (cell.grade_id, f": the answer was in a {cells[chosen].kind} cell; it was read as {cell.kind}")
        )
    match.answers[cell.index] = cells[chosen].source
    match.anchors[chosen] = cell.index


def _split_parts(cell: MasterCell, cells: Sequence[Cell], found: list[int]) -> list[int]:
    """The submitted cells that are pieces of one answer: neighbours that only together define its names."""
    if cell.kind != "code":
        return []
    first = found[0]
    parts = [first]
    claimed = set(found)
    while (following := parts[-1] + 1) < len(cells):
        nearby = cells[following]
        piece = following in claimed or (
            not nearby.grade_id and nearby.kind == "code" and _starts_indented(nearby.source)
        )
        if not piece or nearby.kind != "code":
            break
        parts.append(following)
    if len(parts) == 1:
        return []
    whole = any(cell.defines <= defined_names(cells[i].source) for i in parts)
    dangling = any(_starts_indented(cells[i].source) for i in parts[1:])
    if whole and not dangling:
        return []
    joined = "\n".join(cells[i].source for i in parts)
    return parts if cell.defines & defined_names(joined) else []


def _starts_indented(source: str) -> bool:
    line = next((line for line in source.split("\n") if line.strip()), "")
    return line[:1] in (" ", "\t")


def _take_open(cell: MasterCell, cells: Sequence[Cell], found: list[int], match: Match) -> None:
    """A cell without points that the student may edit: theirs is used, without a word."""
    mine = next((i for i in found if cells[i].kind == "code"), None)
    if mine is not None:
        match.anchors[mine] = cell.index
        match.edits[cell.index] = cells[mine].source


def _take_fixed(cell: MasterCell, cells: Sequence[Cell], found: list[int], match: Match) -> None:
    """Note what happened to a cell of ours; its own source is used whatever was submitted."""
    what = f"test cell {cell.grade_id}" if cell.role == "test" else f"cell {cell.grade_id or cell.cell_id}"
    match.anchors.update({i: cell.index for i in found if i not in match.anchors})
    if not found:
        if cell.role == "test":
            match.notes.append((what, " was missing; it was put back"))
        return
    if len(found) > 1:
        match.notes.append((what, f" was there {len(found)} times; it was graded once"))
    same = any(
        cells[i].kind == cell.kind
        and _squeeze(cells[i].source) in (_squeeze(cell.visible), _squeeze(cell.source))
        for i in found
    )
    if not same and cell.kind == "code":
        match.notes.append((what, " is not the one of this lesson any more; the lesson's own was used"))


def _by_definition(master: Master, cells: Sequence[Cell], match: Match) -> None:
    """For every exercise without an answer: a cell of the student's own that defines its names."""
    free = [i for i, cell in enumerate(cells) if i not in match.anchors and cell.kind == "code"]
    names = {i: defined_names(cells[i].source) for i in free}
    for cell in master.solutions:
        if cell.kind != "code" or not cell.defines:
            continue
        have = match.answers.get(cell.index)
        if have is not None and not unanswered(cell, have):
            continue
        able = [i for i in free if i not in match.anchors and cell.defines <= names[i]]
        able = [i for i in able if not unanswered(cell, cells[i].source)] or (able if have is None else [])
        if not able:
            continue
        chosen = able[0]
        parts = _following_pieces(cells, chosen, match)
        match.answers[cell.index] = "\n".join(cells[i].source for i in parts)
        match.anchors.update(dict.fromkeys(parts, cell.index))
        if have is not None:
            match.notes.append((cell.grade_id, ": the answer was written in a cell of its own; it was used"))
        elif len(parts) > 1:
            match.notes.append(
                (cell.grade_id, f": the answer was split over {len(parts)} cells; they were joined")
            )
        else:
            match.notes.append(
                (cell.grade_id, ": the cell had lost its id; it was found by the name it defines")
            )


def _following_pieces(cells: Sequence[Cell], first: int, match: Match) -> list[int]:
    parts = [first]
    while (i := parts[-1] + 1) < len(cells) and cells[i].kind == "code" and i not in match.anchors:
        if not _starts_indented(cells[i].source):
            break
        parts.append(i)
    return parts


def unanswered(cell: MasterCell, source: str) -> bool:
    """Whether a source leaves this exercise as it was handed out: stubs that raise, or None for a value."""
    if not source.strip():
        return True
    try:
        tree = ast.parse(without_magics(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    left = set(cell.defines)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in left and not _is_stub(node):
            return False
        if isinstance(node, ast.Assign) and not (
            isinstance(node.value, ast.Constant) and node.value.value in (None, ...)
        ):
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            if names & left:
                return False
    return bool(left & defined_names(source)) or not tree.body


def _is_stub(node: ast.FunctionDef) -> bool:
    for statement in node.body:
        if isinstance(statement, ast.Pass) or (
            isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        ):
            continue
        raised = statement.exc if isinstance(statement, ast.Raise) else None
        name = raised.func if isinstance(raised, ast.Call) else raised
        if isinstance(name, ast.Name) and name.id == "NotImplementedError":
            continue
        return False
    return True
