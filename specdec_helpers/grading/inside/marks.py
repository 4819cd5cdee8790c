"""What a name refers to at a test's place, remembered and put back; and whether that is enough."""

from __future__ import annotations

import builtins
import os
import threading
from itertools import islice
from typing import Any

from .shell import Shell

_READ = 1000  # items of a list that are looked at
_IPYTHONS = frozenset({"open", "exit", "quit"})  # built-in names that IPython gives another meaning


class Mark:
    """The names of a shell as they are now, with what IPython adds to In and Out for every cell."""

    def __init__(self, shell: Shell) -> None:
        self.names = dict(shell.user_ns)
        self.history = {name: len(held) for name, held in _lists(shell).items()}
        self.results = set(shell.user_ns.get("_oh", ()))

    def recall(self, shell: Shell) -> None:
        """Let the names refer to what they did; functions see it, for this is their global namespace."""
        space = shell.user_ns
        for name in space.keys() - self.names.keys():
            del space[name]
        for name, value in self.names.items():
            if name not in space or space[name] is not value:
                space[name] = value
        for name, held in _lists(shell).items():
            del held[self.history[name] :]
        results = space.get("_oh", {})
        for number in results.keys() - self.results:
            del results[number]


def _lists(shell: Shell) -> dict[str, list[str]]:
    history: Any = shell.history_manager
    return {name: getattr(history, name) for name in ("input_hist_raw", "input_hist_parsed")}


def settled(shell: Shell) -> bool:
    """Whether cells that only bind names will change nothing else.

    Not so beside threads and hooks of IPython's; where reading may run the student's code or use something up
    (objects of the student's classes, iterators, dictionaries that add what is missing); where an import may
    find a file of the student's; and where a built-in function is not the usual one.
    """
    space = shell.user_ns
    if threading.active_count() > 1 or shell.hooked() or os.listdir():
        return False
    kinds = set(map(type, space.values()))
    for value in space.values():
        if type(value) in (list, tuple, set):
            kinds.update(map(type, islice(value, _READ)))
        elif type(value) is dict:
            kinds.update(map(type, islice(value.values(), _READ)))
    own = (name for name in vars(builtins).keys() & space.keys() if not name.startswith("_"))
    return all(map(_quiet, kinds)) and all(name in _IPYTHONS for name in own)


def _quiet(kind: type) -> bool:
    """Whether reading objects of this type changes nothing."""
    return not (kind.__module__ == "__main__" or hasattr(kind, "__next__") or hasattr(kind, "__missing__"))
