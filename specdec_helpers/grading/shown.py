"""Checks, in the trusted process, of what comes out of the sandbox: each reply has a known shape, or is a WireError."""

from __future__ import annotations

from typing import Any

from ..checks.ask import Answer, Raised
from .inside.wire import WireError, from_wire
from .results import MISSING, Function, Unsupported

MAX_PID = 1 << 22  # Linux; macOS stays below
_MIMES = {
    "text/plain",
    "text/html",
    "text/markdown",
    "text/latex",
    "image/png",
    "image/jpeg",
    "image/svg+xml",
}


def outputs(tree: Any, most: int) -> list[dict[str, Any]]:
    """The outputs of a cell, each of a known shape and made of text alone; WireError for anything else."""
    if type(tree) is not list or len(tree) > most + 10:
        raise WireError("the outputs of a cell are a list, and not that long")
    return [_output(item) for item in tree]


def _output(item: Any) -> dict[str, Any]:
    if type(item) is not dict:
        raise WireError("an output is an object")
    kind, keys = item.get("output_type"), item.keys() - {"output_type"}
    if kind == "stream":
        known = (
            keys == {"name", "text"} and item["name"] in ("stdout", "stderr") and type(item["text"]) is str
        )
    elif kind == "error":
        known = keys == {"ename", "evalue", "traceback"} and _texts([item["ename"], item["evalue"]])
        known = known and _texts(item["traceback"])
    elif kind == "display_data":
        known = keys == {"data", "metadata"} and _data(item)
    elif kind == "execute_result":
        known = keys == {"data", "metadata", "execution_count"} and type(item["execution_count"]) is int
        known = known and _data(item)
    else:
        known = False
    if known:
        return item
    raise WireError("an output of an unknown shape")


def _texts(items: Any) -> bool:
    return type(items) is list and all(type(item) is str for item in items)


def _data(item: dict[str, Any]) -> bool:
    data, metadata = item["data"], item["metadata"]
    if type(data) is not dict or not data.keys() <= _MIMES or not _texts(list(data.values())):
        return False
    # Only the size of a picture matters to a page; whatever else was said about it is dropped.
    kept = {}
    if type(metadata) is dict:
        for mime in data.keys() & metadata.keys():
            sizes = metadata[mime]
            if type(sizes) is dict:
                kept[mime] = {
                    side: sizes[side]
                    for side in ("width", "height")
                    if type(sizes.get(side)) in (int, float) and 0 < sizes[side] < 10_000
                }
    item["metadata"] = kept
    return True


def raised(tree: Any) -> Raised:
    """An exception: ["e", type name, names of its built-in bases, message]."""
    if type(tree) is not list or len(tree) != 4 or tree[0] != "e" or not _texts(tree[2]) or len(tree[2]) > 30:
        raise WireError("an exception is [name, bases, message]")
    if not _texts([tree[1], tree[3]]):
        raise WireError("an exception is [name, bases, message]")
    return Raised(tree[1][:200], tuple(tree[2]), tree[3][:2000])


def answers(tree: Any, count: int) -> list[Answer]:
    """The answers to a batch of `count` calls."""
    if type(tree) is not list or len(tree) != count:
        raise WireError("one answer for each call")
    return [_answer(item) for item in tree]


def _answer(item: Any) -> Answer:
    if type(item) is list and len(item) == 3 and item[0] == "v" and type(item[2]) is bool:
        return Answer(value=from_wire(item[1]), changed=item[2])
    return Answer(error=raised(item))


def held(names: list[str], found: Any) -> dict[str, Any]:
    """What the names hold, one entry each."""
    if type(found) is not list or len(found) != len(names):
        raise WireError("one entry for each name")
    return {name: _entry(name, item) for name, item in zip(names, found, strict=True)}


def _entry(name: str, item: Any) -> Any:
    if item == ["missing"]:
        return MISSING
    if item == ["function"]:
        return Function(name)
    if type(item) is list and len(item) == 2:
        if item[0] == "value":
            return from_wire(item[1])
        if item[0] == "no" and type(item[1]) is str:
            return Unsupported(item[1][:500])
    raise WireError("an entry of an unknown kind")


def process(number: Any) -> None:
    """A process number that there can be; the warm process is asked to kill it later."""
    if type(number) is not int or not 0 < number <= MAX_PID:
        raise WireError("no process number")


def reply(message: Any, number: int, length: int) -> list[Any] | None:
    """The contents of the reply to request `number`; None for a model call within it; else WireError."""
    if type(message) is not list or len(message) < 2 or type(message[0]) is not int or message[0] != number:
        raise WireError("an answer out of turn")
    if message[1] == "done" and len(message) == length + 2:
        return message[2:]
    if message[1] == "model" and len(message) == 5 and type(message[2]) is int:
        return None
    raise WireError("an answer of an unknown kind")
