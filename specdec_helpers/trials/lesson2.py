"""Lesson 2: hidden trials."""

from __future__ import annotations

from .base import Item

ITEMS: dict[str, Item] = {}
