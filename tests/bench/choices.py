"""How a run of the benchmarks was asked for."""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Choices:
    """quick: fewer rounds, and nothing is installed. only: workloads; empty for all."""

    quick: bool = False
    only: Collection[str] = ()

    @property
    def rounds(self) -> int:
        return 9 if self.quick else 25

    @property
    def seconds(self) -> float:
        """CPU time of one program in one round."""
        return 0.05 if self.quick else 0.15

    @property
    def repeats(self) -> int:
        """Of what takes seconds."""
        return 3 if self.quick else 7


def say(text: str) -> None:
    """Progress, on standard error."""
    sys.stderr.write(f"bench: {text}\n")
    sys.stderr.flush()
