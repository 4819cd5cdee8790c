"""Calling a student's function: fresh arguments, every error caught, changes to the arguments noticed."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from . import wire

TOO_LARGE = "the answers of this test are larger than {:,} bytes in all; return less"


def raised(error: BaseException) -> list[Any]:
    """An exception as it travels: its type's name, the built-in types it derives from, its text."""
    kinds = [t.__name__ for t in type(error).__mro__ if getattr(builtins, t.__name__, None) is t][:20]
    try:
        message = str.__str__(str(error))[:2000]
    except BaseException:
        message = ""
    return ["e", str(type(error).__name__)[:200], kinds, message]


def call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
    """Call once; ["v", value, changed] or ["e", kind, kinds, message], ready for `wire.dump`."""
    handed = [copied(argument) for argument in arguments]
    try:
        value = wire.to_wire(function(*handed))
    except BaseException as error:  # KeyboardInterrupt and SystemExit too: an error, not a death
        return raised(error)
    try:
        changed = not all(map(untouched, arguments, handed))
    except BaseException:
        changed = True
    return ["v", value, changed]


def pack(answers: list[list[Any]], room: int) -> list[Any]:
    """The answers, an answer that no longer fits replaced by an error that says so."""
    packed: list[Any] = []
    for answer in answers:
        try:
            data = wire.dump(answer)
            containers = data.count(b"[") + data.count(b"{")
        except Exception as error:
            answer, data, containers = raised(error), b"", 0
        room -= len(data)
        if room < 0 or containers > wire.MAX_CONTAINERS // 2:
            answer = [
                "e",
                "UnsupportedValue",
                ["TypeError", "Exception", "BaseException"],
                TOO_LARGE.format(room),
            ]
        packed.append(answer)
    return packed


class Seeded:
    """A generator asked for by its seed; each call gets a fresh one."""

    def __init__(self, seed: int) -> None:
        self.seed = seed


def copied(argument: Any) -> Any:
    """A copy of a list, tuple, dict or array to any depth; a fresh generator for a seed; else the thing itself."""
    if isinstance(argument, np.ndarray):
        return argument.copy()
    kind = type(argument)
    if kind is list or kind is tuple:
        return kind(copied(item) for item in argument)
    if kind is dict:
        return {key: copied(item) for key, item in argument.items()}
    if kind is Seeded:
        return np.random.default_rng(argument.seed)
    return argument


def untouched(before: Any, after: Any) -> bool:
    """Whether the copy that was handed out still holds what it held."""
    if isinstance(before, np.ndarray):
        floats = before.dtype.kind == "f"
        return isinstance(after, np.ndarray) and np.array_equal(before, after, equal_nan=floats)
    kind = type(before)
    if kind is list or kind is tuple:
        return type(after) is kind and len(after) == len(before) and all(map(untouched, before, after))
    if kind is dict:
        return (
            type(after) is dict
            and list(after) == list(before)
            and all(untouched(before[k], after[k]) for k in before)
        )
    if kind in (int, float, str, bool):
        return type(after) is kind and (after == before or before != before)
    return True


def rebuilt_error(kind: str, message: str) -> BaseException:
    """The error with which a model of the test answered: a built-in exception, or RuntimeError."""
    found = getattr(builtins, kind, None)
    if isinstance(found, type) and issubclass(found, Exception):
        try:
            return found(message)
        except Exception:
            pass
    return RuntimeError(message)
