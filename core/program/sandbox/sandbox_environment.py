"""The environment of a confined process: what Python, NumPy and CUDA need, and no secret."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

_KEPT = re.compile(
    r"PATH|LANG|LANGUAGE|LC_\w+|TZ|TERM|VIRTUAL_ENV|LD_LIBRARY_PATH|HOME|TMPDIR|CUPY_CACHE_DIR"
    r"|PYTHON\w+|(OMP|OPENBLAS|GOTO|MKL|BLIS|NPY|NUMBA|KMP)_\w+"
    r"|CUDA_\w+|NVIDIA_\w+|CUPY_\w+|GRADSTEP_\w+"
)


def kept(environment: Mapping[str, str]) -> dict[str, str]:
    """What of it a confined process gets."""
    return {name: value for name, value in environment.items() if _KEPT.fullmatch(name)}


def forget() -> None:
    """Take the rest out of os.environ."""
    for name in set(os.environ) - set(kept(os.environ)):
        del os.environ[name]


def ensure_clean() -> None:
    """Start this process anew where its environment holds more than is kept: what it was started
    with stays in its memory, whatever os.environ says."""
    clean = kept(os.environ)
    if len(clean) < len(os.environ):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], clean)
