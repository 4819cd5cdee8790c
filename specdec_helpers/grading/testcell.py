"""Run one test cell here, in the trusted process, and turn what it shows and returns into outputs and points."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np

from ..checks.report import Card, NotYet, collecting
from .hidden import SEED
from .master import MasterCell
from .sandbox import Death, Session, SessionDied
from .scope import Proxy, Scope, Stopped

Output = dict[str, Any]


@dataclass
class TestRun:
    """How a test cell went: its outputs, its points, the misconceptions its cards named."""

    __test__ = False  # not a pytest class

    outputs: list[Output] = field(default_factory=list)
    points: float = 0.0
    mistakes: tuple[str, ...] = ()
    death: Death | None = None
    remark: str = ""  # something wrong with the test itself: the instructor's to see


class Collector:
    """Takes what a test cell shows: cards, prints and displayed objects."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.mistakes: list[str] = []

    def card(self, card: Card) -> None:
        """Keep a card as a displayed output."""
        self.mistakes += [name for name in card.mistakes if name not in self.mistakes]
        self.outputs.append({"data": dict(card.bundle()), "metadata": {}, "output_type": "display_data"})

    def print(
        self,
        *values: Any,
        sep: str | None = " ",
        end: str | None = "\n",
        file: Any = None,
        flush: bool = False,
    ) -> None:
        """Stand in for `print`: keep the text, in this cell's outputs and not in the log of the grader."""
        text = io.StringIO()
        print(*values, sep=sep, end=end, file=text)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream":
            last["text"] += text.getvalue()
        else:
            self.outputs.append({"name": "stdout", "output_type": "stream", "text": text.getvalue()})

    def display(self, *values: Any, **_: Any) -> None:
        """Stand in for IPython's `display`: keep the text of each object."""
        for value in values:
            data = {"text/plain": repr(value)}
            self.outputs.append({"data": data, "metadata": {}, "output_type": "display_data"})


@dataclass
class Ready:
    """A test cell with the names it needs, as they were when the notebook reached it.

    `functions` are those of the student's. They are called in a copy of the student's process: of `base` (None: the
    live session), with every name as it was at `mark`.
    """

    cell: MasterCell
    space: dict[str, Any]
    missing: list[str]
    functions: list[str]
    mark: int = 0
    base: Session | None = None


def prepare(cell: MasterCell, scope: Scope, session: Session) -> Ready:
    """Fetch what a test needs from the student's live session. Nothing of the test enters it.

    Raises SessionDied.
    """
    names = [name for name in cell.compiled.loads if name not in ("print", "display")]
    ready = Ready(cell, *scope.fill(names, session))
    if ready.functions:
        ready.mark, enough = session.mark()
        if not enough:
            ready.base = session.snapshot()
    return ready


class Running:
    """A test cell on its way, in two steps: `show` what the student may see, then `hide`, which gives the result.

    The judge takes the first step of every test before the second of any. Copies of a process share its scratch
    folder and its pipes: a function could leave a hidden input there for the visible part of another test.

    Points are those of the cell's last value, or all of them where a cell without one runs to its end; an exception
    earns nothing. Never raises for what a student did; an OursError passes through.
    """

    def __init__(self, ready: Ready, seed: int) -> None:
        self.ready, self.seed = ready, seed
        self.collector = Collector()
        self.run = TestRun(outputs=self.collector.outputs)
        self.copy: Session | None = None
        self.over, self.value = False, None
        ready.space.update(__name__="__main__", print=self.collector.print, display=self.collector.display)

    def show(self, base: Session | None = None) -> None:
        """Run what stands before the hidden tests; functions of the student's in a copy of `base`."""
        ready, code = self.ready, self.ready.cell.compiled
        try:
            if base is not None:
                self.copy = base.snapshot()
                self.copy.recall(ready.mark)
                ready.space.update({name: Proxy(self.copy, name) for name in ready.functions})
        except SessionDied as died:
            self._stopped(died.death)
            return
        self._do(code.shown, None if code.last_is_hidden else code.last)

    def hide(self) -> TestRun:
        """Run the rest, let the copy go, and tell how it went."""
        run, code = self.run, self.ready.cell.compiled
        self._do(code.hidden, code.last if code.last_is_hidden else None)
        if not self.over:
            run.points, run.remark = points_of(self.value, self.ready.cell.points)
            # Shown even when it is all or nothing: nbgrader gives full marks where a cell shows no value.
            shown: Output = {
                "data": {"text/plain": repr(run.points)},
                "execution_count": None,
                "metadata": {},
            }
            run.outputs.append({**shown, "output_type": "execute_result"})
        if run.death is None:
            run.mistakes = tuple(self.collector.mistakes)
        self.close()
        return run

    def close(self) -> None:
        """Let the copy go."""
        if self.copy is not None:
            self.copy.close()
            self.copy = None

    def _do(self, body: CodeType, last: CodeType | None) -> None:
        if self.over:
            return
        token = SEED.set(self.seed)
        try:
            with collecting(self.collector.card):
                exec(body, self.ready.space)
                if last is not None:
                    self.value = eval(last, self.ready.space)
        except Stopped as stopped:
            self._stopped(stopped.death)
        except Exception as error:
            self.over = True
            self.run.outputs.append(_error_output(error, self.ready.cell, self.ready.missing))
        finally:
            SEED.reset(token)

    def _stopped(self, death: Death) -> None:
        self.over, self.run.death = True, death
        self.run.outputs.append(error_output("Stopped", death.sentence))


def run_test(ready: Ready, seed: int) -> TestRun:
    """Run a test that only reads values, both steps at once."""
    running = Running(ready, seed)
    running.show()
    return running.hide()


def points_of(value: Any, most: float) -> tuple[float, str]:
    """(points, remark) of a test cell's last value: only None or a plain number in 0 … `most` earns.

    Stock nbgrader gives full marks for nan, a negative number, a text or a bool.
    """
    if value is None:
        return float(most), ""
    if isinstance(value, NotYet):
        return 0.0, ""
    if type(value) in (int, float) or isinstance(value, np.integer | np.floating):
        number = float(value)
        if math.isfinite(number) and 0 <= number <= most * (1 + 1e-9):
            return min(number, float(most)), ""
        return 0.0, f"the test's last value was {number:g}, not between 0 and {most:g}; no points were given"
    return 0.0, f"the test's last value was a {type(value).__name__}, not a number; no points were given"


def _error_output(error: Exception, cell: MasterCell, missing: list[str]) -> Output:
    """The error as the student may see it: no frames of ours, and from a hidden test no text of the student's
    own making (it could carry the hidden inputs out) and no text that a failing line of ours gave by itself."""
    name = getattr(error, "name", None) if isinstance(error, NameError) else None
    if name in missing:
        text = f"{name} does not exist when this test runs: was its cell removed or renamed, or did it end in an error?"
        return error_output("NameError", text)
    if getattr(error, "from_student", False):
        kind = next((t.__name__ for t in type(error).__mro__[1:]), "Exception")
        text = "your function raised this error" if cell.has_hidden else f"your function raised: {error}"
        return error_output(kind, text)
    if isinstance(error, AssertionError):
        return error_output("AssertionError", str(error)[:2000] or "a check in this test did not hold")
    if cell.has_hidden:
        return error_output(type(error).__name__, "the test could not use what your code returned")
    return error_output(type(error).__name__, str(error)[:2000])


def error_output(kind: str, text: str) -> Output:
    """An nbformat error output with one line in place of a traceback."""
    return {"ename": kind, "evalue": text, "output_type": "error", "traceback": [f"{kind}: {text}"]}
