"""The sealed sandbox, seen from outside: a `Jail` that forks a fresh `Session` for every submission.

    with Jail(limits) as jail:                 # a second, once: a warm process with the imports done
        with jail.session() as session:        # a few milliseconds: one forked child
            result = session.run_cell("def double(x):\\n    return 2 * x")
            session.lookup(["double"])         # {"double": Function("double")}
            session.call_batch("double", [(1,), (2,)])   # [Answer(value=2), Answer(value=4)]

Values come out, never verdicts. A submission that dies, hangs or floods ends its own session and nothing else:
`run_cell` reports it in the result, `lookup` and `call_batch` raise `SessionDied`. A failure of ours (no memory
on this machine, a runner that does not start) raises `OursError`, which may be retried and is never a
student's fault. A jail may be used for any number of sessions, one at a time, from the thread that made it
(bubblewrap ends with that thread).
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from . import jail as walls
from . import watch
from .channel import Channel, ChannelClosed, ChannelSlow
from .inside.wire import WireError
from .launch import Running, launch
from .limits import Limits
from .modelcall import ModelCall
from .results import (
    MISSING,
    Budget,
    CellResult,
    Death,
    Function,
    Missing,
    OursError,
    SessionDied,
    Unsupported,
)
from .session import Session

__all__ = [
    "MISSING", "Budget", "CellResult", "Death", "Function", "Jail", "Missing", "ModelCall", "OursError", "Session",
    "SessionDied", "Unsupported",
]  # fmt: skip

START_SECONDS = 60.0
ANSWER_SECONDS = 10.0
_CONTROL_BYTES = 1 << 16


class Jail:
    """A warm process with the imports done, sealed by bubblewrap where the machine can.

    Attributes:
        limits: what a submission may use.
        warm_pid: the warm process, as this machine numbers it.
        sealed: True inside bubblewrap; False in plain mode (say so loudly).
        mode: "root", "user" or "plain".
        why_plain: one sentence why it is not sealed, or "".
        versions: of Python, NumPy, IPython and matplotlib inside.
        starts: how many warm processes were started so far.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        mode: str = "auto",
        hide: Sequence[str] = (),
        running: Running | None = None,
    ) -> None:
        """Start the warm process.

        Args:
            limits: what a submission may use.
            mode: "auto" (sealed if possible, else plain), "sealed" (OursError if impossible) or "plain".
            hide: folders that must not be seen even if they lie below a mounted one (the course folder).
            running: a process that `launch_early` started with the same limits, mode and folders.
        """
        self.limits = limits or Limits()
        self.hide = tuple(hide)
        self.starts = 0
        self.spoilt, self._killed = True, False
        self._process: subprocess.Popen[bytes] | None = None
        self._control: Channel | None = None
        self._start: walls.Start | None = None
        self._open: Session | None = None
        self._oom = watch.kills_by_the_kernel()
        self.own_waiting, self.why_plain = watch.Waiting(None), ""
        self._choose(mode, running)

    def _choose(self, mode: str, running: Running | None) -> None:
        """Start in the best mode that works here."""
        reasons = [] if walls.bubblewrap() or mode == "plain" else ["bubblewrap (bwrap) is not installed"]
        for candidate in walls.possible_modes(mode):
            self.mode = candidate
            try:
                self._launch(running)
                self._probe()
                break
            except (OursError, RuntimeError, OSError) as error:
                reasons.append(f"{candidate}: {error}")
                self._throw_away()
            running = None  # it was for the first mode
        else:
            raise OursError("no sandbox starts here: " + "; ".join(reasons))
        self.sealed = self.mode != "plain"
        if not self.sealed:
            self.why_plain = "; ".join(reasons) or "plain mode was asked for"

    def _launch(self, running: Running | None = None) -> None:
        running = running or launch(self.mode, self.limits, self.hide)
        start, process, control = running.start, running.process, Channel(running.control, _CONTROL_BYTES)
        self._start, self._process, self._control = start, process, control
        assert process.stderr is not None
        settings = {
            "limits": self.limits.as_dict(), "sealed": self.mode != "plain", "scratch": start.scratch, "uid": start.uid,
            "search": start.search,
        }  # fmt: skip
        try:
            control.send(["start", settings], START_SECONDS)
            _, self.versions, self.filtered = control.receive(START_SECONDS)
        except (ChannelClosed, ChannelSlow, WireError, ValueError):
            process.kill()
            said = process.stderr.read(2000).decode("utf-8", "replace").strip()
            raise OursError(f"the warm process did not start: {said[-600:] or 'no word'}") from None
        finally:
            process.stderr.close()
        self.starts += 1
        self.spoilt = self._killed = False
        self.base_memory = watch.usage(process.pid).memory
        self.warm_pid = process.pid
        if self.mode != "plain":
            self.warm_pid = watch.outer_pid(watch.descendants(process.pid), 2) or process.pid

    def _probe(self) -> None:
        """A first session must do what every session needs: write, import late, define, call."""
        cell = (
            "import colorsys, os\nopen(os.path.expanduser('~/probe'), 'w').write('x')\n"
            "def double(x):\n    return 2 * x"
        )
        with self.session() as session:
            result = session.run_cell(cell, 1)
            if result.died or result.error:
                raise OursError(f"a trial session failed: {result.died or result.error}")
            if [answer.value for answer in session.call_batch("double", [(21,)])] != [42]:
                raise OursError("a trial session gave a wrong answer")

    # What an engine asks ------------------------------------------------------------------------------

    def session(self, budget: Budget | None = None) -> Session:
        """Fork a fresh session (the one before must be closed). A spoilt jail is replaced by a new one first."""
        if self._open is not None:
            raise OursError("the session before is still open; close it first")
        error: BaseException | None = None
        for _ in range(3):
            try:
                if self.spoilt:
                    self._throw_away()
                    self._launch()
                return self._fork(budget or Budget(self.limits.notebook_seconds))
            except (OursError, ChannelClosed, ChannelSlow, WireError, OSError) as caught:
                error = caught
                self.spoilt = True
        raise OursError(f"no session starts: {error}") from error

    def _fork(self, budget: Budget) -> Session:
        if self.process_gone():
            raise ChannelClosed
        limits = self.limits
        most = max(limits.answer_bytes + (1 << 18), 6 * limits.cell_output_bytes + (1 << 20))
        channel, theirs = Channel.pair(most)
        try:
            with theirs:
                pid = self._ask(["fork"], "forked", theirs)[0]
        except BaseException:
            channel.close()
            raise
        self._open = Session(self, channel, budget, pid)
        return self._open

    def close(self) -> None:
        """Kill the warm process and everything in it."""
        if self._open is not None:
            with contextlib.suppress(OursError):
                self._open.close()
        self._throw_away()
        self.own_waiting.close()

    def __enter__(self) -> Jail:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    # What a session asks ------------------------------------------------------------------------------

    def end(self) -> None:
        """End the open session: all its processes are killed, its files removed."""
        if self._open is None:
            return
        self._open = None
        if self.spoilt:
            return
        try:
            (clean,) = self._ask(["end"], "ended")
        except (ChannelClosed, ChannelSlow, WireError):
            clean = False
        if clean is not True:
            self._throw_away()

    def status(self, pid: int) -> int | None:
        """How a process of the open session ended (negative: by that signal); None if nobody knows."""
        try:
            (code,) = self._ask(["status", pid], "status")
        except (ChannelClosed, ChannelSlow, WireError):
            self._throw_away()
            return None
        return code if type(code) is int else None

    def kill(self, pid: int) -> bool:
        """Kill one process of the open session; False if the jail is lost."""
        try:
            self._ask(["kill", pid], "killed")
        except (ChannelClosed, ChannelSlow, WireError):
            self._throw_away()
            return False
        return True

    @property
    def process_id(self) -> int:
        """The process number of the jail on this machine."""
        return self._process.pid if self._process is not None else 0

    def process_gone(self) -> bool:
        """Whether the jail itself has ended."""
        return self._process is None or self.spoilt or self._process.poll() is not None

    def killed_from_outside(self) -> bool:
        """Whether the jail is lost because a signal ended its outermost process, which nobody inside can reach."""
        if self.process_gone():
            self._throw_away()
        return self._killed

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process for want of memory since this was asked last."""
        before, self._oom = self._oom, watch.kills_by_the_kernel()
        return self._oom > before

    def _ask(self, request: list[Any], expected: str, theirs: Any = None) -> list[Any]:
        if self._control is None:
            raise ChannelClosed
        self._patience = time.monotonic() + ANSWER_SECONDS
        self._control.send(request, ANSWER_SECONDS, theirs)
        reply: list[Any] = self._control.receive(ANSWER_SECONDS, self._tick)
        if reply[0] != expected:
            raise WireError(f"the warm process said {str(reply[0])[:40]!r} instead of {expected!r}")
        return reply[1:]

    def _tick(self) -> float:
        """The warm process is slow to answer: give it up at once if somebody has stopped it."""
        if self.process_gone() or any(map(watch.stopped, watch.descendants(self.process_id))):
            raise ChannelClosed
        return self._patience - time.monotonic()

    def _throw_away(self) -> None:
        self.spoilt = True
        process, self._process = self._process, None
        if self._control is not None:
            self._control.close()
            self._control = None
        if process is not None:
            # The warm process ends its session when its channel closes; give it a moment, then be rough.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
            self._killed = self.mode != "plain" and (process.returncode or 0) < 0
            if self.mode == "plain":
                watch.kill_tree(process.pid)
            process.kill()
            process.wait()
        if self._start is not None:
            self._start.clean_up()
            self._start = None
