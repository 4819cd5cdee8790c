# ruff: noqa: E501 - some lines of hostile code are long
"""The sandbox with hostile notebooks: each ends itself at most; the next session works; nothing is left.

Attacks that kill or stop other processes run only in the sealed modes, where a process namespace holds them.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jails import SMALL, opened, sealed_modes

from specdec_helpers.grading import jail as walls
from specdec_helpers.grading import watch
from specdec_helpers.grading.inside import wire
from specdec_helpers.grading.sandbox import Death, Jail, OursError, SessionDied

pytestmark = pytest.mark.skipif(not sealed_modes(), reason="needs bubblewrap")
FDS = "import os\ndef each(data):\n    for fd in range(3, 30):\n        try: os.write(fd, data)\n        except OSError: pass\n"


@pytest.fixture(scope="module", params=sealed_modes())
def jail(request: pytest.FixtureRequest) -> Iterator[Jail]:
    yield from opened(request.param)


def play(jail: Jail, source: str):
    """Run one cell; afterwards a session must work, and the sandbox hold its two own processes only."""
    with jail.session() as session:
        result = session.run_cell(source, 1)
        death = session.death
    with jail.session() as session:
        assert session.run_cell("print(6 * 7)").outputs[0]["text"] == "42\n"
        assert (
            session.run_cell("import os\nprint(os.listdir(), os.listdir('/tmp'))").outputs[0]["text"]
            == "[] []\n"
        )
    assert watch.usage(jail.process_id).processes == 2
    return result, death


def kill(pid: int | None) -> None:
    assert pid is not None
    assert pid > 1  # 0 would be this test's own process group
    os.kill(pid, signal.SIGKILL)


def shown(result) -> str:
    return "".join(str(o.get("text") or o.get("data") or o.get("evalue")) for o in result.outputs)


# What a cell may not survive -----------------------------------------------------------------------------

DEATHS = {
    "endless loop": ("while True: pass", "time"),
    "ignores SIGINT and every exception": (
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "while True:\n    try: time.sleep(100)\n    except BaseException: pass",
        "time",
    ),
    "blocks in C": ("import ctypes\nctypes.PyDLL(None).pause()", "time"),
    "os._exit": ("import os; os._exit(0)", "exit"),
    "kills itself": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal"),
    "kills its group": ("import os, signal; os.killpg(0, signal.SIGKILL)", "signal"),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", "signal"),
    "abort": ("import os; os.abort()", "signal"),
    "closes its channel": ("import os; os.closerange(3, 64)", None),
    "many processes full of memory": (
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        b = bytearray(300 << 20)\n        time.sleep(99)\n"
        "time.sleep(99)",
        None,
    ),
    "endless print": ("while True: print('x' * 1000)", "time"),
    "forged frame": (FDS + "each(b'\\0\\0\\0\\5[1,2]')", "protocol"),
    "frame too large to read": (FDS + "each(b'\\xff\\xff\\xff\\xff')", "protocol"),
    "frame that never ends": (FDS + "import time\nwhile True:\n    each(b'\\0'[:1]); time.sleep(.2)", None),
    "endless sleep": ("import time; time.sleep(10**6)", "time"),
}


@pytest.mark.parametrize("name", DEATHS)
def test_cell_ends_its_own_session_only(jail: Jail, name: str) -> None:
    source, kind = DEATHS[name]
    result, death = play(jail, source)
    assert death is not None
    assert result.died == death.sentence
    assert death.kind == kind or kind is None
    assert result.timed_out == (death.kind == "time")


# What a cell may try, and gets an ordinary error or a cut output for --------------------------------------

BLUNTED = {
    "fork survivors": (
        "import os, time\nfor _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0: time.sleep(999)\n"
        "        os._exit(0)\nprint('done')",
        "done",
    ),
    "processes": (
        "import os, time\nn = 0\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(99)\n        n += 1\n"
        "except BlockingIOError: print('refused', n < 64)",
        "refused True",
    ),
    "threads": (
        "import threading, time\ntry:\n    while True: threading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n"
        "except RuntimeError: print('refused')",
        "refused",
    ),
    "memory": ("kept = []\nwhile True: kept.append(bytearray(10 << 20))", "MemoryError"),
    "one big file": ("f = open('big', 'wb')\nwhile True: f.write(bytes(1 << 20)); f.flush()", "OSError"),
    "many files": ("n = 0\nwhile True:\n    open(f'f{n}', 'wb').write(bytes(1 << 20)); n += 1", "OSError"),
    "descriptors": ("import os\nwhile True: os.dup(0)", "OSError"),
    "one long line": ("print('x' * 3_000_000)", "output cut here"),
    "figures": (
        "import matplotlib.pyplot as plt\nfor _ in range(500): plt.figure()",
        "more figures not shown",
    ),
    "displays": ("for i in range(1000): display(i)", "output cut here"),
    "sys.exit": ("import sys; sys.exit(3)", "SystemExit"),
    "exit()": ("exit()", ""),
    "input": ("input()", "EOFError"),
    "deep folders": ("import os\nfor _ in range(2000): os.mkdir('d'); os.chdir('d')\nprint('made')", "made"),
    "unreadable folders": (
        "import os\nos.makedirs('a/b'); os.chmod('a/b', 0); os.chmod('a', 0); print('made')",
        "made",
    ),
    "many small files": ("for i in range(3000): open(str(i), 'w').close()\nprint('made')", "made"),
    "no stdout left": ("import os, sys\nos.close(1); os.close(2); sys.stdout = None; 1", ""),
    "half a surrogate": ("print('\\ud800')", "?"),
}


@pytest.mark.parametrize("name", BLUNTED)
def test_cell_gets_an_error_or_a_cut(jail: Jail, name: str) -> None:
    source, expected = BLUNTED[name]
    result, death = play(jail, source)
    if name == "processes" and jail.mode == "user" and os.geteuid() == 0:
        # Root in a user namespace stays root for the kernel's count; the watch from outside stands in.
        assert "more than 48 processes" in str(result.died)
        return
    assert death is None, death
    assert expected in shown(result) + (result.error.kind if result.error else "") + str(
        result.error and result.error.kinds
    )


def test_output_is_bounded_over_the_whole_notebook(jail: Jail) -> None:
    with jail.session() as session:
        sizes = [len(shown(session.run_cell("print('x' * 60_000)"))) for _ in range(10)]
    assert sum(sizes) < SMALL.notebook_output_bytes + 10 * 200
    assert sizes[-1] < 200


def test_processes_run_out_of_a_bounded_number_however_started(jail: Jail) -> None:
    result, death = play(jail, "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
    assert death is not None
    assert death.kind in ("memory", "time")
    assert result.died


# What it may not see -------------------------------------------------------------------------------------

HIDDEN = {
    "folders": "import os\nprint([d for d in ('/home', '/root', '/sys', '/mnt', '/var', '/opt', '/srv') if os.path.exists(d)])",
    "house": (
        "found = []\nfor m in ('reference', 'trials', 'grading', 'authoring', 'explorers.base', 'cli', 'checks.sealed'):\n"
        "    try: __import__(f'specdec_helpers.{m}'); found.append(m)\n    except ImportError: pass\nprint(found)"
    ),
    "environment": "import os\nprint([n for n in os.environ if n in ('SSH_AUTH_SOCK', 'SECRET', 'JUPYTER_TOKEN', 'PYTHONPATH')])",
    "writable": (
        "import os\nout = []\nfor d in ('/', '/usr', '/etc', '/python', '/python/inside/specdec_inside', '/dev', '/dev/shm', '/proc/sys/kernel'):\n"
        "    try: open(d + '/x', 'w'); out.append(d)\n    except OSError: pass\nprint(out)"
    ),
    "warm process": (
        "import os\nout = []\nfor p, names in ((1, ('mem', 'environ')), (2, ('mem', 'environ', 'maps', 'fd/3'))):\n    for f in names:\n"
        "        try: out += [(p, f)] if open(f'/proc/{p}/{f}', 'rb').read(1) else []\n        except OSError: pass\nprint(out)"
    ),
    "other processes": (
        "import os, resource, signal\nout = []\n"
        "def attempt(name, f, *a):\n    try: f(*a); out.append(name)\n    except OSError: pass\n"
        "attempt('kill', os.kill, os.getppid(), 0)\nattempt('kill all', os.kill, -1, 0)\nattempt('init', os.kill, 1, 0)\n"
        "attempt('group', os.kill, -os.getpgid(os.getppid()), 0)\nattempt('stop', os.kill, os.getppid(), signal.SIGSTOP)\n"
        "attempt('limit', resource.prlimit, os.getppid(), resource.RLIMIT_NOFILE, (9, 9))\n"
        "attempt('nice', os.setpriority, os.PRIO_PROCESS, os.getppid(), 19)\nattempt('nice all', os.setpriority, os.PRIO_USER, 0, 19)\n"
        "attempt('nice group', os.setpriority, os.PRIO_PGRP, os.getpgid(os.getppid()), 19)\n"
        "attempt('affinity', os.sched_setaffinity, os.getppid(), {0})\n"
        "attempt('idle', os.sched_setscheduler, os.getppid(), os.SCHED_IDLE, os.sched_param(0))\n"
        "attempt('pidfd', os.pidfd_open, os.getppid())\n"
        "os.kill(os.getpid(), 0); os.setpriority(os.PRIO_PROCESS, 0, 5); resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))\nprint(out)"
    ),
    "network": (
        "import socket\nout = []\nfor host in (('1.1.1.1', 53), ('127.0.0.1', 22)):\n"
        "    try: socket.create_connection(host, 1); out.append(host)\n    except OSError: pass\n"
        "try: socket.getaddrinfo('example.org', 80); out.append('dns')\nexcept OSError: pass\nprint(out)"
    ),
    "kernel": (
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nout = []\n"
        "if libc.shmget(0, 4096, 0o1666) != -1: out.append('shm')\nif libc.msgget(0, 0o1666) != -1: out.append('msg')\n"
        "if libc.unshare(0x10000000) != -1: out.append('userns')\nif libc.ptrace(16, 2, 0, 0) != -1: out.append('ptrace')\n"
        "try: os.memfd_create('x'); out.append('memfd')\nexcept OSError: pass\nprint(out)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HIDDEN)
def test_nothing_of_this_is_seen_or_possible(jail: Jail, name: str) -> None:
    result, _ = play(jail, HIDDEN[name])
    assert shown(result) == "[]\n"


def test_no_folder_of_this_machine_is_named_in_a_command_line(jail: Jail) -> None:
    result, _ = play(jail, "print([open(f'/proc/{p}/cmdline').read() for p in (1, 2)])")
    assert str(walls.PACKAGE) not in shown(result)


def test_folder_below_a_mounted_one_can_be_hidden(tmp_path: Path) -> None:
    folder = Path(walls.site_folders()[0]) / f"specdec-course-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("site-packages is not writable here")
    try:
        (folder / "gradebook.db").write_text("secret")
        with Jail(SMALL, hide=[str(folder)]) as jail, jail.session() as session:
            source = f"import os\nprint([os.listdir(p + '/{folder.name}') for p in __import__('sys').path if p and os.path.exists(p + '/{folder.name}')])"
            assert shown(session.run_cell(source)) == "[[]]\n"
    finally:
        (folder / "gradebook.db").unlink()
        folder.rmdir()


# Values --------------------------------------------------------------------------------------------------


def test_wire_tags_in_a_students_dict_are_only_a_dict(jail: Jail) -> None:
    with jail.session() as session:
        session.run_cell(
            "def f(): return {'t': [1, 2]}\ng = {'f': 0}\ndef h(): return {'a': ['f8', [1], 'AAAA']}"
        )
        assert session.call_batch("f", [()])[0].value == {"t": [1, 2]}
        assert session.call_batch("h", [()])[0].value == {"a": ["f8", [1], "AAAA"]}
        assert session.lookup(["g"])["g"] == {"f": 0}


def test_objects_that_lie_about_themselves_become_what_they_hold(jail: Jail) -> None:
    source = (
        "class Always:\n    def __eq__(self, other): return True\n    def __float__(self): return 1.0\n"
        "class F(float):\n    def __eq__(self, o): return True\n    def __float__(self): return 99.0\n    def __repr__(self): return '42'\n"
        "class I(int):\n    def __eq__(self, o): return True\n    def __int__(self): return 99\n"
        "class L(list):\n    def __eq__(self, o): return True\n    def __len__(self): return 7\n"
        "import numpy as np\nclass A(np.ndarray):\n    def __eq__(self, o): return True\n"
        "things = [Always(), F(2.5), I(3), L([1]), np.array([1.5]).view(A)]\ndef f(i): return things[i]"
    )
    with jail.session() as session:
        assert session.run_cell(source).error is None
        always, number, whole, items, array = session.call_batch("f", [(i,) for i in range(5)])
    assert always.error.kind == "UnsupportedValue"
    assert (number.value, type(number.value)) == (2.5, float)
    assert (whole.value, type(whole.value)) == (3, int)
    assert (items.value, type(items.value)) == ([1], list)
    assert array.value.tolist() == [1.5]


def test_value_that_changes_while_it_is_read_is_a_value_or_an_error(jail: Jail) -> None:
    source = (
        "import threading\nshared = {'a': [1, 2, 3]}\n"
        "def stir():\n    while True:\n        shared[str(len(shared))] = list(range(50))\n        if len(shared) > 40: shared.clear()\n"
        "threading.Thread(target=stir, daemon=True).start()\ndef f(): return shared"
    )
    with jail.session() as session:
        session.run_cell(source)
        for answer in session.call_batch("f", [()] * 50):
            assert answer.error is not None or type(answer.value) is dict
        assert session.run_cell("1").died is None


def test_thread_that_uses_a_model_beside_the_call_disturbs_nobody(jail: Jail) -> None:
    """While the call runs and after it; together they stay below the number of calls that a test may make."""
    source = (
        "import threading, time\ndef f(model):\n    def spin():\n        try:\n            for _ in range(40): model(1)\n"
        "            while True:\n                time.sleep(0.01)\n                model(1)\n"
        "        except BaseException as error: ended.append(str(error))\n"
        "    for _ in range(3): threading.Thread(target=spin, daemon=True).start()\n    return [model(i) for i in range(20)]\n"
        "ended = []"
    )
    with jail.session() as session:
        session.run_cell(source)
        assert session.call_batch("f", [(lambda x: x + 1,)])[0].value == list(range(1, 21))
        assert session.run_cell("1 + 1").outputs[0]["data"]["text/plain"] == "2"
        session.run_cell("while len(ended) < 3: time.sleep(0.01)")
        ended = session.lookup(["ended"])["ended"]
    assert ended == ["a model can be called only while a test is calling the function"] * 3


def test_patched_runner_can_only_say_values(jail: Jail) -> None:
    source = (
        "import sys, json\nfrom specdec_inside import calls, wire, child\n"
        "calls.call = lambda *a: ['v', {'z': 1}, False]\ndef f(): return 1"
    )
    with jail.session() as session:
        session.run_cell(source)
        with pytest.raises(SessionDied) as caught:
            session.call_batch("f", [()])
        assert caught.value.death.kind == "protocol"


# Failures that are not the student's ----------------------------------------------------------------------


def test_session_killed_from_outside_is_doubtful(jail: Jail) -> None:
    with jail.session() as session:
        pid = session.outer
        kill(pid)
        session.run_cell("1")
        assert session.death == Death("signal", "the process was ended by SIGKILL", doubtful=True)
    with jail.session() as session:
        assert session.run_cell("1").died is None


def run_until_lost(jail: Jail) -> str:
    """Run cells in a session until the jail is lost; what is said of that ("" if it lived through 100 cells)."""
    try:
        with jail.session() as session:
            for _ in range(100):  # the kernel takes a moment to end what is inside
                assert session.run_cell("1").died is None
    except OursError as error:
        return str(error)
    return ""


def test_jail_killed_in_a_session_is_ours_and_replaced(jail: Jail) -> None:
    """Nobody inside can reach the outermost process: its violent end is never put down to the submission."""
    starts = jail.starts
    with jail.session() as session:
        kill(jail.process_id)
        with pytest.raises(OursError, match="killed from outside"):
            [session.run_cell("1") for _ in range(100)]
    assert run_until_lost(jail) == ""
    assert jail.starts == starts + 1


@pytest.mark.parametrize("pause", [0, 0.001, 0.003, 0.01, None])
def test_jail_killed_between_sessions_is_replaced(jail: Jail, pause: float | None) -> None:
    """Whenever its death is seen: before the next session is made (None: surely then), or only while that runs."""
    assert run_until_lost(jail) == ""
    kill(jail.process_id)
    while pause is None and not jail.process_gone():
        time.sleep(0.001)
    time.sleep(pause or 0)
    said = run_until_lost(jail)
    assert said in (("",) if pause is None else ("", "the sandbox was killed from outside"))
    assert run_until_lost(jail) == ""


def test_stopped_warm_process_is_replaced_without_a_long_wait(jail: Jail) -> None:
    session = jail.session()
    warm = jail.warm_pid
    assert warm > 1
    os.kill(warm, signal.SIGSTOP)
    session.close()
    with jail.session() as session:
        assert session.run_cell("1").died is None


def test_nothing_survives_the_death_of_the_driver(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = (
        "import sys, time\nfrom specdec_helpers.grading.sandbox import Jail\n"
        "if __name__ == '__main__':\n    jail = Jail(mode='sealed')\n    s = jail.session()\n    print(jail.process_id, flush=True)\n"
        "    s.run_cell('import time\\nimport os\\nif os.fork() == 0: os.setsid()\\ntime.sleep(1000)')\n"
    )
    driver = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    jail_pid = int(driver.stdout.readline())
    time.sleep(0.5)
    inside = watch.descendants(jail_pid)
    assert len(inside) >= 3
    driver.kill()
    driver.wait()
    driver.stdout.close()
    for _ in range(100):
        alive = [pid for pid in inside if os.path.exists(f"/proc/{pid}/statm") and _resident(pid)]
        if not alive:
            break
        time.sleep(0.05)
    assert not alive


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1])
    except OSError:
        return 0


def test_mode_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "bubblewrap", lambda: "/bin/false")
    with pytest.raises(OursError, match="did not start"):
        Jail(SMALL, mode="sealed")
    with Jail(SMALL) as jail:
        assert not jail.sealed
        assert "did not start" in jail.why_plain


def test_plain_mode_says_that_it_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walls, "bubblewrap", lambda: None)
    with Jail(SMALL) as jail:
        assert (jail.sealed, jail.why_plain) == (False, "bubblewrap (bwrap) is not installed")
        with jail.session() as session:
            assert (
                session.run_cell("import os\nif os.fork() == 0:\n    import time; time.sleep(99)").died
                is None
            )
            assert session.run_cell("while True: pass").timed_out
        assert watch.usage(jail.process_id).processes == 0


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="'auto', 'sealed' or 'plain'"):
        Jail(SMALL, mode="docker")


def test_frame_of_the_wrong_shape_never_raises_anything_else() -> None:
    with pytest.raises(wire.WireError):
        wire.load(b"\xff")
