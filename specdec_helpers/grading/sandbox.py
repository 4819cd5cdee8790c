"""The sealed sandbox, seen from outside: a `Jail` that forks a fresh `Session` for every submission.

    with Jail(limits) as jail:                 # a second, once: a warm process with the imports done
        with jail.session() as session:        # a few milliseconds: one forked child
            result = session.run_cell("def double(x):\\n    return 2 * x")
            session.lookup(["double"])         # {"double": Function("double")}
            session.call_batch("double", [(1,), (2,)])   # [Answer(value=2), Answer(value=4)]

Values come out, never verdicts. A submission that dies, hangs or floods ends its own session and nothing else:
`run_cell` reports it in the result, `lookup` and `call_batch` raise `SessionDied`. A failure of ours (no memory
on this machine, a runner that does not start) raises `OursError`, which may be retried and is never a
student's fault. A jail may be used for any number of sessions, one at a time, from one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from ..checks.ask import Answer, Raised
from .limits import Limits


class OursError(RuntimeError):
    """The grader's own failure: try again; never charge it to a student."""


@dataclass(frozen=True)
class Death:
    """Why a session ended early.

    Attributes:
        kind: "time", "memory", "exit", "signal", "protocol" or "jail" (the whole jail is gone).
        sentence: one plain sentence for the student's feedback.
        doubtful: True where somebody else than the student may have done it (a SIGKILL from outside looks like
            one from inside). Grade such a submission once more in a fresh jail before believing it.
    """

    kind: str
    sentence: str
    doubtful: bool = False


class SessionDied(Exception):
    """The student's process is gone; `death` says why. What was earned before stays earned."""

    def __init__(self, death: Death) -> None:
        super().__init__(death.sentence)
        self.death = death


@dataclass(frozen=True)
class Function:
    """A name in the student's notebook that holds something callable."""

    name: str


@dataclass(frozen=True)
class Unsupported:
    """A name that holds something that cannot travel (a set, a module, an open file …)."""

    reason: str


class Missing:
    """The type of MISSING: the name does not exist in the student's notebook."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


@dataclass
class Budget:
    """Student seconds left for a whole notebook; hand the same one to every session of a submission."""

    seconds: float
    used: float = 0.0

    @property
    def left(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self.seconds - self.used)


@dataclass(frozen=True)
class CellResult:
    """What one cell did.

    Attributes:
        outputs: nbformat 4 output dicts (stream, display_data, execute_result, error), cut to the limits.
        error: the exception that ended the cell, or None.
        seconds: student seconds used.
        died: None, or the one plain sentence why the process is gone; `session.death` has the details.
        timed_out: True if it died of its time.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: Raised | None = None
    seconds: float = 0.0
    died: str | None = None
    timed_out: bool = False


ModelCall = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


class Session:
    """One forked process that plays one submission's notebook. Made by `Jail.session`."""

    death: Death | None
    budget: Budget

    def run_cell(self, source: str, index: int = 0) -> CellResult:
        """Run a cell's source in the student's namespace. `index` is only the In[…] number shown.

        Never raises for what a student did. After a death every later call says so at once.
        """
        raise NotImplementedError

    def lookup(self, names: Iterable[str]) -> dict[str, Any]:
        """What the names hold now: a `Function`, a plain value, `Unsupported`, or `MISSING`.

        Raises SessionDied.
        """
        raise NotImplementedError

    def call_batch(
        self, name: str, cases: Sequence[tuple[Any, ...]], answer: ModelCall | None = None
    ) -> list[Answer]:
        """Call the student's function `name` once for each tuple of arguments; one Answer each, in order.

        Arguments are plain values, `Seed(n)`, callables (stay here; the student's function gets a stub whose
        calls come back and are answered by ``answer(callable, args, kwargs)``, by default
        ``callable(*args, **kwargs)``), or a `Function` (the student's own function of that name). A model
        that raises here raises the same built-in kind there. Raises SessionDied; OursError for an argument of
        ours that cannot travel.
        """
        raise NotImplementedError

    def snapshot(self) -> Session:
        """A copy of the student's process as it is now, with its own channel and the same budget (about 2 ms).

        The judge takes one at every test cell, lets the visible cells run on to the end of the notebook, and
        only then hands hidden inputs to the snapshots: what a function learns there can reach no output. A test
        that kills its snapshot harms no other. Snapshots end with the session they came from. Raises SessionDied.
        """
        raise NotImplementedError

    def close(self) -> None:
        """End the session: every process of it is killed and its files are gone when this returns."""
        raise NotImplementedError

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


class Jail:
    """A warm process with the imports done, sealed by bubblewrap where the machine can.

    Attributes:
        sealed: True inside bubblewrap; False in plain mode (say so loudly).
        why_plain: one sentence why it is not sealed, or "".
    """

    sealed: bool
    why_plain: str

    def __init__(self, limits: Limits | None = None, *, mode: str = "auto", hide: Sequence[str] = ()) -> None:
        """Start the warm process.

        Args:
            limits: what a submission may use.
            mode: "auto" (sealed if possible, else plain), "sealed" (OursError if impossible) or "plain".
            hide: folders that must not be seen even if they lie below a mounted one (the course folder).
        """
        raise NotImplementedError

    def session(self, budget: Budget | None = None) -> Session:
        """Fork a fresh session (the one before must be closed). A spoilt jail is replaced by a new one first."""
        raise NotImplementedError

    def close(self) -> None:
        """Kill the warm process and everything in it."""
        raise NotImplementedError

    def __enter__(self) -> Jail:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
