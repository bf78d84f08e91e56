"""A branch: a line of runs that leaves another where a value was given, or the program edited."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.debug.history.manual_assignments import Assignment, InnerPlace

FIRST_BRANCH = "main"


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


@dataclass(frozen=True, eq=False)
class Branch:
    """All that leads to it again: its runs are computed from that.

    parent: the branch that it leaves, "" for the first; run, step, op: where. changes: all that was
    given by hand on the way, of which it has the first `inherited` in common with its parent.
    place: run and step at which it was left, to be gone back to; inside: in loops that it stood in
    there, from the outermost. edits: those of its program, in
    the order in which they were made, of which its parent has the first `edits_inherited`.
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

    @property
    def own(self) -> tuple[Assignment, ...]:
        """What was given on it, and not before."""
        return self.changes[self.inherited :]

    @property
    def words(self) -> str:
        """What was given and edited on it, and not before, for people."""
        edited = [each.words for each in self.edits[self.edits_inherited :]]
        return ", ".join(filter(None, (*edited, *(each.words for each in self.own))))
