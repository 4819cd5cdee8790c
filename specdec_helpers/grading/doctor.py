"""`specdec doctor`: how this machine would grade, tried for real, and what to install where something is missing."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass

from . import jail as walls
from . import watch
from .sandbox import Jail, OursError, Session

PACKAGES = ("nbgrader", "jupyterlab", "ipywidgets", "matplotlib", "numpy", "IPython", "nbformat", "tqdm")
INSTALL = {
    "bwrap": "install bubblewrap 0.7 or newer (Debian, Ubuntu: apt-get install bubblewrap;"
    " Fedora: dnf install bubblewrap)",
    "userns": "this kernel refuses user namespaces to ordinary users; allow them (Ubuntu: an AppArmor profile"
    " for bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0), or grade as root",
}


@dataclass(frozen=True)
class Finding:
    """One line of the report: fine or not, and what to do."""

    ok: bool
    text: str
    advice: str = ""
    required: bool = True

    def lines(self) -> str:
        """The finding as text."""
        mark = "ok  " if self.ok else ("BAD " if self.required else "note")
        return f"  {mark}  {self.text}" + (
            f"\n        -> {self.advice}" if self.advice and not self.ok else ""
        )


def main(arguments: list[str]) -> int:
    """Print the report; 0 if this machine grades sealed and nothing required is missing, else 1."""
    parser = argparse.ArgumentParser(
        prog="specdec doctor",
        description="Say how this machine would grade, and what it lacks.",
        epilog="exit status: 0 sealed and complete; 1 something is missing",
    )
    parser.parse_args(arguments)
    found = examine()
    print(f"specdec doctor: {platform.platform()}, Python {platform.python_version()}")
    for finding in found:
        print(finding.lines())
    bad = [finding for finding in found if not finding.ok and finding.required]
    print(
        "This machine grades in the sealed sandbox."
        if not bad
        else "Not everything is in place; see the arrows above."
    )
    return 1 if bad else 0


def examine() -> list[Finding]:
    """All findings, the sandbox first."""
    return [*sandbox(), python(), *packages(), chromium()]


def sandbox() -> list[Finding]:
    """Start the sandbox as grading would, and try whether its walls hold."""
    bwrap = walls.bubblewrap()
    found = []
    if bwrap is None:
        where = (
            "bubblewrap (bwrap) is not installed"
            if sys.platform.startswith("linux")
            else "no sandbox on this system"
        )
        advice = (
            INSTALL["bwrap"]
            if sys.platform.startswith("linux")
            else "grade on Linux (a virtual machine will do)"
        )
        found.append(Finding(False, where, advice))
    else:
        version = subprocess.run(
            [bwrap, "--version"], capture_output=True, text=True, check=False
        ).stdout.strip()
        found.append(Finding(True, f"{version} at {bwrap}"))
    try:
        with Jail() as jail:
            who = {
                "root": "as root; every submission becomes a user of its own",
                "user": "as an ordinary user",
            }
            if jail.sealed:
                found.append(Finding(True, f"the sealed sandbox starts ({who[jail.mode]})"))
            else:
                advice = INSTALL["userns"] if bwrap else ""
                text = (
                    f"the sandbox does not start, submissions would run NOT SANDBOXED: {jail.why_plain[:400]}"
                )
                found.append(Finding(False, text, advice))
            with jail.session() as session:
                found += walls_hold(session, jail)
    except OursError as error:
        found.append(Finding(False, f"no submission can run here: {error}", INSTALL["bwrap"]))
    return found


def walls_hold(session: Session, jail: Jail) -> list[Finding]:
    """Try from inside what must fail there; only where it is sealed."""
    if not jail.sealed:
        return []
    hidden = [str(walls.PACKAGE / "grading" / "judge.py"), os.path.expanduser("~")]
    cell = (
        "import os, socket\n"
        f"files = [p for p in {hidden!r} if os.path.exists(p)]\n"
        "net = True\n"
        "try: socket.create_connection(('192.0.2.1', 9), 0.2)\n"
        "except OSError as error: net = error.errno != 101\n"
        "seen = len([p for p in os.listdir('/proc') if p.isdigit()])"
    )
    result = session.run_cell(cell)
    if result.died or result.error:
        return [Finding(False, f"a trial cell failed inside: {result.died or result.error}")]
    held = session.lookup(["files", "net", "seen"])
    return [
        Finding(held["files"] == [], "the course and your home folder are out of sight"),
        Finding(held["net"] is False, "there is no network inside"),
        Finding(held["seen"] == 3, "no other process is in sight"),
        Finding(
            jail.filtered is True,
            "system calls are filtered",
            f"no filter for {platform.machine()}; memory may outlive a submission until its sandbox is renewed",
            required=False,
        ),
        Finding(
            watch.usage(jail.process_id).processes > 0,
            "memory and processes can be watched from outside",
            "mount /proc without hidepid for the user who grades",
        ),
    ]


def python() -> Finding:
    """The version of Python."""
    return Finding(
        sys.version_info >= (3, 11), f"Python {platform.python_version()}", "use Python 3.11 or newer"
    )


def packages() -> list[Finding]:
    """The packages that grading needs, with their versions."""
    found = []
    for name in PACKAGES:
        try:
            found.append(Finding(True, f"{name} {importlib.metadata.version(name)}"))
        except importlib.metadata.PackageNotFoundError:
            found.append(
                Finding(
                    False, f"{name} is missing", f"pip install {name}, or pip install -r requirements.txt"
                )
            )
    return found


def chromium() -> Finding:
    """Chromium, for the browser tests only."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for found in map(shutil.which, names) if found), None)
    advice = "only the course's own browser tests need it: apt-get install chromium"
    return Finding(path is not None, f"Chromium at {path}" if path else "no Chromium", advice, required=False)
