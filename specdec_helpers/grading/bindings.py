"""Tell cells that only bind names from those that may change what the names refer to.

After the first kind, what a test saw before is still there once its names are put back (`Session.mark`); before the
second, the judge takes a copy of the whole process, which costs as much as everything else in a small cell.
"""

from __future__ import annotations

import ast
import sys
from functools import lru_cache

# Imported modules of these run no code of the student's.
_LOADED = frozenset({"numpy", "matplotlib", "specdec_helpers", "ipywidgets", "IPython", "os", "collections"})
_MODULES = sys.stdlib_module_names | _LOADED
# Functions that read their arguments and do nothing else but print.
_READERS = frozenset(
    {
        "abs", "all", "any", "bool", "dict", "divmod", "enumerate", "float", "int", "isinstance", "len", "list", "max",
        "min", "pow", "print", "range", "repr", "reversed", "round", "sorted", "str", "sum", "tuple", "zip",
    }
)  # fmt: skip
_VALUES = (
    ast.Constant, ast.Name, ast.Load, ast.Store, ast.Tuple, ast.List, ast.Dict, ast.BinOp, ast.UnaryOp, ast.BoolOp,
    ast.Compare, ast.IfExp, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.ListComp, ast.GeneratorExp,
    ast.comprehension, ast.JoinedStr, ast.FormattedValue, ast.Subscript, ast.Slice, ast.keyword,
)  # fmt: skip


@lru_cache(maxsize=512)
def only_binds(source: str, ours: frozenset[str] | None = None) -> bool:
    """Whether running a cell can change nothing but what its top-level names refer to.

    Definitions, imports of well-known modules, plain values and `del` do; any call may change something, so that a
    student's cell has none. `ours` (see `harmless_imports`) is for a cell of the lesson's own text, which may call
    these, and built-in functions that only read.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    calls = frozenset() if ours is None else ours | _READERS
    return all(_binds(node, calls) for node in tree.body)


def harmless_imports(source: str) -> frozenset[str]:
    """The functions that a cell of the lesson's imports and that only read: the course's verbs, which do nothing while
    grading, and those of `math`."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return frozenset()
    imports = (
        n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module in ("math", "specdec_helpers")
    )
    return frozenset(alias.asname or alias.name for node in imports for alias in node.names)


def _binds(node: ast.stmt, calls: frozenset[str]) -> bool:
    if isinstance(node, ast.FunctionDef):
        arguments = node.args
        defaults = [*arguments.defaults, *(default for default in arguments.kw_defaults if default)]
        every = [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ]
        notes = [node.returns, *(one.annotation for one in every if one)]
        plain = all(isinstance(default, ast.Constant) for default in defaults)
        return not node.decorator_list and plain and all(_reads(note, frozenset()) for note in notes if note)
    if isinstance(node, ast.Import):
        return all(_known(alias.name) for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return not node.level and _known(node.module or "")
    if isinstance(node, ast.Assign):
        return all(map(_name, node.targets)) and _reads(node.value, calls)
    if isinstance(node, ast.AnnAssign):
        return (
            _name(node.target)
            and _reads(node.annotation, calls)
            and (not node.value or _reads(node.value, calls))
        )
    if isinstance(node, ast.Delete):
        return all(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.Assert):
        return _reads(node.test, calls) and (not node.msg or _reads(node.msg, calls))
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and _reads(node.value, calls))


def _known(module: str) -> bool:
    """Whether importing this changes nothing: a part of a package that is new becomes the package's attribute."""
    return module in _MODULES or (module.split(".")[0] in _LOADED)


def _name(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(_name, target.elts)))


def _reads(value: ast.expr, calls: frozenset[str]) -> bool:
    """Whether evaluating this only reads."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id in calls):
                return False
        elif not isinstance(node, _VALUES):
            return False
    return True
