"""The warm process: imports done once, then one fork for every submission.

It is started by the grader outside and driven over one socket, its control channel:

    ["start", settings]     -> ["ready", versions]
    ["fork"] (+ a socket)   -> ["forked", pid]            the fork serves that socket (see child.py)
    ["kill", pid]           -> ["killed"]                 one process of the session and its group
    ["status", pid]         -> ["status", code or None]   how a process of the session ended
    ["end"]                 -> ["ended", clean]           every process and file of the session is gone

One session at a time. The warm process runs no student's code and never opens a student's file; in the sealed
mode it is alone in its process namespace with the session, so "kill everybody" is exact.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import site
import socket
import stat
import sys
from typing import Any

from . import child, seal


class Warm:
    """The state of the warm process."""

    def __init__(self, control: child.Link, settings: dict[str, Any]) -> None:
        self.control, self.settings = control, settings
        self.sealed = bool(settings["sealed"])
        self.scratch: str = settings["scratch"]
        self.home, self.temp = f"{self.scratch}/home", f"{self.scratch}/tmp"
        self.pid, self.gone = 0, False
        self.sessions = 0
        if not self.sealed and os.geteuid() == 0 and not settings["uid"]:
            raise SystemExit("specdec: refusing to run submissions as root without a sandbox")
        if self.sealed and (os.getpid() > 10 or os.getppid() != 1):
            raise SystemExit("specdec: not in a process namespace of my own; refusing to start")

    def prepare(self) -> list[str]:
        """Import, make the shell, seal this process. Returns the versions."""
        site.sethelper()
        warm = f"{self.scratch}/warm"
        os.makedirs(warm, exist_ok=True)
        os.environ["HOME"] = os.environ["IPYTHONDIR"] = os.environ["MPLCONFIGDIR"] = warm
        os.chdir(warm)
        import IPython
        import matplotlib
        import numpy as np

        from . import shell

        self.shell = shell.make()
        __import__("specdec_helpers.lm")
        gc.freeze()  # what is imported stays: neither the warm-up nor a session looks through it for garbage again
        shell.warm_up(self.shell)
        np.random.seed(0)  # noqa: NPY002 - the same global state for every submission
        os.chdir("/")
        shutil.rmtree(warm, ignore_errors=True)
        self._mark_for_the_oom_killer()
        if self.sealed:
            seal.not_dumpable()
            self.filtered = seal.filter_calls()
        else:
            self.filtered = False
        seal.adopt_orphans()
        gc.collect()
        gc.freeze()
        return [sys.version.split()[0], np.__version__, IPython.__version__, matplotlib.__version__]

    def _mark_for_the_oom_killer(self) -> None:
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")

    def serve(self) -> None:
        """Answer the control channel until it closes."""
        while True:
            try:
                verb, *rest = self.control.receive()
            except (EOFError, OSError):
                break
            if verb == "fork":
                self.control.send(["forked", self.fork()])
            elif verb == "kill":
                self.kill(rest[0])
                self.control.send(["killed"])
            elif verb == "status":
                self.control.send(["status", self.status(rest[0])])
            elif verb == "end":
                self.control.send(["ended", self.end()])
        self.end()

    def fork(self) -> int:
        """Fork a session on the socket that came along."""
        fd = self.control.receive_socket()
        self.sessions += 1
        uid = self.settings["uid"] and self.settings["uid"] + self.sessions % 256
        for folder in (self.home, self.temp):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if uid:
                os.chown(folder, uid, uid)
        pid = os.fork()
        if pid:
            os.close(fd)
            self.pid = pid
            return pid
        try:
            self.control.sock.close()
            os.setsid()
            if uid:
                seal.become(uid, search=bool(self.settings["search"]))
            # Without a namespace or a user of its own, the kernel would count the grader's other processes too.
            seal.limit(
                self.settings["limits"], processes=bool(uid) or (self.sealed and seal.counts_by_namespace())
            )
            if self.sealed:
                seal.filter_signals(os.getppid(), os.getpgid(os.getppid()))
            child.run(self.shell, socket.socket(fileno=fd), self.settings["limits"], self.home)
        finally:
            os._exit(97)

    def kill(self, pid: int) -> None:
        """Kill one process of the session, and what it started unless that left its process group."""
        if pid > 2 and pid not in (os.getpid(), os.getppid()):
            for how in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    how(pid, signal.SIGKILL)

    def status(self, pid: int) -> int | None:
        """How a process of the session ended; it may need a moment to finish dying."""
        code = child.exit_status(pid, patient=True)
        if pid == self.pid and code is not None:
            self.gone = True
        return code

    def end(self) -> bool:
        """Kill every process of the session, wait for all, empty the scratch folder; False if that failed."""
        self._kill_all()
        self.pid, self.gone = 0, False
        return self._empty()

    def _kill_all(self) -> None:
        if self.sealed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while True:
                    os.waitpid(-1, 0)
        elif self.pid:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
            if not self.gone:
                with contextlib.suppress(OSError):
                    os.kill(self.pid, signal.SIGKILL)
                    os.waitpid(self.pid, 0)
            while self._kill_adopted():
                pass

    def _kill_adopted(self) -> bool:
        """Plain mode on Linux: kill what the session left behind; True if there was something."""
        try:
            with open(f"/proc/self/task/{os.getpid()}/children") as file:
                left = [int(pid) for pid in file.read().split()]
        except OSError:
            return False
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        return bool(left)

    def _empty(self) -> bool:
        """Remove what the session wrote; False if something would not go."""
        try:
            for name in os.listdir(self.scratch):
                path = f"{self.scratch}/{name}"
                if path in (self.home, self.temp) and stat.S_ISDIR(os.lstat(path).st_mode):
                    os.chmod(path, 0o700)
                    for inner in os.listdir(path):
                        _remove(f"{path}/{inner}")
                else:
                    _remove(path)
        except (OSError, RecursionError):
            return False
        return True


def _remove(path: str) -> None:
    if stat.S_ISDIR(os.lstat(path).st_mode):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def main(fd: int) -> None:
    """Start on the control channel `fd`."""
    control = child.Link(socket.socket(fileno=fd))
    _, settings = control.receive()
    warm = Warm(control, settings)
    versions = warm.prepare()
    control.send(["ready", versions, warm.filtered])
    warm.serve()
    os._exit(0)  # at once: taking some hundred modules down again costs more than the rest of the end
