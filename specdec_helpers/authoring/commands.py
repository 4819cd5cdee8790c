"""`specdec build` and `specdec release`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .build import BuildError, build, find_root
from .course import CourseError, CourseErrors


def _parser(command: str) -> argparse.ArgumentParser:
    texts = {
        "build": "Make source/, release/ and the sealed notes from course/; a build that fails writes nothing.",
        "release": "Make dist/student/: the student wheel and the zip that a student unpacks and runs.",
    }
    parser = argparse.ArgumentParser(prog=f"specdec {command}", description=texts[command])
    parser.add_argument("--root", type=Path, help="the repository (default: found from the current folder)")
    if command == "build":
        parser.add_argument("lessons", nargs="*", metavar="lessonN", help="only these lessons (default: all)")
        parser.add_argument(
            "--check", action="store_true", help="write nothing: report drift and what the lint finds"
        )
    return parser


def run_build(root: Path, lessons: list[str], check: bool) -> int:
    """Build, or with `check` compare and lint. Exit status 0 fine, 1 drift or lint, 2 cannot be built."""
    from .lint import lint

    try:
        built = build(root, lessons)
    except (BuildError, CourseError, CourseErrors) as error:
        print(
            f"{error}\nspecdec build: nothing was written; correct the above and build again", file=sys.stderr
        )
        return 2
    findings = lint(built)
    for finding in findings:
        print(finding, file=sys.stderr)
    if not check:
        changed = built.write(root)
        for path in changed:
            print(path.as_posix())
        print(
            f"built {len(built.lessons)} lessons: {len(changed)} files changed, {len(findings)} lint findings"
        )
        return 0
    drift = built.drift(root)
    for path in drift:
        print(
            f"{path.as_posix()}: differs from a fresh build; run `make build` and commit the result",
            file=sys.stderr,
        )
    print(f"checked {len(built.lessons)} lessons: {len(drift)} files drifted, {len(findings)} lint findings")
    return 1 if drift or findings else 0


def main(command: str, arguments: list[str]) -> int:
    """Run `specdec build …` or `specdec release …`."""
    options = _parser(command).parse_args(arguments)
    try:
        root = (options.root or find_root(Path.cwd())).resolve()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    if command == "build":
        return run_build(root, options.lessons, options.check)
    from .release import make_release

    try:
        for path in make_release(root, root / "dist" / "student"):
            print(path.relative_to(root).as_posix())
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
