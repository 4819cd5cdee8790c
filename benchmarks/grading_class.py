"""The class that the grading benchmark grades: honest submissions of every lesson, and a slow and hostile one."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = """import matplotlib.pyplot as plt
import numpy as np
for power in (1, 2):
    plt.figure(figsize=(6, 4))
    plt.plot(np.linspace(0, 1, 200) ** power, label=f"power {power}")
    plt.legend()
    plt.show()"""
STOCK = """c = get_config()
c.CourseDirectory.course_id = "specdec"
c.ExecutePreprocessor.timeout = 120
"""
HOSTILE = {
    "loop": "while True:\n    pass",
    "memory": "hoard = [bytearray(50_000_000) for _ in range(10_000)]",
    "exit": "import os\nos._exit(1)",
    "fork": "import os\nfor _ in range(1000):\n    os.fork()",
    "print": "while True:\n    print('x' * 1000)",
    "disk": "with open('big', 'wb') as file:\n    while True:\n        file.write(bytes(1_000_000))",
    "sleep": "import time\ntime.sleep(3600)",
}


def lessons() -> list[str]:
    """The lessons that are built."""
    return sorted(path.name for path in (ROOT / "source").glob("lesson*") if any(path.glob("*.ipynb")))


class Course:
    """A course folder in `folder` with one lesson's worth of sources, and submissions made from the release."""

    def __init__(self, folder: Path, stock: bool = False) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "source", folder / "source")
        if stock:
            (folder / "nbgrader_config.py").write_text(STOCK)
        else:
            shutil.copy(ROOT / "nbgrader_config.py", folder)

    def hand_in(self, lesson: str, count: int) -> list[str]:
        """`count` honest submissions: right, half right, plotting, in turn."""
        release, name, solutions = _lesson(lesson)
        students = []
        for i in range(count):
            kind = ("right", "half", "plots")[i % 3]
            some = list(solutions.items())[: len(solutions) // 2] if kind == "half" else solutions.items()
            extra = FIGURES if kind == "plots" else ""
            student = f"{kind}{i:04}"
            self._write(student, lesson, name, _filled(release, dict(some), extra))
            students.append(student)
        return students

    def hand_in_hostile(self, lesson: str) -> list[str]:
        """One submission of every hostile kind."""
        release, name, solutions = _lesson(lesson)
        for kind, source in HOSTILE.items():
            self._write(kind, lesson, name, _filled(release, solutions, source))
        return list(HOSTILE)

    def _write(self, student: str, lesson: str, name: str, notebook: Any) -> None:
        place = self.folder / "submitted" / student / lesson
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(json.dumps(notebook, indent=1))


def _lesson(lesson: str) -> tuple[Any, str, dict[str, str]]:
    path = next((ROOT / "release" / lesson).glob("*.ipynb"))
    source = json.loads((ROOT / "source" / lesson / path.name).read_bytes())
    solutions = {
        cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
        for cell in source["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }
    return json.loads(path.read_bytes()), path.name, solutions


def _filled(release: Any, answers: dict[str, str], extra: str) -> Any:
    notebook = copy.deepcopy(release)
    for cell in notebook["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in answers:
            cell["source"] = answers[grade_id]
    if extra:
        cell = {"cell_type": "code", "execution_count": None, "id": "extra", "metadata": {}, "outputs": []}
        notebook["cells"].insert(3, {**cell, "source": extra})
    return notebook
