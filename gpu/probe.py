"""Is there a GPU that works? Asked in a process of its own, because CUDA errors are sticky."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache

_TIMEOUT_S = 60.0  # a first context and four kernel compilations, on a slow machine

_LIBRARIES = "CUDA libraries are missing: uv sync --extra cuda13 (or cuda12) brings them"
_RESTART = "check `nvidia-smi`, and restart the machine if that hangs or fails, too"

_CANARY = """
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
                      "version": cupy.__version__}))
except BaseException as error:
    print(json.dumps({"error": type(error).__name__, "text": str(error)}))
"""


@dataclass(frozen=True, slots=True)
class GpuStatus:
    """available: a kernel was compiled, run and gave the right numbers. name: the card's.
    text: what is there, or what is missing and how to get it."""

    available: bool
    name: str = ""
    text: str = ""


@lru_cache(maxsize=1)
def probe() -> GpuStatus:
    """Look once a process; takes milliseconds without CuPy, seconds with it."""
    if importlib.util.find_spec("cupy") is None:
        return GpuStatus(
            False,
            text="CuPy is not installed. With an NVIDIA GPU: uv sync --extra cuda13 "
            "(driver 580 or later) or --extra cuda12 (driver 525 or later).",
        )
    return ask(_CANARY, _TIMEOUT_S)


def ask(canary: str, timeout_s: float) -> GpuStatus:
    """Run `canary` (Python text) in a process of its own, for at most so many seconds."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", canary],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        text = f"CuPy is installed, but the GPU did not answer within {timeout_s:g} s: {_RESTART}."
        return GpuStatus(False, text=text)
    return read_canary(done.stdout, done.returncode)


def read_canary(output: str, status: int) -> GpuStatus:
    """What the canary's last line says."""
    lines = output.strip().splitlines()
    try:
        said = dict(json.loads(lines[-1]))
    except (IndexError, TypeError, ValueError):
        text = f"CuPy ended the process that tried it (exit status {status}): {_RESTART}."
        return GpuStatus(False, text=text)
    if "error" in said:
        return GpuStatus(False, text=_remedy(said["error"], said["text"]))
    return GpuStatus(True, said["name"], f"{said['name']}, CuPy {said['version']}")


def _remedy(kind: str, text: str) -> str:
    first = text.splitlines()[0] if text else ""
    remedies = {
        "cudaErrorInsufficientDriver": "no NVIDIA driver, or one too old: install driver 580 or "
        "later (CUDA 13), or 525 or later (CUDA 12)",
        "cudaErrorNoDevice": "the driver sees no NVIDIA GPU: check `nvidia-smi`, and the "
        "variable CUDA_VISIBLE_DEVICES",
        "DynamicLibNotFoundError": _LIBRARIES,
        "ImportError": _LIBRARIES,
        "out of memory": "the GPU has no free memory: close other programs that use it",
    }
    for sign, remedy in remedies.items():
        if sign in f"{kind} {text}":
            return f"CuPy is installed, but {remedy}."
    return f"CuPy is installed, but a first computation failed: {kind}: {first}"
