"""Attacks that read: the source, the gradebook, the reference, the hidden inputs, the machine, the network."""

# ruff: noqa: E501 - a catalogue: some lines of hostile code are long
from __future__ import annotations

from textwrap import dedent

from .kinds import Attack, cells

# Prints what it finds, so that a leak would be in the student's own feedback.
LOOK = (
    "import glob, os\n"
    "def show(path):\n    try: print(path, open(path, errors='replace').read()[:5000])\n    except OSError as e: print(type(e).__name__)\n"
)
KEEP = "def double(x):\n    {}\n    return 0"

READING: list[Attack] = [
    cells(
        "read-source",
        "opens ../../../source",
        LOOK + dedent("for p in glob.glob('../../../source/**', recursive=True): show(p)"),
        stock="full marks",
    ),
    cells(
        "read-course",
        "walks the whole disk for the course",
        LOOK + dedent("""
            for d, _, fs in os.walk('/'):
                if d.startswith(('/proc', '/sys', '/usr', '/python')): continue
                for f in fs: show(os.path.join(d, f))
        """),
    ),
    cells(
        "read-proc",
        "reads what /proc tells of other processes",
        LOOK + dedent("for p in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline') + glob.glob('/proc/[0-9]*/root/*') + glob.glob('/proc/[0-9]*/cwd/*') + glob.glob('/proc/[0-9]*/fd/*'): show(p)"),
    ),
    cells(
        "read-gradebook",
        "opens the gradebook by sqlite3",
        """
            import sqlite3
            for p in ('gradebook.db', '../../../gradebook.db', '../../gradebook.db'):
                try: print(sqlite3.connect(p).execute('select * from student').fetchall())
                except Exception as e: print(e)
        """,
        stock="full marks",
    ),
    cells(
        "write-gradebook",
        "UPDATE grade SET manual_score",
        """
            import sqlite3
            for p in ('../../../gradebook.db', '../gradebook.db', '/gradebook.db'):
                try:
                    c = sqlite3.connect(p); c.execute('UPDATE grade SET manual_score = 100, needs_manual_grade = 0'); c.commit()
                except Exception as e: print(e)
        """,
        stock="full marks",
    ),
    cells(
        "import-reference",
        "imports the reference",
        """
            try:
                from specdec_helpers.reference import lesson1
                print(lesson1.ANSWERS)
            except Exception as e: print(repr(e))
            import sys
            print([m for m in sys.modules if 'reference' in m or 'trials' in m])
        """,
    ),
    cells(
        "import-explorer",
        "imports the explorers' mathematics",
        """
            try:
                from specdec_helpers.explorers.lesson1 import *
                from specdec_helpers.explorers import quantities
                print(dir(quantities))
            except Exception as e: print(repr(e))
        """,
    ),
    cells(
        "import-trials",
        "imports the hidden inputs",
        """
            import importlib
            for m in ('trials', 'trials.lesson1', 'grading', 'grading.hidden', 'grading.judge', 'authoring'):
                try: print(importlib.import_module('specdec_helpers.' + m))
                except Exception as e: print(repr(e))
        """,
    ),
    cells(
        "pip-editable",
        "follows the editable install back to the repository",
        LOOK + dedent("""
            import sys
            for d in sys.path:
                for p in glob.glob(d + '/*specdec*') + glob.glob(d + '/*specdec*/*'): show(p)
        """),
    ),
    cells(
        "input-history",
        "reads input_hist_raw",
        after="print(get_ipython().history_manager.input_hist_raw, In)",
        stock="full marks",
    ),
    cells(
        "pre-run-hook",
        "registers pre_run_cell to read the tests",
        "get_ipython().events.register('pre_run_cell', lambda info: print(info.raw_cell))",
        stock="full marks",
    ),
    cells(
        "frames",
        "walks the frames, gc and linecache while a test calls",
        after="print(seen)",
        before="seen = []",
        double="""
            import gc, sys, linecache
            def double(x):
                f = sys._getframe()
                while f:
                    seen.append(repr(f.f_locals)[:2000]); f = f.f_back
                seen.append([repr(o)[:500] for o in gc.get_objects() if isinstance(o, (list, tuple)) and 0 < len(o) < 9][:2000])
                return 0
        """,
    ),
    cells(
        "tell-by-error",
        "raises the hidden arguments as an exception text",
        double="""
            def double(x):
                raise ValueError(f'HIDDEN-ARGUMENT {x}')
        """,
    ),
    cells(
        "tell-by-kind",
        "raises a class named after the hidden argument",
        double="""
            def double(x):
                raise type(f'HIDDEN_ARGUMENT_{x}', (Exception,), {})()
        """,
    ),
    cells(
        "tell-by-value",
        "returns the hidden argument as a text",
        double="""
            def double(x):
                return f'HIDDEN-ARGUMENT {x}'
        """,
    ),
    cells(
        "tell-by-print",
        "prints the hidden argument",
        double="""
            import sys, os
            def double(x):
                print('HIDDEN-ARGUMENT', x); sys.__stdout__ and print('HIDDEN-ARGUMENT', x, file=sys.__stdout__); os.write(1, b'HIDDEN-ARGUMENT'); display(f'HIDDEN-ARGUMENT {x}')
                return 0
        """,
    ),
    cells(
        "tell-later",
        "keeps the hidden arguments and prints them in a later cell",
        before="kept = []",
        double="""
            def double(x):
                kept.append(f'HIDDEN-ARGUMENT {x}')
                return 0
        """,
        after="print(kept)",
    ),
    cells(
        "tell-by-file",
        "writes the hidden arguments to a file that a later cell prints",
        double="""
            import os
            def double(x):
                open(os.path.expanduser('~/kept'), 'a').write(f'HIDDEN-ARGUMENT {x}')
                open('/tmp/kept', 'a').write(f'HIDDEN-ARGUMENT {x}')
                return 0
        """,
        after="""
            import glob
            print([open(p).read() for p in glob.glob('/tmp/*') + glob.glob(os.path.expanduser('~/*'))])
        """,
    ),
    cells(
        "tell-by-thread",
        "a thread of the notebook waits for the arguments on a pipe and displays them",
        before="""
            import os, threading
            r, w = os.pipe()
            def show():
                while True: print(os.read(r, 1000))
            threading.Thread(target=show, daemon=True).start()
        """,
        double="""
            def double(x):
                os.write(w, f'HIDDEN-ARGUMENT {x}'.encode())
                return 0
        """,
        after="""
            import time
            time.sleep(.3)
        """,
    ),
    cells(
        "tell-next",
        "leaves the hidden arguments for the next student (shared memory, /dev/shm, /tmp, a port)",
        double="""
            import ctypes, os
            def double(x):
                for p in ('/dev/shm/k', '/tmp/k', '/var/tmp/k', '/scratch/k'):
                    try: open(p, 'a').write(f'HIDDEN-ARGUMENT {x}')
                    except OSError: pass
                ctypes.CDLL(None).shmget(4242, 4096, 0o1666)
                return 0
        """,
    ),
    cells(
        "take-last",
        "looks for what the student before left",
        LOOK + dedent("""
            for p in glob.glob('/dev/shm/*') + glob.glob('/tmp/*') + glob.glob('/scratch/*') + glob.glob('/scratch/*/*'): show(p)
            import ctypes
            print('segment', ctypes.CDLL(None).shmget(4242, 4096, 0))
        """),
    ),
    cells(
        "environment",
        "prints the environment",
        """
            import os
            print(dict(os.environ))
        """,
    ),
    cells(
        "network",
        "calls home",
        """
            import socket, urllib.request
            for f in (lambda: socket.create_connection(('1.1.1.1', 443), 1), lambda: socket.gethostbyname('example.org'), lambda: urllib.request.urlopen('http://127.0.0.1:8888', timeout=1)):
                try: print('OUT', f())
                except Exception as e: print(type(e).__name__)
        """,
    ),
    cells(
        "open-fds",
        "reads from every open descriptor",
        """
            import os
            for fd in range(3, 64):
                try: os.set_blocking(fd, False); print(fd, os.read(fd, 100))
                except OSError: pass
        """,
    ),
    cells(
        "models-of-test",
        "asks a model's stub for its code and closure",
        double="""
            def double(x):
                import sys
                return str(getattr(x, '__closure__', None))
        """,
    ),
    cells(
        "help-magics",
        "tries %run, %load, !cat and ?? on the course",
        LOOK + dedent("""
            !cat ../../../source/*/*.ipynb 2>&1 | head -50
            %pwd
            %env
        """),
    ),
    cells(
        "figure-metadata",
        "hides what it read in a figure's metadata and in HTML",
        """
            import matplotlib.pyplot as plt
            from IPython.display import HTML, SVG, Javascript
            plt.plot([1]); plt.title('x')
            display(HTML('<script>steal()</script><img src=x onerror=steal()>'))
            display(Javascript('steal()'))
            display(SVG('<svg xmlns="http://www.w3.org/2000/svg" onload="steal()"/>'))
        """,
    ),
    cells(
        "markdown-script",
        "puts a script into markdown",
        edit=lambda m: m['cells'].append({'cell_type': 'markdown', 'id': 'added-md', 'metadata': {}, 'source': '<script>steal()</script> [x](javascript:steal())'}),
    ),
]
