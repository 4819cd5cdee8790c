"""The sandbox for an instructor who is not root: the same tests, run as an ordinary user."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import as_user
import pytest
from jails import sealed_modes

pytestmark = [
    pytest.mark.skipif(not sealed_modes(), reason="needs bubblewrap"),
    pytest.mark.skipif(
        not as_user.possible(), reason="only root can become another user; others run the tests as themselves"
    ),
]
CHOSEN = (
    "processes or threads or memory or kills or fork or folders or house or batch or snapshot or killed or warm"
    " or kernel or unreadable or writable"
)


def test_sandbox_holds_for_an_ordinary_user() -> None:
    here = Path(__file__).parent
    files = [str(here / name) for name in ("test_sandbox.py", "test_sandbox_hostile.py")]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", f"({CHOSEN}) and not plain", *files]
    with tempfile.TemporaryDirectory() as home:  # not below pytest's own folder, which is private to root
        done = as_user.run(words, home, timeout=500)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "[100%]" in done.stdout
