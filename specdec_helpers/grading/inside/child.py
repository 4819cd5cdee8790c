"""One student's process: it answers the requests of the grader outside, one after the other.

Requests and replies are wire frames holding a list that begins with a number and a verb:

    [n, "run", source, index]         -> [n, "done", outputs, error]
    [n, "lookup", [names]]            -> [n, "done", [["function"] | ["value", v] | ["no", reason] | ["missing"]]]
    [n, "call", name, [cases]]        -> [n, "done", [answers]]     in between, from here: [n, "model", i, args, kwargs]
                                         answered by [n, "value", v] or [n, "raise", kind, message], or by a nested call
    [n, "mark"]                       -> [n, "done", mark, enough]  what every name refers to is remembered
    [n, "recall", mark]               -> [n, "done", true]          and is so again
    [n, "snapshot"] (+ a socket)      -> [n, "done", pid]           a copy of this process serves that socket
    [n, "reap", pid]                  -> [n, "done", status or None]
"""

from __future__ import annotations

import os
import random
import socket
import sys
import threading
import time
from typing import Any

from . import calls, wire
from .marks import Mark, settled
from .outputs import Outputs
from .shell import Shell, attach

_MISSING = object()


def exit_status(pid: int, patient: bool) -> int | None:
    """How a child process ended; None if it has not. A patient caller gives it a moment to finish dying."""
    for _ in range(100 if patient else 1):
        try:
            found, status = os.waitpid(pid, os.WNOHANG)
        except OSError:
            return None
        if found:
            return os.waitstatus_to_exitcode(status)
        if patient:
            time.sleep(0.002)
    return None


class Link:
    """A socket that carries frames."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._buffer = b""

    def receive(self) -> Any:
        """The next frame's tree. EOFError when the other side is gone."""
        head = wire.HEADER.size
        buffer = self._buffer
        while len(buffer) < head or len(buffer) < head + wire.HEADER.unpack_from(buffer)[0]:
            data = self.sock.recv(1 << 18)
            if not data:
                raise EOFError
            buffer += data
        end = head + wire.HEADER.unpack_from(buffer)[0]
        self._buffer = buffer[end:]
        return wire.load(buffer[head:end])

    def receive_socket(self) -> int:
        """The descriptor that follows once this side has said it is ready for it."""
        self.send(["ready"])
        _, fds, _, _ = socket.recv_fds(self.sock, 1, 1)
        return fds[0]

    def send(self, tree: Any) -> None:
        """Send one frame."""
        self.send_bytes(wire.dump(tree))

    def send_bytes(self, payload: bytes) -> None:
        """Send one frame that is dumped already."""
        self.sock.sendall(wire.frame(payload))


class Child:
    """Serves one channel until it closes."""

    def __init__(self, shell: Shell, link: Link, limits: dict[str, Any]) -> None:
        self.shell, self.link, self.limits = shell, link, limits
        self.outputs = Outputs(limits)
        self.lock = threading.RLock()
        self.batch: int | None = None
        self.marks: list[Mark] = []
        attach(shell, self.outputs)

    def serve(self) -> None:
        """Answer until the other side hangs up."""
        while True:
            try:
                message = self.link.receive()
            except (EOFError, OSError):
                return
            self.handle(message)

    def handle(self, message: list[Any]) -> None:
        """Answer one request."""
        number, verb, *rest = message
        if verb == "snapshot":
            self.snapshot(number)
            return
        reply = getattr(self, f"do_{verb}")(number, *rest)
        with self.lock:
            self.link.send([number, "done", *reply])

    def do_run(self, number: int, source: str, index: int) -> list[Any]:
        """Run a cell."""
        self.shell.execution_count = index
        self.outputs.start(index)
        self.outputs.muted = False
        error: BaseException | None = None
        try:
            result = self.shell.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
        except BaseException as caught:  # a patched shell, an interrupt between two of its lines
            error = caught
            self.outputs.error(type(caught).__name__, calls.raised(caught)[3], [])
        self.outputs.muted = True
        return [self.outputs.take(), None if error is None else calls.raised(error)]

    def do_lookup(self, number: int, names: list[str]) -> list[Any]:
        """What the names hold."""
        return [[self._held(name) for name in names]]

    def _held(self, name: str) -> list[Any]:
        value = self.shell.user_ns.get(name, _MISSING)
        if value is _MISSING:
            return ["missing"]
        if callable(value):
            return ["function"]
        try:
            tree = wire.to_wire(value)
            if len(wire.dump(tree)) > self.limits["answer_bytes"] // 8:
                return ["no", "a value too large to be an answer"]
            return ["value", tree]
        except BaseException as error:
            return ["no", calls.raised(error)[3]]

    def do_call(self, number: int, name: str, cases: list[Any]) -> list[Any]:
        """Call a function on every case."""
        before, self.batch = self.batch, number
        try:
            function = self.shell.user_ns.get(name)
            answers = [calls.call(function, wire.from_wire(case, self._resolve)) for case in cases]
            return [calls.pack(answers, self.limits["answer_bytes"])]
        finally:
            with self.lock:
                self.batch = before

    def _resolve(self, tag: str, content: Any) -> Any:
        if tag == "s":
            return calls.Seeded(content)
        if tag == "w":
            return self.shell.user_ns.get(content)

        def model(*args: Any, **kwargs: Any) -> Any:
            return self._ask_model(content, args, kwargs)

        return model

    def _ask_model(self, which: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        request = wire.dump([which, wire.to_wire(args), wire.to_wire(kwargs)])
        if len(request) > wire.MODEL_CALL_BYTES:
            raise ValueError(wire.MODEL_TOO_MUCH)
        with self.lock:
            if self.batch is None:
                raise RuntimeError("a model can be called only while a test is calling the function")
            number = self.batch
            self.link.send_bytes(b'[%d,"model",%b' % (number, request[1:]))
            while True:
                message = self.link.receive()
                if message[0] == number and message[1] == "value":
                    return wire.from_wire(message[2])
                if message[0] == number and message[1] == "raise":
                    raise calls.rebuilt_error(message[2], message[3])
                self.handle(message)

    def do_mark(self, number: int) -> list[Any]:
        """Remember what the names refer to, and say whether that is enough before a cell that only binds names."""
        self.marks.append(Mark(self.shell))
        try:
            enough = settled(self.shell)
        except Exception:  # a folder that cannot be read, a type that hides its attributes
            enough = False
        return [len(self.marks) - 1, enough]

    def do_recall(self, number: int, mark: int) -> list[Any]:
        """Let the names refer to what they did at that mark."""
        self.marks[mark].recall(self.shell)
        return [True]

    def do_reap(self, number: int, pid: int) -> list[Any]:
        """How a snapshot ended."""
        return [exit_status(pid, patient=True)]

    def snapshot(self, number: int) -> None:
        """Fork; the copy serves the socket that came along."""
        fd = self.link.receive_socket()
        state = random.getstate()
        pid = os.fork()
        if pid:
            os.close(fd)
            self.link.send([number, "done", pid])
            return
        os.setpgid(0, 0)
        self.link.sock.close()
        self.link = Link(socket.socket(fileno=fd))
        self.lock = threading.RLock()
        random.setstate(state)
        self.serve()
        os._exit(0)


def run(shell: Shell, sock: socket.socket, limits: dict[str, Any], home: str) -> None:
    """Be a student's process until the channel closes. Called once, right after the fork; never returns."""
    os.chdir(home)
    os.environ["HOME"] = os.environ["IPYTHONDIR"] = os.environ["MPLCONFIGDIR"] = os.environ["PWD"] = home
    if sys.path[0] != "":
        sys.path.insert(0, "")
    random.seed(0)  # Python seeds it anew after a fork; every submission begins alike
    link = Link(sock)
    try:
        Child(shell, link, limits).serve()
    finally:
        os._exit(0)
