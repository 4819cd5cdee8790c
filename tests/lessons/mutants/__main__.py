"""Print what every mutant earns: `python -m tests.lessons.mutants [lesson1 …]`; exit status 1 for a surprise."""

from __future__ import annotations

import contextlib
import io
import sys

from . import LESSONS, mutants, try_out


def main(lessons: list[str]) -> int:
    for lesson in lessons:
        if lesson not in LESSONS:
            print(f"{lesson!r} is no lesson; choose from {', '.join(LESSONS)}", file=sys.stderr)
            return 2
    surprises, count, last = 0, 0, ""
    for mutant in mutants(*lessons):
        with contextlib.redirect_stdout(io.StringIO()):  # some mutants print instead of returning
            outcome = try_out(mutant, visible=True)
        if mutant.function != last:
            print(f"\n{mutant.lesson} · {mutant.function}")
            last = mutant.function
        count += 1
        surprises += not outcome.as_planned
        print(
            f"{'  ' if outcome.as_planned else '!!'} {'right' if mutant.right else 'wrong'} {outcome.share:>5.0%} "
            f"visible {outcome.visible:<8} {mutant.name[:46]:<46} {outcome.message[:150]}"
        )
    print(f"\n{count} implementations, {surprises} surprises")
    return 1 if surprises else 0


sys.exit(main(sys.argv[1:]))
