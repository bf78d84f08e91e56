"""Which card, driver and libraries gave a result: what stands in each file of it."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_PACKAGES = ("numpy", "cupy-cuda13x", "cupy-cuda12x", "torch", "jax", "jaxlib", "scipy", "msgspec")
_ASKED = "name,driver_version,memory.total,compute_cap"


def facts(device: str) -> dict[str, Any]:
    """Without loading any of the libraries. device: of tests.card.device.KINDS."""
    found: dict[str, Any] = {"device": device, "python": platform.python_version()}
    found["processor"] = f"{_processor()}, {os.cpu_count()} cores"
    found["gradstep"] = _asked("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD")
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    if device == "card":
        card = _asked("nvidia-smi", f"--query-gpu={_ASKED}", "--format=csv,noheader")
        found |= dict(zip(_ASKED.split(","), (x.strip() for x in card.split(",")), strict=False))
        found["cuda"] = _cuda()
    return found


def _cuda() -> str:
    with contextlib.suppress(PackageNotFoundError):
        return version("nvidia-cuda-runtime")
    return ""


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _asked(*command: str) -> str:
    """The first line that a program prints; "" where there is none."""
    with contextlib.suppress(OSError, subprocess.SubprocessError, IndexError):
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return done.stdout.strip().splitlines()[0]
    return ""
