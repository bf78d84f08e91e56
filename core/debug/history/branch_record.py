"""A branch: a line of runs that leaves another where a value was given, or the program edited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gradstep.core.debug.history.manual_assignments import Assignment, InnerPlace

FIRST_BRANCH = "main"
Places = tuple[tuple[int, int], ...]  # run and step, and in loops iteration and step


@dataclass(frozen=True, eq=False)
class BranchEdit:
    """An edit of the program that a branch runs, from the beginning of `run` on: what that run had
    done already before step `step` and operation `op`, where the edit was made, is done again as
    far as it hangs on the edit. kind, names: of the edit, as
    `gradstep.core.document.named_edits` takes them. words: the same for people. Branches that
    have the very same one have its runs in common."""

    run: int
    step: int
    op: str
    kind: str
    names: tuple[str, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """Where a thread stands. ops: what comes next there, "" at an end: of the run, and of each loop
    that it stands in."""

    thread: str
    place: Places = ((0, 0),)
    ops: tuple[str, ...] = ("",)


@dataclass(frozen=True, eq=False, slots=True)
class Turn:
    """What a thread did in one go. place: to where it executed, before `ops`, which are as of
    ThreadPlace; () where it executed nothing. tried: and then the next step, which failed, or could
    not be done yet. Neither: it went back, and waits no more. given: or what it was given there;
    words: the same for people; assigned: or what variables were, in all threads. edit: or which
    edit its program has from here on, at the start of the run that `place` begins."""

    thread: str
    place: Places = ()
    ops: tuple[str, ...] = ()
    tried: bool = False
    given: Mapping[str, np.ndarray] | None = None
    words: str = ""
    assigned: Mapping[str, np.ndarray] | None = None
    edit: BranchEdit | None = None

    @property
    def is_move(self) -> bool:
        """Whether it went on, or back, or tried to."""
        return self.given is None and self.assigned is None and self.edit is None


@dataclass(frozen=True, eq=False)
class Branch:
    """All that leads to it again: its runs are computed from that.

    parent: the branch that it leaves, "" for the first; run, step, op: where. changes: all that was
    given by hand on the way, of which it has the first `inherited` in common with its parent.
    place: run and step at which it was left, to be gone back to; inside: in loops that it stood in
    there, from the outermost. edits: those of its program, in
    the order in which they were made, of which its parent has the first `edits_inherited`.
    Where there are threads: left: where all of them stood as it left, the one in which it did
    first; stands: where they stand, or were left; thread: the one that is looked at. turns: what
    led to it, by which it is made again.
    """

    name: str
    parent: str = ""
    run: int = 0
    step: int = 0
    op: str = ""
    changes: tuple[Assignment, ...] = ()
    inherited: int = 0
    place: tuple[int, int] = (0, 0)
    edits: tuple[BranchEdit, ...] = ()
    edits_inherited: int = 0
    inside: tuple[InnerPlace, ...] = ()
    left: tuple[ThreadPlace, ...] = ()
    stands: tuple[ThreadPlace, ...] = ()
    thread: str = ""
    turns: tuple[Turn, ...] = ()

    @property
    def own(self) -> tuple[Assignment, ...]:
        """What was given on it, and not before."""
        return self.changes[self.inherited :]

    @property
    def words(self) -> str:
        """What was given and edited on it, and not before, for people."""
        edited = [each.words for each in self.edits[self.edits_inherited :]]
        return ", ".join(filter(None, (*edited, *(each.words for each in self.own))))
