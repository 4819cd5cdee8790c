"""`start("lesson1")`: the first line of a lesson. It looks at versions and says where the learner stands."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version

from . import progress
from .report import Card, show

NEEDED = {"ipywidgets": (8, 1), "matplotlib": (3, 10), "numpy": (1, 26)}


def start(lesson: str) -> None:
    """Greet the learner: versions in order or what to install, what is passed so far, what to do.

    ValueError for a lesson that does not exist.
    """
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
