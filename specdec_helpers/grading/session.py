"""One submission's process, seen from the trusted side: requests in, checked values out, every wait bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..checks.ask import Answer
from . import modelcall, shown, watch
from .arguments import argument_tree
from .channel import Channel, ChannelClosed, ChannelSlow
from .clock import Clock
from .inside import wire
from .modelcall import ModelCall
from .results import Budget, CellResult, Death, OursError, SessionDied, death_of

if TYPE_CHECKING:
    from .sandbox import Jail


class _Stopped(Exception):
    """The watch ends the session."""

    def __init__(self, death: Death) -> None:
        super().__init__(death.sentence)
        self.death = death


class Session:
    """One forked process that plays one submission's notebook. Made by `Jail.session` or `snapshot`.

    Attributes:
        death: why it ended early, or None while it lives.
        budget: the student seconds of the whole notebook.
        pid: its process number inside the sandbox.
    """

    def __init__(
        self, jail: Jail, channel: Channel, budget: Budget, pid: int, parent: Session | None = None
    ) -> None:
        self.death: Death | None = None
        self.budget, self.pid = budget, pid
        self.outer = 0
        self._jail, self._channel, self._parent = jail, channel, parent
        self._root: Session = parent._root if parent is not None else self
        self._snapshots: list[Session] = []
        self._number = self._depth = 0
        above = jail.warm_pid if parent is None else parent.outer
        self.outer = watch.outer_pid(watch.children(above), pid) or 0
        self._waiting = watch.Waiting(self.outer)
        self._clock: Clock | None = None
        self._closed = False

    # What the judge asks ------------------------------------------------------------------------------

    def run_cell(self, source: str, index: int = 0) -> CellResult:
        """Run a cell's source in the student's namespace. `index` is only the In[…] number shown.

        Never raises for what a student did. After a death every later call says so at once.
        """
        before = self.budget.used
        try:
            reply = self._request("run", source, index, length=2)
            outputs = self._checked(shown.outputs, reply[0], self._jail.limits.cell_outputs)
            error = None if reply[1] is None else self._checked(shown.raised, reply[1])
        except SessionDied as died:
            seconds, late = self.budget.used - before, died.death.kind == "time"
            return CellResult(seconds=seconds, died=died.death.sentence, timed_out=late)
        return CellResult(outputs, error, self.budget.used - before)

    def lookup(self, names: Iterable[str]) -> dict[str, Any]:
        """What the names hold now: a `Function`, a plain value, `Unsupported`, or `MISSING`.

        Raises SessionDied.
        """
        wanted = list(names)
        (found,) = self._request("lookup", wanted, length=1)
        held: dict[str, Any] = self._checked(shown.held, wanted, found)
        return held

    def call_batch(
        self, name: str, cases: Sequence[tuple[Any, ...]], answer: ModelCall | None = None
    ) -> list[Answer]:
        """Call the student's function `name` once for each tuple of arguments; one Answer each, in order.

        Arguments are plain values, `Seed(n)`, callables (they stay here; the student's function gets a stub whose
        calls come back and are answered by ``answer(callable, args, kwargs)``, by default
        ``callable(*args, **kwargs)``), or a `Function` (the student's own function of that name). A model
        that raises here raises the same built-in kind there. Raises SessionDied; OursError for an argument of
        ours that cannot travel.
        """
        models: list[Callable[..., Any]] = []
        trees = [argument_tree(case, models) for case in cases]
        (found,) = self._request("call", name, trees, length=1, models=models, answer=answer)
        answers: list[Answer] = self._checked(shown.answers, found, len(trees))
        return answers

    def mark(self) -> tuple[int, bool]:
        """Remember what every name refers to now, for `recall`; (the mark, whether it can be enough).

        It is enough as long as what follows only binds names; else take a `snapshot`. Raises SessionDied.
        """
        number, enough = self._request("mark", length=2)
        return (number if type(number) is int else 0), enough is True

    def recall(self, mark: int) -> None:
        """Let every name refer to what it did at this mark. Raises SessionDied."""
        self._request("recall", mark, length=1)

    def snapshot(self) -> Session:
        """A copy of the student's process as it is now, with its own channel and the same budget (about 3 ms).

        The judge hands hidden inputs to snapshots only, after the last visible cell: what a function learns there
        can reach no output. A test that kills its snapshot harms no other. Snapshots end with the session they
        came from. Raises SessionDied.
        """
        channel, theirs = Channel.pair(self._channel.most)
        try:
            with theirs:
                (pid,) = self._request("snapshot", length=1, theirs=theirs)
                self._checked(shown.process, pid)
        except BaseException:
            channel.close()
            raise
        copy = Session(self._jail, channel, self.budget, pid, self)
        copy._root._snapshots.append(copy)
        return copy

    def close(self) -> None:
        """End the session: every process of it is killed and its files are gone when this returns.

        Closing a snapshot ends that copy alone.
        """
        if self._closed:
            return
        self._closed = True
        self._channel.close()
        self._waiting.close()
        if self._root is not self:
            self._root._snapshots.remove(self)
            if not self._root._closed and self.death is None and not self._jail.spoilt:
                self._jail.kill(self.pid)
            return
        for copy in list(self._snapshots):
            copy.close()
        self._jail.end()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    # One request --------------------------------------------------------------------------------------

    def _request(
        self,
        verb: str,
        *rest: Any,
        length: int,
        models: Sequence[Callable[..., Any]] = (),
        answer: ModelCall | None = None,
        theirs: Any = None,
    ) -> list[Any]:
        """Send a request, answer the model calls it makes, return the reply's contents (a list of `length`)."""
        if self.death is not None:
            raise SessionDied(self.death)
        if self._closed:
            raise OursError("this session is closed")
        limits, left = self._jail.limits, self.budget.left
        allowed, least, calls, asked, outer_clock = min(limits.cell_seconds, left), 0.0, 0, 0, self._clock
        self._number += 1
        number = self._number
        clock = self._clock = Clock(allowed, self._waited)
        try:
            if left <= 0:
                raise ChannelSlow
            self._channel.send([number, verb, *rest], allowed + 5.0, theirs)
            while True:
                message = self._channel.receive(max(0.0, allowed - clock.wall()), self._tick)
                reply = shown.reply(message, number, length)
                if reply is not None:
                    return reply
                calls, asked = calls + 1, asked + self._channel.last_size
                if calls > limits.model_calls or asked > 4 * limits.answer_bytes:
                    raise _Stopped(
                        Death("time", f"stopped after {limits.model_calls:,} calls of a model in one test")
                    )
                clock.pause()
                self._answer(number, message, models, answer)
                self.budget.answering += clock.resume()
                if self.budget.answering > limits.notebook_seconds:
                    text = f"stopped: it kept the models of the tests busy for {limits.notebook_seconds:g} s"
                    raise _Stopped(Death("time", text))
                self._clock = clock
        except ChannelSlow:
            least = allowed  # whatever the clock says a moment later: its time is used up
            raise self._die(self._late(allowed < limits.cell_seconds)) from None
        except ChannelClosed:
            raise self._die(None) from None
        except wire.WireError as error:
            raise self._die(
                Death("protocol", f"the process sent something other than a value ({error})")
            ) from None
        except _Stopped as stop:
            raise self._die(stop.death) from None
        finally:
            self._clock = outer_clock
            self.budget.used += max(least, clock.used())

    def _waited(self) -> float:
        return self._waiting.seconds() + self._jail.own_waiting.seconds()

    def _answer(
        self, number: int, message: list[Any], models: Sequence[Any], answer: ModelCall | None
    ) -> None:
        self._depth += 1
        try:
            deepest = self._jail.limits.model_depth
            deep = f"models called more than {deepest} deep" if self._depth > deepest else ""
            reply = modelcall.reply_to(message, models, answer, self._channel.last_size, deep)
        except (SessionDied, OursError, wire.WireError):
            raise
        except BaseException:
            self._die(Death("protocol", "the grader was interrupted"))
            raise
        finally:
            self._depth -= 1
        self._channel.send([number, *reply], self._jail.limits.cell_seconds)

    def _checked(self, check: Callable[..., Any], *parts: Any) -> Any:
        try:
            return check(*parts)
        except wire.WireError as error:
            raise self._die(
                Death("protocol", f"the process sent something other than a value ({error})")
            ) from None

    def _tick(self) -> float:
        """Look at a slow session; the seconds it has left."""
        limits, root = self._jail.limits, self._jail.process_id
        used = watch.usage(root, self._jail.base_memory)
        # One process that asks for too much gets a MemoryError; this is for many, so it leaves that one room.
        if used.memory > 1.2 * limits.memory_bytes:
            text = f"stopped: it used more than {limits.memory_bytes / 2**20:,.0f} MB of memory"
            raise _Stopped(Death("memory", text))
        if used.processes > limits.processes + 8:
            raise _Stopped(Death("memory", f"stopped: it started more than {limits.processes} processes"))
        assert self._clock is not None
        return self._clock.left()

    # Deaths -------------------------------------------------------------------------------------------

    def _late(self, whole_notebook: bool) -> Death:
        limits = self._jail.limits
        if whole_notebook:
            return Death("time", f"stopped: the whole notebook may run for {self.budget.seconds:g} s")
        return Death("time", f"stopped: a cell or a test may run for {limits.cell_seconds:g} s")

    def _die(self, death: Death | None) -> SessionDied:
        """Record the death (None: find out), kill what is left of this process, and return the error to raise.

        Snapshots live on until the session is closed, unless the whole jail is gone. Raises OursError if somebody
        outside killed the jail.
        """
        if self.death is None:
            if death is None:
                status = self._status()
                if self._jail.killed_from_outside():
                    self.death = Death("jail", "the sandbox was killed from outside", doubtful=True)
                    raise OursError(self.death.sentence)
                death = death_of(status, self._jail.process_gone())
            self._jail.kill(self.pid)
            if death.doubtful and self._jail.out_of_memory():
                death = Death("memory", "this machine ran out of memory while it ran", doubtful=True)
            self.death = death
        return SessionDied(self.death)

    def _status(self) -> int | None:
        """How this process ended, asked of the process that is its parent."""
        parent = self._parent
        if parent is None or parent.death is not None or parent._closed:
            return self._jail.status(self.pid)
        try:
            (status,) = parent._request("reap", self.pid, length=1)
        except SessionDied:
            return self._jail.status(self.pid)
        return status if type(status) is int else None
