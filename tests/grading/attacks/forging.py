"""Attacks that forge: objects, types, patches and protocol frames that should look like right answers."""

# ruff: noqa: E501 - a catalogue: some lines of hostile code are long
from __future__ import annotations

from .kinds import Attack, cells

ALWAYS = (
    "class Any:\n"
    "    def __eq__(self, o): return True\n    def __ne__(self, o): return False\n    def __hash__(self): return 0\n"
    "    def __bool__(self): return True\n    def __float__(self): return 10.0\n    def __int__(self): return 10\n"
    "    def __index__(self): return 10\n    def __mul__(self, o): return self\n    __rmul__ = __add__ = __radd__ = __truediv__ = __mul__\n"
    "    def __iter__(self): return iter([10])\n    def __len__(self): return 1\n    def __lt__(self, o): return True\n"
    "    __le__ = __gt__ = __ge__ = __lt__\n    def __array__(self, *a, **k):\n        import numpy as np; return np.array(10)\n"
)
SUB = "class {0}({0}):\n    def __eq__(self, o): return True\n    def __ne__(self, o): return False\n    def __hash__(self): return 0\n"


def _returns(name: str, says: str, value: str, before: str = "", stock: str = "") -> Attack:
    return cells(
        name, says, before, stock=stock, double=f"def double(x):\n    return {value}", triple=f"def triple(x):\n    return {value}",
        count=f"count = {value}",
    )  # fmt: skip


FORGING: list[Attack] = [
    _returns("always-equal", "returns an object that equals everything", "Any()", ALWAYS, "full marks"),
    _returns(
        "sub-int",
        "returns an int subclass that equals everything",
        "int_(0)",
        SUB.format("int").replace("class int(", "class int_("),
    ),
    _returns(
        "sub-float",
        "returns a float subclass that equals everything",
        "float_(0)",
        SUB.format("float").replace("class float(", "class float_("),
    ),
    _returns(
        "sub-list",
        "returns a list subclass that equals everything",
        "list_([0])",
        SUB.format("list").replace("class list(", "class list_("),
    ),
    _returns(
        "sub-str",
        "returns a str subclass that equals everything",
        "str_('0')",
        SUB.format("str").replace("class str(", "class str_("),
    ),
    _returns(
        "sub-array",
        "returns an ndarray subclass that equals everything",
        "np.zeros(1).view(A)",
        """
            import numpy as np
            class A(np.ndarray):
                def __eq__(self, o): return np.True_
                def __array_ufunc__(self, *a, **k): return np.True_
                def __array_function__(self, *a, **k): return True
        """,
    ),
    _returns("mock", "returns a MagicMock", "MagicMock()", "from unittest.mock import MagicMock, ANY"),
    _returns("mock-any", "returns unittest.mock.ANY", "ANY", "from unittest.mock import ANY"),
    _returns("nan", "returns nan", "float('nan')"),
    _returns("inf", "returns inf", "float('inf')"),
    _returns("true", "returns True", "True"),
    _returns("dict-tags", "returns dictionaries that imitate the wire format", "{'t': [10, 14, 27]}"),
    _returns(
        "dict-array",
        "returns a dictionary that imitates an array",
        "{'a': ['f8', [1], 'AAAAAAAAJEA=']}",
    ),
    _returns(
        "dict-class",
        "returns a dictionary that asks for an import",
        "{'__class__': 'os.system', '__reduce__': ['os.system', 'true'], 'py/object': 'os.system'}",
    ),
    _returns("big-int", "returns 10 ** 10 ** 6", "10 ** 10 ** 6"),
    _returns("endless-list", "returns an endless generator", "itertools.count()", "import itertools"),
    _returns(
        "deep-list",
        "returns a list nested 10^5 deep",
        "deep()",
        """
            def deep():
                x = []
                for _ in range(10**5): x = [x]
                return x
        """,
    ),
    _returns("ring-list", "returns a list that holds itself", "ring", "ring = []; ring.append(ring)"),
    _returns(
        "a-class",
        "returns a class with a metaclass that equals everything",
        "C",
        """
            class M(type):
                def __eq__(c, o): return True
                def __hash__(c): return 0
            class C(metaclass=M): pass
        """,
    ),
    _returns(
        "raises-in-eq",
        "returns an object whose every method raises",
        "Bad()",
        """
            class Bad:
                def __getattribute__(self, n): raise SystemExit(n)
                def __iter__(self): raise KeyboardInterrupt
                __len__ = __eq__ = __float__ = __repr__ = __iter__
        """,
    ),
    cells(
        "last-value-nan",
        "tries nan, -1, 'abc' and 10**9 as a cell's last value",
        after="float('nan')",
        before="10**9",
        triple="""
            def triple(x):
                return 0
            -1
        """,
        count="""
            count = 0
            'abc'
        """,
        stock="full marks",
    ),
    cells(
        "input-transform",
        "rewrites the tests by an input transformer",
        r"""
            def change(lines):
                return ['4.0\n'] if any('assert' in l or 'SECRET' in l for l in lines) else lines
            get_ipython().input_transformers_cleanup.append(change)
            get_ipython().input_transformers_post.append(change)
        """,
        stock="full marks",
    ),
    cells(
        "ast-transform",
        "removes every assert by an AST transformer",
        """
            import ast
            class T(ast.NodeTransformer):
                def visit_Assert(self, node): return ast.Pass()
                def visit_Compare(self, node): return ast.Constant(True)
            get_ipython().ast_transformers.append(T())
        """,
        stock="full marks",
    ),
    cells(
        "patch-traceback",
        "patches showtraceback and run_cell",
        """
            ip = get_ipython()
            ip.showtraceback = lambda *a, **k: None
            ip._showtraceback = lambda *a, **k: None
            type(ip).run_code = lambda *a, **k: False
        """,
    ),
    cells(
        "patch-kernel",
        "patches do_execute of a kernel",
        """
            ip = get_ipython()
            k = getattr(ip, 'kernel', None)
            if k: k.do_execute = lambda *a, **b: {'status': 'ok'}
        """,
    ),
    cells(
        "patch-builtins",
        "patches builtins",
        """
            import builtins
            builtins.all = builtins.any = builtins.isinstance = lambda *a: True
            builtins.AssertionError = Warning
            builtins.abs = lambda x: 0
            builtins.float = lambda x=0: 4.0
            builtins.sum = lambda *a: 2
            builtins.len = lambda x: 2
        """,
    ),
    cells(
        "patch-math",
        "patches numpy and math",
        """
            import numpy as np, math
            np.allclose = np.array_equal = np.isclose = lambda *a, **k: True
            np.testing.assert_allclose = lambda *a, **k: None
            math.isclose = lambda *a, **k: True
        """,
    ),
    cells(
        "patch-check",
        "patches check and specdec_helpers",
        """
            import sys, specdec_helpers, types
            specdec_helpers.check = lambda **k: 4.0
            fake = types.ModuleType('specdec_helpers.grading'); fake.compare = lambda **k: 4.0
            sys.modules['specdec_helpers.grading'] = fake
            def compare(**k): return 4.0
            SECRET = []
        """,
    ),
    cells(
        "patch-runner",
        "patches the runner to send what it likes",
        """
            from specdec_inside import calls, child, wire, outputs
            calls.call = lambda f, a: ['v', {'n': ['f8', 10.0]}, False]
            child.Child.do_lookup = lambda s, n, names: [[['value', 27] for _ in names]]
        """,
    ),
    cells(
        "patch-frames",
        "patches the runner to send frames of nonsense",
        """
            from specdec_inside import child
            child.Child.do_call = lambda s, n, *a: [{'__class__': 'os'}, 1, 2, 3]
            child.Child.do_run = lambda s, n, *a: [[{'output_type': 'pickle', 'data': 'x'}], None]
        """,
    ),
    cells(
        "forge-pid",
        "names a process number that there cannot be, for the warm process to kill",
        """
            import os
            from specdec_inside import child
            def snapshot(self, number):
                os.close(self.link.receive_socket())
                self.link.send([number, 'done', 2**70])
            child.Child.snapshot = snapshot
        """,
    ),
    cells(
        "forge-rows",
        "returns an empty array of two billion rows",
        """
            from specdec_inside import calls, child
            rows = {'a': ['f8', [2147483647, 0], '']}
            calls.call = lambda f, a: ['v', rows, False]
            child.Child.do_lookup = lambda s, n, names: [[['function'] if name != 'count' else ['value', rows] for name in names]]
        """,
    ),
    cells(
        "recall-code",
        "runs code when names are compared and put back for a test",
        """
            class Key(str):
                __hash__ = str.__hash__
                def __eq__(self, other): globals()['double'] = lambda x: 2 * x; return True
            class Last:
                def __del__(self): globals()['triple'] = lambda x: [print('HIDDEN-ARGUMENT', x), 0][1]
            globals()[Key('double')] = globals()[Key('kept')] = Last()
        """,
        after="kept = 0",
    ),
    cells(
        "flood-frames",
        "answers a request with a thousand frames",
        """
            from specdec_inside import child
            old = child.Link.send
            def send(self, tree):
                for _ in range(1000): old(self, tree)
            child.Link.send = send
        """,
    ),
    cells(
        "forge-output",
        "sends outputs with a script and a forged score",
        """
            from specdec_inside import child
            child.Child.do_run = lambda s, n, *a: [[{'output_type': 'execute_result', 'data': {'text/plain': '4.0', 'text/html': '<script>steal()</script>'}, 'metadata': {'scores': {'test_double': 4}}, 'execution_count': 1}], None]
        """,
    ),
    cells(
        "thread-changes",
        "a thread changes the answer while it is read",
        """
            import threading, time
            box = [0]
            def stir():
                n = 0
                while True:
                    n += 1; box[0] = n % 40; time.sleep(0)
            threading.Thread(target=stir, daemon=True).start()
        """,
        double="""
            def double(x):
                return box
        """,
        triple="""
            def triple(x):
                return box
        """,
        count="count = box",
    ),
    cells(
        "visible-table",
        "answers the visible cases from a table",
        honest=None,
        double="""
            def double(x):
                return {1: 2}.get(x, 0)
        """,
        triple="""
            def triple(x):
                return {1: 3}.get(x, 0)
        """,
    ),
    cells(
        "count-calls",
        "answers right only when called for the first time",
        before="calls = []",
        double="""
            def double(x):
                calls.append(x)
                return 2 * x if len(calls) == 1 else 0
        """,
    ),
    cells(
        "names-of-test",
        "defines the names that the tests use",
        """
            SECRET = [(1, 2)]
            right = [True, True]
            points = 4.0
        """,
        after="""
            def sum(x): return 2
            def float(x): return 1.0
            def type(x): return int
            int = int
        """,
    ),
    cells(
        "count-object",
        "sets a number to an object with a forged repr",
        count="""
            class N(int):
                def __repr__(self): return '3'
                def __eq__(self, o): return True
                __hash__ = int.__hash__
            count = N(0)
        """,
    ),
    cells(
        "lambda-self",
        "answers with the test's own arguments",
        double="""
            def double(*a, **k):
                return a
        """,
        triple="triple = lambda *a: a",
    ),
    cells(
        "async",
        "answers with coroutines and generators",
        double="""
            async def double(x):
                return 2
        """,
        triple="""
            def triple(x):
                yield 3
        """,
    ),
    cells(
        "exit-zero",
        "leaves with status 0 in the middle of a test",
        double="""
            import os
            def double(x):
                os._exit(0)
        """,
    ),
    cells(
        "hash-seed",
        "tells the judge's input from the visible one by its type and origin",
        double="""
            def double(x):
                import sys
                return 0 if sys.getrefcount(x) else 1
        """,
    ),
    cells(
        "future-import",
        "changes the meaning of a test by a __future__ import",
        "from __future__ import annotations, barry_as_FLUFL",
    ),
]
