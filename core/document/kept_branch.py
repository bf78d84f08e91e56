"""A branch of runs as a document keeps it: what leads to it again, and no run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gradstep.core.document.edit_names import rename_in_edit
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef

if TYPE_CHECKING:
    from gradstep.core.debug.history.manual_assignments import InnerPlace

Names = Callable[[str], str]


@dataclass(frozen=True)
class KeptChange:
    """What was given by hand; see Assignment."""

    run: int
    step: int
    op: str
    values: Mapping[str, Constant] = field(default_factory=dict)
    words: str = ""
    inside: tuple[InnerPlace, ...] = ()


@dataclass(frozen=True)
class KeptEdit:
    """See BranchEdit."""

    run: int
    step: int
    op: str
    kind: str
    names: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True)
class KeptPlace:
    """See ThreadPlace."""

    thread: str
    place: tuple[tuple[int, int], ...] = ()
    ops: tuple[str, ...] = ()


@dataclass(frozen=True)
class KeptTurn:
    """See Turn. edit: its number among those of the branch, from 1; 0 for none."""

    thread: str
    place: tuple[tuple[int, int], ...] = ()
    ops: tuple[str, ...] = ()
    tried: bool = False
    given: Mapping[str, Constant] | None = None
    words: str = ""
    assigned: Mapping[str, Constant] | None = None
    edit: int = 0


@dataclass(frozen=True)
class KeptBranch:
    """See Branch. edits: its own, behind those of its parent, but for those with the numbers
    `lacks`, which do not hold where it leaves."""

    name: str
    parent: str
    run: int
    step: int
    op: str
    changes: tuple[KeptChange, ...] = ()
    inherited: int = 0
    place: tuple[int, int] = (0, 0)
    edits: tuple[KeptEdit, ...] = ()
    inside: tuple[InnerPlace, ...] = ()
    left: tuple[KeptPlace, ...] = ()
    stands: tuple[KeptPlace, ...] = ()
    thread: str = ""
    turns: tuple[KeptTurn, ...] = ()
    lacks: tuple[int, ...] = ()


def require_tree(kept: tuple[KeptBranch, ...]) -> None:
    """Raise GradstepError unless they are a tree, and their turns fit it: what a file says of them
    may be anything."""
    names = [branch.name for branch in kept]
    firsts = [branch for branch in kept if not branch.parent]
    sound = len({*names}) == len(names) and all(names) and len(firsts) == bool(kept)
    edits = dict[str, int]()  # how many each has
    for branch in kept:
        sound = sound and (not branch.parent or branch.parent in edits)
        before = edits.get(branch.parent, 0)
        lacking = {number for number in branch.lacks if number < before}
        edits[branch.name] = before - len(lacking) + len(branch.edits)
        sound = sound and _are_sound(branch, edits[branch.name])
    if not sound:
        raise GradstepError(
            "its branches are no tree", kind="FileError", hint="use another copy of the file"
        )


def _are_sound(branch: KeptBranch, edits: int) -> bool:
    """Whether all turns of a branch that has so many edits can be read."""
    placed = all(each.place for each in (*branch.left, *branch.stands))
    return placed and all(
        turn.edit <= edits and (bool(turn.place) or not turn.edit) for turn in branch.turns
    )


def relabel_branch(branch: KeptBranch, name_of: Names) -> KeptBranch:
    """The same of a graph whose operations have other names."""

    def op_named(name: str) -> str:
        return name_of(name) if name else ""

    def named(text: str) -> str:
        ref = TensorRef.parse(text) if not text.endswith(_COUNTER) else None
        if ref is None:
            return name_of(text.removesuffix(_COUNTER)) + _COUNTER
        return TensorRef(name_of(ref.op), ref.index).short

    changes = tuple(
        replace(
            change,
            op=name_of(change.op) if change.op else "",
            inside=_relabelled(change.inside, name_of),
            values={named(name): value for name, value in change.values.items()},
        )
        for change in branch.changes
    )
    edits = tuple(
        replace(
            edit,
            op=name_of(edit.op) if edit.op else "",
            names=(*rename_in_edit(edit.kind, edit.names, name_of),),
        )
        for edit in branch.edits
    )
    turns = tuple(
        replace(
            turn,
            ops=(*map(op_named, turn.ops),),
            given=None if turn.given is None else {named(n): v for n, v in turn.given.items()},
            assigned=turn.assigned and {name_of(n): v for n, v in turn.assigned.items()},
        )
        for turn in branch.turns
    )
    left, stands = (
        tuple(replace(each, ops=(*map(op_named, each.ops),)) for each in places)
        for places in (branch.left, branch.stands)
    )
    op, inside = op_named(branch.op), _relabelled(branch.inside, name_of)
    branch = replace(branch, left=left, stands=stands, turns=turns)
    return replace(branch, op=op, changes=changes, edits=edits, inside=inside)


def _relabelled(inside: Iterable[InnerPlace], name_of: Names) -> tuple[InnerPlace, ...]:
    return tuple((number, step, name_of(op) if op else "") for number, step, op in inside)


_COUNTER = ":counter"  # of what an operation draws
