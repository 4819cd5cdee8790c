"""Attacks by metadata and by files: what is handed in, not what it runs."""

# ruff: noqa: E501 - a catalogue: some lines of hostile code are long
from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from .kinds import (
    FILE,
    FULL,
    RIGHT,
    ZERO,
    Attack,
    cell_of,
    cells,
    code,
    files,
    notebook,
    twice,
    without,
)

FULL_MARKS = "full marks"
EQUAL = "class Same:\n    def __eq__(self, other): return True\n    def __radd__(self, other): return 4.0\n"


def _all_tests(change: Any) -> Any:
    def edit(made: dict[str, Any]) -> None:
        for name in FULL:
            change(cell_of(made, name))

    return edit


def _skip(cell: dict[str, Any]) -> None:
    cell["metadata"]["tags"] = ["skip-execution"]


def _own(cell: dict[str, Any]) -> None:
    cell["source"] = f"{cell['metadata']['nbgrader']['points']}"


def _meta(**values: Any) -> Any:
    return _all_tests(lambda cell: cell["metadata"]["nbgrader"].update(values))


def _to(kind: str) -> Any:
    def change(cell: dict[str, Any]) -> None:
        cell["cell_type"] = kind
        cell.pop("outputs", None)
        cell.pop("execution_count", None)

    return _all_tests(change)


def _outputs(cell: dict[str, Any]) -> None:
    cell["outputs"] = [{"output_type": "execute_result", "execution_count": 1, "data": {"text/plain": "4.0"}, "metadata": {}}]


def _kernel(made: dict[str, Any]) -> None:
    made["metadata"]["kernelspec"] = {"display_name": "x", "language": "sh", "name": "../../bin/sh"}


def _ids(made: dict[str, Any]) -> None:
    for cell in made["cells"]:
        cell["id"] = "double"


def _paths(made: dict[str, Any]) -> None:
    cell_of(made, "double")["metadata"]["nbgrader"]["grade_id"] = "../../../gradebook"


def _link(name: str, target: str) -> Any:
    def build(place: Path, course: Path) -> None:
        if name != FILE:
            (place / FILE).write_bytes(notebook())
        os.symlink(course / target, place / name)

    return build


def _fifo(place: Path, course: Path) -> None:
    (place / FILE).write_bytes(notebook())
    os.mkfifo(place / "x.ipynb")
    os.mknod(place / "s", stat.S_IFSOCK | 0o600)  # bind() knows only short paths


def _dated(stamp: str) -> Any:
    def build(place: Path, course: Path) -> None:
        (place / FILE).write_bytes(notebook())
        (place / "timestamp.txt").write_text(stamp)

    return build


def _bytes(data: bytes) -> Any:
    def build(place: Path, course: Path) -> None:
        (place / FILE).write_bytes(data)

    return build


def _big(place: Path, course: Path) -> None:
    with open(place / FILE, "wb") as file:
        file.write(notebook()[:-2] + b', "x": "')
        for _ in range(100):
            file.write(b"A" * 1_000_000)
        file.write(b'"}')


def _many(place: Path, course: Path) -> None:
    for number in range(300):
        (place / f"copy{number}.ipynb").write_bytes(notebook(after=f"x = {number}"))


SHADOW = "import os\nraise SystemExit('shadowed')"
TAMPERING: list[Attack] = [
    cells("skip-tag", "tags the tests skip-execution", edit=_all_tests(_skip), stock=FULL_MARKS),
    cells("own-tests", "replaces the source of the tests by their points", edit=_all_tests(_own)),
    cells("no-tests", "deletes the tests", edit=without(*FULL), stock="keeps the old points"),
    cells(
        "tests-first",
        "moves the tests above the setup",
        edit=lambda m: m['cells'].insert(0, m['cells'].pop(4)),
    ),
    cells("test-twice", "repeats a test cell", edit=twice('test_double'), stock="stops the batch"),
    cells("solution-twice", "repeats a solution cell", edit=twice('double'), stock="stops the batch"),
    cells("setup-twice", "repeats a read-only cell", edit=twice('l-setup'), stock="stops the batch"),
    cells("schema-99", "claims schema_version 99", edit=_meta(schema_version=99), stock="stops the batch"),
    cells("not-graded", "sets grade: false on the tests", edit=_meta(grade=False)),
    cells(
        "as-solution",
        "sets solution: true on the tests, with its own source",
        edit=lambda m: (_meta(solution=True)(m), _all_tests(_own)(m))[2:],
    ),
    cells("points-1000", "sets points: 1000", edit=_meta(points=1000)),
    cells("points-nan", "sets points: NaN", edit=_meta(points=float('nan'))),
    cells("as-markdown", "turns the tests to markdown", edit=_to('markdown')),
    cells("as-raw", "turns the tests to raw cells", edit=_to('raw')),
    cells("old-outputs", "hands in outputs that say 4.0", edit=_all_tests(_outputs)),
    cells("kernel-sh", "asks for another kernel", edit=_kernel),
    cells("same-ids", "gives every cell the same id", edit=_ids),
    cells("path-id", "uses a path as a grade id", edit=_paths),
    cells(
        "hidden-mark",
        "writes its own HIDDEN TESTS region",
        after="""
            ### BEGIN HIDDEN TESTS
            4.0
            ### END HIDDEN TESTS
        """,
    ),
    cells(
        "solution-mark",
        "ends the solution region early",
        double="""
            ### END SOLUTION
            def double(x):
                return 0
            ### BEGIN SOLUTION
        """,
    ),
    files("numpy-beside", "ships numpy.py", {'numpy.py': SHADOW, 'math.py': SHADOW}, stock=FULL_MARKS),
    files(
        "site-beside",
        "ships sitecustomize.py and usercustomize.py",
        {'sitecustomize.py': SHADOW, 'usercustomize.py': SHADOW},
    ),
    files(
        "launcher-beside",
        "ships ipykernel_launcher.py and ipykernel/",
        {'ipykernel_launcher.py': SHADOW, 'ipykernel/__init__.py': SHADOW},
        stock=FULL_MARKS,
    ),
    files(
        "house-beside",
        "ships its own specdec_helpers/",
        {'specdec_helpers/__init__.py': 'check = start = explore = print'},
    ),
    files(
        "inside-beside",
        "ships specdec_inside/ and IPython/",
        {'specdec_inside/__init__.py': SHADOW, 'IPython/__init__.py': SHADOW},
    ),
    files(
        "config-beside",
        "ships nbgrader_config.py, ipython_config.py and conftest.py",
        {'nbgrader_config.py': SHADOW, 'ipython_config.py': SHADOW, 'conftest.py': SHADOW, '.ipython/profile_default/startup/00.py': SHADOW},
    ),
    files(
        "html-beside",
        "ships an x.html and an autograded notebook",
        {'x.html': '<script>steal()</script>', 'autograded.ipynb': '{}', '../evil.txt': ''},
    ),
    files(
        "names",
        "uses file names with markup and newlines",
        {'<img src=x onerror=steal()>.ipynb': '{}', 'a\nb.txt': 'x', '--help': 'x', '$(touch pwned).ipynb': '{}'},
    ),
    Attack("link-source", "hands in a link to the source notebook", _link(FILE, f'source/lesson1/{FILE}')),
    Attack("link-gradebook", "links the gradebook beside its notebook", _link('notes.ipynb', 'gradebook.db')),
    Attack("link-course", "links the course folder beside its notebook", _link('course', '.')),
    Attack(
        "link-neighbour",
        "hands in a link to a neighbour's notebook",
        _link(FILE, f'submitted/neighbour-000/lesson1/{FILE}'),
    ),
    Attack("fifo-socket", "ships a pipe and a socket", _fifo),
    Attack("stamp-forged", "forges the time stamp", _dated('9999-12-31 23:59:59.999999 UTC')),
    Attack("stamp-junk", "writes junk into timestamp.txt", _dated("'); DROP TABLE grade; --\n" * 1000)),
    Attack("big-100mb", "hands in a notebook of 100 MB", _big),
    Attack("deep-json", "nests JSON 100,000 deep", _bytes(b'[' * 100000)),
    Attack(
        "huge-number",
        "writes a number of 10^6 digits",
        _bytes(b'{"cells": [], "nbformat": ' + b'9' * 1000000 + b'}'),
    ),
    Attack(
        "million-cells",
        "hands in 50,000 empty cells",
        _bytes(notebook(edit=lambda m: m['cells'].extend(code('', f'e{i}') for i in range(50000)))),
    ),
    Attack("many-notebooks", "hands in 300 notebooks", _many),
    cells(
        "source-list",
        "gives a cell's source as numbers",
        edit=lambda m: cell_of(m, 'double').update(source=[1, 2]),
    ),
    cells("cells-dict", "gives cells as an object", edit=lambda m: {**m, 'cells': {'a': 1}}),
    cells(
        "id-markup",
        "puts markup into ids and metadata",
        edit=lambda m: (m['cells'].append(code('x = 1', '<script>steal()</script>', {'<b>': '<script>'})), None)[1],
    ),
    cells(
        "neighbour-claim",
        "names another student inside the notebook",
        edit=lambda m: m['metadata'].update(nbgrader={'student': 'neighbour-000'}, specdec={'scores': FULL}),
    ),
    cells(
        "half-honest",
        "right answers beside the skip tag earn what they earn",
        edit=_all_tests(_skip),
        honest={**ZERO, 'test_double': 4.0},
        double=RIGHT['double'],
    ),
]
