"""One JupyterLab, one Chromium, and copies of the release notebooks, shared by all browser tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from lab import CHROMIUM, Lab, browser, lab
from playwright.sync_api import Browser
from screenshots import notebook

RELEASE = Path(__file__).parents[2] / "release"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    if not Path(CHROMIUM).exists():
        if os.environ.get("CI"):
            pytest.fail(f"no {CHROMIUM}: the browser tests need Debian's package chromium")
        pytest.skip(f"no {CHROMIUM}: install Debian's package chromium to run the browser tests")
    root = tmp_path_factory.mktemp("course")
    for path in RELEASE.glob("lesson*/*.ipynb"):
        shutil.copy(path, root / f"{path.parent.name}.ipynb")
    for name, lessons in (("all", range(1, 7)), ("twice", (4, 4))):
        nbformat.write(notebook(*(f"lesson{n}" for n in lessons)), root / f"{name}.ipynb")
    with lab(root) as running:
        yield running


@pytest.fixture(scope="session")
def chromium(server: Lab) -> Iterator[Browser]:
    with browser() as running:
        yield running
