"""The trusted end of a channel into the sandbox: frames in, frames out, every read bounded in bytes and time."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from .inside import wire

# The kernel itself gives up a receive after this time: one system call, where a socket with a timeout takes three.
_TIMEVAL = struct.Struct("@ll")
_RECEIVE = (
    1 << 16
)  # below malloc's threshold for a mapping of its own, which would be made and faulted in each time


class ChannelClosed(Exception):
    """The other end is gone."""


class ChannelSlow(Exception):
    """No whole frame within the time given."""


class Channel:
    """One end of a socket pair. Frames above `most` bytes are refused before they are read.

    `last_size` is the number of bytes of the frame received last.
    """

    def __init__(self, sock: socket.socket, most: int) -> None:
        self.sock, self.most = sock, most
        self._buffer = bytearray()
        self._patience = -1.0
        self.last_size = 0

    @classmethod
    def pair(cls, most: int) -> tuple[Channel, socket.socket]:
        """A channel, and the socket of the other end to give away."""
        ours, theirs = socket.socketpair()
        return cls(ours, most), theirs

    def send(self, tree: Any, seconds: float, theirs: socket.socket | None = None) -> None:
        """Send one frame within so many seconds, with a socket along if given.

        The socket follows when the other side is ready for it. Raises ChannelClosed, ChannelSlow or WireError.
        """
        data = wire.frame(wire.dump(tree))
        try:
            try:
                sent = self.sock.send(data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                sent = 0
            if sent < len(data) or theirs is not None:
                self._send_slowly(data[sent:], seconds, theirs)
        except TimeoutError:
            raise ChannelSlow from None
        except OSError:
            raise ChannelClosed from None

    def _send_slowly(self, data: bytes, seconds: float, theirs: socket.socket | None) -> None:
        """What did not go at once, with a deadline for the whole."""
        end = time.monotonic() + seconds
        self.sock.settimeout(max(seconds, 0.001))
        try:
            self.sock.sendall(data)
            if theirs is not None:
                self.sock.settimeout(None)
                if self.receive(end - time.monotonic()) != ["ready"]:
                    raise wire.WireError("the other side is not ready for a socket")
                self.sock.settimeout(max(end - time.monotonic(), 0.001))
                socket.send_fds(self.sock, [b"+"], [theirs.fileno()])
        finally:
            self.sock.settimeout(None)

    def receive(self, seconds: float, tick: Callable[[], float] | None = None, pause: float = 0.25) -> Any:
        """The next frame's tree within so many seconds.

        `tick` is called each time `pause` seconds passed without a frame and at the end; it returns the seconds
        that are left from now on, or raises. Raises ChannelClosed, ChannelSlow, or WireError for bytes that are no
        frame.
        """
        now = time.monotonic()
        end = now + seconds
        next_tick = now + pause if tick is not None else float("inf")
        head, buffer = wire.HEADER.size, self._buffer
        while True:
            if len(buffer) >= head:
                size = wire.HEADER.unpack_from(buffer)[0]
                if size > self.most:
                    raise wire.WireError(f"a frame of {size:,} bytes, {self.most:,} are allowed")
                if len(buffer) >= head + size:
                    payload = bytes(buffer[head : head + size])
                    del buffer[: head + size]
                    self.last_size = size
                    return wire.load(payload)
            now = time.monotonic()
            if tick is not None and now >= min(next_tick, end):
                end = now + tick()
                next_tick = now + pause
            if now >= end:
                raise ChannelSlow
            self._wait_at_most(min(end - now, pause))
            try:
                data = self.sock.recv(_RECEIVE)
            except BlockingIOError:
                continue
            except OSError:
                raise ChannelClosed from None
            if not data:
                raise ChannelClosed
            buffer += data

    def _wait_at_most(self, seconds: float) -> None:
        """Set how long the kernel waits for something to receive; mostly it is set already."""
        if seconds != self._patience:
            self._patience = seconds
            whole = int(seconds)
            rest = max(int(1e6 * (seconds - whole)), 0 if whole else 1)
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEVAL.pack(whole, rest))

    def close(self) -> None:
        """Hang up."""
        self.sock.close()
