"""What a test hands to a student's function, as it travels, and the errors of its models."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..checks.ask import Seed
from .inside import wire
from .results import Function, OursError


def argument_tree(case: tuple[Any, ...], models: list[Callable[..., Any]]) -> Any:
    """The tree of one argument tuple; its callables are added to `models` and travel as their number there.

    Raises OursError for an argument that cannot travel.
    """

    def special(value: Any) -> dict[str, Any] | None:
        if isinstance(value, Seed):
            return {"s": value.value}
        if isinstance(value, Function):
            return {"w": value.name}
        if callable(value):
            models.append(value)
            return {"f": len(models) - 1}
        return None

    try:
        return wire.to_wire(tuple(case), special)
    except wire.UnsupportedValue as error:
        raise OursError(f"a test's argument cannot travel into the sandbox: {error}") from error


def builtin_kind(error: BaseException) -> str:
    """The name of the nearest built-in class of an exception."""
    return str(next(t.__name__ for t in type(error).__mro__ if getattr(builtins, t.__name__, None) is t))
