"""A job object of Windows: the processes in it end together, at the latest when we end."""

from __future__ import annotations

import ctypes
import subprocess
from typing import Any

_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_KILL_ON_CLOSE = 0x2000  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE


class _BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = [
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    ]


class _Limits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = [
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    ]


class Job:
    """Holds one process and what it starts from now on."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        kernel = self._kernel = _kernel32()
        self._job = kernel.CreateJobObjectW(None, None)
        limits = _Limits()
        limits.BasicLimitInformation.LimitFlags = _KILL_ON_CLOSE
        size = ctypes.sizeof(limits)
        kernel.SetInformationJobObject(self._job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
        handle: Any = getattr(process, "_handle")  # noqa: B009 - only there on Windows
        kernel.AssignProcessToJobObject(self._job, ctypes.c_void_p(int(handle)))

    def terminate(self) -> None:
        """End every process in the job."""
        self._kernel.TerminateJobObject(self._job, 1)


def _kernel32() -> Any:
    libraries: Any = ctypes  # WinDLL is there on Windows alone
    kernel = libraries.WinDLL("kernel32", use_last_error=True)
    pointer, number = ctypes.c_void_p, ctypes.c_uint32
    kernel.CreateJobObjectW.restype = pointer
    kernel.CreateJobObjectW.argtypes = [pointer, ctypes.c_wchar_p]
    kernel.SetInformationJobObject.argtypes = [pointer, ctypes.c_int, pointer, number]
    kernel.AssignProcessToJobObject.argtypes = [pointer, pointer]
    kernel.TerminateJobObject.argtypes = [pointer, number]
    return kernel
