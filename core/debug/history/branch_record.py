"""A branch: a line of runs that leaves another where something was given by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gradstep.core.debug.history.manual_assignments import Assignment

FIRST_BRANCH = "main"


@dataclass(frozen=True, eq=False)
class Branch:
    """All that leads to it again: its runs are computed from that.

    parent: the branch that it leaves, "" for the first; run, step, op: where. changes: all that was
    given by hand on the way, of which it has the first `inherited` in common with its parent.
    place: run and step at which it was left, to be gone back to.
    """

    name: str
    parent: str = ""
    run: int = 0
    step: int = 0
    op: str = ""
    changes: tuple[Assignment, ...] = ()
    inherited: int = 0
    place: tuple[int, int] = (0, 0)

    @property
    def own(self) -> tuple[Assignment, ...]:
        """What was given on it, and not before."""
        return self.changes[self.inherited :]

    def at(self, run: int, step: int, op: str) -> Branch:
        """The same, which leaves its parent there."""
        return replace(self, run=run, step=step, op=op)
