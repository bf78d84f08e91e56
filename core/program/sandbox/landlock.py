"""Landlock: the kernel keeps a thread, and what it starts, to the files that it was given.

Source: Documentation/userspace-api/landlock.rst of Linux, ABI 1 (5.13) to 7 (6.15).
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from stat import S_ISDIR

from gradstep.core.program.sandbox import linux_calls
from gradstep.core.program.sandbox.sandbox_profile import Access

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # on every architecture
_VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}  # since an ABI
_TCP, _TCP_SINCE = 0b11, 4  # bind and connect
_SCOPES, _SCOPES_SINCE = 0b11, 6  # abstract Unix sockets, signals


def abi() -> int:
    """The version that the kernel has; 0 for none."""
    if not linux_calls.IS_LINUX:
        return 0
    with suppress(OSError):
        return linux_calls.syscall(_CREATE_RULESET, None, 0, _VERSION)
    return 0


def restrict(access: Access) -> None:
    """From here on this thread reaches what `access` says, and no more. Raises OSError."""
    version = abi()
    handled = max(rights for since, rights in _RIGHTS.items() if since <= version)
    ruleset = _create(version, handled)
    try:
        read = _READ_FILE | _READ_DIR
        _allow(ruleset, access.read, handled & read)
        _allow(ruleset, access.list, handled & _READ_DIR)
        _allow(ruleset, access.write, handled & ~_EXECUTE)
        _allow(ruleset, access.devices, handled & (read | _WRITE_FILE | _IOCTL_DEV))
        linux_calls.prctl(linux_calls.PR_SET_NO_NEW_PRIVS, 1)
        linux_calls.syscall(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _create(version: int, handled: int) -> int:
    """A ruleset that forbids all that this version can forbid."""
    words = [handled]
    if version >= _TCP_SINCE:
        words.append(_TCP)
    if version >= _SCOPES_SINCE:
        words.append(_SCOPES)
    attributes = ctypes.create_string_buffer(struct.pack(f"{len(words)}Q", *words), 8 * len(words))
    return linux_calls.syscall(_CREATE_RULESET, attributes, 8 * len(words), 0)


def _allow(ruleset: int, paths: Iterable[str], rights: int) -> None:
    for path in paths:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # gone meanwhile; what is not there needs no right
        try:
            there = rights if S_ISDIR(os.fstat(descriptor).st_mode) else rights & _ON_FILES
            rule = ctypes.create_string_buffer(struct.pack("=Qi", there, descriptor), 12)
            linux_calls.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        finally:
            os.close(descriptor)
