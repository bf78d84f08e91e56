"""Whether workloads are made small: for a try of what measures them, and no measurement."""

from __future__ import annotations

import os

VARIABLE = "GRADSTEP_BENCH_SMALL"


def sized(usual: int, small: int) -> int:
    """`small` where the environment asks for it."""
    return small if os.environ.get(VARIABLE) else usual
