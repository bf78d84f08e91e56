"""The programs that the branches of a session run: its own, and those that edits made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.debug.history.branch_record import Branch, BranchEdit
from gradstep.core.debug.history.frozen_program import NamedEdit, Program
from gradstep.core.debug.history.parked_runs import ParkedRuns
from gradstep.core.debug.history.same_steps import Pairs, SameSteps
from gradstep.core.errors import GradstepError

if TYPE_CHECKING:
    from gradstep.core.debug.motion.program_runs import ProgramRuns


class BranchPrograms:
    """own: the session's. Of the others those are kept that there is memory for, with the runs of
    all branches of the same edit; the rest is derived again."""

    def __init__(self, own: ProgramRuns) -> None:
        self.own = own
        self._made: dict[BranchEdit, ProgramRuns] = {}
        # Of edits those that can be made: each costs a derivation to find out.
        self._possible: dict[tuple[BranchEdit, ...], tuple[BranchEdit, ...]] = {}

    def of(self, edits: Sequence[BranchEdit]) -> ProgramRuns | None:
        """Those that are run after edits; None where they are not kept."""
        return self._made.get(edits[-1]) if edits else self.own

    def limit(self, limit_bytes: int) -> None:
        """How much memory the recorded runs of each may keep from now on."""
        for runs in (self.own, *self._made.values()):
            runs.timeline.limit_bytes = limit_bytes

    def hold(self, edit: BranchEdit, runs: ProgramRuns) -> None:
        """Keep those that the last edit made."""
        self._made[edit] = runs

    def parked(self, branch: Branch) -> dict[str, ParkedRuns]:
        """What is kept of branches that run the same program, by their names."""
        runs = self.of(branch.edits)
        return {} if runs is None else runs.timeline.parked.by_name

    def program_after(self, edits: Sequence[BranchEdit]) -> Program:
        """Raises GradstepError for an edit that cannot be made."""
        make = self.own.program.edited
        if make is None:
            raise GradstepError(
                "this program was not made from a document, and cannot be edited",
                kind="FailedPreconditionError",
                hint="give a value on a branch instead: inject",
            )
        return make(self.own.program, [_named(edit) for edit in edits])

    def program_after_all(self, edits: Sequence[BranchEdit], last: NamedEdit) -> Program:
        """The same after one more, which is no branch's."""
        kind, names = last
        return self.program_after([*edits, BranchEdit(0, 0, "", kind, names)])

    def possible(self, edits: Iterable[BranchEdit]) -> tuple[BranchEdit, ...]:
        """Those that can be made: an edit of the document may have made others impossible."""
        asked = (*edits,)
        if asked and asked not in self._possible:
            before = self.possible(asked[:-1])
            self._possible[asked] = self._with(before, asked[-1])
        return self._possible.get(asked, ())

    def _with(self, edits: tuple[BranchEdit, ...], edit: BranchEdit) -> tuple[BranchEdit, ...]:
        """One more, if it can be made."""
        try:
            self.program_after([*edits, edit])
        except GradstepError:
            return edits
        return (*edits, edit)

    def keep_only(self, branches: Iterable[Branch], shown: ProgramRuns) -> None:
        """Those that branches run; and of them no more than there is memory for."""
        ways = [branch.edits for branch in branches if branch.edits]
        used, parts = {edits[-1] for edits in ways}, {edit for edits in ways for edit in edits}
        self._made = {edit: runs for edit, runs in self._made.items() if edit in used}
        self._possible = {e: found for e, found in self._possible.items() if parts.issuperset(e)}
        others = [each for each in (*self._made.values(), self.own) if each is not shown]
        limit = shown.timeline.limit_bytes
        for each in others:
            while _nbytes(others) > limit and each.timeline.drop_oldest():
                pass
        for edit, each in [*self._made.items()]:
            if each is not shown and _nbytes(others) > limit:
                others.remove(each)
                del self._made[edit]


def kept_steps(runs: ProgramRuns, before: ProgramRuns, run: int, stop: int) -> Mapping[int, Pairs]:
    """The steps of `run`, the first `stop` of it, that are done already in the one before; none
    where values were given by hand there."""
    was, now = before.timeline, runs.timeline
    if was.link.seen.touches(run):
        return {}
    fed_then, fed_now = was.feeds_at(run), now.feeds_at(run)
    same = {ref for ref, value in fed_now.items() if _is_same(value, fed_then.get(ref))}
    found = SameSteps(runs.plan, before.plan, frozenset(same), was.done(run))
    return dict(found.find(stop))


def _is_same(value: np.ndarray, other: np.ndarray | None) -> bool:
    if value is other or other is None:
        return value is other
    alike = (value.dtype, value.shape) == (other.dtype, other.shape)
    return alike and value.tobytes() == other.tobytes()


def _nbytes(runs: Iterable[ProgramRuns]) -> int:
    return sum(each.timeline.nbytes for each in runs)


def _named(edit: BranchEdit) -> NamedEdit:
    return edit.kind, edit.names
