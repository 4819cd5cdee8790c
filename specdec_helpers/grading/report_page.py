"""The class report as one page, without scripts, in light and dark."""

from __future__ import annotations

from html import escape
from statistics import mean, median

from .page import exercise, number, page, plain
from .report import ClassReport, words

# The last column of a fitted table takes what the words and figures beside it leave; a share is drawn in its whole.
STYLE = """
body { max-width: 64rem; }
.fitted td:last-child { width: 100%; } .fitted td.bars { min-width: 2.5rem; padding-top: .75rem; }
.bar, .whole { border-radius: 2px; display: block; height: .8em; }
.bar { background: var(--accent); min-width: 2px; } .whole { background: var(--line); }
th code { font-weight: 600; }
@media (min-width: 40rem) { .fitted th, .fitted td { white-space: nowrap; } .fitted wbr { display: none; } }
@media (max-width: 40rem) { table { font-size: .92rem; } td, th { padding-right: .5rem; } }
"""


def class_page(report: ClassReport) -> str:
    """One page, no script, light and dark."""
    warning = ""
    if report.not_sandboxed:
        warning = (
            f'<div class="note loud"><strong>Not sandboxed:</strong> {report.not_sandboxed} submissions ran without '
            "a sandbox. <code>specdec doctor</code> says what to install.</div>"
        )
    missing = ""
    if report.missing:
        names = plain(", ".join(report.missing))
        missing = f'<div class="note">Collected but not graded yet: {names}.</div>'
    body = [
        f"<header><p class='soft'>{escape(report.lesson)} · class report</p>",
        f"<h1>{len(report.scores)} students, mean {number(mean(report.totals))} of {number(report.most)} points</h1>",
        f"<p class='soft'>median {number(median(report.totals))} · {len(report.look)} need a look</p></header>",
        warning,
        missing,
        *_exercises(report),
        *_spread(report),
        *_misconceptions(report),
        *_looks(report),
        *_students(report),
    ]
    return page(f"{report.lesson} – class report", "\n".join(filter(None, body)), STYLE)


def _exercises(report: ClassReport) -> list[str]:
    rows = []
    for name, most in report.points.items():
        marks = [scores.get(name, 0.0) for scores in report.scores.values()]
        full = sum(mark >= most for mark in marks)
        none = sum(mark == 0 for mark in marks)
        share = 100 * mean(marks) / most if most else 0
        figures = "".join(
            f'<td class="number">{value}</td>' for value in (number(mean(marks)), number(most), full, none)
        )
        rows.append(f"<tr><td>{exercise(name)}</td>{figures}{_bar(share, 'whole')}</tr>")
    return [
        "<h2>Exercises</h2>",
        _table(["Exercise", "Mean#", "Of#", "All right#", "Nothing#", "Share"], rows, "fitted"),
    ]


def _spread(report: ClassReport) -> list[str]:
    most = max(count for _, count in report.bands) or 1
    rows = [
        f'<tr><td class="number">{label}</td><td class="number">{count}</td>{_bar(100 * count / most)}</tr>'
        for label, count in report.bands
    ]
    return [
        "<h2>How the points are spread</h2>",
        _table(["Points#", "Students#", ""], rows, "fitted"),
    ]


def _misconceptions(report: ClassReport) -> list[str]:
    if not report.mistakes:
        return []
    rows = [
        f'<tr><td class="number">{count}</td><td>{exercise(item)}</td><td>{escape(words(name))}</td></tr>'
        for item, name, count in report.mistakes
    ]
    return [
        "<h2>Misconceptions that were named</h2>",
        _table(["Students#", "Exercise", "Misconception"], rows, "fitted"),
    ]


def _looks(report: ClassReport) -> list[str]:
    if not report.look:
        return []
    rows = [
        f"<tr><td>{plain(student)}</td><td>{plain('; '.join(remarks))}</td></tr>"
        for student, remarks in report.look.items()
    ]
    return ["<h2>Need a look</h2>", _table(["Student", "Why"], rows)]


def _students(report: ClassReport) -> list[str]:
    late = ["Late penalty#"] if report.late else []
    heads = ["Student", "Total#", *late, *(f"{name}#" for name in report.points)]
    rows = []
    for student in sorted(report.scores):
        marks = [report.scores[student].get(name, 0.0) for name in report.points]
        cells = "".join(f'<td class="number">{number(mark)}</td>' for mark in marks)
        total = f'<td class="number"><strong>{number(report.total(student))}</strong></td>'
        if late:
            total += f'<td class="number">{number(report.late.get(student, 0.0))}</td>'
        rows.append(f"<tr><td>{plain(student)}</td>{total}{cells}</tr>")
    return ["<h2>Students</h2>", f'<div class="wide">{_table(heads, rows)}</div>']


def _bar(share: float, frame: str = "") -> str:
    bar = f'<span class="bar" style="width:{share:.0f}%" title="{share:.0f} %"></span>' if share else ""
    return f'<td class="bars"><span class="{frame}">{bar}</span></td>'


def _table(heads: list[str], rows: list[str], kind: str = "") -> str:
    cells = []
    for head in heads:
        name = head.rstrip("#")
        shown = exercise(name) if name.startswith("test_") else escape(name)
        cells.append(
            f'<th scope="col"{" class=number" * (name != head)}>{shown}</th>' if name else "<td></td>"
        )
    return f'<table class="{kind}"><thead><tr>{"".join(cells)}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
