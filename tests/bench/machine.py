"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np

from tests.bench.environments import ENVIRONMENTS, FOLDER

_PEERS = ("torch", "tensorflow", "jax", "jaxlib", "autograd")
_NAMED = (*_PEERS, "scipy", "onednn-cpu-gomp", "numba", "numpy")


def measured_on(racing: bool) -> str:
    """The part of a page that says so. racing: programs took turns at one core, peers in
    environments of their own."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    lines = [
        f"Processor: {_processor()}; {os.cpu_count()} cores" + racing * ", one of them used",
        f"Memory: {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        f"System: {_system()}, Python {platform.python_version()}",
        f"NumPy {np.__version__} with {blas['name']} {blas['version']}",
    ]
    if racing:
        lines.append(f"Peers: {', '.join(_peers()) or 'none installed'}")
    return "\n".join(["## Measured on\n", *(f"- {line}" for line in lines), ""])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    widest = next((name for name in ("avx512f", "avx2", "avx") if name in flags), "")
    return f"{names[0] if names else platform.machine()} ({widest or platform.machine()})"


def _system() -> str:
    return f"{platform.system()} {platform.release().partition('-')[0]}"


def _peers() -> list[str]:
    """Names and versions of what the environments hold."""
    found: dict[str, None] = {}
    for name in ENVIRONMENTS:
        for info in sorted((FOLDER / name).glob("lib/python*/site-packages/*.dist-info")):
            package, _, version = info.name.removesuffix(".dist-info").partition("-")
            package = package.replace("_", "-")
            if package in _NAMED and package != "numpy":
                found[f"{package} {version}"] = None
    return list(found)
