"""A quick start: what is not imported, what stands in for nbgrader's own and must agree, who is started when."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from classroom import Classroom
from grading_sample import RIGHT, release
from jails import sealed_modes

from specdec_helpers.grading import pool, tables
from specdec_helpers.grading.collect import _utc
from specdec_helpers.grading.course import Course
from specdec_helpers.grading.directory import CourseDirectory, Settings
from specdec_helpers.grading.limits import Limits
from specdec_helpers.grading.tasks import Lesson, Outcome, Task

HEAVY = (
    "nbgrader",
    "nbconvert",
    "nbformat",
    "jupyter_server",
    "IPython",
    "matplotlib",
    "ipywidgets",
    "jsonschema",
)
WORKER = "import specdec_helpers.grading.pool, specdec_helpers.grading.work"
DRIVER = (
    "from specdec_helpers.grading import batch, desk\n"
    "from specdec_helpers.grading.course import Course\n"
    "course = Course.here()\n"
    "with desk.open_desk(course, 'lesson1', print): pass"
)


def imported(code: str, folder: Path) -> set[str]:
    """The packages that a new process has imported after running some code in a folder."""
    code += "\nimport sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_neither_driver_nor_worker_imports_what_it_does_not_need(tmp_path: Path) -> None:
    room = Classroom(tmp_path / "course")
    room.submit("a", release(**RIGHT))
    with Course.here(str(room.folder)).book("lesson1", Course.here(str(room.folder)).masters("lesson1")):
        pass  # registered: from now on nbgrader itself has nothing to do
    assert not imported(WORKER, room.folder) & {*HEAVY, "sqlalchemy"}
    assert not imported(DRIVER, room.folder) & {*HEAVY, "numpy"}


# What stands in for nbgrader's own ----------------------------------------------------------------------------------


def test_the_tables_are_nbgraders() -> None:
    from nbgrader.api import Base

    theirs = Base.metadata.tables
    for name, table in tables.metadata.tables.items():
        for column in table.columns:
            other = theirs[name].columns[column.name]
            assert str(column.type) == str(other.type), f"{name}.{column.name}"
            assert column.primary_key == other.primary_key or name.endswith(("cells", "course", "student"))
            assert (column.default is None) == (other.default is None), f"{name}.{column.name}"
            if column.default is not None and not callable(column.default.arg):
                assert column.default.arg == other.default.arg
        written = {"submitted_assignment", "submitted_notebook", "grade", "comment", "student"}
        needed = {
            c.name for c in theirs[name].columns if c.default is not None or not (c.nullable or c.primary_key)
        }
        assert name not in written or needed <= set(table.columns.keys()), (
            f"{name} lacks a column that must be set"
        )


def test_the_course_directory_is_nbgraders() -> None:
    from nbgrader.coursedir import CourseDirectory as Theirs

    ours, theirs = CourseDirectory(root="/a b"), Theirs(root="/a b")
    assert set(ours.traits(config=True)) == set(theirs.traits(config=True))
    for name in theirs.traits(config=True):
        assert getattr(ours, name) == getattr(theirs, name), name
    for structure in (
        theirs.directory_structure,
        "{assignment_id}/x/{nbgrader_step}/{student_id}",
        "/top/{student_id}",
    ):
        ours.directory_structure = theirs.directory_structure = structure
        for escape in (False, True):
            words = ("submitted", "(?P<student>.*)", "lesson1", escape)
            assert ours.format_path(*words) == theirs.format_path(*words)


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-02 03:04:05.678901 UTC",
        "2026-01-02 03:04:05 UTC",
        "2026-01-02 03:04:05 Europe/Berlin",
        "2026-01-02 03:04:05 3600",
        "2026-01-02 03:04:05 -7200",
        "2026-01-02T03:04:05+02:00",
        "2026-07-02 03:04:05 nowhere",
        "2 Jan 2026",
        "2026-01-02",
        "yesterday",
        "2026-13-02 03:04:05 UTC",
        "",
        "1 2 3",
    ],
)
def test_time_stamps_are_read_as_nbgrader_reads_them(text: str) -> None:
    from nbgrader.utils import parse_utc

    def read(how: Callable[[str], datetime.datetime]) -> datetime.datetime | None:
        try:
            return how(text)
        except (ValueError, OverflowError, TypeError, AttributeError):
            return None

    assert read(_utc) == read(parse_utc)


CONFIGS = {
    "plain": "c.CourseDirectory.course_id = ' spaced '\nc.CourseDirectory.submitted_directory = 'handed in'",
    "database": "c.CourseDirectory.db_url = 'sqlite:///elsewhere.db'\nc.CourseDirectory.groupshared = True",
    "old names": "c.NbGrader.course_id = 'old'\nc.NbGrader.db_url = 'sqlite:///old.db'",
    "old exchange": "c.Exchange.course_id = 'older'",
    "limits": "c.SpecDec.limits = {'cell_seconds': 7}\nc.SpecDec.mode = 'plain'",
}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("inside", [True, False], ids=["inside", "elsewhere"])
def test_the_configuration_is_read_as_nbgrader_reads_it(
    config: str, inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbgrader.apps import NbGrader

    home, course = tmp_path / "home", tmp_path / "course"
    for folder in (home, course):
        folder.mkdir()
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(home))
    (home / "nbgrader_config.py").write_text(
        "c = get_config()\nc.CourseDirectory.course_id = 'from home'\nc.CourseDirectory.source_directory = 'masters'\n"
    )
    (course / "nbgrader_config.py").write_text(f"c = get_config()\n{config}\n")
    monkeypatch.chdir(course if inside else home)
    root = "" if inside else str(course)
    theirs = NbGrader()
    theirs.initialize([], root=root)
    ours = Course.here(root)
    for name in CourseDirectory.class_traits(config=True):
        assert getattr(ours.directory, name) == getattr(theirs.coursedir, name), name
    assert ours.app.config.SpecDec == theirs.config.SpecDec
    same = ours.nbgrader()
    assert not isinstance(same.app, Settings)
    for name in CourseDirectory.class_traits(config=True):
        assert getattr(same.directory, name) == getattr(theirs.coursedir, name), name


# Who is started when ------------------------------------------------------------------------------------------------


class Work:
    """Tasks that look at how many workers there are before the first one is taken."""

    def __init__(self, count: int) -> None:
        self.count, self.workers = count, -1

    def __length_hint__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Task]:
        import multiprocessing

        self.workers = len(multiprocessing.active_children())
        return iter([Task(f"s{i}", {}, 1) for i in range(self.count)])


def quick(task: Task) -> Outcome:
    return Outcome(task.student)


@pytest.mark.parametrize(("count", "started"), [(0, 0), (1, 1), (5, 2)])
def test_workers_start_before_the_first_task_and_no_more_than_there_is_work_for(
    count: int, started: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_do", quick)
    tasks = Work(count)
    outcomes = list(pool.run_local(Lesson("lesson1", {}, Limits()), tasks, 2))
    assert (tasks.workers, len(outcomes)) == (started, count)


@pytest.mark.skipif(not sealed_modes(), reason="needs bubblewrap")
def test_fonts_that_are_read_late_are_all_there() -> None:
    from specdec_helpers.grading.sandbox import Jail

    cell = (
        "import matplotlib.pyplot as plt\nfrom matplotlib import font_manager as f\n"
        "own = f.FontManager()\n"
        "names = lambda m: sorted((e.name, e.style, e.weight) for e in m.afmlist)\n"
        "print(names(f.fontManager) == names(own), len(own.afmlist) > 50)\n"
        "print(f.findfont('Courier', fontext='afm') == own.findfont('Courier', fontext='afm'))\n"
        "plt.rcParams['pdf.use14corefonts'] = True\nplt.title('a', family='Helvetica')\nplt.savefig('a.pdf')"
    )
    with Jail(mode="sealed") as jail, jail.session() as session:
        result = session.run_cell(cell, 1)
    assert result.error is None
    printed = "".join(o["text"] for o in result.outputs if o.get("name") == "stdout")
    assert printed == "True True\nTrue\n"
