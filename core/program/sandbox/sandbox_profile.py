"""What a confined process may reach, by what it is for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from glob import glob
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = ("__init__.py", "core", "gpu", "gui", "assets", "main.py")
_LIBRARIES = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store",
    "/usr/share/zoneinfo", "/etc/localtime", "/etc/ld.so.cache", "/etc/ld.so.preload",
)  # fmt: skip
_KERNEL = (  # what BLAS libraries and glibc ask about the machine
    "/proc/cpuinfo", "/proc/meminfo", "/proc/self/maps", "/proc/self/status", "/proc/self/stat",
    "/proc/self/statm", "/proc/self/cgroup", "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm/transparent_hugepage",
    "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
)  # fmt: skip
_CUDA = (
    "/usr/local/cuda*", "/opt/cuda*", "/etc/nvidia*", "/usr/share/nvidia", "/etc/OpenCL",
    "/proc/driver/nvidia*", "/proc/devices", "/proc/modules", "/proc/self/task",
    "/sys/bus/pci", "/sys/devices/pci*", "/sys/module/nvidia*", "/sys/class/drm",
)  # fmt: skip
_GPU_DEVICES = ("/dev/nvidia*", "/dev/dxg", "/dev/dri")


class Profile(StrEnum):
    """READER: reads foreign bytes and answers. ENGINE: runs user code on the processor. GPU: the
    same, on NVIDIA's devices as well, whose driver and CUDA libraries it needs."""

    READER = "reader"
    ENGINE = "engine"
    GPU = "gpu"


@dataclass(frozen=True)
class Access:
    """Files and folders, with all that is in them. read: to be read; list: names in these folders
    alone; write: to be read, made, changed and removed; devices: to be talked to."""

    read: tuple[str, ...]
    list: tuple[str, ...]
    write: tuple[str, ...]
    devices: tuple[str, ...]


def engine_profile() -> Profile:
    """What an engine needs here: no devices where there are none."""
    return Profile.GPU if [*_matching(_GPU_DEVICES)] else Profile.ENGINE


def access(
    profile: Profile, temporary: str = "", read: Iterable[str] = (), write: Iterable[str] = ()
) -> Access:
    """What `profile` may reach: `temporary`, and `read` and `write`, which the user named, too."""
    gpu = profile is Profile.GPU
    readable = [*_python(), *_LIBRARIES, *_KERNEL, *(_matching(_CUDA) if gpu else ()), *read]
    return Access(
        read=_there(readable),
        list=(str(ROOT),),
        write=_there([temporary, *write]),
        devices=_there(["/dev/null", *(_matching(_GPU_DEVICES) if gpu else ())]),
    )


def _python() -> Iterator[str]:
    """What is imported from: Gradstep, Python, packages."""
    yield from (str(ROOT / name) for name in _PROGRAM)
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    for entry in sys.path:
        if entry and Path(entry).resolve() not in (ROOT, Path.cwd()):
            yield entry


def _matching(patterns: Iterable[str]) -> Iterator[str]:
    for pattern in patterns:
        yield from glob(pattern)


def _there(paths: Iterable[str]) -> tuple[str, ...]:
    """Those that exist, in the places where links lead as well, each once. The root is none."""
    found: dict[str, None] = {}
    for path in filter(None, paths):
        for name in (os.path.abspath(path), os.path.realpath(path)):
            if name != "/" and os.path.exists(name):
                found[name] = None
    return tuple(found)
