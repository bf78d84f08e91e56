"""A campaign: cases one after another, what failed of them by place, and the smallest of each."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.case import Case
from tests.fuzz.failure import ROOT, Failure
from tests.fuzz.kinds import Kind
from tests.fuzz.pipeline import try_case
from tests.fuzz.smaller import smallest
from tests.fuzz.workers import Found, Tally, failures

ATTACK = ROOT / "tests" / "data" / "attack"
_COUNTED = {"internal": "internal_errors", "hang": "hangs", "crash": "crashes"}


@dataclass
class Campaign:
    """What came out. counts: failures by kind; first: the first of each key."""

    tally: Tally = field(default_factory=Tally)
    counts: Counter[str] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)
    first: dict[str, Found] = field(default_factory=dict)

    def run(self, kind: Kind, seed: int, numbers: range, seconds: float) -> None:
        def attempt(number: int) -> None:
            case = kind.make(seed, number)
            if case is not None:
                try_case(case, kind.is_heavy(number))

        until = time.monotonic() + seconds
        for found in failures(numbers, attempt, self.tally, until):
            self.counts[found.failure.kind] += 1
            self.keys[found.failure.key] += 1
            self.first.setdefault(found.failure.key, found)

    def as_json(self) -> Mapping[str, Any]:
        """Counts; memory in MiB, of the largest worker; the slowest case in ms of CPU time."""
        return {
            "cases": self.tally.cases,
            "internal_errors": self.counts["internal"],
            "hangs": self.counts["hang"],
            "crashes": self.counts["crash"],
            "lost": self.counts["lost"],
            "code_run": self.counts["code_run"],
            "peak_mib": self.tally.peak >> 20,
            "stall_ms": round(1000 * self.tally.stall),
            "failures": [
                {"key": key, "times": times, "case": self.first[key].number,
                 "words": self.first[key].failure.words}
                for key, times in self.keys.most_common()
            ],
        }  # fmt: skip


def failure_in(case: Case, heavy: bool) -> Failure | None:
    """How a case fails, tried in a process of its own."""
    for found in failures(
        range(1), lambda _: try_case(case, heavy), Tally(), time.monotonic() + 60
    ):
        return found.failure
    return None


def reduced(case: Case, failure: Failure, say: Callable[[str], None]) -> Case:
    """The smallest case that fails with the same key."""
    say(f"making {failure.key} smaller")

    def fails(candidate: Case) -> bool:
        found = failure_in(candidate, heavy=True)
        return found is not None and found.key == failure.key

    return smallest(case, fails)


def keep(case: Case, folder: Path = ATTACK) -> Path:
    """Write a case down, named by its content."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(case.data).hexdigest()[:12]}{case.suffix}"
    path.write_bytes(case.data)
    return path


def kept(folder: Path = ATTACK) -> list[Path]:
    """All cases that were written down."""
    return sorted(path for path in folder.iterdir() if path.suffix != ".md")
