"""The hidden trials: inputs drawn anew for every submission, and the wrong implementations they must reject."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from .base import Item, Result, run_item

__all__ = ["Item", "Result", "item", "run_item"]

LESSONS = ("lesson1", "lesson2", "lesson3", "lesson4", "lesson5", "lesson6")


@cache
def item(name: str) -> Item | None:
    """The hidden trials of the function called `name`; None for a name that no lesson grades as a function."""
    for lesson in LESSONS:
        items: dict[str, Item] = import_module(f"{__name__}.{lesson}").ITEMS
        if name in items:
            return items[name]
    return None


@cache
def answers() -> dict[str, int | float | str]:
    """The right numbers and choices of the whole course, from the reference modules."""
    merged: dict[str, int | float | str] = {}
    for lesson in LESSONS:
        merged |= import_module(f"specdec_helpers.reference.{lesson}").ANSWERS
    return merged
