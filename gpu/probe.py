"""Is there a GPU that works? Asked in a process of its own, because CUDA errors are sticky."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from gradstep.core.installation import extra_command
from gradstep.gpu.canary import CONFINED, DRIVER, PATIENCE_S, Awaited, last_line, sing
from gradstep.gpu.device_status import DeviceStatus

TIMEOUT_S = 60.0  # a first context and four kernel compilations, on a slow machine

_LOOK = ("nvidia-smi",)
_DRIVERS = {"cuda13": 580, "cuda12": 525}  # the oldest that each of our extras works with
_RESTART = "check 'nvidia-smi', and restart the machine if that hangs or fails, too"
_STILL_ASKING = DeviceStatus(
    False, text="CuPy is installed; still asking whether there is a GPU for it.", asking=True
)

_CANARY = (
    DRIVER
    + """
import json, sys
try:
    import cupy
    count = cupy.cuda.runtime.getDeviceCount()
    x = cupy.arange(6, dtype=cupy.float32)
    y = cupy.zeros(3, cupy.float32)
    cupy.add.at(y, cupy.asarray([0, 0, 1]), cupy.float32(1))
    total = float((x * 2).sum()) + float((x[None] @ x[:, None])[0, 0]) + float(y.sum())
    assert total == 30 + 55 + 3, total
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    print(json.dumps({"name": properties["name"].decode(), "count": count,
                      "version": cupy.__version__, "driver": driver(),
                      "cuda": cupy.cuda.runtime.runtimeGetVersion()}))
except BaseException as error:
    print(json.dumps({"error": type(error).__name__, "text": str(error)}))
"""
)


def probe(patience_s: float = PATIENCE_S) -> DeviceStatus:
    """What is there, after so many seconds at most: milliseconds without CuPy, and once it has been
    asked; seconds for the first time with it."""
    if importlib.util.find_spec("cupy") is None:
        text = f"CuPy is not installed. With an NVIDIA GPU: {_how_to_install()}."
        return DeviceStatus(False, text=text, commands=tuple(_installing()))
    return asked().within(patience_s) or _STILL_ASKING


@cache
def asked() -> Awaited[DeviceStatus]:
    """The canary of this process, that sings once."""
    return Awaited(partial(ask, _CANARY, TIMEOUT_S))


def ask(canary: str, timeout_s: float) -> DeviceStatus:
    """Run `canary` (Python text) in a process of its own, for at most so many seconds."""
    try:
        said = sing(canary, timeout_s)
    except OSError:
        return DeviceStatus(False, text=f"CuPy is installed, but {CONFINED}.")
    if said is None:
        text = f"CuPy is installed, but the GPU did not answer within {timeout_s:g} s: {_RESTART}."
        return DeviceStatus(False, text=text, commands=_LOOK)
    return read_canary(*said)


def read_canary(output: str, status: int) -> DeviceStatus:
    """What the canary's last line says."""
    said = last_line(output)
    if said is None:
        text = f"CuPy ended the process that tried it (exit status {status}): {_RESTART}."
        return DeviceStatus(False, text=text, commands=_LOOK)
    if "error" in said:
        return _remedy(said["error"], said["text"])
    return DeviceStatus(True, said["name"], _text(said))


def _text(said: Mapping[str, Any]) -> str:
    """The card, its driver and the libraries: what stands in recordings, too."""
    parts = [said["name"]]
    if said.get("driver"):
        parts.append(f"driver {said['driver']}")
    if cuda := said.get("cuda"):  # 13010 is 13.1
        parts.append(f"CUDA {cuda // 1000}.{cuda % 1000 // 10}")
    return ", ".join([*parts, f"CuPy {said['version']}"])


def _remedy(kind: str, text: str) -> DeviceStatus:
    for sign, (remedy, commands) in _remedies().items():
        if sign in f"{kind} {text}":
            return DeviceStatus(False, text=f"CuPy is installed, but {remedy}.", commands=commands)
    first = text.splitlines()[0] if text else ""
    failed = f"CuPy is installed, but a first computation failed: {kind}: {first}"
    return DeviceStatus(False, text=failed)


def _remedies() -> dict[str, tuple[str, tuple[str, ...]]]:
    """What is in the error's kind or text -> what that means and what to do; what to type."""
    libraries = f"CUDA libraries are missing: {_how_to_install()}", tuple(_installing())
    return {
        "cudaErrorInsufficientDriver": (
            "no NVIDIA driver, or one too old: install driver 580 or later (CUDA 13), or 525 or "
            "later (CUDA 12)",
            (),
        ),
        "cudaErrorNoDevice": (
            "the driver sees no NVIDIA GPU: check 'nvidia-smi', and the variable "
            "CUDA_VISIBLE_DEVICES",
            _LOOK,
        ),
        "DynamicLibNotFoundError": libraries,
        "ImportError": libraries,
        "out of memory": ("the GPU has no free memory: close other programs that use it", _LOOK),
    }


def _installing() -> dict[str, int]:
    """What to type for CuPy and the CUDA libraries -> the oldest driver that it works with."""
    return {extra_command(extra): driver for extra, driver in _DRIVERS.items()}


def _how_to_install() -> str:
    ways = _installing().items()
    return " or ".join(f"{command} (driver {driver} or later)" for command, driver in ways)
