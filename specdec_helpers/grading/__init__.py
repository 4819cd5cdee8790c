"""The autograder: rebuild, sandbox, judge, feedback, batch. Instructors only; never in the student package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .hidden import compare

__all__ = ["compare"]


def __getattr__(name: str) -> Any:
    # Imported when a test asks for it: the commands start without NumPy, the checks and the trials.
    if name != "compare":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .hidden import compare

    globals()["compare"] = compare
    return compare
