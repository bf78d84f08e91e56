"""What a campaign counted."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Tally:
    """cases:           kills, and faults of the disk.
    internal_errors: tracebacks, and errors that are no GradstepError.
    hangs:           processes that neither ended nor answered in time.
    lost:            edits older than a second, and files that are neither old nor new.
    code_run:        pieces of a document's Python that ran unasked.
    peak_mib:        most memory that a process took.
    stall_ms:        longest that keeping an edit held the window's thread.
    """

    cases: int = 0
    internal_errors: int = 0
    hangs: int = 0
    lost: int = 0
    code_run: int = 0
    peak_mib: float = 0.0
    stall_ms: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.internal_errors or self.hangs or self.lost or self.code_run)

    def as_json(self) -> dict[str, Any]:
        found = asdict(self)
        found["peak_mib"], found["stall_ms"] = round(self.peak_mib, 1), round(self.stall_ms, 3)
        return found

    def readable(self, subject: str) -> str:
        said = [f"{subject}: {self.cases} cases", f"{self.lost} lost", f"{self.hangs} hangs",
                f"{self.internal_errors} internal errors"]  # fmt: skip
        return "\n".join([", ".join(said), *self.notes])
