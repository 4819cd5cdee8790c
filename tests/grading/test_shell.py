"""The shell inside the sandbox skips IPython's rewriting of plain cells, and never of one that would be rewritten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SOURCES = sorted(Path(__file__).parents[2].glob("source/lesson*/*.ipynb"))
REWRITTEN = [
    "%time 1\n2", "a = %who\n1", "a = !ls\n1", "!ls\n1", "print?\n1", "?print\n1", "%%bash\nls", " x = 1\n y = 2",
    "\n\nx = 1\n", ">>> x = 1\n>>> x", "In [1]: x = 1\nIn [2]: x", "/f 1\n2", ",f a b\n1", ";f a\n1", "who", "f 1",
    "if 1:\n    a = %who\n", "if 1:\n    !ls\n", "x = 1  # why?\ny", "x = 1;\nx?;", "if 1:\n   ...:     x = 1\n",
    "x = 1\r%who\r2\n3", "#\f%who\n1", "x = 1\n...",
]  # fmt: skip
PLAIN = [
    "x = 1\nx != 2",
    "'%d' % 3\n1",
    "def f(a):\n    return a % 2 == 1\n\nf(1)",
    "x = (8\n/ 2)",
    "f'{x!r}'\n2",
]

# Shell.instance() is one for a process, so it is made in another one.
SCRIPT = """
import json, random, sys
from IPython.core.interactiveshell import InteractiveShell
from specdec_helpers.grading.inside import shell
cells = json.load(sys.stdin)
made = shell.make()
letters = ["x", "=", "%", "!", "?", "\\n", "\\n", " ", "f", "(", ")", "1", "/", ",", ";", ">>> ", "who", "'", "#",
           "    ", "!=", "%%time", "...", "\\\\\\n", "In [1]: ", "\\t", "\\r\\n",
           "\\f", "   ...: ", "\\ufeff", "\\u2028", "\\x85", "await f()", "def f():", "é"]
rng = random.Random(1)
cells += ["".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(10_000)]
other, spared = [], 0
tidy = lambda text: [line.rstrip() for line in text.rstrip().split("\\n")]
for cell in cells:
    try:
        slow = InteractiveShell.transform_cell(made, cell)
    except Exception:  # some nonsense is too much for IPython itself
        continue
    if tidy(made.transform_cell(cell)) != tidy(slow):
        other.append(cell)
    spared += not shell.rewritten(cell)
made.input_transformers_post.append(lambda lines: ["y = 2\\n" for _ in lines])
print(json.dumps([other, spared, made.transform_cell("x = 1\\nx = 2\\n")]))
"""


def test_rewriting_is_skipped_only_where_there_is_none() -> None:
    cells = [
        "".join(cell["source"])
        for path in SOURCES
        for cell in json.loads(path.read_text())["cells"]
        if cell["cell_type"] == "code"
    ]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps([*cells, *REWRITTEN, *PLAIN]), capture_output=True, text=True, check=True,
    )  # fmt: skip
    other, spared, added = json.loads(done.stdout.splitlines()[-1])
    assert other == []
    assert spared > 300, "of cells without magics"
    assert added == "y = 2\ny = 2\n", "a notebook's own transformer is heard"
