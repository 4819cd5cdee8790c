"""Run a command as an ordinary user, from a test that runs as root.

In a mount namespace of its own, so that a Python below a private folder (/root) can be reached; nothing outside
it changes. ``python tests/grading/as_user.py pytest …`` does the same by hand.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

USER = 65534


def possible() -> bool:
    return os.geteuid() == 0 and all(map(shutil.which, ("unshare", "setpriv", "mount")))


def _private_parent(path: Path) -> Path | None:
    return next((p for p in reversed([path, *path.parents]) if not p.stat().st_mode & 0o001), None)


def command(words: list[str], home: str) -> list[str]:
    """The words, wrapped so that they run as user 65534 with a HOME of their own."""
    root = Path(__file__).resolve().parents[2]
    steps, covered = ["set -e", "mount --make-rprivate /"], set()
    for number, path in enumerate(Path(p).resolve() for p in (sys.base_prefix, sys.prefix, str(root))):
        private = _private_parent(path)
        if private is None:
            continue
        stage = shlex.quote(f"{home}/stage{number}")
        steps += [f"mkdir -p {stage}", f"mount --bind {shlex.quote(str(path))} {stage}"]
        if private not in covered:
            steps.append(f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(private))}")
            covered.add(private)
        steps += [f"mkdir -p {shlex.quote(str(path))}", f"mount --bind {stage} {shlex.quote(str(path))}"]
    os.chmod(home, 0o777)
    environment = {"HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"}
    pairs = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    run = f"setpriv --reuid {USER} --regid {USER} --clear-groups env {pairs} {shlex.join(words)}"
    return ["unshare", "--mount", "sh", "-c", "\n".join([*steps, f"exec {run}"])]


def run(words: list[str], home: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(words, home), capture_output=True, text=True, timeout=timeout, check=False)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        raise SystemExit(subprocess.call(command([sys.executable, "-m", *sys.argv[1:]], folder)))
