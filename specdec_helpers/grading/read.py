"""Read a notebook file that nobody has vouched for: bytes in, plain cells out, never an exception.

nbformat's own reader validates against a schema (3 ms a notebook, most of the pipeline's time) and refuses
much that can still be graded. Grading needs very little of a notebook: for each cell its kind, its text, and
the two names it may be found by. So this reader takes just that, checks each piece itself, and puts a cap on
everything.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

MAX_BYTES = 25_000_000
MAX_CELLS = 5_000
MAX_SOURCE = 400_000
MAX_CODE = (
    1_000_000  # characters in all code cells of a submission: each is parsed here, a second for 200,000
)


@dataclass(frozen=True)
class Cell:
    """One cell of a submitted notebook, as far as grading looks at it."""

    kind: str  # code, markdown or raw
    source: str
    grade_id: str = ""
    cell_id: str = ""


@dataclass(frozen=True)
class Reading:
    """What could be read: the cells (none when `trouble` says why), and small oddities in `notes`."""

    cells: tuple[Cell, ...] = ()
    trouble: str = ""
    notes: tuple[str, ...] = ()


def read_notebook(data: bytes, max_bytes: int = MAX_BYTES, max_code: int = MAX_CODE) -> Reading:
    """Read notebook bytes of nbformat 2, 3 or 4, well-formed or not. Never raises for what is in them."""
    if not data.strip(b" \t\r\n\0"):
        return Reading(trouble="the file is empty")
    if len(data) > max_bytes:
        return Reading(
            trouble=f"the file is larger than {max_bytes / 1e6:.0f} MB, the most that is read (clearing the outputs "
            "before saving makes it small)"
        )
    try:
        document = json.loads(_decode(data))
    except RecursionError:
        return Reading(trouble="the file is nested too deeply to be a notebook")
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        return Reading(trouble=f"the file is not complete JSON{where}, so it is cut off or not a notebook")
    notes: list[str] = []
    raw_cells = _cells_of(document, notes)
    if raw_cells is None:
        return Reading(trouble="the file is JSON but not a notebook: it has no list of cells")
    if len(raw_cells) > MAX_CELLS:
        notes.append(f"the notebook has {len(raw_cells)} cells; the first {MAX_CELLS} were read")
    cells = [cell for raw in raw_cells[:MAX_CELLS] if (cell := _cell(raw, notes)) is not None]
    kept, room = [], max_code
    for cell in cells:
        room -= len(cell.source) if cell.kind == "code" else 0
        kept.append(cell if room >= 0 or cell.kind != "code" else replace(cell, source=""))
    if room < 0:
        notes.append(f"there are more than {max_code} characters of code; what comes after them was left out")
    return Reading(tuple(kept), notes=tuple(dict.fromkeys(notes)))


def clean_text(text: str) -> str:
    """Unix line ends, and no half of a surrogate pair (JSON allows one, UTF-8 does not)."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return text.encode("utf-8", "replace").decode("utf-8")


def _decode(data: bytes) -> str:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    return data.decode("utf-8", "replace")


def _cells_of(document: Any, notes: list[str]) -> list[Any] | None:
    if not isinstance(document, dict):
        return None
    _note_kernel(document.get("metadata"), notes)
    cells = document.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = document.get("worksheets")
    if not isinstance(sheets, list):
        return None
    notes.append("the notebook is saved in the old nbformat 3")
    found: list[Any] = []
    for sheet in sheets[:100]:
        if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
            found += sheet["cells"]
    return found


def _note_kernel(metadata: Any, notes: list[str]) -> None:
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = kernel.get("language") if isinstance(kernel, dict) else None
    if isinstance(language, str) and language.lower() not in ("python", ""):
        notes.append(f"the notebook was saved with a kernel for {clean_text(language)[:20]}; Python was used")


def _cell(raw: Any, notes: list[str]) -> Cell | None:
    if not isinstance(raw, dict):
        return None
    kind = raw.get("cell_type")
    if kind == "heading":  # nbformat 3
        kind = "markdown"
    if kind not in ("code", "markdown", "raw"):
        return None
    source = _text(raw.get("source", raw.get("input", "")))
    if len(source) > MAX_SOURCE:
        notes.append(f"a cell with {len(source)} characters was left out; at most {MAX_SOURCE} are read")
        source = ""
    metadata = raw.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return Cell(kind, clean_text(source), _name(grade_id), _name(raw.get("id")))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return ""


def _name(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= 200 else ""
