"""What students get: opened, searched for what must not be in it, installed afresh, and run to the end."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from small_course import REPOSITORY

from specdec_helpers.authoring.course import BuildError
from specdec_helpers.authoring.release import FOLDER, STUDENT_PARTS, make_release

FORBIDDEN_PARTS = ("reference", "trials", "grading", "authoring")
MARKER = "PLANTED-b41d7c"

RUN_ALL = """
import sys, nbformat
from nbclient import NotebookClient
from pathlib import Path
path = Path(sys.argv[1])
notebook = nbformat.read(path, 4)
place = {"metadata": {"path": str(path.parent)}}
NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        text = str(output)
        assert output.output_type != "error" and "Traceback" not in text, text
        assert output.get("name") != "stderr", text
print("ran", sum(cell.cell_type == "code" for cell in notebook.cells), "cells")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with a marker planted in every file that students must not get."""
    root = tmp_path_factory.mktemp("a copy")
    for name in ("specdec_helpers", "release", "source", "course", "docs"):
        shutil.copytree(REPOSITORY / name, root / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    for name in ("pyproject.toml", "LICENSE", "LICENSE-text", "requirements-student.txt"):
        shutil.copy(REPOSITORY / name, root / name)
    for part in FORBIDDEN_PARTS:
        for path in (root / "specdec_helpers" / part).rglob("*.py"):
            path.write_text(f"# {MARKER}\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    (root / "specdec_helpers" / "checks" / ".secret.json").write_text(MARKER)
    (root / "specdec_helpers" / "notes_of_mine.py").write_text(f"# {MARKER}\n")
    (root / "release" / "lesson1" / ".ipynb_checkpoints").mkdir()
    (root / "release" / "lesson1" / ".ipynb_checkpoints" / "draft.ipynb").write_text(MARKER)
    (root / "release" / "grades.csv").write_text(MARKER)
    (root / "docs" / "instructor.md").write_text(MARKER)
    return root


@pytest.fixture(scope="module")
def released(copy: Path) -> tuple[Path, Path]:
    wheel, archive = make_release(copy, copy / "dist" / "student")
    return wheel, archive


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def everything(released: tuple[Path, Path]) -> dict[str, bytes]:
    """Every file that a student can open, the wheel's included."""
    wheel, archive = released
    return {**contents(archive), **contents(wheel)}


def test_the_wheel_holds_the_upper_half_and_nothing_else(released: tuple[Path, Path]) -> None:
    names = contents(released[0])
    inside = {name.split("/")[1] for name in names if name.startswith("specdec_helpers/")}
    assert inside == set(STUDENT_PARTS)
    assert not [name for name in names if set(re.split(r"[/.]", name)) & set(FORBIDDEN_PARTS)]
    assert {name.split("/")[0] for name in names} == {"specdec_helpers", "specdec_helpers-1.0.0.dist-info"}
    metadata = names["specdec_helpers-1.0.0.dist-info/METADATA"].decode()
    assert "nbgrader" not in metadata
    assert "numpy" in metadata


def test_the_wheel_has_all_that_the_upper_half_has(released: tuple[Path, Path]) -> None:
    names = set(contents(released[0]))
    tracked = [
        path.relative_to(REPOSITORY).as_posix()
        for part in STUDENT_PARTS
        for path in (REPOSITORY / "specdec_helpers" / part).rglob("*")
        if path.suffix in {".py", ".json", ".npz", ".xz", ".txt"} and "__pycache__" not in path.parts
    ]
    assert tracked
    assert [name for name in tracked if name not in names] == []


def test_the_zip_holds_notebooks_wheel_lock_and_three_lines(released: tuple[Path, Path]) -> None:
    wheel, archive = released
    files = contents(archive)
    notebooks = {
        path.relative_to(REPOSITORY / "release").as_posix()
        for path in REPOSITORY.glob("release/lesson*/*.ipynb")
    }
    pages = {f"docs/{name}.md" for name in ("student", "glossary", "further_reading")}
    expected = {*notebooks, *pages, wheel.name, "requirements-student.txt", "README.txt"}
    assert set(files) == {f"{FOLDER}/{name}" for name in expected}
    readme = files[f"{FOLDER}/README.txt"].decode()
    assert len(readme.splitlines()) == 3
    assert wheel.name in readme
    assert files[f"{FOLDER}/{wheel.name}"] == wheel.read_bytes()


def test_no_marker_planted_in_the_instructors_files_comes_through(released: tuple[Path, Path]) -> None:
    for name, data in everything(released).items():
        assert MARKER.encode() not in data, name


def test_no_solution_hidden_test_or_note_is_in_what_students_get(released: tuple[Path, Path]) -> None:
    bodies = solution_bodies()
    assert len(bodies) >= 3
    notes = re.findall(
        r"# note [^:]+: (.{20,})",
        "\n".join(p.read_text("utf-8") for p in REPOSITORY.glob("course/lesson*.py")),
    )
    assert notes
    for name, data in everything(released).items():
        if name.endswith((".npz", ".xz", ".whl")):
            continue
        text = data.decode("utf-8")
        if name.endswith(".ipynb"):
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        for words in ("BEGIN HIDDEN TESTS", "BEGIN SOLUTION", "ANSWERS =", "ANSWERS:"):
            assert words not in text, (name, words)
        for note in notes:
            assert note not in text, (name, note)
        for function, body in defined(text) if name.endswith(".py") else ():
            assert (function, body) not in bodies, (name, function)


def defined(text: str) -> list[tuple[str, str]]:
    """(name, body) of every function in a source text, docstrings left out, spelled in one way."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            body = [
                s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
            ]
            found.append((node.name, "\n".join(ast.unparse(statement) for statement in body)))
    return found


def solution_bodies() -> set[tuple[str, str]]:
    """The bodies of the reference's public functions and of the lessons' solution cells."""
    texts = [
        path.read_text(encoding="utf-8")
        for path in (REPOSITORY / "specdec_helpers/reference").glob("lesson*.py")
    ]
    for path in REPOSITORY.glob("source/lesson*/*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts += ["".join(c["source"]) for c in cells if c["metadata"].get("nbgrader", {}).get("solution")]
    return {pair for text in texts for pair in defined(text) if not pair[0].startswith("_")}


def test_the_same_bytes_on_every_run(copy: Path, released: tuple[Path, Path]) -> None:
    before = [path.read_bytes() for path in released]
    for path in (copy / "specdec_helpers" / "checks").rglob("*.py"):
        path.touch()  # another clone has other dates
    again = make_release(copy, copy / "dist" / "again")
    assert [path.read_bytes() for path in again] == before


def test_wheels_of_other_versions_are_removed(copy: Path, released: tuple[Path, Path]) -> None:
    old = released[0].with_name("specdec_helpers-0.9.0-py3-none-any.whl")
    old.write_bytes(b"old")
    make_release(copy, released[0].parent)
    assert not old.exists()


def test_without_notebooks_there_is_no_release(copy: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    shutil.copytree(copy, empty, ignore=shutil.ignore_patterns("release", "dist"))
    (empty / "release").mkdir()
    with pytest.raises(BuildError, match="release/ holds no notebooks; run `make build` first"):
        make_release(empty, empty / "dist")


def test_a_student_unpacks_installs_and_runs_every_lesson_to_the_end(
    released: tuple[Path, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(released[1]) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / FOLDER
    python = fresh_environment(tmp_path / "env", folder / released[0].name)

    refused = subprocess.run(
        [python, "-m", "specdec_helpers.cli", "build"], capture_output=True, text=True, cwd=folder
    )
    assert refused.returncode == 2
    assert "'build' is not part of the student package" in refused.stderr
    for part in FORBIDDEN_PARTS:
        gone = subprocess.run(
            [python, "-c", f"import specdec_helpers.{part}"], capture_output=True, text=True, cwd=folder
        )
        assert "ModuleNotFoundError" in gone.stderr

    notebooks = sorted(folder.glob("lesson*/*.ipynb"))
    assert notebooks
    for notebook in notebooks:
        ran = subprocess.run(
            [python, "-c", RUN_ALL, str(notebook)],
            capture_output=True,
            text=True,
            cwd=notebook.parent,
            timeout=300,
        )
        assert ran.returncode == 0, f"{notebook.name}\n{ran.stdout}\n{ran.stderr[-3000:]}"


def fresh_environment(folder: Path, wheel: Path) -> str:
    """A new environment with the student wheel; it borrows the locked packages of the one that runs the tests.

    A plain path in a .pth file lends the packages but not this repository's editable install.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    site = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    (Path(site) / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        "--quiet",
    ]
    subprocess.run(
        [*install, str(wheel)], check=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    )
    return str(python)
