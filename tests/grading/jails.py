"""Shared by the sandbox's tests: the modes that this machine can try, and small limits."""

from __future__ import annotations

import os
from collections.abc import Iterator

from specdec_helpers.grading import jail as walls
from specdec_helpers.grading import watch
from specdec_helpers.grading.limits import MB, Limits
from specdec_helpers.grading.sandbox import Jail

SMALL = Limits(
    cell_seconds=2.0, notebook_seconds=60.0, memory_bytes=400 * MB, processes=48, written_bytes=4 * MB,
    cell_output_bytes=64 * 1024, notebook_output_bytes=200 * 1024, answer_bytes=256 * 1024,
    model_calls=300, model_depth=5,
)  # fmt: skip


def sealed_modes() -> list[str]:
    return walls.possible_modes("sealed")


def modes() -> list[str]:
    return [*sealed_modes(), "plain"]


def opened(mode: str, limits: Limits = SMALL) -> Iterator[Jail]:
    """A jail for a fixture; afterwards no process of it may be left."""
    others = _runners()  # jails that the tests of another file in this process keep warm
    jail = Jail(limits, mode=mode)
    try:
        yield jail
    finally:
        jail.close()
        left = _runners() - others
        assert not left, f"left over: {left}"


def _runners() -> set[int]:
    return {pid for pid in watch.descendants(os.getpid()) if _is_runner(pid)}


def _is_runner(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"specdec_inside" in file.read()
    except OSError:
        return False
