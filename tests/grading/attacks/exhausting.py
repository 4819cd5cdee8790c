"""Attacks on resources and processes: loops, bombs, floods, and the killing of whatever can be killed."""

from __future__ import annotations

from .kinds import RIGHT, ZERO, Attack, cells, code

KEEP1 = {**ZERO, "test_double": 4.0}
BOTH = {**ZERO, "test_double": 4.0, "test_count": 1.0}

EXHAUSTING: list[Attack] = [
    cells("loop-cell", "loops in a cell", "while True: pass", stock="one timeout a cell"),
    cells(
        "loop-every",
        "loops in every function, one budget for all",
        double="""
            def double(x):
                while True: pass
        """,
        triple="""
            def triple(x):
                while True: pass
        """,
    ),
    cells(
        "deaf",
        "loops and ignores signals and exceptions",
        """
            import signal, time
            for s in range(1, 30):
                try: signal.signal(s, signal.SIG_IGN)
                except Exception: pass
            while True:
                try: time.sleep(9)
                except BaseException: pass
        """,
    ),
    cells("sleep", "sleeps for a day", "import time; time.sleep(86400)"),
    cells(
        "c-loop",
        "hangs in C with the GIL held",
        """
            import re
            re.match(r'(a*)*b', 'a' * 60)
        """,
    ),
    cells(
        "crash-2",
        "kills its process in test 2; test 1 keeps its points",
        double=RIGHT["double"],
        triple="""
            def triple(x):
                import os; os._exit(1)
        """,
        count=RIGHT["count"],
        honest=BOTH,
    ),
    cells(
        "crash-cell",
        "kills its process in a cell; the other tests keep their points",
        double=RIGHT["double"],
        count=RIGHT["count"],
        after="import os; os._exit(1)",
        honest=BOTH,
    ),
    cells(
        "segv-2",
        "crashes the interpreter in test 2",
        double=RIGHT["double"],
        triple="""
            def triple(x):
                import ctypes; ctypes.string_at(0)
        """,
        count=RIGHT["count"],
        honest=BOTH,
    ),
    cells(
        "sys-exit",
        "calls sys.exit(0) in a cell and in a function",
        """
            import sys
            sys.exit(0)
        """,
        double="""
            def double(x):
                raise SystemExit(0)
        """,
    ),
    cells(
        "interrupt",
        "raises KeyboardInterrupt in a function",
        double="""
            def double(x):
                raise KeyboardInterrupt
        """,
    ),
    cells(
        "atexit",
        "registers atexit and a destructor that fork",
        """
            import atexit, os
            atexit.register(os.fork)
            class D:
                def __del__(self): os.fork()
            d = D()
        """,
    ),
    cells(
        "kill-parent",
        "kills its parent",
        """
            import os
            os.kill(os.getppid(), 9)
        """,
    ),
    cells(
        "stop-parent",
        "stops its parent",
        """
            import os, signal
            os.kill(os.getppid(), signal.SIGSTOP)
        """,
    ),
    cells(
        "kill-group",
        "kills its process group",
        """
            import os
            os.killpg(0, 9)
        """,
    ),
    cells(
        "kill-all",
        "kills every process it may",
        """
            import os
            os.kill(-1, 9)
        """,
    ),
    cells(
        "starve-parent",
        "lowers the limits and the priority of its parent, for the next student",
        """
            import os, resource
            for f, a in (
                (resource.prlimit, (os.getppid(), resource.RLIMIT_NOFILE, (4, 4))),
                (resource.prlimit, (os.getppid(), resource.RLIMIT_AS, (1, 1))),
                (resource.prlimit, (os.getppid(), resource.RLIMIT_CPU, (1, 1))),
                (os.setpriority, (os.PRIO_USER, 0, 19)),
                (os.sched_setscheduler, (os.getppid(), os.SCHED_IDLE, os.sched_param(0))),
            ):
                try: f(*a)
                except OSError as e: print(e)
        """,
    ),
    cells(
        "kill-in-test",
        "kills its parent and everything in a test",
        double="""
            def double(x):
                import os
                os.kill(os.getppid(), 9); os.kill(-1, 9)
                return 0
        """,
    ),
    cells(
        "survivors",
        "forks twice, starts a session, and stays",
        """
            import os, time
            for _ in range(10):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        for fd in range(64):
                            try: os.close(fd)
                            except OSError: pass
                        time.sleep(3600)
                    os._exit(0)
        """,
    ),
    cells(
        "fork-bomb",
        "a fork bomb",
        """
            import os
            while True:
                try: os.fork()
                except OSError: pass
        """,
    ),
    cells("sh-bomb", "a shell fork bomb", "!:(){ :|:& };:"),
    cells(
        "thread-bomb",
        "starts threads without end",
        """
            import threading, time
            while True: threading.Thread(target=time.sleep, args=(999,)).start()
        """,
    ),
    cells(
        "memory-bomb",
        "fills the memory",
        """
            x = []
            while True: x.append(bytearray(50 << 20))
        """,
    ),
    cells(
        "memory-forks",
        "fills the memory in many processes",
        """
            import os, time
            for _ in range(20):
                if os.fork() == 0:
                    b = bytearray(200 << 20); time.sleep(99)
            time.sleep(99)
        """,
    ),
    cells(
        "memory-numpy",
        "asks NumPy for a terabyte",
        """
            import numpy as np
            np.ones(2**37)
        """,
    ),
    cells(
        "disk-fill",
        "fills the disk",
        """
            import os
            n = 0
            while True:
                open(f'f{n}', 'wb').write(bytes(1 << 20)); n += 1
        """,
    ),
    cells(
        "inodes",
        "makes files without end",
        """
            n = 0
            while True:
                open(str(n), 'w').close(); n += 1
        """,
    ),
    cells(
        "deep-dirs",
        "nests folders 5,000 deep",
        """
            import os
            for _ in range(5000): os.mkdir('d'); os.chdir('d')
        """,
    ),
    cells(
        "locked-dirs",
        "leaves folders that nobody may enter",
        """
            import os
            os.makedirs('a/b/c')
            for d in ('a/b/c', 'a/b', 'a', '.'): os.chmod(d, 0)
        """,
    ),
    cells(
        "descriptors",
        "opens 10^5 descriptors",
        """
            import os
            for _ in range(100_000): os.dup(0)
        """,
    ),
    cells("print-flood", "prints without end", "while True: print('x' * 1000)"),
    cells("line-3mb", "prints one line of 3 MB", "print('x' * 3_000_000)"),
    cells(
        "stderr-flood",
        "warns without end",
        """
            import sys, warnings
            while True: sys.stderr.write('y' * 10_000)
        """,
    ),
    cells(
        "figures-500",
        "opens 500 figures",
        """
            import matplotlib.pyplot as plt
            for _ in range(500): plt.figure()
        """,
    ),
    cells("displays", "displays 10^4 objects", "for i in range(10_000): display(i)"),
    cells(
        "raw-write",
        "writes to descriptors 1 and 2 without end",
        """
            import os
            for _ in range(20_000): os.write(1, b'z' * 1000); os.write(2, b'z' * 1000)
        """,
    ),
    cells("input", "asks for input", "name = input('who? ')"),
    cells(
        "channel-flood",
        "writes into its channel to the grader",
        r"""
            import os
            for fd in range(3, 64):
                try:
                    while True: os.write(fd, b'\0\0\0\5[1,2]')
                except OSError: pass
        """,
    ),
    cells(
        "channel-close",
        "closes its channel",
        """
            import os
            os.closerange(3, 256)
        """,
    ),
    cells(
        "channel-drip",
        "sends its answer a byte at a time",
        r"""
            import os, time
            for _ in range(10**6):
                for fd in range(3, 40):
                    try: os.write(fd, b'\0')
                    except OSError: pass
                time.sleep(.1)
        """,
    ),
    cells(
        "recursion",
        "recurses without end, with the limit lifted",
        """
            import sys
            sys.setrecursionlimit(10**9)
            def f(): f()
            f()
        """,
    ),
    cells(
        "compile-bomb",
        "compiles an endless expression",
        """
            eval('(' * 100 + ')' * 100)
            exec('x = ' + '-' * 10**6 + '1')
        """,
    ),
    cells("big-traceback", "raises an error with a text of 50 MB", "raise ValueError('E' * 50_000_000)"),
    cells(
        "zip-output",
        "displays a picture of 100 MB",
        """
            from IPython.display import Image
            display({'image/png': 'A' * 100_000_000, 'text/plain': 'x'}, raw=True)
        """,
    ),
    cells(
        "html-deep",
        "displays HTML nested 20,000 deep, in every way",
        """
            from IPython.display import HTML
            for tag in ('<div>', '<b>', '<p><b title=1>', '<table><tr><td>'): display(HTML(tag * 20_000))
        """,
    ),
    cells(
        "html-attributes",
        "displays a tag with 10,000 attributes",
        """
            from IPython.display import HTML
            display(HTML('<a ' + ' '.join(f'x{i}=1' for i in range(10_000)) + '>'))
        """,
    ),
    cells(
        "much-code",
        "hands in 12 MB of code, for whoever reads it",
        edit=lambda made: made["cells"].extend(
            code("x=1\n" * 99_999 + f"y{i}", f"added-code-{i}") for i in range(30)
        ),
    ),
    cells(
        "snail-link",
        "takes in large cells slower and slower, and is never ready for a copy",
        """
            import sys, time
            from specdec_inside import child
            link = child.Link
            receive = link.receive
            link.receive = lambda self: (time.sleep(1.5), receive(self))[1]
            link.receive_socket = lambda self: time.sleep(999)
        """,
        edit=lambda made: made["cells"].extend(
            code(f'x = "{"a" * 99_000}"', f"added-big-{i}") for i in range(5)
        ),
    ),
    cells(
        "slow-import",
        "imports torch-like weight: 5,000 modules made on the fly",
        """
            import types, sys
            for i in range(5000): sys.modules[f'm{i}'] = types.ModuleType(f'm{i}')
        """,
    ),
]
