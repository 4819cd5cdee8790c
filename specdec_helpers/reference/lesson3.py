"""Lesson 3: the solutions."""

from __future__ import annotations

ANSWERS: dict[str, int | float | str] = {}
