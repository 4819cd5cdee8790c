"""The names a test cell sees: ours as they are, the student's as proxies or values that came over the wire."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from typing import Any

from ..checks.ask import Answer, Case, Raised, Remote
from .master import Master, loaded_names, without_magics
from .sandbox import MISSING, Death, Function, Session, SessionDied, Unsupported


class Stopped(BaseException):
    """The student's process died while a test was asking it something."""

    def __init__(self, death: Death) -> None:
        super().__init__(death.sentence)
        self.death = death


class Proxy(Remote):
    """A function that lives in the student's process. Calling it sends the arguments there and brings a value back."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.__name__ = self.__qualname__ = name

    def ask_batch(self, cases: Sequence[Case]) -> list[Answer]:
        """Call the function once for every argument tuple, in one round trip."""
        travelling = [tuple(_travelling(argument) for argument in case) for case in cases]
        try:
            return self._session.call_batch(self.__name__, travelling)
        except SessionDied as error:
            raise Stopped(error.death) from None

    def __call__(self, *arguments: Any) -> Any:
        """Call it once; an exception that it raises is raised here, as the built-in kind it was."""
        answer = self.ask_batch([arguments])[0]
        if answer.error is not None:
            raise student_error(answer.error)
        return answer.value

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"


def _travelling(argument: Any) -> Any:
    return Function(argument.__name__) if isinstance(argument, Proxy) else argument


class Unusable:
    """A value of the student's that cannot travel (a set, a module, …); it equals nothing and says what it is."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __repr__(self) -> str:
        return self._reason


def student_error(raised: Raised) -> Exception:
    """An exception like the one a student's function raised, marked as the student's."""
    base: type[Exception] = Exception
    for kind in raised.kinds:
        found = getattr(builtins, kind, None)
        if isinstance(found, type) and issubclass(found, Exception):
            base = found
            break
    marked = type(
        raised.kind if raised.kind.isidentifier() else base.__name__, (base,), {"from_student": True}
    )
    try:
        error = marked(raised.message)
    except Exception:  # a built-in with a signature of its own, like UnicodeDecodeError
        error = type(base.__name__, (Exception,), {"from_student": True})(raised.message)
    assert isinstance(error, Exception)
    return error


class Scope:
    """The names that a lesson's own text offers to its tests: imports, and functions defined in read-only cells."""

    def __init__(self, master: Master) -> None:
        self._sources: dict[str, ast.stmt] = {}
        self._values: dict[str, Any] = {}
        students = {name for cell in master.solutions for name in cell.defines}
        for cell in master.cells:
            if cell.role != "test" and cell.kind == "code":
                self._note(ast.parse(without_magics(cell.source)), cell.role == "fixed")
        self._sources = {name: node for name, node in self._sources.items() if name not in students}

    def _note(self, tree: ast.Module, fixed: bool) -> None:
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    self._sources[(alias.asname or alias.name).split(".")[0]] = node
            elif fixed and isinstance(node, ast.FunctionDef | ast.ClassDef):
                self._sources[node.name] = node

    def __contains__(self, name: str) -> bool:
        return name in self._sources

    def value(self, name: str) -> Any:
        """The value of one of our names; imported or defined the first time it is asked for."""
        if name not in self._values:
            node = self._sources[name]
            space: dict[str, Any] = {"__name__": "__main__"}
            if not isinstance(node, ast.Import | ast.ImportFrom):
                for needed in loaded_names(node):
                    if needed in self._sources and needed != name:
                        space[needed] = self.value(needed)
            exec(compile(ast.Module([node], []), "<lesson>", "exec", dont_inherit=True), space)
            self._values.update({key: item for key, item in space.items() if not key.startswith("__")})
        return self._values[name]

    def fill(self, names: Sequence[str], session: Session) -> tuple[dict[str, Any], list[str], list[str]]:
        """The values of `names` for one test; those that exist nowhere; those that are functions of the student's.

        Raises SessionDied.
        """
        space = {name: self.value(name) for name in names if name in self}
        asked = [name for name in names if name not in space and not hasattr(builtins, name)]
        missing, functions = [], []
        for name, value in session.lookup(asked).items() if asked else ():
            if value is MISSING:
                missing.append(name)
            elif isinstance(value, Function):
                functions.append(name)
            elif isinstance(value, Unsupported):
                space[name] = Unusable(value.reason)
            else:
                space[name] = value
        return space, missing, functions
