"""One engine behind every door: bytes of a submission in, a graded notebook and scores out; no files, no database."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .clean import clean_markdown
from .judge import Judged, judge
from .limits import Limits
from .master import HIDDEN_NOTE, Master
from .rebuild import Piece, Rebuilt, Remark, rebuild
from .sandbox import Jail
from .tasks import PLAIN, SEALED

NBGRADER_KEYS = (
    "cell_type",
    "checksum",
    "grade",
    "grade_id",
    "locked",
    "points",
    "schema_version",
    "solution",
    "task",
)


@dataclass(frozen=True)
class Graded:
    """The result for one submitted notebook.

    Attributes:
        notebook: bytes of the graded notebook; the same for the same input.
        scores: grade id -> points earned, a row for every test of the lesson.
        answers: grade id of a solution cell -> the source that was graded (for "No response").
        remarks: one line each; `look` in any of them asks for a person.
        mistakes: grade id -> ids of the misconceptions that its card named.
        mode: "sealed" or "not sandboxed".
        seconds: student seconds.
    """

    notebook: bytes
    scores: dict[str, float]
    answers: dict[str, str]
    remarks: tuple[Remark, ...] = ()
    mistakes: dict[str, list[str]] = field(default_factory=dict)
    mode: str = SEALED
    seconds: float = 0.0

    @property
    def look(self) -> bool:
        """Whether a person should have a look."""
        return any(remark.look for remark in self.remarks)

    @property
    def total(self) -> float:
        """The points earned in all."""
        return sum(self.scores.values())


def grade(master: Master, files: Mapping[str, bytes], jail: Jail, seed: int, limits: Limits) -> Graded:
    """Grade one submission: rebuild it from the master, run it in the jail, judge it here.

    Args:
        master: the lesson's source notebook.
        files: the submitted notebooks, name -> bytes.
        jail: where the student's cells run.
        seed: what the hidden inputs are drawn from.
        limits: what the submission may use.

    Raises OursError for a failure of ours; never for what was submitted.
    """
    rebuilt = rebuild(master, files)
    judged = judge(master, rebuilt.pieces, jail, seed, limits)
    if judged.doubtful:  # perhaps somebody else killed it: once more before the student is charged with it
        judged = judge(master, rebuilt.pieces, jail, seed, limits)
    mode = SEALED if jail.sealed else PLAIN
    remarks = (*rebuilt.remarks, *judged.remarks)
    return Graded(
        notebook=_notebook(master, rebuilt, judged, remarks, seed, mode),
        scores=judged.scores,
        answers={
            p.master.grade_id: p.source
            for p in rebuilt.pieces
            if p.master is not None and p.master.role in ("solution", "manual")
        },
        remarks=remarks,
        mistakes=judged.mistakes,
        mode=mode,
        seconds=judged.seconds,
    )


def _notebook(
    master: Master, rebuilt: Rebuilt, judged: Judged, remarks: tuple[Remark, ...], seed: int, mode: str
) -> bytes:
    cells, added = [], 0
    for index, piece in enumerate(rebuilt.pieces):
        if piece.master is None:
            added += 1
        cells.append(_cell(piece, index, added, judged.outputs.get(index, [])))
    document = {
        "cells": cells,
        "metadata": {
            **master.metadata,
            "language_info": {"name": "python"},
            "specdec": {
                "lesson": master.lesson,
                "mistakes": judged.mistakes,
                "mode": mode,
                "remarks": [remark.text for remark in remarks],
                "look": any(remark.look for remark in remarks),
                "scores": judged.scores,
                "seed": seed,
            },
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return _text(document).encode()


def _text(document: dict[str, Any]) -> str:
    """The notebook as JSON, a line for each cell: as easy to compare as nbformat's own layout, and much sooner made."""
    dump = functools.partial(json.dumps, ensure_ascii=False, sort_keys=True)
    cells = ",\n".join(map(dump, document["cells"]))
    rest = dump({key: value for key, value in document.items() if key != "cells"})
    return f'{{"cells": [\n{cells}\n],\n{rest[1:]}\n'


def _cell(piece: Piece, index: int, added: int, outputs: list[dict[str, Any]]) -> dict[str, Any]:
    source, metadata = piece.source, {}
    if piece.master is None:
        cell_id = f"added-{added}"
        source = clean_markdown(source) if piece.kind == "markdown" else source
    else:
        cell_id = piece.master.cell_id
        if "nbgrader" in piece.master.metadata:
            own = piece.master.metadata["nbgrader"]
            metadata["nbgrader"] = {key: own[key] for key in NBGRADER_KEYS if key in own}
        if piece.is_test and piece.master.has_hidden:
            # An autograded notebook may reach a student; hidden tests stay in source/.
            source = "\n".join(part for part in (piece.master.visible, HIDDEN_NOTE) if part)
        elif piece.master.role == "manual" and piece.kind == "markdown":
            source = clean_markdown(source)
    cell: dict[str, Any] = {"cell_type": piece.kind, "id": cell_id, "metadata": metadata, "source": source}
    if piece.kind == "code":
        count = index + 1 if source.strip() else None
        for output in outputs:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count
        cell |= {"execution_count": count, "outputs": outputs}
    return cell
