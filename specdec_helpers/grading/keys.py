"""What a result depends on, as digests: change one byte of it and the submission is graded again."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .limits import Limits
from .master import Master

PACKAGES = ("numpy", "matplotlib", "ipython", "ipywidgets", "nbgrader", "bleach")
HOUSE = Path(__file__).resolve().parents[1]
# Doorways: they carry results about and cannot change a score. Every other module of grading/ counts.
_DOORWAYS = """
    batch cluster collect commands course demo desk directory doctor door feedback gradebook keys page patience pool
    publish report report_page store table tables tasks work
"""
DOORWAYS = frozenset(_DOORWAYS.split())


def digest(*parts: object) -> str:
    """A short digest of printable parts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:32]


@cache
def environment() -> str:
    """Digest of the interpreter and the packages that a student's code and our tests run on."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} -")
    return digest(platform.python_version(), platform.machine(), *found)


@cache
def machinery() -> str:
    """Digest of the code that all lessons share: the engine, the shared checks and trials, the models."""
    shared = [path for path in (HOUSE / "checks").glob("*.py") if not path.stem.startswith("lesson")]
    shared += [HOUSE / "trials" / "base.py", *(HOUSE / "lm").rglob("*.py"), *(HOUSE / "lm").rglob("*.npz")]
    shared += [path for path in (HOUSE / "grading").glob("*.py") if path.stem not in DOORWAYS]
    shared += list((HOUSE / "grading" / "inside").rglob("*.py"))
    return _files(shared)


def tests_key(lesson: str, masters: Mapping[str, Master]) -> str:
    """Digest of a lesson's tests: its notebooks, hidden trials, reference, checks, and the shared machinery."""
    own = [HOUSE / part / f"{lesson}.py" for part in ("trials", "reference", "checks")]
    own += [
        path for part in ("trials", "reference", "checks") for path in (HOUSE / part).glob(f"{lesson}_*.py")
    ]
    own.append(HOUSE / "checks" / "notes.json")
    return digest(machinery(), _files(own), *(masters[name].sha for name in sorted(masters)))


def result_key(submission: str, tests: str, limits: Limits, seed: int, extra: str = "") -> str:
    """The key of one result: submission bytes, test bytes, environment, limits, seed, way of running."""
    return digest(submission, tests, environment(), json.dumps(limits.as_dict(), sort_keys=True), seed, extra)


def _files(paths: Iterable[Path]) -> str:
    parts = []
    for path in sorted(set(paths)):
        if path.is_file():
            parts.append(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}")
    return digest(*parts)
