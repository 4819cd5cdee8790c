"""`make demo` as whoever runs it sees it: the table, what needs a look, the pages, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys


def test_the_demo_grades_its_class_end_to_end() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "specdec_helpers.grading.demo"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    totals = dict(re.findall(r"^([a-z]{3}) .*?([\d.]+)$", done.stdout, re.MULTILINE))
    assert totals["ada"] == "15"
    assert totals["fay"] == totals["ivy"] == "0"
    assert 0 < float(totals["hal"]) < float(totals["cyd"]) < 15
    assert "look at gus: in the test of accepted_count: stopped" in done.stdout
    assert "feedback pages: 9" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert "[NbGrader" not in done.stdout + done.stderr, "no log of nbgrader's between the lines"
