"""`kill -9` of driver, worker, sandbox or database at random moments: the next run ends as an uninterrupted one.

A few moments in the quick suite; SPECDEC_KILLS=50 for the long run, SPECDEC_SEED to repeat one.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from classroom import Classroom
from database_server import Server
from killing import KILLS, SEED, family, finish, hand_in, in_this_process, straight, strike

from specdec_helpers.grading import batch

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="finds its victims in /proc"),
    pytest.mark.timeout(3600),
]


def ours(kind: str, driver: int) -> psutil.Process | None:
    """A process to kill: the driver, one of its workers, or one of the sandboxes' processes."""
    if kind == "driver":
        return psutil.Process(driver)
    found = []
    for process in family(driver):
        try:
            sandboxed = any("bwrap" in p.name() for p in [process, *process.parents()])
            spawned = "spawn_main" in " ".join(process.cmdline())
        except psutil.Error:
            continue
        if (kind == "sandbox" and sandboxed) or (kind == "worker" and spawned and not sandboxed):
            found.append(process)
    return random.choice(found) if found else None


def test_killed_at_any_moment(tmp_path: Path, warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "run_local", in_this_process)
    random.seed(SEED)
    room = Classroom(tmp_path / "course")
    whole = straight(room)
    log: list[Any] = []
    for moment in range(KILLS):
        version = moment % 2
        hand_in(room, version)
        kind = ("driver", "worker", "sandbox")[moment % 3]
        struck = strike(room, partial(ours, kind))
        if kind == "driver":
            _, alive = psutil.wait_procs(struck.children, timeout=15)
            assert not alive, f"left over after the driver was killed: {alive}"
        else:
            assert struck.status == 1, f"moment {moment}: {kind} killed, exit status {struck.status}"
            assert room.everything() == whole[version], f"moment {moment}: {kind}"
        finish(room)
        assert room.everything() == whole[version], f"moment {moment}: {kind}, seed {SEED}"
        log.append((kind, struck.wanted, struck.hit))
    print(f"{sum(hit for _, _, hit in log)} of {len(log)} kills hit", log)


def database(server: Server, kind: str, driver: int) -> psutil.Process | None:
    """The server's process to kill, once the command is connected: before that it would not be hit."""
    backends = server.backends("killed")
    if not backends:
        return None
    return random.choice(backends) if kind == "one backend" else server.postmaster()


class Return(threading.Thread):
    """Starts the server again, a random while after it was killed."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.server, self.seconds = server, random.uniform(0, 3)

    def run(self) -> None:
        time.sleep(self.seconds)
        self.server.restart()


def test_the_database_killed_at_any_moment(
    tmp_path: Path, server: Server, warm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server comes back while the command still tries, or after it gave up; or one connection's process dies."""
    monkeypatch.setattr(batch, "run_local", in_this_process)
    random.seed(SEED)
    room = Classroom(tmp_path / "course", url=server.new("killed"))
    whole = straight(room)
    log: list[Any] = []
    for moment in range(KILLS):
        version = moment % 2
        before = room.scores()
        hand_in(room, version)
        kind = ("back while it tries", "back when it has ended", "one backend")[moment % 3]
        back = Return(server)
        struck = strike(
            room,
            partial(database, server, kind),
            patience=0.5 if kind == "back when it has ended" else 60.0,
            then=back.start if kind == "back while it tries" else lambda: None,
        )
        if back.ident is not None:
            back.join()
        where = f"moment {moment}: {kind}, seed {SEED}\n{struck.text}"
        assert "Traceback" not in struck.text, where
        if kind == "back when it has ended":
            if struck.hit:
                server.restart()
            assert struck.status in (1, 2), where
        else:
            assert struck.status == 1, where
            assert room.everything() == whole[version], where
        after = room.scores()
        finish(room)
        assert room.everything() == whole[version], where
        # Nothing was lost meanwhile: everybody had the old scores or the new ones, and all of them.
        new = room.scores()
        assert after.keys() == new.keys(), where
        assert all(after[student] in (before[student], new[student]) for student in new), where
        log.append((kind, struck.wanted, struck.hit, struck.status))
    print(f"{sum(entry[2] for entry in log)} of {len(log)} kills hit", log)
