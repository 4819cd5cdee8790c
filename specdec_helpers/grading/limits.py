"""What a submission may use: time, memory, processes, bytes. One frozen dataclass, checked when made.

An instructor sets them in nbgrader_config.py (``c.SpecDec.limits = {"cell_seconds": 20}``); `Limits.from_config`
turns such a mapping into a `Limits` and refuses names it does not know and numbers that make no sense.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

KB = 1024
MB = 1024 * KB

# name: (smallest, largest) sensible value
BOUNDS: dict[str, tuple[float, float]] = {
    "cell_seconds": (0.1, 3600),
    "notebook_seconds": (0.1, 24 * 3600),
    "memory_bytes": (256 * MB, 1024 * 1024 * MB),
    "processes": (8, 4096),
    "open_files": (32, 65536),
    "written_bytes": (64 * KB, 1024 * 1024 * MB),
    "cell_output_bytes": (1 * KB, 64 * MB),
    "notebook_output_bytes": (1 * KB, 256 * MB),
    "cell_outputs": (1, 10_000),
    "cell_figures": (1, 500),
    "answer_bytes": (16 * KB, 64 * MB),
    "model_calls": (100, 100_000_000),
    "model_depth": (1, 50),
}


@dataclass(frozen=True)
class Limits:
    """The limits of one submission. Seconds are the student's own: time spent by the grader does not count.

    Attributes:
        cell_seconds: for one cell, or for one batch of calls from a test (s).
        notebook_seconds: for everything the submission runs, over all its restarts (s).
        memory_bytes: of one process; also of all processes of the submission together (bytes).
        processes: processes and threads at a time.
        open_files: open file descriptors of one process.
        written_bytes: on the scratch disk, in all (bytes).
        cell_output_bytes: of text, figures and HTML shown by one cell; the rest is cut with one line (bytes).
        notebook_output_bytes: the same for all cells together (bytes).
        cell_outputs: separate outputs of one cell.
        cell_figures: figures of one cell.
        answer_bytes: of what one batch of calls brings back (bytes).
        model_calls: calls of models that tests hand to the student's functions, per batch.
        model_depth: how deep such calls may nest.
    """

    cell_seconds: float = 20.0
    notebook_seconds: float = 90.0
    memory_bytes: int = 1536 * MB
    processes: int = 64
    open_files: int = 256
    written_bytes: int = 64 * MB
    cell_output_bytes: int = 1 * MB
    notebook_output_bytes: int = 8 * MB
    cell_outputs: int = 200
    cell_figures: int = 20
    answer_bytes: int = 8 * MB
    model_calls: int = 100_000
    model_depth: int = 10

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            low, high = BOUNDS[field.name]
            kinds = (int, float) if field.name.endswith("seconds") else (int,)
            if isinstance(value, bool) or not isinstance(value, kinds):
                wanted = "a number" if len(kinds) == 2 else "a whole number"
                raise ValueError(f"limit {field.name} is {value!r}: it must be {wanted}")
            if not low <= value <= high:
                raise ValueError(f"limit {field.name} is {value!r}: it must lie between {low:g} and {high:g}")
        if self.notebook_seconds < self.cell_seconds:
            raise ValueError(
                f"limit notebook_seconds is {self.notebook_seconds:g}, less than cell_seconds"
                f" ({self.cell_seconds:g}): raise the first or lower the second"
            )

    @classmethod
    def from_config(cls, settings: Mapping[str, Any]) -> Limits:
        """Make Limits from names and numbers; names left out keep their defaults.

        Raises ValueError for a name that is no limit (and suggests the nearest one) or a bad value.
        """
        known = [field.name for field in fields(cls)]
        for name in settings:
            if name not in known:
                near = difflib.get_close_matches(str(name), known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known limits: {', '.join(known)}"
                raise ValueError(f"{name!r} is no limit; {hint}")
        return cls(**dict(settings))

    def as_dict(self) -> dict[str, float]:
        """The limits by name, for the log and the result's key."""
        return asdict(self)
