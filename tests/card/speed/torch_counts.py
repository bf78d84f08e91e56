"""How often a step of PyTorch's launches, waits and copies, by its own profiler: which slows what
comes after it in the process, so nothing is timed there any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.bench.program import Program

_LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch")
_COPIES = ("cudaMemcpy",)
_WAITS = ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize")


class NotCountedError(Exception):
    """Why nothing is counted."""


def counted(program: Program, on: str) -> dict[str, int]:
    """Of one step, after some. Raises NotCountedError."""
    if on != "cuda":
        raise NotCountedError(f"nothing is launched on {on}")
    import torch

    for _ in range(3):
        program.step()
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        program.step()
    torch.cuda.synchronize()
    found = of_calls((event.key, int(event.count)) for event in profile.key_averages())
    if not found["launches"]:
        raise NotCountedError("the profiler saw no launch")
    return found


def of_calls(calls: Iterable[tuple[str, int]]) -> dict[str, int]:
    """From names of CUDA's functions and how often each was called."""
    known: dict[str, tuple[str, ...]]
    known = {"launches": _LAUNCHES, "waits": _WAITS, "copies": _COPIES}
    every: list[Any] = [*calls]
    return {
        what: sum(count for name, count in every if name.startswith(names))
        for what, names in known.items()
    }
