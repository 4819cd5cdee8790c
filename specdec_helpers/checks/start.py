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
    from . import known_items

    items = known_items(lesson)
    problems = version_problems()
    if problems:
        show(Card(lesson, "fail", "; ".join(problems)))
        return
    passed = [item for item in items if progress.load().get(lesson, {}).get(item)]
    number = lesson.removeprefix("lesson")
    done = f"{len(passed)} of {len(items)} exercises passed so far"
    left = [item for item in items if item not in passed]
    todo = (
        "all passed"
        if not left
        else f"next: {left[0]}"
        if passed
        else "run the cells from top to bottom (Shift + Enter)"
    )
    show(
        Card(
            f"Lesson {number} of 6",
            "pass" if not left else "partial" if passed else "unstarted",
            f"ready. {done}; {todo}.",
        )
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
