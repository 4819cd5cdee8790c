"""Start a warm process behind its walls, before there is a `Jail` to look after it.

It imports little: a worker starts the warm process first, and while that imports what the students need, the worker
imports the rest of the grader.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from . import jail as walls
from .limits import Limits


@dataclass
class Running:
    """A warm process that has been started: it imports, and waits for its settings on the other end of `control`."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    start: walls.Start
    mode: str

    def stop(self) -> None:
        """End a process that nobody took over."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()
        self.start.clean_up()


def launch(mode: str, limits: Limits, hide: Sequence[str] = ()) -> Running:
    """Start a warm process in one of jail.MODES. Raises OSError or RuntimeError where that is impossible."""
    ours, theirs = socket.socketpair()
    try:
        with theirs, tempfile.TemporaryFile() as options:
            start = walls.plan(mode, limits, theirs.fileno(), hide)
            options.write(start.options)
            options.seek(0)
            number = str(options.fileno())
            command = [number if word == walls.OPTIONS_FD else word for word in start.command]
            process = subprocess.Popen(
                command, env=start.environment, cwd=start.folder or "/",
                pass_fds=[theirs.fileno(), options.fileno()], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )  # fmt: skip
    except BaseException:
        ours.close()
        raise
    return Running(process, ours, start, mode)


def launch_early(mode: str, limits: Limits, hide: Sequence[str] = ()) -> Running | None:
    """Start a warm process in the best mode, for a jail that is made soon; None where that does not work."""
    try:
        return launch(walls.possible_modes(mode)[0], limits, hide)
    except (OSError, RuntimeError, ValueError, IndexError):
        return None  # the jail will try again, and say why
