"""The trusted end of a channel into the sandbox: frames in, frames out, every read bounded in bytes and time."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

from .inside import wire


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
        self.sock.settimeout(max(seconds, 0.001))
        try:
            self.sock.sendall(data)
            if theirs is not None:
                if self.receive(seconds) != ["ready"]:
                    raise wire.WireError("the other side is not ready for a socket")
                socket.send_fds(self.sock, [b"+"], [theirs.fileno()])
        except TimeoutError:
            raise ChannelSlow from None
        except OSError:
            raise ChannelClosed from None

    def receive(self, seconds: float, tick: Callable[[], float] | None = None, pause: float = 0.25) -> Any:
        """The next frame's tree within so many seconds.

        `tick` is called each time `pause` seconds passed without a frame and at the end; it returns the seconds
        that are left from now on, or raises. Raises ChannelClosed, ChannelSlow, or WireError for bytes that are no
        frame.
        """
        end = time.monotonic() + seconds
        next_tick = time.monotonic() + pause if tick is not None else float("inf")
        size = None
        while True:
            if size is None and len(self._buffer) >= wire.HEADER.size:
                (size,) = wire.HEADER.unpack_from(self._buffer)
                if size > self.most:
                    raise wire.WireError(f"a frame of {size:,} bytes, {self.most:,} are allowed")
            if size is not None and len(self._buffer) >= wire.HEADER.size + size:
                payload = bytes(memoryview(self._buffer)[wire.HEADER.size : wire.HEADER.size + size])
                del self._buffer[: wire.HEADER.size + size]
                self.last_size = size
                return wire.load(payload)
            now = time.monotonic()
            if tick is not None and now >= min(next_tick, end):
                end = now + tick()
                next_tick = now + pause
            if now >= end:
                raise ChannelSlow
            self.sock.settimeout(min(end, next_tick) - now)
            try:
                data = self.sock.recv(1 << 18)
            except TimeoutError:
                continue
            except OSError:
                raise ChannelClosed from None
            if not data:
                raise ChannelClosed
            self._buffer += data

    def close(self) -> None:
        """Hang up."""
        self.sock.close()
