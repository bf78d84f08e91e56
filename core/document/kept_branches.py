"""Branches of a session as a document keeps them, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from gradstep.core.debug.history.branch_record import Branch, BranchEdit, ThreadPlace, Turn
from gradstep.core.debug.history.manual_assignments import Assignment
from gradstep.core.document.kept_branch import (
    KeptBranch,
    KeptChange,
    KeptEdit,
    KeptPlace,
    KeptTurn,
)
from gradstep.core.graph.model import Constant


def keep(branches: Iterable[Branch]) -> tuple[KeptBranch, ...]:
    """All of a session, as a document keeps them; nothing of the first alone."""
    by_name = {branch.name: branch for branch in branches}
    found = tuple(_kept(branch, by_name.get(branch.parent)) for branch in by_name.values())
    return found if len(found) > 1 else ()


def begin(kept: Iterable[KeptBranch]) -> tuple[Branch, ...]:
    """The inverse of `keep`, with the first one before anything ran."""
    found = dict[str, Branch]()
    for b in kept:
        found[b.name] = _begun(b, found[b.parent].edits) if b.parent else Branch(b.name)
    return (*found.values(),)


def _kept(branch: Branch, parent: Branch | None) -> KeptBranch:
    changes = tuple(
        KeptChange(c.run, c.step, c.op, _constants(c.values), c.words, c.inside)
        for c in branch.changes
    )
    before = () if parent is None else parent.edits
    own = branch.edits[branch.edits_inherited :]
    edits = tuple(KeptEdit(e.run, e.step, e.op, e.kind, e.names, e.words) for e in own)
    where = branch.run, branch.step, branch.op
    rest = branch.inherited, branch.place, edits
    return KeptBranch(
        *(branch.name, branch.parent, *where, changes, *rest),
        inside=branch.inside,
        left=_places(branch.left),
        stands=_places(branch.stands),
        thread=branch.thread,
        turns=tuple(_kept_turn(turn, branch.edits) for turn in branch.turns),
        lacks=tuple(n for n, edit in enumerate(before) if edit not in branch.edits),
    )


def _begun(branch: KeptBranch, parents: tuple[BranchEdit, ...]) -> Branch:
    """parents: the edits of its parent."""
    changes = tuple(
        Assignment(c.run, c.step, c.op, _arrays(c.values), c.words, c.inside)
        for c in branch.changes
    )
    before = tuple(edit for n, edit in enumerate(parents) if n not in branch.lacks)
    own = (BranchEdit(e.run, e.step, e.op, e.kind, e.names, e.words) for e in branch.edits)
    where, edits = (branch.run, branch.step, branch.op), (*before, *own)
    return Branch(
        *(branch.name, branch.parent, *where, changes, branch.inherited, branch.place),
        edits=edits,
        edits_inherited=len(before),
        inside=branch.inside,
        left=tuple(ThreadPlace(p.thread, p.place, p.ops) for p in branch.left),
        stands=tuple(ThreadPlace(p.thread, p.place, p.ops) for p in branch.stands),
        thread=branch.thread,
        turns=tuple(_turn(turn, edits) for turn in branch.turns),
    )


def _kept_turn(turn: Turn, edits: tuple[BranchEdit, ...]) -> KeptTurn:
    given, assigned = (None if v is None else _constants(v) for v in (turn.given, turn.assigned))
    edit = 0 if turn.edit is None else edits.index(turn.edit) + 1
    where = turn.thread, turn.place, turn.ops
    return KeptTurn(*where, turn.tried, given, turn.words, assigned, edit)


def _turn(turn: KeptTurn, edits: tuple[BranchEdit, ...]) -> Turn:
    given, assigned = (None if v is None else _arrays(v) for v in (turn.given, turn.assigned))
    edit = edits[turn.edit - 1] if turn.edit else None
    where = turn.thread, turn.place, turn.ops
    return Turn(*where, turn.tried, given, turn.words, assigned, edit)


def _places(places: Iterable[ThreadPlace]) -> tuple[KeptPlace, ...]:
    return tuple(KeptPlace(each.thread, each.place, each.ops) for each in places)


def _constants(values: Mapping[str, np.ndarray]) -> dict[str, Constant]:
    return {name: Constant(value) for name, value in values.items()}


def _arrays(values: Mapping[str, Constant]) -> dict[str, np.ndarray]:
    return {name: value.array for name, value in values.items()}
