"""Grades the attack class: every attack between two honest neighbours, in one batch; then looks what happened."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

HERE = Path(__file__).resolve().parent
for place in (HERE.parent,):
    if str(place) not in sys.path:
        sys.path.insert(0, str(place))

from classroom import Classroom  # noqa: E402 - after the path is set
from grading_sample import TRIPLE_TEST, cell_of, hidden, release, source_notebook  # noqa: E402

from specdec_helpers.grading import watch  # noqa: E402

from .exhausting import EXHAUSTING  # noqa: E402
from .forging import FORGING  # noqa: E402
from .kinds import FOLDER, FULL, GRADES, HIDDEN, OTHER, RIGHT, ZERO, Attack  # noqa: E402
from .reading import READING  # noqa: E402
from .tampering import TAMPERING  # noqa: E402

ATTACKS: list[Attack] = [*TAMPERING, *READING, *FORGING, *EXHAUSTING]
LIMITS = (
    "\nc.SpecDec.limits = {'cell_seconds': 2, 'notebook_seconds': 5, 'memory_bytes': 500 * 2**20, 'processes': 48,"
    " 'written_bytes': 8 * 2**20, 'cell_output_bytes': 100_000, 'notebook_output_bytes': 400_000}\n"
)
# What the hidden arguments look like when they come out; the visible ones are 1.
ARGUMENTS = [f"HIDDEN-ARGUMENT {x}" for x in (5, 7, 9)] + [f"HIDDEN_ARGUMENT_{x}" for x in (5, 7, 9)]
ACTIVE = {"script", "iframe", "object", "embed", "base", "form", "link", "applet", "frame"}


@dataclass
class Outcome:
    """What the batch gave for one attack."""

    attack: Attack
    scores: dict[str, float]
    remarks: list[str]
    leaks: list[str] = field(default_factory=list)

    @property
    def gain(self) -> float:
        """Points above what the same answers earn honestly."""
        return sum(self.scores.values()) - sum(self.attack.honest.values())


@dataclass
class Result:
    """What the batch did to everything else."""

    outcomes: list[Outcome]
    neighbours: dict[str, dict[str, float]]
    survivors: list[str]
    changed_files: list[str]
    extra_rows: list[str]
    status: int
    ours: dict[str, str]


def course(folder: Path, attacks: list[Attack]) -> Classroom:
    """A course with the attacks, each between two honest neighbours, and the markers."""
    room = Classroom(folder, LIMITS)
    made = source_notebook()
    cell_of(made, "test_double")["source"] = hidden(
        "assert double(1) == 2, 'double(1) is 2'",
        f"# {HIDDEN}\nSECRET = [(5, 10), (7, 14)]\nright = [double(x) == y for x, y in SECRET]\n4.0 * sum(right) / 2",
    )
    cell_of(made, "test_triple")["source"] = TRIPLE_TEST.replace(
        "assert triple(9)", f"# {HIDDEN}\nassert triple(9)"
    )
    room.write_source(made)
    (room.folder / "instructor-notes.txt").write_text(FOLDER)
    (room.folder / "grades.csv").write_text(GRADES)
    other = release(**{**RIGHT, "double": f"def double(x):\n    # {OTHER}\n    return x + x"})
    for number, attack in enumerate(attacks):
        room.submit(f"{number:03}-a-neighbour", other)
        place = room.folder / "submitted" / student_of(number, attack) / "lesson1"
        place.mkdir(parents=True)
        attack.build(place, room.folder)
    room.submit(f"{len(attacks):03}-a-neighbour", other)
    return room


def student_of(number: int, attack: Attack) -> str:
    """Sorted between its neighbours."""
    return f"{number:03}-b-{attack.name}"


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file of the course but what grading is meant to write."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if (
            name.startswith(("autograded", "feedback", ".specdec", "gradebook.db"))
            or not path.is_file()
            or path.is_symlink()
        ):
            continue
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def run(room: Classroom, attacks: list[Attack], workers: int = 1, publish: bool = True) -> Result:
    """Grade the class, make the feedback, and look."""
    from specdec_helpers.grading.batch import Options, run_batch
    from specdec_helpers.grading.course import Course

    before, others = fingerprint(room.folder), set(survivors())  # other tests of this process keep jails warm
    here = os.getcwd()
    os.chdir(room.folder)
    try:
        summary = run_batch(Course.here(str(room.folder)), "lesson1", Options(workers=workers, quiet=True))
    finally:
        os.chdir(here)
    if publish:
        room.stock("generate_feedback", "lesson1", "--CourseDirectory.student_id=*-b-*")
    scores = room.scores()
    outcomes = []
    for number, attack in enumerate(attacks):
        student = student_of(number, attack)
        found = Outcome(
            attack, scores.get(student, {}), [*summary.look.get(student, []), *summary.notes.get(student, [])]
        )
        found.leaks = leaks(room, student)
        outcomes.append(found)
    return Result(
        outcomes,
        {s: v for s, v in scores.items() if s.endswith("-a-neighbour")},
        [line for line in survivors() if line not in others],
        sorted(name for name, digest in (before.items() ^ fingerprint(room.folder).items())),
        extra_rows(room, 2 * len(attacks) + 1),
        summary.status,
        dict(summary.ours),
    )


def leaks(room: Classroom, student: str) -> list[str]:
    """Words that must be in no byte which this student can receive."""
    received = b""
    for step in ("autograded", "feedback"):
        for path in sorted((room.folder / step / student).rglob("*")):
            received += str(path.relative_to(room.folder)).encode() + b"\0"
            if path.is_file():
                received += path.read_bytes()
    text = received.decode("utf-8", "replace")
    found = [word for word in (HIDDEN, OTHER, FOLDER, GRADES, *ARGUMENTS) if word in text]
    page = Page()
    for path in (room.folder / "feedback" / student).rglob("*.html"):
        page.feed(path.read_text(errors="replace"))
    return found + page.running


class Page(HTMLParser):
    """What in a page would run, as a browser reads it; a student's source may say anything, as text."""

    def __init__(self) -> None:
        super().__init__()
        self.running: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ACTIVE:
            self.running.append(f"<{tag}>")
        for name, value in attrs:
            squeezed = "".join((value or "").split()).lower()
            if name.startswith("on") or squeezed.startswith(("javascript:", "vbscript:", "data:text/html")):
                self.running.append(f"{tag} {name}={value}")
            if name in ("src", "href", "action", "srcset", "poster") and squeezed.startswith(("http:", "//")):
                self.running.append(f"{tag} {name}={value}")


def survivors() -> list[str]:
    """Runners, or processes of users that only our sandbox makes, that are left on this machine and are ours."""
    left = []
    for pid in watch.descendants(os.getpid()):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if "specdec_inside" in words or "bwrap" in words:
            left.append(f"{pid} {words[:60]}")
    return left


def extra_rows(room: Classroom, students: int) -> list[str]:
    """What the gradebook holds beyond one row a test for each student."""
    wrong = []
    if (count := room.query("SELECT count(*) FROM student")[0][0]) != students:
        wrong.append(f"{count} students instead of {students}")
    for student, found in room.scores().items():
        if found.keys() != FULL.keys():
            wrong.append(f"{student}: rows {sorted(found)}")
    for table, condition in (
        ("grade", "manual_score IS NOT NULL OR needs_manual_grade"),
        ("comment", "manual_comment IS NOT NULL"),
    ):
        if rows := room.query(f"SELECT count(*) FROM {table} WHERE {condition}")[0][0]:
            wrong.append(f"{rows} rows of {table} were changed by hand")
    return wrong


__all__ = ["ATTACKS", "FULL", "ZERO", "Outcome", "Result", "course", "run"]
