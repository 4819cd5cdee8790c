"""Ask a student's function: many calls in, many answers out, whether it lives here or in the sandbox.

A check never calls a student's function by itself. It hands a list of argument tuples to `ask`, and reads
the answers. In the student's own notebook the function is a plain one and is called here, on copies of the
arguments. In grading it is a `Remote`: the whole list travels to the sandbox in one round trip.
"""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .values import UnsupportedValue, plain

Case = tuple[Any, ...]


@dataclass(frozen=True)
class Seed:
    """An argument that the function receives as ``np.random.default_rng(value)``."""

    value: int


@dataclass(frozen=True)
class Raised:
    """An exception that came back: its type's name, the built-in types it derives from, its text."""

    kind: str
    kinds: tuple[str, ...]
    message: str

    def is_a(self, name: str) -> bool:
        """Whether the exception is a `name`, or a subclass of it. A class of one's own called ValueError is none."""
        return name in self.kinds or (name == self.kind and not hasattr(builtins, name))

    @classmethod
    def of(cls, error: BaseException) -> Raised:
        """Describe a caught exception. A message that itself fails to print becomes an empty one."""
        family = [t for t in type(error).__mro__ if t is not object]
        kinds = tuple(t.__name__ for t in family if getattr(builtins, t.__name__, None) is t)
        try:
            message = str(error)[:2000]
        except Exception:
            message = ""
        return cls(type(error).__name__, kinds, message)


@dataclass(frozen=True)
class Answer:
    """What one call brought back. Exactly one of `value` and `error` counts."""

    value: Any = None
    error: Raised | None = None
    changed: bool = False


class Remote(ABC):
    """A student's function that lives in another process (the judge's proxy derives from this)."""

    @abstractmethod
    def ask_batch(self, cases: Sequence[Case]) -> list[Answer]:
        """Call the function once for every argument tuple, in order, in one round trip."""


Function = Callable[..., Any] | Remote


def ask(function: Function, cases: Sequence[Case]) -> list[Answer]:
    """Call `function` on every argument tuple of `cases`; one Answer each, in order.

    The caller's arguments are never handed out: the function gets copies, and `changed` tells whether it
    altered them. A callable argument (a draft or target model) is passed on as it is; `Seed(n)` becomes a
    fresh NumPy generator.
    """
    if isinstance(function, Remote):
        return function.ask_batch(cases)
    return [_call(function, case) for case in cases]


def _call(function: Callable[..., Any], case: Case) -> Answer:
    arguments = [copied(argument) for argument in case]
    try:
        value = plain(function(*arguments))
    except UnsupportedValue as error:
        return Answer(error=Raised("UnsupportedValue", ("TypeError", "Exception"), str(error)))
    except (Exception, SystemExit) as error:  # sys.exit() in a function must not end the notebook's check
        return Answer(error=Raised.of(error))
    return Answer(value=value, changed=not all(map(untouched, case, arguments)))


def copied(argument: Any) -> Any:
    """A copy of a list, tuple, dict or array (to any depth); anything else as it is."""
    if isinstance(argument, Seed):
        return np.random.default_rng(argument.value)
    if isinstance(argument, np.ndarray):
        return argument.copy()
    if isinstance(argument, list | tuple):
        return type(argument)(copied(item) for item in argument)
    if isinstance(argument, dict):
        return {key: copied(item) for key, item in argument.items()}
    return argument


def untouched(before: Any, after: Any) -> bool:
    """Whether `after`, the copy that was handed out, still holds what `before` holds."""
    if isinstance(before, np.ndarray):
        return isinstance(after, np.ndarray) and np.array_equal(
            before, after, equal_nan=before.dtype.kind == "f"
        )
    if isinstance(before, list | tuple):
        return (
            type(after) is type(before) and len(after) == len(before) and all(map(untouched, before, after))
        )
    if isinstance(before, dict):
        return (
            isinstance(after, dict)
            and list(after) == list(before)
            and all(untouched(before[k], after[k]) for k in before)
        )
    if isinstance(before, int | float | str):
        return type(after) is type(before) and (after == before or before != before)
    return True
