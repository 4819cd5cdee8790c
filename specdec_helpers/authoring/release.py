"""What a student gets: a wheel of the upper half of the house, and one zip to unpack and run.

The wheel is made from a folder that holds the upper half and nothing else, so what is not copied cannot slip in.
Both files have the same bytes on every run: fixed dates, fixed modes, sorted names.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from .build import replace
from .course import BuildError

PACKAGE = "specdec_helpers"
STUDENT_PARTS = ("__init__.py", "cli.py", "checks", "explorers", "lm", "measuring")
FOLDER = "speculative-decoding"
PAGES = ("student.md", "glossary.md", "further_reading.md")  # of docs/, for the student's zip
EPOCH = 315532800  # 1980-01-01, the first day a zip can write
DATE = (1980, 1, 1, 0, 0, 0)
SKIPPED = shutil.ignore_patterns("__pycache__", "*.py[co]", ".*")
README = """In a terminal here (`py` on Windows, else `python3`, for `python`; if pip refuses: docs/student.md):
    python -m pip install -r requirements-student.txt {wheel}
    python -m jupyterlab lesson1/draft_and_verify.ipynb
"""


def student_pyproject(project: dict[str, Any], data: dict[str, Any]) -> str:
    """Return the student package's pyproject.toml: the same name and version, without the instructors' extras.

    Parameters
    ----------
    project : the [project] table of the repository's pyproject.toml
    data : its [tool.setuptools.package-data] table
    """

    def line(key: str, value: Any) -> str:
        return f"{key} = {json.dumps(value)}"

    keys = ("name", "version", "description", "requires-python", "license", "license-files", "dependencies")
    return "\n".join(
        [
            "[build-system]",
            line("requires", ["setuptools>=77"]),
            line("build-backend", "setuptools.build_meta"),
            "[project]",
            *(line(key, project[key]) for key in keys),
            "[project.scripts]",
            *(line(key, value) for key, value in project["scripts"].items()),
            "[tool.setuptools.packages.find]",
            line("include", [f"{PACKAGE}*"]),
            "[tool.setuptools.package-data]",
            *(line(key, value) for key, value in data.items()),
            "",
        ]
    )


def _lay_out(root: Path, folder: Path) -> None:
    """Copy the student's part of the repository into an empty folder, ready for setuptools."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    text = student_pyproject(settings["project"], settings["tool"]["setuptools"]["package-data"])
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    for name in ("LICENSE", "LICENSE-text"):
        shutil.copyfile(root / name, folder / name)
    for part in STUDENT_PARTS:
        source, target = root / PACKAGE / part, folder / PACKAGE / part
        if source.is_dir():
            shutil.copytree(source, target, ignore=SKIPPED, copy_function=shutil.copyfile)
        elif source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    for path in sorted(folder.rglob("*")):  # modes and dates go into the wheel
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (EPOCH, EPOCH))


def student_wheel(root: Path, target: Path) -> Path:
    """Make the student wheel in `target`; returns its path. BuildError with pip's words if it cannot be made."""
    with tempfile.TemporaryDirectory(prefix="specdec-wheel-") as temporary:
        folder, out = Path(temporary, "package"), Path(temporary, "out")
        folder.mkdir()
        _lay_out(root, folder)
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
        made = subprocess.run(
            [*command, "--wheel-dir", str(out), str(folder)],
            capture_output=True,
            text=True,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        )
        if made.returncode:
            raise BuildError(
                f"the student wheel could not be made:\n{(made.stdout + made.stderr).strip()[-2000:]}"
            )
        (wheel,) = out.glob("*.whl")
        replace(target / wheel.name, wheel.read_bytes())
        return target / wheel.name


def student_zip(root: Path, wheel: Path, target: Path) -> Path:
    """Pack notebooks, wheel, lock, the students' pages and three lines of README; returns the zip's path."""
    files = {path.relative_to(root / "release").as_posix(): path for path in _handed_out(root)}
    contents = {name: path.read_bytes() for name, path in files.items()}
    contents[wheel.name] = wheel.read_bytes()
    contents["requirements-student.txt"] = (root / "requirements-student.txt").read_bytes()
    for page in PAGES:
        if (root / "docs" / page).is_file():
            contents[f"docs/{page}"] = (root / "docs" / page).read_bytes()
    contents["README.txt"] = README.format(wheel=wheel.name).encode()
    handle, name = tempfile.mkstemp(prefix="specdec-zip-")
    os.close(handle)
    try:
        with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside in sorted(contents):
                entry = zipfile.ZipInfo(f"{FOLDER}/{inside}", DATE)
                entry.create_system, entry.external_attr = 3, 0o100644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, contents[inside])
        replace(target / f"{FOLDER}.zip", Path(name).read_bytes())
    finally:
        os.unlink(name)
    return target / f"{FOLDER}.zip"


def _handed_out(root: Path) -> list[Path]:
    """Return the files below release/ that students get: the notebooks, and data that a lesson ships beside them."""
    found = [
        path
        for path in sorted((root / "release").glob("lesson*/**/*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    ]
    if not any(path.suffix == ".ipynb" for path in found):
        raise BuildError("release/ holds no notebooks; run `make build` first")
    return found


def make_release(root: Path, target: Path) -> list[Path]:
    """Make wheel and zip in `target`, and remove wheels of other versions there; returns both paths."""
    target.mkdir(parents=True, exist_ok=True)
    wheel = student_wheel(root, target)
    for old in target.glob("*.whl"):
        if old != wheel:
            old.unlink()
    return [wheel, student_zip(root, wheel, target)]
