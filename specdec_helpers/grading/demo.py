"""`make demo`: a small class is graded end to end in a folder of its own, and its table of scores is printed."""

from __future__ import annotations

import argparse
import copy
import json
import logging
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LESSON, NAME = "lesson1", "draft_and_verify"

BONUS_FORGOTTEN = """def verify_greedy(draft, target_next):
    if len(target_next) != len(draft) + 1:
        raise ValueError("one target entry more than drafts")
    emitted = []
    for token, choice in zip(draft, target_next):
        emitted.append(choice)
        if token != choice:
            break
    return emitted"""
NO_SPECULATION = """def speculative_generate(draft_model, target_model, prompt, n_tokens, k):
    tokens = list(prompt)
    for _ in range(n_tokens):
        tokens.append(target_model(tokens))
    return tokens[len(prompt):]"""
ENDLESS = "def accepted_count(draft, target_next):\n    while True:\n        pass"
HOSTILE = """class Always(list):
    def __eq__(self, other):
        return True

def verify_greedy(draft, target_next):
    import os, signal
    try:
        print(open("/etc/passwd").read(), os.listdir(".."))
        os.kill(-1, signal.SIGKILL)
    except OSError:
        pass
    return Always()"""


def students(solutions: dict[str, str]) -> dict[str, tuple[str, bytes | dict[str, str]]]:
    """Student -> (what is handed in, the answers by grade id or the bytes of a file)."""
    half = dict(list(solutions.items())[: len(solutions) // 2])
    return {
        "ada": ("everything right", solutions),
        "bob": ("half of it", half),
        "cyd": ("the bonus token is forgotten", {**solutions, "verify_greedy": BONUS_FORGOTTEN}),
        "dot": ("right tokens, no speculation", {**solutions, "speculative_generate": NO_SPECULATION}),
        "eve": ("wrong numbers and choice", {**solutions, **_wrong_values(solutions)}),
        "fay": ("nothing filled in", {}),
        "gus": ("an endless loop", {**solutions, "accepted_count": ENDLESS}),
        "hal": ("a hostile answer", {**solutions, "verify_greedy": HOSTILE}),
        "ivy": ("a file that was cut off", b'{"cells": [{"cell_type": "code", "sour'),
    }


def _wrong_values(solutions: dict[str, str]) -> dict[str, str]:
    wrong = {
        "tokens_produced": "4",
        "drafts_accepted": "3",
        "tokens_when_all_agree": "4",
        "emit_before_verification": '"A"',
    }
    return {name: f"{name} = {value}" for name, value in wrong.items() if name in solutions}


def main(words: list[str] | None = None) -> int:
    """Grade the demonstration class; returns 0 when every score is the planned kind."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--keep", metavar="FOLDER", help="keep the course folder here, to look around in it")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(words)
    if not (ROOT / "source" / LESSON).is_dir():
        print(
            f"make demo needs the course's own folder with source/{LESSON}; {ROOT} has none", file=sys.stderr
        )
        return 2
    if options.keep:
        folder = Path(options.keep).resolve()
        if folder.exists() and any(folder.iterdir()):
            print(f"{folder} is not empty; give a folder that is not there yet", file=sys.stderr)
            return 2
        return _run(folder, options.workers)
    with tempfile.TemporaryDirectory(prefix="specdec-demo-") as place:
        return _run(Path(place), options.workers)


def _run(folder: Path, workers: int) -> int:
    from .batch import Options, run_batch
    from .course import Course
    from .page import number
    from .report import read_class

    class_ = _hand_in(folder)
    course = Course.here(str(folder))
    course.app.log.setLevel(logging.ERROR)
    course.app.config.SpecDec.limits = {"cell_seconds": 2, "notebook_seconds": 20}
    summary = run_batch(course, LESSON, Options(workers=workers))
    report = read_class(course, LESSON)
    names = [name.removeprefix("test_") for name in report.points]
    print(f"\n{LESSON}: {len(report.scores)} submissions, {number(report.most)} points. The exercises:")
    print(
        "\n".join(
            f"  {i + 1}  {name} ({number(p)})"
            for i, (name, p) in enumerate(zip(names, report.points.values(), strict=True))
        )
    )
    heads = "".join(f"{i + 1:>6}" for i in range(len(names)))
    print(f"\n{'student':<8} {'handed in':<32}{heads}{'total':>8}")
    for student, (what, _) in class_.items():
        marks = "".join(f"{number(report.scores[student][name]):>6}" for name in report.points)
        print(f"{student:<8} {what:<32}{marks}{number(report.total(student)):>8}")
    for student, remarks in report.look.items():
        print(f"  look at {student}: {'; '.join(remarks)}")
    for item, name, count in report.mistakes:
        print(f"  named {count} time{'s' * (count > 1)}: {item}, {name.replace('_', ' ')}")
    pages = _feedback(course, folder)
    print(f"\nfeedback pages: {pages}; exit status of the batch: {summary.status} (1: some need a look)")
    if summary.not_sandboxed:
        print("NOT SANDBOXED: this machine has no bubblewrap; see `specdec doctor`")
    ada, fay = report.total("ada"), report.total("fay")
    return 0 if ada == report.most and fay == 0 and pages == len(class_) and not summary.ours else 1


def _hand_in(folder: Path) -> dict[str, tuple[str, bytes | dict[str, str]]]:
    """Make a course folder with the class's submissions."""
    shutil.copytree(ROOT / "source" / LESSON, folder / "source" / LESSON)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    master = json.loads((folder / "source" / LESSON / f"{NAME}.ipynb").read_bytes())
    release = json.loads((ROOT / "release" / LESSON / f"{NAME}.ipynb").read_bytes())
    solutions = {
        cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"])
        for cell in master["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }
    class_ = students(solutions)
    for student, (_, answers) in class_.items():
        place = folder / "submitted" / student / LESSON
        place.mkdir(parents=True)
        data = answers if isinstance(answers, bytes) else json.dumps(_filled(release, answers)).encode()
        (place / f"{NAME}.ipynb").write_bytes(data)
    return class_


def _filled(release: dict[str, Any], answers: dict[str, str]) -> dict[str, Any]:
    notebook = copy.deepcopy(release)
    for cell in notebook["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in answers:
            cell["source"] = answers[grade_id]
    return notebook


def _feedback(course: Any, folder: Path) -> int:
    """Make the feedback pages through nbgrader's own converter; how many there are."""
    from nbgrader.converters import GenerateFeedback

    theirs = course.nbgrader()
    theirs.directory.assignment_id = LESSON
    theirs.app.log.setLevel(logging.ERROR)
    GenerateFeedback(coursedir=theirs.directory, parent=theirs.app).start()
    return len(list(folder.glob("feedback/*/*/*.html")))


if __name__ == "__main__":
    sys.exit(main())
