"""Branches of a session as a document keeps them, and back."""

from __future__ import annotations

from collections.abc import Iterable

from gradstep.core.debug.history.branch_record import Branch, BranchEdit
from gradstep.core.debug.history.manual_assignments import Assignment
from gradstep.core.document.kept_branch import KeptBranch, KeptChange, KeptEdit
from gradstep.core.graph.model import Constant


def keep(branches: Iterable[Branch]) -> tuple[KeptBranch, ...]:
    """All of a session, as a document keeps them; nothing of the first alone."""
    found = tuple(map(_kept, branches))
    return found if len(found) > 1 else ()


def begin(kept: Iterable[KeptBranch]) -> tuple[Branch, ...]:
    """The inverse of `keep`, with the first one before anything ran."""
    found = dict[str, Branch]()
    for b in kept:
        found[b.name] = _begun(b, found[b.parent].edits) if b.parent else Branch(b.name)
    return (*found.values(),)


def _kept(branch: Branch) -> KeptBranch:
    changes = tuple(
        KeptChange(
            c.run, c.step, c.op, {n: Constant(v) for n, v in c.values.items()}, c.words, c.inside
        )
        for c in branch.changes
    )
    own = branch.edits[branch.edits_inherited :]
    edits = tuple(KeptEdit(e.run, e.step, e.op, e.kind, e.names, e.words) for e in own)
    where = branch.run, branch.step, branch.op
    rest = branch.inherited, branch.place, edits
    return KeptBranch(branch.name, branch.parent, *where, changes, *rest, inside=branch.inside)


def _begun(branch: KeptBranch, before: tuple[BranchEdit, ...]) -> Branch:
    """before: the edits of its parent."""
    changes = tuple(
        Assignment(
            c.run, c.step, c.op, {n: v.array for n, v in c.values.items()}, c.words, c.inside
        )
        for c in branch.changes
    )
    own = (BranchEdit(e.run, e.step, e.op, e.kind, e.names, e.words) for e in branch.edits)
    where = branch.run, branch.step, branch.op
    return Branch(
        *(branch.name, branch.parent, *where, changes, branch.inherited, branch.place),
        edits=(*before, *own),
        edits_inherited=len(before),
        inside=branch.inside,
    )
