"""The grading half of the `specdec` command: autograde, report, doctor."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

STATUS = "exit status: 0 all graded; 1 graded, but some need a look; 2 something of ours failed or the call was wrong"


def main(command: str, arguments: list[str]) -> int:
    """Run one grading command; returns the exit status."""
    if command == "doctor":
        from . import doctor

        return doctor.main(arguments)
    parser = _autograde_parser() if command == "autograde" else _report_parser()
    options = parser.parse_args(arguments)
    from .cluster import NoCluster
    from .course import CourseError
    from .store import Busy

    try:
        return _autograde(options) if command == "autograde" else _report(options)
    except (CourseError, Busy, NoCluster) as error:
        print(f"specdec {command}: {error}", file=sys.stderr)
        return 2
    except Exception:  # Python's own exit status would be 1, which means something else here
        traceback.print_exc()
        print(f"specdec {command}: failed, and not through a student's fault; run it again to go on", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted; what is graded is kept, run the same command to go on", file=sys.stderr)
        return 130


def _autograde_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="specdec autograde",
        description="Grade all that is collected for a lesson, in parallel. Only what changed is graded again.",
        epilog=STATUS,
    )
    parser.add_argument("lesson", help="for example lesson1")
    parser.add_argument(
        "--workers", type=_count, default=0, metavar="N", help="processes (default: one per core)"
    )
    parser.add_argument("--force", action="store_true", help="grade everything again")
    parser.add_argument(
        "--students", default="*", metavar="A,B", help="only these (names or patterns, with commas)"
    )
    parser.add_argument(
        "--scheduler", default="", metavar="tcp://HOST:PORT", help="grade on this Dask cluster"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON, and nothing else")
    parser.add_argument(
        "--course", default="", metavar="FOLDER", help="the course folder (default: this one)"
    )
    return parser


def _report_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="specdec report",
        description="The class's scores, its misconceptions, and who needs a look: a table here, a CSV and a page.",
    )
    parser.add_argument("lesson", help="for example lesson1")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the scores here")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the page here")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument(
        "--course", default="", metavar="FOLDER", help="the course folder (default: this one)"
    )
    return parser


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= 256:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of workers; give 1 to 256")
    return number


def _autograde(options: argparse.Namespace) -> int:
    from .batch import Options, run_batch
    from .course import Course

    students = tuple(part.strip() for part in options.students.split(",") if part.strip()) or ("*",)
    how = Options(options.workers, options.force, students, options.scheduler, quiet=options.json)
    summary = run_batch(Course.here(options.course), options.lesson, how)
    print(summary.json() if options.json else summary.text())
    return summary.status


def _report(options: argparse.Namespace) -> int:
    from .course import Course
    from .report import report

    return report(Course.here(options.course), options.lesson, options.csv, options.html, options.json)
