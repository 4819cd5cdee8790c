"""The `specdec` command: finds the module that owns a subcommand and hands it the rest of the line.

Each owner offers `main(command: str, arguments: list[str]) -> int` and parses its own arguments. The owner is
imported only when it is asked for, so `specdec --help` starts at once, and the student package, which lacks the
lower half, says so in one line.
"""

from __future__ import annotations

import sys
from importlib import import_module

# command: (module that owns it, what it does)
AUTHORING, GRADING = "specdec_helpers.authoring.commands", "specdec_helpers.grading.commands"
COMMANDS: dict[str, tuple[str, str]] = {
    "progress": ("specdec_helpers.checks.progress", "show which exercises you have passed"),
    "build": (AUTHORING, "make source/ and release/ from course/ (--check: only compare and lint)"),
    "release": (AUTHORING, "make the student wheel and the zip that students unpack"),
    "autograde": (GRADING, "grade all that is collected for a lesson, in parallel"),
    "report": (GRADING, "print or write the table of scores"),
    "doctor": (GRADING, "say how this machine would grade, and what it lacks"),
}
STUDENT = ("progress",)


def usage() -> str:
    """Return the text of `specdec --help`."""
    lines = ["usage: specdec COMMAND [ARGUMENTS]   (specdec COMMAND --help tells more)", ""]
    lines += [f"  {name:<10} {what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(lines)


def complain(message: str) -> int:
    """Print one line on stderr and return the exit status of a wrong call."""
    print(f"specdec: {message}", file=sys.stderr)
    return 2


def main(argv: list[str] | None = None) -> int:
    """Run one subcommand; the exit status is the owner's, or 2 for a command that is not here.

    Parameters
    ----------
    argv : the words after `specdec`; by default those of this process
    """
    words = sys.argv[1:] if argv is None else argv
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if words else 2
    command, arguments = words[0], words[1:]
    if command not in COMMANDS:
        return complain(f"there is no command {command!r}; choose one of {', '.join(COMMANDS)}")
    owner = COMMANDS[command][0]
    try:
        module = import_module(owner)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing and owner.startswith(missing) and command not in STUDENT:
            return complain(
                f"{command!r} is not part of the student package; students have: {', '.join(STUDENT)}"
            )
        if missing.partition(".")[0] in ("nbgrader", "jupytext", "tqdm"):
            return complain(
                f"{command!r} needs {missing}, which is not installed: pip install -r requirements.txt"
            )
        raise  # a broken installation: show where
    status: int = module.main(command, arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
