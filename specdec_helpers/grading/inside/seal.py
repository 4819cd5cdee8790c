"""Locks that a process puts on itself: resource limits, no debugging, and a filter on system calls.

The mounts and namespaces come from bubblewrap, the clock and the memory watch from outside. What is here closes
what neither can: memory that survives a process (System V segments, message queues, key rings, memfd), tracing,
and new namespaces. Each step is skipped where the system has no such thing (macOS, an unknown processor).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import struct
import sys
from collections.abc import Callable, Mapping

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 4, 36, 38, 22
PR_SET_KEEPCAPS, CAP_DAC_READ_SEARCH = 8, 2
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_CLONE_NEW = 0x7E020000 | 0x00000080  # every CLONE_NEW… flag, the time namespace too

# System calls refused, by processor: (x86_64, aarch64). Numbers from the kernel's tables.
_REFUSED = {
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "semop": (65, 193),
    "semtimedop": (220, 192), "semctl": (66, 191), "msgget": (68, 186), "msgsnd": (69, 189),
    "msgrcv": (70, 188), "msgctl": (71, 187), "mq_open": (240, 180), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "bpf": (321, 280),
    "perf_event_open": (298, 241), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40),
    "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_by_handle_at": (304, 265),
    "move_mount": (429, 429), "fsopen": (430, 430), "open_tree": (428, 428), "mount_setattr": (442, 442),
    "swapon": (167, 224), "kexec_load": (246, 104), "init_module": (175, 105), "finit_module": (313, 273),
    "clone3": (435, 435),
}  # fmt: skip
_SIGNALS = ((62, 129), (200, 130), (234, 131), (129, 138), (297, 240), (434, 434))  # kill … pidfd_open
_ONLY_SELF = (
    (302, 261),
    (203, 122),
    (144, 119),
    (142, 118),
    (314, 274),
)  # prlimit64, sched_set…: first argument 0
_SETPRIORITY, _IOPRIO_SET = (141, 140), (251, 30)
_LOAD, _EQUAL, _AT_LEAST, _HAS, _GIVE = 0x20, 0x15, 0x35, 0x45, 0x06  # instructions of the filter
_ARGUMENT = (16, 24)  # where the low half of the first and the second argument lies

_MACHINES = {"x86_64": (0, 0xC000003E, 56), "aarch64": (1, 0xC00000B7, 220)}


def prctl(option: int, value: int, *rest: object) -> bool:
    """Call prctl(2); False where it is missing or refused."""
    if not sys.platform.startswith("linux"):
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(option, value, *rest) == 0)


def not_dumpable() -> bool:
    """No other process of this user may trace this one or read its memory."""
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def adopt_orphans() -> bool:
    """Orphaned descendants become children of this process, so that it can wait for them."""
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def counts_by_namespace() -> bool:
    """Whether this kernel counts a user's processes in each user namespace apart (Linux 5.14 and newer)."""
    numbers = platform.release().split("-")[0].split(".")
    return [int(number) for number in numbers[:2] if number.isdigit()] >= [5, 14]


def limit(limits: Mapping[str, int], processes: bool) -> None:
    """Set the limits of this process and its children: address space, file size and number, no core.

    `processes`: also their number, which the kernel counts by user.
    """
    grown = _address_space() + limits["memory_bytes"]
    wanted = {
        "RLIMIT_AS": grown,
        "RLIMIT_FSIZE": limits["written_bytes"],
        "RLIMIT_NOFILE": limits["open_files"],
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 65536,
        "RLIMIT_MSGQUEUE": 0,
    }
    if processes:
        wanted["RLIMIT_NPROC"] = limits["processes"]
    for name, value in wanted.items():
        which = getattr(resource, name, None)
        if which is None or (name == "RLIMIT_AS" and sys.platform == "darwin"):
            continue
        hard = resource.getrlimit(which)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (bound, bound))


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 512 * 1024 * 1024


def filter_calls() -> bool:
    """Refuse (EPERM; ENOSYS for clone3, so that libc falls back) the calls above for good. False if impossible."""
    return _install(_warm_program)


def filter_signals(warm: int, group: int) -> bool:
    """In a student's process: no signal, limit, priority or scheduling for the warm process `warm` and its group.

    As an ordinary user all inside have one user number, so that the kernel alone would allow it; a changed limit or
    priority of the warm process would reach the next student.
    """
    return _install(lambda column, clone: _child_program(column, warm, group))


def _install(program_of: Callable[[int, int], list[bytes]]) -> bool:
    machine = _MACHINES.get(platform.machine())
    if machine is None or not sys.platform.startswith("linux") or sys.maxsize < 2**32:
        return False
    column, audit, clone = machine
    head = [_op(_LOAD, 4), _op(_EQUAL, audit, 1, 0), _op(_GIVE, _fail(errno.ENOSYS)), _op(_LOAD, 0)]
    head += [_op(_AT_LEAST, 0x40000000, 0, 1), _op(_GIVE, _fail(errno.ENOSYS))]  # the x32 numbers of x86_64
    program = b"".join([*head, *program_of(column, clone), _op(_GIVE, _ALLOW)])
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    if not prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        return False
    return prctl(PR_SET_SECCOMP, 2, ctypes.create_string_buffer(header, len(header)), 0, 0)


def _warm_program(column: int, clone: int) -> list[bytes]:
    lines = []
    for name, numbers in _REFUSED.items():
        error = errno.ENOSYS if name == "clone3" else errno.EPERM
        lines += [_op(_EQUAL, numbers[column], 0, 1), _op(_GIVE, _fail(error))]
    return [
        *lines,
        *_when(
            clone, [_op(_LOAD, _ARGUMENT[0]), _op(_HAS, _CLONE_NEW, 0, 1), _op(_GIVE, _fail(errno.EPERM))]
        ),
    ]


def _child_program(column: int, warm: int, group: int) -> list[bytes]:
    refuse = _op(_GIVE, _fail(errno.EPERM))
    lines = []
    for numbers in _SIGNALS:  # not to: everybody, process 1, the warm process or its group
        targets = [number & 0xFFFFFFFF for number in (-1, 1, warm, -group)]
        block = [_op(_LOAD, _ARGUMENT[0])]
        for left, target in zip(range(len(targets), 0, -1), targets, strict=True):
            block.append(_op(_EQUAL, target, left, 0))
        lines += _when(numbers[column], [*block, _op(_GIVE, _ALLOW), refuse])
    for numbers in _ONLY_SELF:
        lines += _when(numbers[column], [_op(_LOAD, _ARGUMENT[0]), _op(_EQUAL, 0, 1, 0), refuse])
    first, second = _op(_LOAD, _ARGUMENT[0]), _op(_LOAD, _ARGUMENT[1])
    both = [first, _op(_EQUAL, 0, 1, 0), refuse, second, _op(_EQUAL, 0, 1, 0), refuse]
    lines += _when(_SETPRIORITY[column], both)
    return [*lines, _op(_EQUAL, _IOPRIO_SET[column], 0, 1), refuse]


def _when(number: int, block: list[bytes]) -> list[bytes]:
    """The block for one system call; it allows the call where it does not decide."""
    return [_op(_EQUAL, number, 0, len(block) + 1), *block, _op(_GIVE, _ALLOW)]


def _op(code: int, k: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, k)


def _fail(number: int) -> int:
    """The filter's verdict "fail with this errno"."""
    return _ERRNO | number


def become(uid: int, search: bool = False) -> None:
    """Turn from root into an unprivileged user for good.

    `search` keeps one privilege, to read and enter any folder: in plain mode, where files are not hidden anyway,
    a Python that lies below a private folder (/root) could not import any more.
    """
    if search:
        prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if search:
        mask = 1 << CAP_DAC_READ_SEARCH
        header = struct.pack("Ii", 0x20080522, 0)
        data = struct.pack("IIIIII", mask, mask, 0, 0, 0, 0)
        ctypes.CDLL(None).capset(header, data)
