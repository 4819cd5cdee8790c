"""The instructor's side of a lesson: its source notebook, read once, with everything grading asks of it."""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import Any

HIDDEN_BEGIN, HIDDEN_END = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"
HIDDEN_NOTE = "# (hidden tests run here in grading)"


class MasterError(ValueError):
    """The source notebook of a lesson cannot be graded against; the text says why and what to do."""


@dataclass(frozen=True)
class MasterCell:
    """One cell of the source notebook.

    `role` is "solution" (the student's to fill), "test" (carries points), "manual" (a solution that a person
    grades), "open" (a code cell without points that the student may edit), or "fixed" (everything else, always
    taken from here).
    """

    index: int
    kind: str
    source: str
    cell_id: str
    role: str
    grade_id: str = ""
    points: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)

    @cached_property
    def visible(self) -> str:
        """The source without its hidden tests: what the student was given, and may see again."""
        return strip_hidden(self.source)

    @cached_property
    def defines(self) -> frozenset[str]:
        """The names that the cell binds at its top level."""
        return defined_names(self.source) if self.kind == "code" else frozenset()

    @cached_property
    def has_hidden(self) -> bool:
        """Whether some of the source is kept from the student."""
        return self.visible != self.source

    @cached_property
    def compiled(self) -> TestCode:
        """A test cell's code, ready to run."""
        return TestCode.of(self.source, f"<{self.grade_id}>")


@dataclass(frozen=True)
class TestCode:
    """A compiled test cell: the statements before its hidden tests, those from there on, the expression whose value is
    the score (and whether it is among the hidden ones), the names it reads."""

    __test__ = False  # not a pytest class

    shown: CodeType
    hidden: CodeType
    last: CodeType | None
    last_is_hidden: bool
    loads: tuple[str, ...]

    @classmethod
    def of(cls, source: str, filename: str) -> TestCode:
        """Compile. Raises SyntaxError for a cell that is not Python."""
        tree = ast.parse(source, filename)
        loads, last, last_is_hidden = loaded_names(tree), None, False
        marked = [number for number, line in enumerate(source.split("\n"), 1) if HIDDEN_BEGIN in line]
        begin = marked[0] if marked else source.count("\n") + 2
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            node = tree.body.pop()
            last = compile(ast.Expression(node.value), filename, "eval", dont_inherit=True)  # type: ignore[attr-defined]
            last_is_hidden = node.lineno > begin
        parts = ([n for n in tree.body if n.lineno < begin], [n for n in tree.body if n.lineno > begin])
        shown, hidden = (compile(ast.Module(part, []), filename, "exec", dont_inherit=True) for part in parts)
        return cls(shown, hidden, last, last_is_hidden, loads)


class Master:
    """A source notebook. Raises MasterError where it is no nbgrader notebook."""

    def __init__(self, data: bytes, lesson: str, name: str) -> None:
        self.lesson, self.name = lesson, name
        self.sha = hashlib.sha256(data).hexdigest()
        self.data = data
        try:
            document = json.loads(data)
            self.metadata = {"kernelspec": document["metadata"]["kernelspec"]}
            self.cells = tuple(_master_cell(i, raw) for i, raw in enumerate(document["cells"]))
        except (ValueError, KeyError, TypeError) as error:
            raise MasterError(
                f"source/{lesson}/{name}.ipynb is not a complete notebook ({type(error).__name__}: {error}); "
                "run `make build`"
            ) from error
        self._check()

    @classmethod
    def load(cls, path: Path, lesson: str) -> Master:
        """Read a source notebook from disk."""
        return cls(path.read_bytes(), lesson, path.stem)

    @cached_property
    def tests(self) -> tuple[MasterCell, ...]:
        """The test cells in order."""
        return tuple(cell for cell in self.cells if cell.role == "test")

    @cached_property
    def solutions(self) -> tuple[MasterCell, ...]:
        """The cells that the student fills, in order."""
        return tuple(cell for cell in self.cells if cell.role in ("solution", "manual"))

    @cached_property
    def points(self) -> dict[str, float]:
        """Grade id -> points, of every cell that carries some."""
        return {cell.grade_id: cell.points for cell in self.cells if cell.role in ("test", "manual")}

    def _check(self) -> None:
        ids = [cell.grade_id for cell in self.cells if cell.grade_id]
        twice = sorted({name for name in ids if ids.count(name) > 1})
        if twice:
            raise MasterError(f"{self.name}: grade id {twice[0]!r} is used twice; every cell needs its own")
        for cell in self.tests:
            try:
                cell.compiled  # noqa: B018 - compiled here so that a broken test is found before the class is
            except SyntaxError as error:
                raise MasterError(
                    f"{self.name}: test cell {cell.grade_id!r} is not Python: {error}"
                ) from error


def _master_cell(index: int, raw: dict[str, Any]) -> MasterCell:
    source = raw["source"] if isinstance(raw["source"], str) else "".join(raw["source"])
    nbgrader = raw["metadata"].get("nbgrader", {})
    grade, solution = bool(nbgrader.get("grade")), bool(nbgrader.get("solution"))
    role = "manual" if grade and solution else "solution" if solution else "test" if grade else "fixed"
    if nbgrader.get("task"):
        role = "manual"
    if (
        role == "fixed"
        and raw["cell_type"] == "code"
        and raw["metadata"].get("editable", True)
        and not nbgrader.get("locked")
    ):
        role = "open"
    return MasterCell(
        index=index,
        kind=raw["cell_type"],
        source=source.replace("\r\n", "\n"),
        cell_id=raw.get("id") or f"cell-{index}",
        role=role,
        grade_id=nbgrader.get("grade_id", ""),
        points=float(nbgrader.get("points", 0) or 0),
        metadata=raw["metadata"],
    )


def strip_hidden(source: str) -> str:
    """A test cell's source without the lines between the hidden-test markers, and without these."""
    kept, hidden = [], False
    for line in source.split("\n"):
        if HIDDEN_BEGIN in line:
            hidden = True
        elif HIDDEN_END in line:
            hidden = False
        elif not hidden:
            kept.append(line)
    return "\n".join(kept).rstrip("\n") if len(kept) != source.count("\n") + 1 else source


def defined_names(source: str) -> frozenset[str]:
    """Names that Python source binds at top level (functions, classes, assignments); none if it does not parse."""
    try:
        tree = ast.parse(without_magics(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                names |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    return frozenset(names)


def without_magics(source: str) -> str:
    """Source in which IPython's line magics and shell lines are comments, so that `ast` can read the rest."""
    if "%" not in source and "!" not in source and "?" not in source:
        return source
    lines = []
    for line in source.split("\n"):
        bare = line.lstrip()
        lines.append("#" + line if bare.startswith(("%", "!", "?")) else line)
    return "\n".join(lines)


def loaded_names(tree: ast.AST) -> tuple[str, ...]:
    """Names that the code reads and does not bind itself, in order of first appearance."""
    loads: dict[str, None] = {}
    binds: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                loads.setdefault(node.id)
            else:
                binds.add(node.id)
        elif isinstance(node, ast.arg):
            binds.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            binds.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            binds |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            binds.add(node.name)
    return tuple(name for name in loads if name not in binds)
