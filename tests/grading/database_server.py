"""A real PostgreSQL server for tests, from the distribution's package."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil

PLACES = [
    *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"))),
    *os.environ.get("PATH", "").split(os.pathsep),
]
BIN = next((place for place in reversed(PLACES) if (Path(place) / "initdb").exists()), "")


class Server:
    """A PostgreSQL server of our own, as an unprivileged user."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        # PostgreSQL refuses to run as root.
        self.how: dict[str, Any] = (
            {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        )
        if self.how:
            shutil.chown(folder, "postgres", "postgres")
        self._do("initdb", "-D", str(self.data), "-A", "trust", "-U", "grader", "--no-sync", "-E", "UTF8")
        self.start()

    def _do(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [f"{BIN}/{program}", *words],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            **self.how,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses=127.0.0.1 -p {self.port} -c fsync=off"
        self._do("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self, how: str = "immediate") -> None:
        self._do("pg_ctl", "-D", str(self.data), "-w", "-m", how, "stop")

    def restart(self) -> None:
        """Start again after a kill: what the killed postmaster left behind ends by itself, but not at once."""
        deadline = time.monotonic() + 30
        while True:
            try:
                return self.start()
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def url(self, name: str = "postgres") -> str:
        return f"postgresql+psycopg://grader@127.0.0.1:{self.port}/{name}"

    def new(self, name: str) -> str:
        """Make an empty database; its URL."""
        import psycopg

        with psycopg.connect(self.url().replace("+psycopg", ""), autocommit=True) as db:
            db.execute(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def postmaster(self) -> psutil.Process:
        """The server's first process; the parent of all others."""
        return psutil.Process(int((self.data / "postmaster.pid").read_text().split()[0]))

    def backends(self, name: str) -> list[psutil.Process]:
        """The server's processes that hold a connection to a database."""
        try:
            children = self.postmaster().children()
            return [p for p in children if f" grader {name} " in " ".join(p.cmdline())]
        except (psutil.Error, OSError, IndexError, ValueError):  # it is just ending or starting
            return []
