"""Save screenshots of the explorers, light and dark, wide and narrow, to look at.

Run as `python tests/browser/screenshots.py FOLDER [LESSON …]`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from lab import Notebook, browser, lab


def notebook(*lessons: str) -> nbformat.NotebookNode:
    """Return a notebook with a cell for each explorer."""
    start = "from specdec_helpers.explorers import explore\n"
    cells = [nbformat.v4.new_code_cell(f'{start}explore("{lesson}")') for lesson in lessons]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def main(folder: Path, lessons: list[str]) -> None:
    """Write FOLDER/lessonN-theme-width.png."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for lesson in lessons:
            nbformat.write(notebook(lesson), root / f"{lesson}.ipynb")
        with lab(root) as server, browser() as chromium:
            for lesson in lessons:
                for theme, width in (("light", 1000), ("dark", 1000), ("dark", 400)):
                    shown = Notebook(chromium, server, f"{lesson}.ipynb", theme, width, 1500)
                    shown.run_all()
                    shown.explorer(lesson)
                    shown.page.wait_for_selector(".specdec-picture")
                    shown.page.screenshot(path=str(folder / f"{lesson}-{theme}-{width}.png"))
                    print(lesson, theme, width, shown.errors)
                    shown.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or [f"lesson{n}" for n in range(1, 7)])
