"""A branch of runs, as Python shows it."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.debug.history.branch_record import Branch as Record


@dataclass(frozen=True)
class Branch:
    """Where a branch leaves which, with what, and where it stands.

    name: what it is called.
    parent: the branch that it leaves, "" for the first; run, step: where it leaves, both from 0.
    words: what was given and edited on it, "" for nothing.
    at_run, at_step: where it stands, or was left.
    """

    name: str
    parent: str
    run: int
    step: int
    words: str
    at_run: int
    at_step: int

    @classmethod
    def of(cls, branch: Record) -> Branch:
        """From what the engine knows of it."""
        place = branch.place
        return cls(branch.name, branch.parent, branch.run, branch.step, branch.words, *place)
