"""What the build refuses, each with its place, its value, the bound and the way out."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterator, Mapping

from .course import EXERCISES, KINDS, Cell, CourseError, Lesson

Lacking = Callable[[str, str], list[str]]

NAME = re.compile(r"[a-z][a-z0-9_]*")
TAKEN = ("check", "compare", "explore", "start")  # the course's own verbs
POINTS = range(1, 21)
MINUTES = range(1, 61)
DIFFICULTY = ("easy", "medium", "hard")
LABELS = ("Predict", "Explore", "Trace", "Code", "Choose", "Reflect")
GENERATED = ("header", "mistakes", "chapter")
BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"

# kind: (keys it must have, keys it may have)
KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "code": (("points", "minutes", "difficulty"), ("label",)),
    "number": (("points", "minutes", "difficulty"), ("label", "places")),
    "choice": (("points", "minutes", "difficulty"), ("label",)),
    "ungraded": ((), ("label", "minutes", "difficulty")),
    "demo": ((), ("label", "minutes", "title")),
    "setup": ((), ()),
    "generated": ((), ()),
    "markdown": ((), ("label", "minutes")),
}


def _name_errors(cell: Cell) -> Iterator[CourseError]:
    if NAME.fullmatch(cell.name) is None or keyword.iskeyword(cell.name) or keyword.issoftkeyword(cell.name):
        yield cell.wrong(
            f"{cell.name!r} is outside the scheme of names, [a-z][a-z0-9_]* and no Python keyword; "
            "write it like verify_greedy"
        )
    elif cell.name in TAKEN or cell.name.startswith("test_"):
        yield cell.wrong(
            f"{cell.name!r} is taken: {', '.join(TAKEN)} and test_… belong to the course; choose another name"
        )


def _key_errors(cell: Cell) -> Iterator[CourseError]:
    several = [kind for kind in KINDS if kind in cell.keys]
    if several:
        yield cell.wrong(
            f"a cell has one kind, this one has {' and '.join(several)}; split it into {len(several)} cells"
        )
        return
    must, may = KEYS[cell.kind]
    for key in must:
        if key not in cell.keys:
            yield cell.wrong(
                f"{key} is missing for {cell.name!r}; add {key}={_example(key)} to the '# %%' line"
            )
    for key, value in cell.keys.items():
        if key not in (*must, *may):
            known = ", ".join((*KINDS, *must, *may))
            yield cell.wrong(
                f"unknown key {key!r} (value {value!r}) on a {cell.kind} cell; known here: {known}"
            )
        elif (problem := _value_problem(key, value)) is not None:
            yield cell.wrong(f"{key} is {value!r} for {cell.name or cell.kind!r}; {problem}")


def _example(key: str) -> str:
    return {"points": "2", "minutes": "5"}.get(key, '"easy"')


def _value_problem(key: str, value: object) -> str | None:
    bounds = {"points": POINTS, "minutes": MINUTES, "places": range(13)}
    if key in bounds:
        bound = bounds[key]
        fine = isinstance(value, int) and not isinstance(value, bool) and value in bound
        return None if fine else f"it must be a whole number from {bound[0]} to {bound[-1]}"
    words = {"difficulty": DIFFICULTY, "label": LABELS}.get(key)
    return None if words is None or value in words else f"choose one of {', '.join(words)}"


def solution_regions(source: str) -> tuple[int, str | None, int]:
    """Return (number of whole regions, what is wrong or None, line in the cell where it is wrong)."""
    depth, regions, opened = 0, 0, 0
    for line, text in enumerate(source.splitlines(), start=1):
        if BEGIN in text:
            if depth:
                return regions, f"a second '### {BEGIN}' inside the one of line {opened} of the cell", line
            depth, opened = 1, line
        elif END in text:
            if not depth:
                return regions, f"'### {END}' without its '### {BEGIN}'", line
            depth, regions = 0, regions + 1
    return regions, (f"'### {BEGIN}' without its '### {END}'" if depth else None), opened


def _code_errors(cell: Cell) -> Iterator[CourseError]:
    regions, problem, line = solution_regions(cell.source)
    if problem:
        yield cell.wrong(
            f"{problem} in {cell.name!r}; a solution is one '### {BEGIN}' … '### {END}' in the body", line
        )
        return
    if not regions:
        yield cell.wrong(
            f"{cell.name!r} has no solution; put '### {BEGIN}' and '### {END}' around the function's body"
        )
        return
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        yield cell.wrong(f"the code of {cell.name!r} does not parse: {error.msg}", error.lineno)
        return
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    if cell.name not in defined:
        yield cell.wrong(
            f"the cell is named {cell.name!r} but defines {', '.join(defined) or 'no function'}; make them agree"
        )
    for index, text in enumerate(cell.source.splitlines(), start=1):
        if BEGIN in text and not text.startswith((" ", "\t")):
            yield cell.wrong(
                f"the solution of {cell.name!r} must lie inside the function's body; indent the region", index
            )


def _lesson_errors(lesson: Lesson) -> Iterator[CourseError]:
    first = lesson.cells[0] if lesson.cells else Cell("markdown", "", "", lesson.path, 1)
    headers = [cell for cell in lesson.cells if (cell.kind, cell.name) == ("generated", "header")]
    if headers != [first]:
        found = f"{len(headers)} of them" if headers else "none"
        yield first.wrong(
            f"the lesson's header is missing or not the first cell ({found}); "
            'begin with one `# %% [markdown] generated="header"` cell'
        )
    elif not first.source.startswith("# "):
        yield first.wrong("the header must begin with the lesson's title, `# # Title`", 1)
    setups = [cell for cell in lesson.cells if cell.kind == "setup"]
    code = [cell for cell in lesson.cells if not cell.markdown]
    if len(setups) != 1 or code[0] is not setups[0]:
        where = code[0] if code else first
        yield where.wrong(
            f"the first code cell must be the only `# %% setup` cell; found {len(setups)} set-up cells"
        )
    for cell in lesson.cells:
        if cell.kind == "generated" and cell.name not in GENERATED:
            yield cell.wrong(f"generated={cell.name!r} is unknown; choose one of {', '.join(GENERATED)}")
        elif cell.kind == "generated" and not cell.markdown:
            yield cell.wrong(f"generated={cell.name!r} makes text; write `# %% [markdown] generated=…`")
        elif cell.kind in EXERCISES and cell.markdown:
            yield cell.wrong(f"{cell.name!r} is a {cell.kind}: it must be a code cell; drop [markdown]")


def course_errors(lessons: list[Lesson], lacking: Mapping[str, Lacking]) -> list[CourseError]:
    """Return everything wrong in the course but the notes, in the order of lessons and lines.

    Parameters
    ----------
    lacking : by assignment, a function that names the tables in which an exercise (kind, name) has no entry;
        an assignment that is left out is not asked
    """
    errors: list[CourseError] = []
    first_use: dict[str, Cell] = {}
    for lesson in lessons:
        errors += _lesson_errors(lesson)
        for cell in lesson.cells:
            errors += _key_errors(cell)
            if cell.kind not in (*EXERCISES, "ungraded"):
                if not cell.markdown and solution_regions(cell.source)[:2] != (0, None):
                    errors.append(
                        cell.wrong(
                            "a solution outside an exercise; add code=\"name\" points=… to the '# %%' line"
                        )
                    )
                continue
            errors += _name_errors(cell)
            other = first_use.setdefault(cell.name, cell)
            if other is not cell:
                errors.append(
                    cell.wrong(
                        f"the name {cell.name!r} is already used at {other.path.name}:{other.line}; "
                        "names are unique in the whole course, choose another"
                    )
                )
            if cell.kind == "code":
                errors += _code_errors(cell)
            asked = lacking.get(lesson.assignment)
            if asked is not None and cell.is_exercise and (tables := asked(cell.kind, cell.name)):
                places = " and ".join(f"{table}/{lesson.assignment}.py" for table in tables)
                errors.append(cell.wrong(f"{cell.name!r} has no tests: add its entry to {places}"))
    return errors
