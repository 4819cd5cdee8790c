"""Wherever the package lies, the sandbox shows `inside/` and `lm` of it and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jails import sealed_modes

from specdec_helpers.grading import jail as walls
from specdec_helpers.grading.limits import Limits

pytestmark = pytest.mark.skipif(not sealed_modes(), reason="needs bubblewrap")
SCRIPT = """
import specdec_helpers
from specdec_helpers.grading.sandbox import Jail
print(specdec_helpers.__file__)
with Jail(mode="sealed") as jail, jail.session() as session:
    cell = '''
import glob, os, specdec_helpers
print(specdec_helpers.__file__)
print([os.listdir(path) for path in glob.glob('/python/site*/specdec_helpers')])
print(sorted(os.listdir('/python/inside/specdec_helpers')))
'''
    print(session.run_cell(cell).outputs[0]["text"])
"""


def test_installed_package_is_masked(tmp_path: Path) -> None:
    folder = tmp_path / "site-packages"
    shutil.copytree(walls.PACKAGE, folder / "specdec_helpers", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(folder)}, timeout=120,
    )  # fmt: skip
    assert done.stdout.split("\n")[:4] == [
        str(folder / "specdec_helpers" / "__init__.py"),
        "/python/inside/specdec_helpers/__init__.py",
        "[[]]",
        "['__init__.py', 'lm']",
    ], done.stderr[-2000:]


def test_only_what_is_needed_is_mounted() -> None:
    start = walls.plan("user", Limits(), 99, hide=("/usr/lib",))
    words = start.options.decode().split("\0")
    sources = [words[i + 1] for i, word in enumerate(words) if word.endswith("bind")]
    package = str(walls.PACKAGE)
    assert sorted(path.removeprefix(package) for path in sources if path.startswith(package)) == [
        "/grading/inside", "/grading/inside/stub.py", "/lm",
    ]  # fmt: skip
    assert not {"/", "/home", "/root", "/etc", "/var", "/usr", "/sys"} & set(sources)
    assert "--bind" not in words
    assert "--share-net" not in words
