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
class KeptBranch:
    """See Branch. edits: its own, behind those of its parent."""

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


def require_tree(kept: tuple[KeptBranch, ...]) -> None:
    """Raise GradstepError unless they are a tree: what a file says of them may be anything."""
    names = [branch.name for branch in kept]
    firsts = [branch for branch in kept if not branch.parent]
    sound = len({*names}) == len(names) and all(names) and len(firsts) == bool(kept)
    for number, branch in enumerate(kept):
        sound = sound and (not branch.parent or branch.parent in names[:number])
    if not sound:
        raise GradstepError(
            "its branches are no tree", kind="FileError", hint="use another copy of the file"
        )


def relabel_branch(branch: KeptBranch, name_of: Names) -> KeptBranch:
    """The same of a graph whose operations have other names."""

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
    op = name_of(branch.op) if branch.op else ""
    inside = _relabelled(branch.inside, name_of)
    return replace(branch, op=op, changes=changes, edits=edits, inside=inside)


def _relabelled(inside: Iterable[InnerPlace], name_of: Names) -> tuple[InnerPlace, ...]:
    return tuple((number, step, name_of(op) if op else "") for number, step, op in inside)


_COUNTER = ":counter"  # of what an operation draws
