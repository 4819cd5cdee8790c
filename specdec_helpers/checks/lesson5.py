"""Lesson 5: the visible examples and the misconceptions in words."""

from __future__ import annotations

from .table import Exercise, Mistake

MISTAKES: dict[str, dict[str, Mistake]] = {}

EXERCISES: dict[str, Exercise] = {}
