"""What `specdec_helpers` is inside the sandbox: its verbs do nothing, its language models are real.

A lesson's visible cells call `start`, `explore` and `check`. While grading, nothing has to be drawn, checked or
written down there, so these accept anything and return None. `specdec_helpers.lm` is the real package.
"""

from __future__ import annotations

import sys
import types
from typing import Any


def _silent(*args: Any, **kwargs: Any) -> None:
    """Accept anything, do nothing."""


def _module_attribute(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from specdec_helpers import lm

    return getattr(lm, name, _silent)


def _quiet_module(name: str) -> types.ModuleType:
    module = types.ModuleType(f"specdec_helpers.{name}", "Silent while grading.")
    module.__path__ = []  # type: ignore[attr-defined]
    module.__getattr__ = _module_attribute  # type: ignore[method-assign]
    return module


start = explore = check = _silent

if __name__ == "specdec_helpers":
    for _name in ("checks", "explorers"):
        sys.modules[f"specdec_helpers.{_name}"] = globals()[_name] = _quiet_module(_name)


def __getattr__(name: str) -> Any:
    """Any other verb of the package: a language model's if `lm` has it, else a silent one."""
    if name in ("reference", "trials", "grading", "authoring"):
        raise AttributeError(f"module 'specdec_helpers' has no attribute {name!r}")
    return _module_attribute(name)
