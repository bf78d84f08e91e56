"""What Python's standard library does not have of Linux: a few system calls, by ctypes."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

IS_LINUX = sys.platform == "linux"


def prctl(option: int, argument: Any, more: Any = 0) -> None:
    """prctl(2). Raises OSError."""
    _checked(_libc().prctl(option, _word(argument), _word(more), _word(0), _word(0)))


def syscall(number: int, *arguments: Any) -> int:
    """A system call by number, its result; pointers are given by ctypes. Raises OSError."""
    return _checked(_libc().syscall(ctypes.c_long(number), *map(_word, arguments)))


@cache
def _libc() -> Any:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _word(value: Any) -> Any:
    """A number as wide as the kernel reads it: variadic functions take what they are given."""
    return ctypes.c_ulong(value) if isinstance(value, int) else value


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
