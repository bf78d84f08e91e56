"""What a walk may find wrong, and the counts that its report is made of."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gradstep.core.errors import unforeseen
from gradstep.core.protocol.messages import ErrorInfo

KINDS = ("revisit", "undo", "saved", "place", "fresh", "internal", "hang", "died", "untrusted")
_LOST = ("undo", "saved", "place")
_BUG = unforeseen("an internal error, to learn its hint from", ValueError("none")).hint


class BrokenError(Exception):
    """An invariant does not hold. kind: one of KINDS."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind, self.text = kind, text


class OverError(Exception):
    """The walk cannot go on from here, and nothing is wrong."""


def is_internal(error: ErrorInfo | None) -> bool:
    """Whether Gradstep blames itself for an error."""
    return error is not None and (error.type == "InternalError" or error.hint == _BUG)


def require_foreseen(errors: Iterable[ErrorInfo | None]) -> None:
    """Raises BrokenError for the first that Gradstep blames itself for."""
    for error in errors:
        if error is not None and is_internal(error):
            raise BrokenError("internal", f"{error.message} (at {error.node})")


@dataclass
class Counts:
    """What was done, and how long the longest wait was. `longest` is in seconds."""

    done: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    longest_of: str = ""

    def waited(self, since: float, what: str) -> None:
        """A wait that began at `since` (of time.monotonic) is over."""
        if (seconds := time.monotonic() - since) > self.longest:
            self.longest, self.longest_of = seconds, what


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One broken invariant. move: the number of the move after which it showed; trail: the last
    moves; only: the moves that are enough to show it; command: what shows it again."""

    kind: str
    text: str
    document: str
    seed: int
    move: int
    trail: list[str]
    command: str
    only: list[int] = []


def figures(counts: Counts, broken: Iterable[Finding]) -> dict[str, Any]:
    """The counts under the names that all campaigns have."""
    kinds = Counter(finding.kind for finding in broken)
    done = counts.done
    return {
        "cases": done["walks"],
        "internal_errors": kinds["internal"],
        "hangs": kinds["hang"],
        "lost": sum(kinds[kind] for kind in _LOST),
        "code_run": kinds["untrusted"],
        "stall_ms": round(1000 * counts.longest, 1),
        "stall_at": counts.longest_of,
        **{name: done[name] for name in NAMES},
    }


NAMES = ("moves", "edits", "undos", "revisits", "fresh", "saves", "kills", "refused")
