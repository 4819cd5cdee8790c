"""A jail without walls, for tests of everything around the sandbox: cells are exec'd in this process."""

from __future__ import annotations

import contextlib
import io
import traceback
from typing import Any

from specdec_helpers.checks.ask import Raised, ask
from specdec_helpers.checks.values import UnsupportedValue, plain
from specdec_helpers.grading.sandbox import (
    MISSING,
    Budget,
    CellResult,
    Death,
    Function,
    SessionDied,
    Unsupported,
)


class Die(BaseException):
    """Raised by a cell (as `die()`) to play a process that ends."""


def die(*_: Any) -> None:
    raise Die


class LocalSession:
    def __init__(self, budget: Budget) -> None:
        self.budget, self.death = budget, None
        self.marks: list[dict[str, Any]] = []
        nothing = lambda *a, **k: None  # noqa: E731
        self.space: dict[str, Any] = {"check": nothing, "start": nothing, "explore": nothing, "die": die}

    def run_cell(self, source: str, index: int = 0) -> CellResult:
        if self.death:
            return CellResult(died=self.death.sentence)
        source = source.replace("from specdec_helpers import", "from math import pi #")
        text = io.StringIO()
        outputs: list[dict[str, Any]] = []
        error = None
        self.budget.used += 0.001
        try:
            with contextlib.redirect_stdout(text):
                exec(source, self.space)
        except Die:
            self.death = Death("exit", "the process ended")
            return CellResult(outputs, died=self.death.sentence)
        except Exception as caught:
            error = Raised.of(caught)
            outputs.append(
                {
                    "output_type": "error",
                    "ename": error.kind,
                    "evalue": error.message,
                    "traceback": [traceback.format_exc(0)],
                }
            )
        if text.getvalue():
            outputs.insert(0, {"output_type": "stream", "name": "stdout", "text": text.getvalue()})
        return CellResult(outputs, error, 0.001)

    def lookup(self, names: Any) -> dict[str, Any]:
        self._alive()
        found: dict[str, Any] = {}
        for name in names:
            value = self.space.get(name, MISSING)
            if value is MISSING:
                found[name] = MISSING
            elif callable(value):
                found[name] = Function(name)
            else:
                try:
                    found[name] = plain(value)
                except UnsupportedValue as error:
                    found[name] = Unsupported(str(error))
        return found

    def call_batch(self, name: str, cases: Any, answer: Any = None) -> Any:
        self._alive()
        try:
            return ask(self.space[name], cases)
        except Die:
            self.death = Death("exit", "the process ended")
            raise SessionDied(self.death) from None

    def mark(self) -> tuple[int, bool]:
        self._alive()
        self.marks.append(dict(self.space))
        return len(self.marks) - 1, True

    def recall(self, mark: int) -> None:
        self._alive()
        self.space = dict(self.marks[mark])

    def snapshot(self) -> LocalSession:
        """What names hold now; what they refer to is shared, which is all that these tests need."""
        self._alive()
        copy = LocalSession(self.budget)
        copy.space, copy.marks = dict(self.space), list(self.marks)
        return copy

    def _alive(self) -> None:
        if self.death:
            raise SessionDied(self.death)

    def close(self) -> None:
        self.death = self.death or Death("exit", "closed")


class LocalJail:
    sealed = False
    why_plain = "tests"

    def __init__(self, limits: Any = None, **_: Any) -> None:
        self.sessions = 0

    def session(self, budget: Budget | None = None) -> LocalSession:
        self.sessions += 1
        return LocalSession(budget or Budget(90))

    def close(self) -> None: ...

    def __enter__(self) -> LocalJail:
        return self

    def __exit__(self, *_: Any) -> None: ...
