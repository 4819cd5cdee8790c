"""`python -m specdec_helpers.authoring.copies release lessons`: give a learner copies to work in.

The committed notebooks stay as they were built, and a learner's own copy is never overwritten.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def copy_missing(source: Path, target: Path) -> list[Path]:
    """Copy every file below `source` that `target` does not have yet; returns the new paths.

    Raises
    ------
    FileNotFoundError
        `source` holds no notebook.
    """
    files = sorted(
        path for path in source.rglob("*") if path.is_file() and ".ipynb_checkpoints" not in path.parts
    )
    if not any(path.suffix == ".ipynb" for path in files):
        raise FileNotFoundError(f"{source} holds no notebooks; run `make build` first")
    made = []
    for path in files:
        copy = target / path.relative_to(source)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            made.append(copy)
    return made


if __name__ == "__main__":
    new = copy_missing(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{len(new)} new files in {sys.argv[2]}/ (what you already worked on is left alone)")
