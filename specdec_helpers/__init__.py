"""Helpers for the course on speculative decoding: the few verbs that a lesson imports.

``start`` opens a lesson, ``explore`` shows its interactive explorer, ``check`` checks an exercise;
lesson 6 adds ``measure``, ``measure_k``, ``measure_losses``, ``show_models`` and ``write``, and the
tiny language models in ``lm``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "1.0.0"

# Each verb is imported when it is first used: a lesson that draws nothing never pays for matplotlib.
_VERBS = {"check": "checks", "start": "checks", "explore": "explorers"}
_VERBS |= dict.fromkeys(("measure", "measure_k", "measure_losses", "show_models", "write"), "measuring")

__all__ = ["check", "explore", "measure", "measure_k", "measure_losses", "show_models", "start", "write"]


def __getattr__(name: str) -> Any:
    if name in _VERBS:
        value = getattr(import_module(f"{__name__}.{_VERBS[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"specdec_helpers has no {name!r}; it offers {', '.join(__all__)}")
