"""How the warm process is walled in: the bubblewrap command line, or a plain subprocess where there is none.

Seen inside: the Python in use, its site-packages (without this project), the shared libraries of the system, our
folder `inside/` and the language models. All of it read-only, at neutral paths where possible. Writable is one
tmpfs of limited size. There is no network, no /home, no /sys, no course folder, no gradebook, and no process but
the sandbox's own.
"""

from __future__ import annotations

import importlib.machinery
import itertools
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .limits import Limits

PACKAGE = Path(__file__).resolve().parent.parent
INSIDE = PACKAGE / "grading" / "inside"
NEEDED = ("IPython", "numpy", "matplotlib", "matplotlib_inline", "ipywidgets", "comm")
OPTIONS_FD = "{options}"
_COUNT = itertools.count()

# "root": real root, no user namespace; every session becomes a user of its own, so that the process limit bites.
# "user": a user namespace, as an ordinary user. "plain": no sandbox at all.
MODES = ("root", "user", "plain")

_SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/bin", "/usr/sbin")
_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/alternatives", "/etc/localtime")
_PASSWD = "root:x:0:0:root:/:/bin/false\nstudent:x:{uid}:{uid}:student:/scratch/home:/bin/sh\n"


@dataclass
class Start:
    """A command to start a warm process, and what to clean up after it."""

    command: list[str]
    options: bytes
    scratch: str
    uid: int
    environment: dict[str, str] = field(default_factory=dict)
    folder: str | None = None
    search: bool = False

    def clean_up(self) -> None:
        """Remove the temporary folder of plain mode."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def possible_modes(mode: str) -> list[str]:
    """The modes to try, best first, for "auto", "sealed" or "plain" (or one of MODES); ValueError for another word."""
    if mode in ("root", "user"):
        return [mode]
    if mode not in ("auto", "sealed", "plain"):
        raise ValueError(f"sandbox mode {mode!r}: it must be 'auto', 'sealed' or 'plain'")
    sealed = []
    if mode != "plain" and bubblewrap() is not None:
        sealed = ["root", "user"] if os.geteuid() == 0 else ["user"]
    return sealed + (["plain"] if mode != "sealed" else [])


def bubblewrap() -> str | None:
    """The path of bwrap, or None where there is none (or no Linux)."""
    return shutil.which("bwrap") if sys.platform.startswith("linux") else None


def site_folders() -> list[str]:
    """The folders on sys.path that hold installed packages."""
    folders = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    folders = [path for path in dict.fromkeys(folders) if os.path.isdir(path)]
    for name in NEEDED:
        if importlib.machinery.PathFinder.find_spec(name, folders) is None:
            raise RuntimeError(
                f"the package {name!r} is not in {folders}; pip install it beside specdec-helpers"
            )
    return folders


def plan(mode: str, limits: Limits, fd: int, hide: Sequence[str] = ()) -> Start:
    """The command that starts a warm process in this mode, its control channel on descriptor `fd`."""
    return _plain(fd) if mode == "plain" else _sealed(mode, limits, fd, hide)


def _environment(home: str) -> dict[str, str]:
    one = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")}
    return {
        "PATH": "/usr/bin:/bin", "HOME": home, "TMPDIR": "/tmp", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
        "USER": "student", "MPLBACKEND": "module://matplotlib_inline.backend_inline", 
        "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_ARENA_MAX": "2", 
        "PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1", "TZ": "UTC", **one,
    }  # fmt: skip


def _boot(paths: list[str], fd: int) -> str:
    return (
        f"import sys; sys.path += {paths!r}; from specdec_inside.plots import prepare; prepare(); "
        f"from specdec_inside.main import main; main({fd})"
    )


# Plain mode ----------------------------------------------------------------------------------------------


def _plain(fd: int) -> Start:
    folder = tempfile.mkdtemp(prefix="specdec-plain-")
    scratch, house = Path(folder, "scratch"), Path(folder, "house")
    (house / "specdec_helpers").mkdir(parents=True)
    scratch.mkdir()
    shutil.copytree(INSIDE, house / "specdec_inside", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(INSIDE / "stub.py", house / "specdec_helpers" / "__init__.py")
    shutil.copytree(
        PACKAGE / "lm", house / "specdec_helpers" / "lm", ignore=shutil.ignore_patterns("__pycache__")
    )
    environment = _environment(str(scratch)) | {"TMPDIR": str(scratch / "tmp")}
    if sys.platform == "win32":  # pragma: no cover - named here so that the reason is clear
        raise RuntimeError("grading needs Linux or macOS (on Windows: WSL); students need neither")
    command = [sys.executable, "-s", "-S", "-P", "-c", _boot([str(house), *site_folders()], fd)]
    # As root, a submission without a sandbox becomes a user of its own: it must not be able to kill or read at will.
    uid = _free_uid() if os.geteuid() == 0 and hasattr(os, "setresuid") else 0
    os.chmod(folder, 0o755)
    search = uid != 0 and not all(map(_open_to_all, (sys.prefix, sys.base_prefix)))
    return Start(command, b"", str(scratch), uid, environment, folder, search)


def _open_to_all(path: str) -> bool:
    """Whether every user may enter this folder."""
    real = Path(os.path.realpath(path))
    return all(os.stat(folder).st_mode & 0o001 for folder in (real, *real.parents))


# Sealed mode ---------------------------------------------------------------------------------------------


def _sealed(mode: str, limits: Limits, fd: int, hide: Sequence[str]) -> Start:
    bwrap = bubblewrap()
    if bwrap is None:
        raise RuntimeError("bubblewrap is not installed")
    uid = _free_uid() if mode == "root" else 0
    mounts = _Mounts()
    for path in _SYSTEM:
        mounts.system(path)
    for path in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        mounts.system(path)
    for path in _ETC:
        mounts.maybe(path)
    python, prefix = _python(mounts)
    paths = ["/python/inside"]
    for number, path in enumerate(site_folders()):
        seen = f"/python/site{number}"
        mounts.read_only(path, seen)
        mounts.mask(f"{path}/specdec_helpers", f"{seen}/specdec_helpers")
        paths.append(seen)
    mounts.read_only(str(INSIDE), "/python/inside/specdec_inside")
    mounts.read_only(str(INSIDE / "stub.py"), "/python/inside/specdec_helpers/__init__.py")
    mounts.read_only(str(PACKAGE / "lm"), "/python/inside/specdec_helpers/lm")
    here = [os.getcwd()] if os.path.exists("nbgrader_config.py") else []
    for path in (str(PACKAGE), *here, *hide):
        mounts.hide(os.path.realpath(path))
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if mode == "root":
        keep = ("SETUID", "SETGID", "KILL", "DAC_OVERRIDE", "FOWNER", "CHOWN")
        options += ["--cap-drop", "ALL", *(word for cap in keep for word in ("--cap-add", f"CAP_{cap}"))]
    else:
        options += ["--unshare-user", "--cap-drop", "ALL"]
    options += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"]
    own = {
        "LD_LIBRARY_PATH": f"{prefix}/lib",
        "MPL_IGNORE_SYSTEM_FONTS": "1",
    }  # no /usr/share inside, so no such fonts
    for name, value in (_environment("/scratch") | own).items():
        options += ["--setenv", name, value]
    options += [*mounts.words, "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    options += [
        "--size",
        str(limits.written_bytes),
        "--tmpfs",
        "/scratch",
        "--symlink",
        "scratch/tmp",
        "/tmp",
    ]
    options += ["--remount-ro", "/", "--chdir", "/scratch"]
    # The options name folders of this machine, and everybody inside can read process 1's command line.
    packed = b"".join(word.encode() + b"\0" for word in options)
    command = [bwrap, "--args", OPTIONS_FD, "--", python, "-s", "-S", "-P", "-c", _boot(paths, fd)]
    return Start(command, packed, "/scratch", uid)


def _free_uid() -> int:
    """The first of 256 user numbers that no other jail on this machine uses at the moment."""
    return 0x40000000 + ((os.getpid() & 0x3FFFF) << 12) + ((next(_COUNT) & 15) << 8)


def _python(mounts: _Mounts) -> tuple[str, str]:
    """Mount the base Python; (its executable, its prefix) as seen inside."""
    executable = os.path.realpath(sys.executable)
    prefix = sys.base_prefix
    if Path(prefix) == Path("/usr"):
        return executable, "/usr"
    library = sysconfig.get_path("stdlib")
    seen = "/python/base"
    version = Path(library).name
    before = len(mounts.words)
    mounts.read_only(library, f"{seen}/lib/{version}")
    libraries = sorted(Path(prefix, "lib").glob("*.so*"))
    if len(libraries) > 20:  # conda: Python's own libraries lie there too
        mounts.words[before:] = [
            "--dir",
            "/python",
            "--dir",
            seen,
            "--ro-bind",
            f"{prefix}/lib",
            f"{seen}/lib",
        ]
        mounts.seen[-1] = (os.path.realpath(f"{prefix}/lib"), f"{seen}/lib")
        libraries = []
    mounts.mask(
        f"{library}/site-packages/specdec_helpers", f"{seen}/lib/{version}/site-packages/specdec_helpers"
    )
    for found in libraries:
        mounts.read_only(str(found), f"{seen}/lib/{found.name}")
    mounts.read_only(executable, f"{seen}/bin/{Path(executable).name}")
    return f"{seen}/bin/{Path(executable).name}", seen


class _Mounts:
    """The mounts so far, as words of the command line; knows what is seen where."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.seen: list[tuple[str, str]] = []
        self.made: set[Path] = set()

    def read_only(self, source: str, target: str) -> None:
        """Show `source` at `target`, read-only. The folders above it are made readable for every user."""
        for parent in reversed(Path(target).parents[:-1]):
            if parent not in self.made:
                self.made.add(parent)
                self.words += ["--dir", str(parent)]
        self.words += ["--ro-bind", source, target]
        self.seen.append((os.path.realpath(source), target))

    def maybe(self, path: str) -> None:
        """Show a system path where it is, if it is there."""
        if os.path.exists(path):
            self.read_only(path, path)

    def system(self, path: str) -> None:
        """Show a system folder where it is; a link to another one stays a link."""
        if os.path.islink(path):
            self.words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            self.read_only(path, path)

    def mask(self, source: str, target: str) -> None:
        """Put an empty folder over `target` if `source` exists."""
        if os.path.isdir(source):
            self.words += ["--tmpfs", target, "--remount-ro", target]

    def hide(self, path: str) -> None:
        """Mask a folder wherever a mount shows it (a course below /usr, say); what we mount below it stays."""
        if path == "/":
            return
        for source, target in list(self.seen):
            inside = Path(path)
            if Path(source) in inside.parents or Path(source) == inside:
                if source.startswith(str(PACKAGE)):
                    continue
                self.mask(path, str(Path(target) / inside.relative_to(source)))
