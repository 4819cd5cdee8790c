"""Stock nbgrader commands as people type them, each with a folder and a home of their own."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Person:
    """Somebody with a folder and a home of their own, who types nbgrader commands."""

    folder: Path
    home: Path

    def nbgrader(self, *words: str) -> str:
        """Run one stock command in the person's folder; returns what it logged."""
        environment = {
            **os.environ,
            # nbgrader calls alembic by its bare name
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "JUPYTER_CONFIG_DIR": str(self.home / "jupyter"),
            "JUPYTER_DATA_DIR": str(self.home / "share"),
        }
        command = [sys.executable, "-m", "nbgrader", *words]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, (
            f"nbgrader {' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
        return done.stdout + done.stderr

    def scores(self) -> dict[tuple[str, str], tuple[float, float]]:
        """{(student, lesson): (score, most)} as `nbgrader export` writes them."""
        self.nbgrader("export", "--to", "grades.csv")
        with (self.folder / "grades.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {
            (r["student_id"], r["assignment"]): (float(r["score"] or 0), float(r["max_score"])) for r in rows
        }


def home(root: Path, name: str) -> Path:
    folder = root / "homes" / name
    folder.mkdir(parents=True)
    return folder
