"""``python -m tests.grading.attacks [name …]``: grade the attack class and print what each attack gains."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from .harness import ATTACKS, FULL, Result, course, run


def table(result: Result) -> str:
    """Attack, what it tries, what stock nbgrader gives where it was measured, what we give."""
    lines = [f"{'attack':<18} {'stock nbgrader':<20} {'here':<10} {'gain':>5}  what it tries"]
    for found in result.outcomes:
        total, most = sum(found.scores.values()), sum(FULL.values())
        alarm = f"  LEAKS {found.leaks}" if found.leaks else ""
        here, stock = f"{total:g} of {most:g}", found.attack.stock or "-"
        lines.append(
            f"{found.attack.name:<18} {stock:<20} {here:<10} {found.gain:>+5g}  {found.attack.says}{alarm}"
        )
    return "\n".join(lines)


def verdict(result: Result) -> list[str]:
    """What is wrong, one line each; empty if nothing is."""
    wrong = [f"{o.attack.name}: gain {o.gain:+g} ({o.scores})" for o in result.outcomes if o.gain > 0]
    wrong += [
        f"{o.attack.name}: lost {-o.gain:g} of its honest points ({o.remarks})"
        for o in result.outcomes
        if o.gain < 0
    ]
    wrong += [f"{o.attack.name}: leaks {o.leaks}" for o in result.outcomes if o.leaks]
    wrong += [f"{name}: an honest neighbour got {s}" for name, s in result.neighbours.items() if s != FULL]
    wrong += [f"survivor: {line}" for line in result.survivors]
    wrong += [f"course folder changed: {name}" for name in result.changed_files]
    wrong += [f"gradebook: {line}" for line in result.extra_rows]
    wrong += [f"{student}: reported as ours: {reason}" for student, reason in result.ours.items()]
    return wrong


def main(names: list[str]) -> int:
    """Run the named attacks, or all."""
    chosen = [attack for attack in ATTACKS if not names or attack.name in names]
    with tempfile.TemporaryDirectory(prefix="specdec-attacks-") as folder:
        result = run(course(Path(folder) / "course", chosen), chosen)
    print(table(result))
    wrong = verdict(result)
    end = "NOT CLEAN" if wrong else "nothing gained, nothing leaked, nobody harmed"
    print(f"\n{len(chosen)} attacks, {len(result.neighbours)} honest neighbours: {end}")
    for line in wrong:
        print(f"  {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
