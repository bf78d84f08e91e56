"""The programs that threads run after edits of their document, and which threads an edit concerns.

An edit holds, in each thread that it concerns, from the beginning of the run that this stands in:
what a run before it has put into a queue stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from gradstep.core.debug.concurrency.thread_runs import ThreadRuns
from gradstep.core.debug.history.branch_record import BranchEdit, Turn
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.errors import GradstepError

Parts = Mapping[str, Program]  # what each thread runs, by their names
Edits = tuple[BranchEdit, ...]


class EditedThreads:
    """program: before any edit; parts: what each thread runs of it; parted: of another one."""

    def __init__(self, program: Program, parts: Parts, parted: Callable[[Program], Parts]) -> None:
        self._program, self._parted = program, parted
        # Each costs a derivation; with the edits of them that can be made.
        self._made: dict[Edits, tuple[Edits, Program, Parts]] = {(): ((), program, parts)}

    def program(self, edits: Edits) -> Program:
        """After edits, but for those that an edit of the document has made impossible."""
        return self._after(edits)[1]

    def parts(self, edits: Edits) -> Parts:
        """What each thread runs of it."""
        return self._after(edits)[2]

    def require(self, edits: Edits, edit: BranchEdit) -> None:
        """Raise GradstepError where one more edit cannot be made."""
        possible = self._after(edits)[0]
        self._hold((*edits, edit), (*possible, edit), self._edited((*possible, edit)))

    def concerned(self, edits: Edits, edit: BranchEdit) -> frozenset[str]:
        """The threads of whose program one more edit changes what they run."""
        before, now = self.parts(edits), self.parts((*edits, edit))
        return frozenset(n for n, part in now.items() if n in before and _is_other(part, before[n]))

    def keep_only(self, ways: Iterable[Edits]) -> None:
        """Those that branches run, and what they are made of."""
        used = {()} | {way[:count] for way in ways for count in range(len(way) + 1)}
        self._made = {edits: made for edits, made in self._made.items() if edits in used}

    def _after(self, edits: Edits) -> tuple[Edits, Program, Parts]:
        if edits not in self._made:
            possible, program, _ = self._after(edits[:-1])
            with suppress(GradstepError):  # else it is skipped, and not forgotten
                program, possible = self._edited((*possible, edits[-1])), (*possible, edits[-1])
            self._hold(edits, possible, program)
        return self._made[edits]

    def _hold(self, edits: Edits, possible: Edits, program: Program) -> None:
        self._made[edits] = possible, program, self._parted(program)

    def _edited(self, edits: Edits) -> Program:
        if self._program.edited is None:
            raise GradstepError(
                "this program was not made from a document, and cannot be edited",
                kind="FailedPreconditionError",
                hint="give a value on a branch instead: inject",
            )
        return self._program.edited(self._program, [(edit.kind, edit.names) for edit in edits])


def runs_at(turns: Iterable[Turn], names: Iterable[str]) -> dict[str, int]:
    """The run in which each thread stands behind these turns, at its newest step."""
    found = dict.fromkeys(names, 0)
    for turn in turns:
        if turn.place:
            found[turn.thread] = max(found[turn.thread], turn.place[0][0])
    return found


def with_edit(turns: Sequence[Turn], thread: str, run: int, edit: BranchEdit) -> list[Turn]:
    """The same turns, where a thread has an edited program from the beginning of `run` on, which
    is the one that it stands in."""
    entering = Turn(thread, ((run, 0),), edit=edit)
    if run == 0:
        at = next((n for n, turn in enumerate(turns) if turn.edit is None), len(turns))
        return [*turns[:at], entering, *turns[at:]]  # behind those that hold from there already

    def is_there(turn: Turn) -> bool:
        mine = turn.thread == thread and turn.is_move
        return mine and bool(turn.place) and turn.place[0][0] >= run

    at = next((number for number, turn in enumerate(turns) if is_there(turn)), len(turns))
    end = Turn(thread, ((run - 1, 0),), ("",))  # wherever that is
    return [*turns[:at], end, entering, *turns[at:]]


def edits_in(edits: Edits, turns: Sequence[Turn], until: Sequence[Turn]) -> Edits:
    """The edits that hold behind the first of the turns, `until` some. Raises GradstepError where
    one holds in one thread already, and not in another yet."""
    holds, every = ([(t.edit, t.thread) for t in ts if t.edit is not None] for ts in (until, turns))
    found = []
    for edit in edits:
        there, all_there = ({n for e, n in ts if e is edit} for ts in (holds, every))
        if there and there != all_there:
            late = ", ".join(sorted(all_there - there))
            raise GradstepError(
                f"the edit '{edit.words}' holds here in {', '.join(sorted(there))}, and not yet "
                f"in {late}",
                kind="FailedPreconditionError",
                hint="go on to where it holds in all, or switch to the branch that this one leaves",
            )
        if there or not all_there:
            found.append(edit)
    return (*found,)


def require_alike(runs: ThreadRuns, parts: Parts, where: Mapping[str, int]) -> None:
    """Raise GradstepError where an edit, which holds from these runs of threads on, changes what
    threads have in common, in the midst of it: there is something in it already."""
    if not any(where.values()):
        return
    for name, member in runs.members.items():
        plan, graph = member.session.plan, member.session.program.graph
        now = parts[name].graph.operations if name in parts else {}
        for storage, variable in plan.variables.items():
            if storage not in runs.shared.names or variable.counter or not variable.op:
                continue
            before, after = graph.operations.get(variable.op), now.get(variable.op)
            if before is not after and before != after:
                raise GradstepError(
                    f"'{variable.op}' holds what the threads have put there, and would be another "
                    "one by this edit",
                    kind="FailedPreconditionError",
                    node=variable.op,
                    hint="make it in the document; or restart, and branch in run 1 of all threads",
                )


def begun_programs(
    programs: EditedThreads, edits: Edits, turns: Sequence[Turn]
) -> tuple[Edits, Parts, dict[Turn, Program]]:
    """What a branch of these edits begins with: those that hold from the very beginning, for what
    variables begin with; what each thread runs at first, and from which of the turns on another
    one."""
    last = programs.parts(edits)
    entered: dict[str, list[Turn]] = {name: [] for name in last}
    for turn in turns:
        if turn.edit is not None and turn.thread in entered:
            entered[turn.thread].append(turn)
    parts, later = dict[str, Program](), dict[Turn, Program]()
    for name, mine in entered.items():
        for turn in mine:
            assert turn.edit is not None
            is_last = turn is mine[-1]
            until = edits if is_last else edits[: edits.index(turn.edit) + 1]
            later[turn] = programs.parts(until).get(name, last[name])
        at_first = [turn for turn in mine if _is_first(turn)]
        if at_first:
            parts[name] = later[at_first[-1]]
        else:
            parts[name] = programs.parts(())[name] if mine else last[name]
    late = {t.edit for mine in entered.values() for t in mine if not _is_first(t)}
    first = tuple(edit for edit in edits if edit not in late)
    return first, parts, {turn: part for turn, part in later.items() if not _is_first(turn)}


def _is_first(turn: Turn) -> bool:
    return turn.place[0][0] == 0


def _is_other(part: Program, before: Program) -> bool:
    names, names_before = _run_by(part), _run_by(before)
    now, then = part.graph.operations, before.graph.operations
    if names != names_before:
        return True
    if any(now[n] is not then[n] and now[n] != then[n] for n in names):
        return True
    feeds = (part.feeds, before.feeds)
    fed, fed_before = ({r: v for r, v in f.items() if r.op in names} for f in feeds)
    return fed.keys() != fed_before.keys() or any(
        not _is_same(value, fed_before[ref]) for ref, value in fed.items()
    )


def _run_by(part: Program) -> set[str]:
    asked = [*part.targets, *(ref.op for ref in part.fetches)]
    return part.graph.ancestors(name for name in asked if name in part.graph)


def _is_same(value: np.ndarray, other: np.ndarray) -> bool:
    alike = (value.dtype, value.shape) == (other.dtype, other.shape)
    return value is other or (alike and value.tobytes() == other.tobytes())
