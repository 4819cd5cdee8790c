"""What a learner has passed so far, kept in one small file beside the lessons; `specdec progress` shows it."""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .report import in_notebook

FILE = "specdec_progress.json"
LESSON_FOLDER = re.compile(r"lesson[1-9]")
TITLES = {
    "lesson1": "Draft and verify",
    "lesson2": "Accept or reject",
    "lesson3": "Recover the difference",
    "lesson4": "Expected progress",
    "lesson5": "When it pays",
    "lesson6": "Measure it",
}

Passed = Mapping[str, Mapping[str, bool]]


@dataclass(frozen=True)
class Standing:
    """Where a learner stands in one lesson: the exercises in their order, and those that are passed."""

    lesson: str
    items: tuple[str, ...]
    passed: tuple[str, ...]

    @property
    def next(self) -> str:
        """The first exercise that is not passed; "" when all are."""
        return next((item for item in self.items if item not in self.passed), "")


def _path() -> Path:
    # Lessons live in lesson1/ … lesson6/; one file above them serves all six.
    here = Path.cwd()
    return (here.parent if LESSON_FOLDER.fullmatch(here.name) else here) / FILE


def load(path: Path | None = None) -> dict[str, dict[str, bool]]:
    """Passed items by lesson: {"lesson1": {"verify_greedy": True}}. A missing or broken file is empty."""
    try:
        data = json.loads((path or _path()).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {lesson: dict(items) for lesson, items in data.items() if isinstance(items, dict)}


def record(lesson: str, item: str, passed: bool) -> None:
    """Remember whether an item passes. A folder that cannot be written to is no reason to complain.

    Nothing is remembered while grading: that is somebody else's work.
    """
    if not in_notebook():
        return
    data = load()
    if data.get(lesson, {}).get(item) == passed:
        return
    data.setdefault(lesson, {})[item] = passed
    with suppress(OSError):
        path = _path()
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".specdec-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1, sort_keys=True)
        os.replace(name, path)


def standing(lesson: str, passed: Passed) -> Standing:
    """Where the learner stands in `lesson`, by what the progress file says. ValueError for an unknown lesson."""
    from . import known_items

    items = tuple(known_items(lesson))
    return Standing(lesson, items, tuple(item for item in items if passed.get(lesson, {}).get(item) is True))


def course(passed: Passed) -> list[Standing]:
    """Where the learner stands in all six lessons."""
    return [standing(lesson, passed) for lesson in TITLES]


def table(rows: list[Standing]) -> str:
    """The lessons as a plain table, one line each, readable in any terminal."""
    lines = [f"{'lesson':<28}{'passed':<12}next"]
    for number, row in enumerate(rows, start=1):
        count = f"{len(row.passed)} of {len(row.items)}"
        todo = row.next if row.passed else "not started"
        lines.append(f"{number}  {TITLES[row.lesson]:<25}{count:<12}{todo or 'all passed'}")
    done, total = sum(len(row.passed) for row in rows), sum(len(row.items) for row in rows)
    return "\n".join([*lines, f"{'in all':<28}{done} of {total}"])


def find(folder: Path | None) -> Path:
    """The progress file: in `folder`, or here, above a lesson's folder, or in lessons/ below.

    The first that exists is taken; if none does, the place where one would be made.
    """
    if folder is not None:
        return folder / FILE
    places = [_path(), Path.cwd() / "lessons" / FILE]
    return next((path for path in places if path.is_file()), places[0])


def main(command: str, arguments: list[str]) -> int:
    """`specdec progress [FOLDER]`: print where the learner stands. Exit status 0, or 2 for a folder that is none."""
    parser = argparse.ArgumentParser(
        prog=f"specdec {command}", description="Show which exercises of the six lessons you have passed."
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, help="the folder that holds lesson1, lesson2 and so on"
    )
    parser.add_argument("--json", action="store_true", help="print the passed exercises for a machine")
    options = parser.parse_args(arguments)
    if options.folder is not None and not options.folder.is_dir():
        parser.error(
            f"{str(options.folder)!r} is not a folder; give the one that holds lesson1, lesson2 and so on"
        )
    path = find(options.folder)
    rows = course(load(path))
    if options.json:
        print(json.dumps({row.lesson: {"passed": row.passed, "of": row.items} for row in rows}, indent=1))
        return 0
    print(table(rows))
    if not path.is_file():
        print(
            f"\nNothing is noted yet in {path.parent}: run a check cell in a lesson, or name the lessons' folder."
        )
    return 0
