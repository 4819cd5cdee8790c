"""`start("lesson1")`: the first line of a lesson. It looks at versions and says where the learner stands."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import Any

from . import progress
from .report import Card, show

NEEDED = {"ipywidgets": (8, 1), "matplotlib": (3, 10), "numpy": (1, 26)}


def start(lesson: str) -> None:
    """Greet the learner: versions in order or what to install, what is passed so far, what to do.

    ValueError for a lesson that does not exist.
    """
    _explain_missing_names()
    passed = progress.load()
    here = progress.standing(lesson, passed)
    problems = version_problems()
    if problems:
        show(Card(lesson, "fail", "; ".join(problems)))
        return
    done = f"{len(here.passed)} of {len(here.items)} exercises passed so far"
    if not here.next:
        todo = "all passed"
    elif here.passed:
        todo = f"next: {here.next}"
    else:
        todo = "run the cells from top to bottom (Shift + Enter)"
    words = f"ready. {done}; {todo}."
    rows = progress.course(passed)
    if any(row.passed for row in rows if row.lesson != lesson):
        words += (
            f" In the whole course: {sum(len(r.passed) for r in rows)} of {sum(len(r.items) for r in rows)}."
        )
    title = f"Lesson {lesson.removeprefix('lesson')} of {len(progress.TITLES)}, {progress.TITLES[lesson]}"
    show(Card(title, "pass" if not here.next else "partial" if here.passed else "unstarted", words))


def _explain_missing_names() -> None:
    """In a notebook, let a NameError about an exercise be followed by the way out.

    `check(name=name)` fails before check() is called where the answer's cell was not run, so that no card can say so.
    """
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive else None
    if shell is not None and os.environ.get("SPECDEC_GRADING") != "1":
        shell.set_custom_exc((NameError,), _show_name_error)


def _show_name_error(
    shell: Any, kind: type[NameError], error: NameError, trace: TracebackType, tb_offset: int | None = None
) -> None:
    """IPython's handler: the error as ever, and one line below it for the name of an exercise."""
    words = missing_name(error.name)
    shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
    if words:
        print(words, file=sys.stderr)


def missing_name(name: str | None) -> str:
    """What to do where the name of an exercise is not defined; empty for any other name."""
    if not any(name in row.items for row in progress.course({})):
        return ""
    return (
        f"{name} does not exist yet: run the cell that defines it, then this one again. If you ran it: is "
        f"{name} spelt so there, and did that cell end without an error?"
    )


def version_problems() -> list[str]:
    """One sentence for every package that is missing or too old; empty when all is well."""
    problems = []
    if sys.version_info < (3, 11):  # noqa: UP036 - a student may unpack the notebooks under any Python
        problems.append(f"Python {sys.version.split()[0]} is too old: install Python 3.11 or newer")
    for package, least in NEEDED.items():
        wanted = ".".join(map(str, least))
        try:
            found = version(package)
        except PackageNotFoundError:
            problems.append(f'{package} is missing: in a terminal, pip install "{package}>={wanted}"')
            continue
        numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdigit())
        if numbers < least:
            problems.append(
                f"{package} {found} is older than {wanted}: in a terminal, pip install -U {package}"
            )
    return problems
