"""Memory and descriptors of processes while a campaign runs: what grows, and by how much."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from gradstep.core.host.process.supervisor import children_of

WARM_UP = 600.0  # seconds, or a tenth of a shorter run
_POINTS = 20  # of a curve
_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(pid: int) -> float:
    """MiB of memory that a process holds now; 0 where it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / 2**20
    except (OSError, IndexError):
        return 0.0


def engine_of(supervisor: int) -> int:
    """The process that runs the engine: what its supervisor started, itself where nothing is."""
    return next(iter(children_of(supervisor)), supervisor)


def peak(pid: int) -> float:
    """MiB that it held at most."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    found = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(next(found, "0")) / 1024


def descriptors(pid: int) -> int:
    """How many files, pipes and sockets it has open."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


@dataclass
class Watch:
    """Samples of processes by what they are ("engine"): seconds since the start, MiB, descriptors.
    All are taken at rest, on the same small document."""

    samples: dict[str, list[tuple[float, float, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    most: float = 0.0

    def look(self, seconds: float, pids: dict[str, int]) -> None:
        for name, pid in pids.items():
            self.most = max(self.most, peak(pid))
            if held := resident(pid):
                self.samples[name].append((seconds, held, descriptors(pid)))

    def growth(self, whole: float) -> dict[str, float]:
        """Percent from the end of the warm-up to the end of a run of so many seconds: between the
        medians of the first and of the last fifth of the samples in between."""
        warm = min(WARM_UP, whole / 10)
        return {
            name: round(_percent([mib for at, mib, _ in found if at >= warm]), 1)
            for name, found in self.samples.items()
        }

    def as_json(self, whole: float) -> dict[str, Any]:
        growth = self.growth(whole)
        return {
            "peak_mib": round(self.most, 1),
            "growth_percent": max(growth.values(), default=0.0),
            "growth": growth,
            "mib": {name: _thinned(found) for name, found in self.samples.items()},
            "descriptors": {
                name: [found[0][2], found[-1][2]] for name, found in self.samples.items()
            },
        }


def _thinned(samples: Sequence[tuple[float, float, int]]) -> list[list[float]]:
    """Some of the samples: seconds and MiB."""
    every = max(1, len(samples) // _POINTS)
    return [[round(at), round(mib, 1)] for at, mib, _ in samples[::every]]


def _percent(mib: Sequence[float]) -> float:
    if not mib:
        return 0.0
    fifth = max(1, len(mib) // 5)
    return 100 * (median(mib[-fifth:]) / median(mib[:fifth]) - 1)
