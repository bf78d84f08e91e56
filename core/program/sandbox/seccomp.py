"""seccomp: system calls that this process and all of its threads can make no more.

A list of what is forbidden, not of what is allowed: NumPy, BLAS libraries and CUDA call too much
for that. It holds what reaches other machines, other processes and the kernel's settings, what
changes files that Landlock does not look at, and calls that are newer than the list.
Source: linux/seccomp.h, linux/filter.h; numbers from asm/unistd_64.h and asm-generic/unistd.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator

from gradstep.core.program.sandbox import linux_calls

# name: numbers on x86_64 and aarch64, None where there is no such call
_FORBIDDEN: dict[str, tuple[int | None, int | None]] = {
    # the network, and servers on this machine
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242),
    # other programs and processes
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "kcmp": (312, 272), "tkill": (200, 130), "setpriority": (141, 140),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "msgget": (68, 186),
    "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187), "semget": (64, 190),
    "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
    # what of files Landlock does not look at
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "truncate": (76, 45), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    # the machine, and other views of it
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268),
    "swapon": (167, 224), "swapoff": (168, 225), "reboot": (169, 142),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "acct": (163, 89),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "sethostname": (170, 161), "setdomainname": (171, 162), "iopl": (172, None),
    "ioperm": (173, None), "syslog": (103, 116), "vhangup": (153, 58),
    # ways around this list, and large pieces of kernel
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
}  # fmt: skip
_TO_ITSELF = {  # what may name this process alone, by its first argument
    "kill": (62, 129), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}  # fmt: skip
_PRLIMIT = (302, 261)  # its first argument is 0 for the process itself, too
_CLONE, _CLONE3, _OPENAT2 = (56, 220), (435, 435), (437, 437)
_OPEN, _OPENAT = (2, None), (257, 56)
_NEWER = 463  # calls that came after this list was made
_SECCOMP = (317, 277)
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, AUDIT_ARCH

_SET_FILTER, _ALL_THREADS = 1, 1
_LOAD, _EQUALS, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, (16, 24, 32)  # where they are in struct seccomp_data
_KILL, _ERROR, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_THREAD = 0x00010000  # CLONE_THREAD
_TRUNCATES, _WRITES = 0o1000, 0o3  # O_TRUNC; O_WRONLY or O_RDWR

_Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand
_ALLOWED: _Instruction = (_RETURN, 0, 0, _ALLOW)
_REFUSED: _Instruction = (_RETURN, 0, 0, _ERROR | errno.EPERM)
_UNKNOWN: _Instruction = (_RETURN, 0, 0, _ERROR | errno.ENOSYS)


def why_not() -> str:
    """What is missing for it; "" where it can be used."""
    if not linux_calls.IS_LINUX or sys.byteorder != "little":
        return "only Linux has seccomp"
    if platform.machine() not in _ARCHITECTURES:
        return f"system calls of {platform.machine()} are not known here"
    try:
        with open("/proc/sys/kernel/seccomp/actions_avail", encoding="ascii") as file:
            return "" if "errno" in file.read() else "the kernel cannot filter system calls"
    except OSError:
        return "the kernel has no seccomp filters"


def restrict() -> None:
    """Install the filter on all threads of this process, for good. Raises OSError."""
    column, _ = _ARCHITECTURES[platform.machine()]
    program = b"".join(struct.pack("=HBBI", *one) for one in _filter(column, os.getpid()))
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    linux_calls.prctl(linux_calls.PR_SET_NO_NEW_PRIVS, 1)
    linux_calls.syscall(
        _SECCOMP[column],
        _SET_FILTER,
        _ALL_THREADS,
        ctypes.create_string_buffer(header, len(header)),
    )


def _filter(column: int, pid: int) -> list[_Instruction]:
    """The filter as a program of classic BPF, for the process `pid`."""
    architecture = next(arch for place, arch in _ARCHITECTURES.values() if place == column)
    return [
        (_LOAD, 0, 0, _ARCH),
        (_EQUALS, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _NEWER),  # the numbers of x32, too
        _UNKNOWN,
        # The flags of these two cannot be seen; glibc then calls those that they replaced.
        *_answer((_CLONE3[column], _OPENAT2[column]), _UNKNOWN),
        *_answer((numbers[column] for numbers in _FORBIDDEN.values()), _REFUSED),
        *(line for numbers in _TO_ITSELF.values() for line in _to(numbers[column], pid)),
        *_to(_PRLIMIT[column], pid, 0),
        *_of_threads(_CLONE[column]),
        *_no_emptying(_OPEN[column], _ARGUMENTS[1]),
        *_no_emptying(_OPENAT[column], _ARGUMENTS[2]),
        _ALLOWED,
    ]


def _answer(numbers: Iterable[int | None], answer: _Instruction) -> Iterator[_Instruction]:
    for number in numbers:
        if number is not None:
            yield from ((_EQUALS, 0, 1, number), answer)


def _to(number: int, *processes: int) -> Iterator[_Instruction]:
    """Allowed where the first argument is one of these."""
    count = len(processes)
    yield (_EQUALS, 0, count + 3, number)
    yield (_LOAD, 0, 0, _ARGUMENTS[0])
    for place, process in enumerate(processes):
        yield (_EQUALS, count - place, 0, process)
    yield from (_REFUSED, _ALLOWED)


def _of_threads(number: int) -> Iterator[_Instruction]:
    """Allowed where it makes a thread, not a process."""
    yield (_EQUALS, 0, 4, number)
    yield (_LOAD, 0, 0, _ARGUMENTS[0])
    yield (_HAS_BITS, 1, 0, _THREAD)
    yield from (_REFUSED, _ALLOWED)


def _no_emptying(number: int | None, flags: int) -> Iterator[_Instruction]:
    """Refused where it would empty a file that it opens for reading, which Landlock sees from ABI 3
    on only."""
    if number is not None:
        yield (_EQUALS, 0, 5, number)
        yield (_LOAD, 0, 0, flags)
        yield (_HAS_BITS, 0, 2, _TRUNCATES)
        yield (_HAS_BITS, 1, 0, _WRITES)
        yield from (_REFUSED, _ALLOWED)
