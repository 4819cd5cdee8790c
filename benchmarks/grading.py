"""Grading beside stock nbgrader: throughput, CPU, where the time goes, and a long class.

    python benchmarks/grading.py                 # stock, our stock-command door, batch on 1 and 2 workers, profile
    python benchmarks/grading.py --scale 1000    # one long batch: speed, memory and descriptors as it goes

Every figure of one run comes from the same machine within minutes. "CPU" is user + system of the command and all its
children. The floor is a fork of a warm interpreter and the bare cells of the same notebooks, tests included.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading_class import Course, lessons

BIN = Path(sys.executable).parent
QUERY = (
    "SELECT s.student_id, a.name, c.name, g.auto_score FROM grade g JOIN base_cell c ON c.id = g.cell_id "
    "JOIN submitted_notebook n ON n.id = g.notebook_id JOIN submitted_assignment s ON s.id = n.assignment_id "
    "JOIN assignment a ON a.id = s.assignment_id"
)


@dataclass
class Timing:
    """What a way of grading took for `count` submissions (s)."""

    name: str
    count: int
    wall: float
    cpu: float

    @property
    def rate(self) -> float:
        return self.count / self.wall

    def line(self, base: Timing | None) -> str:
        gain = f"{self.rate / base.rate:8.1f}x" if base else f"{'':>9}"
        each = 1000 * self.cpu / self.count
        return f"{self.name:<34}{self.count:>6}{self.wall:>9.1f}{self.rate:>10.2f}{each:>12.0f}{gain}"


class Meter:
    """CPU seconds of a command and all its descendants, also those that are killed inside a sandbox.

    A control group counts exactly (needs root); without one, the resource usage of waited-for children is taken,
    which misses sandboxes that were killed.
    """

    def __init__(self) -> None:
        self.folder, self.file, self.unit = None, "", 1.0
        for base, file, unit in (("cpuacct", "cpuacct.usage", 1e-9), ("", "cpu.stat", 1e-6)):
            folder = Path("/sys/fs/cgroup", base, f"specdec-bench-{os.getpid()}")
            try:
                folder.mkdir()
            except OSError:
                continue
            if (folder / file).exists():
                self.folder, self.file, self.unit = folder, file, unit
                return
            folder.rmdir()

    def read(self) -> float:
        if self.folder is None:
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        text = (self.folder / self.file).read_text()
        number = text.split()[1] if self.file == "cpu.stat" else text
        return int(number) * self.unit

    def wrap(self, words: list[str]) -> list[str]:
        if self.folder is None:
            return words
        return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(self.folder), *words]

    def close(self) -> None:
        if self.folder is not None:
            with contextlib.suppress(OSError):
                self.folder.rmdir()


METER = Meter()


def command(course: Course, *words: str, allow: tuple[int, ...] = (0,)) -> tuple[float, float]:
    """Run a command in a course folder; (wall, CPU) seconds."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # with it, every start compiles everything again
    before, began = METER.read(), time.perf_counter()
    done = subprocess.run(
        METER.wrap([str(BIN / words[0]), *words[1:]]),
        cwd=course.folder, capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    wall = time.perf_counter() - began
    if done.returncode not in allow:
        said = f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{said}")
    return wall, METER.read() - before


def scores(course: Course) -> dict[tuple[str, str, str], float]:
    with sqlite3.connect(course.folder / "gradebook.db") as db:
        return {(student, lesson, name): score for student, lesson, name, score in db.execute(QUERY)}


def grade_all(
    course: Course, which: list[str], *words: str, allow: tuple[int, ...] = (0,)
) -> tuple[float, float]:
    walls = [
        command(course, *[lesson if w == "LESSON" else w for w in words], allow=allow) for lesson in which
    ]
    return sum(w for w, _ in walls), sum(c for _, c in walls)


def floor(course: Course, which: list[str]) -> Timing:
    """A warm interpreter, a fork, the bare cells: in a process of its own, so that its children alone are counted."""
    script = Path(__file__).with_name("grading_floor.py")
    paths = [
        str(path) for lesson in which for path in sorted(course.folder.glob(f"submitted/*/{lesson}/*.ipynb"))
    ]
    done = subprocess.run(
        [sys.executable, str(script)],
        input=json.dumps(paths),
        capture_output=True,
        text=True,
        check=False,
        cwd=course.folder,
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    wall, cpu = json.loads(done.stdout.splitlines()[-1])
    return Timing("fork + bare cells, warm (floor)", len(paths), wall, cpu)


def compare(folder: Path, stock_count: int, count: int) -> None:
    which = lessons()
    timings: list[Timing] = []
    head = f"{'':<34}{'count':>6}{'wall s':>9}{'per s':>10}{'CPU ms each':>12}{'against stock':>14}"
    print(head, flush=True)
    stock = Course(folder / "stock", stock=True)
    for lesson in which:
        stock.hand_in(lesson, stock_count)
        command(stock, "nbgrader", "generate_assignment", lesson, "--force")
    wall, cpu = grade_all(stock, which, "nbgrader", "autograde", "LESSON")
    timings.append(Timing("stock nbgrader autograde", stock_count * len(which), wall, cpu))
    base = timings[0]
    print(base.line(None), flush=True)
    ours: dict[str, dict[tuple[str, str, str], float]] = {"stock": scores(stock)}
    ways = [
        ("nbgrader autograde, our door", ("nbgrader", "autograde", "LESSON")),
        ("specdec autograde, 1 worker", ("specdec", "autograde", "LESSON", "--workers", "1")),
        ("specdec autograde, 2 workers", ("specdec", "autograde", "LESSON", "--workers", "2")),
    ]
    for i, (name, words) in enumerate(ways):
        course = Course(folder / f"way{i}")
        for lesson in which:
            course.hand_in(lesson, count)
            command(course, "nbgrader", "generate_assignment", lesson, "--force")
        wall, cpu = grade_all(course, which, *words)
        timings.append(Timing(name, count * len(which), wall, cpu))
        print(timings[-1].line(base), flush=True)
        ours[name] = scores(course)
    bottom = floor(course, which)
    print(bottom.line(base), flush=True)
    batch = timings[3]
    print(f"\nbatch on 2 workers: {batch.rate / base.rate:.0f} times stock's throughput (goal 50)")
    times = batch.cpu / batch.count / (bottom.cpu / bottom.count)
    print(f"CPU of the batch against the floor: {times:.1f} times (goal 4)")
    for name, found in ours.items():
        different = [key for key in ours["stock"] if abs(found.get(key, -1) - ours["stock"][key]) > 1e-9]
        print(f"scores equal to stock's, {name}: {'yes' if not different else f'NO: {different[:5]}'}")


def hostile(folder: Path, count: int) -> None:
    """A class in which every hostile kind takes part: the honest ones are not held up beyond one slot."""
    course = Course(folder / "hostile")
    with open(course.folder / "nbgrader_config.py", "a") as file:
        file.write('\nc.SpecDec.limits = {"cell_seconds": 5, "notebook_seconds": 15}\n')
    course.hand_in("lesson1", count)
    bad = course.hand_in_hostile("lesson1")
    wall, cpu = command(course, "specdec", "autograde", "lesson1", "--workers", "2", allow=(0, 1))
    rows = {student for student, _, _ in scores(course)}
    print(f"\n{count} honest and {len(bad)} hostile on 2 workers, 5 s a cell:", end=" ")
    print(f"{wall:.1f} s, CPU {cpu:.1f} s, {len(rows)} rows")


def scale(folder: Path, count: int) -> None:
    """One long class: time, driver memory and descriptors for every hundred."""
    from specdec_helpers.grading import batch
    from specdec_helpers.grading.course import Course as Folder

    course = Course(folder / "scale")
    course.hand_in("lesson1", count)
    real, marks = batch.Progress.step, [(0, time.perf_counter(), *_state())]

    def step(self: Any, look: bool) -> None:
        real(self, look)
        if self.done % max(count // 10, 1) == 0:
            marks.append((self.done, time.perf_counter(), *_state()))

    batch.Progress.step = step  # type: ignore[method-assign]
    summary = batch.run_batch(
        Folder.here(str(course.folder)), "lesson1", batch.Options(workers=2, quiet=True)
    )
    print(f"\n{count} submissions of lesson1, 2 workers: {summary.seconds:.1f} s, status {summary.status}")
    print(f"{'done':>6}{'s for these':>13}{'driver MB':>11}{'descriptors':>13}")
    for (_, began, *_), (done, ended, memory, files) in itertools.pairwise(marks):
        print(f"{done:>6}{ended - began:>13.2f}{memory:>11.1f}{files:>13}")
    began = time.perf_counter()
    again = batch.run_batch(Folder.here(str(course.folder)), "lesson1", batch.Options(workers=2, quiet=True))
    print(f"a second run: {len(again.unchanged)} unchanged in {time.perf_counter() - began:.2f} s")


def _state() -> tuple[float, int]:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6, len(
            os.listdir("/proc/self/fd")
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stock", type=int, default=3, help="submissions of each lesson for stock nbgrader")
    parser.add_argument(
        "--count", type=int, default=170, help="submissions of each lesson for ours (six lessons: a thousand)"
    )
    parser.add_argument("--scale", type=int, default=0, help="instead: one class of this many")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(
        f"{os.cpu_count()} cores, load {load:.1f}, Python {sys.version.split()[0]}, {len(lessons())} lessons",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="specdec-bench-") as place:
        if options.scale:
            scale(Path(place), options.scale)
            return 0
        compare(Path(place), options.stock, options.count)
        hostile(Path(place), 30)
        from grading_profile import profile

        profile(Path(place), min(options.count, 30))
    METER.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
