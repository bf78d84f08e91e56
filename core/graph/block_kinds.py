"""Which scopes of a graph are equal: what is in each, told without its name and kept over edits."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence

from gradstep.core.graph.block_signature import label_of
from gradstep.core.graph.carry_over import changes_between
from gradstep.core.graph.foreign_origin import FOREIGN_SCOPE
from gradstep.core.graph.model import Constant, Graph, Operation
from gradstep.core.graph.repeated_blocks import SMALLEST
from gradstep.core.graph.scopes import parents

Kind = Hashable
_FEW = 64  # elements of a constant of whole numbers, up to which they are looked at


class BlockKinds:
    """Of one graph. Two scopes have the same kind (the very same object) where their operations are
    called alike, are of the same types with the same attributes, and are wired alike to each other;
    what they read from outside, and what stands in their weights, may differ. before: those of the
    graph before an edit: what the edit did not touch is taken over. is_same: whether that is all
    that was known then."""

    def __init__(self, graph: Graph, before: BlockKinds | None = None) -> None:
        self.graph = graph
        self._known: dict[str, Kind | None] = {}
        if before is not None and before._known:
            gone = _touched(before.graph, graph, before._known)
            self._known = {s: kind for s, kind in before._known.items() if s not in gone}
        self.is_same = before is not None and len(self._known) == len(before._known)
        self._same = {kind: kind for kind in self._known.values() if kind is not None}

    def of(self, scopes: Sequence[str]) -> list[Kind | None]:
        """The kind of each. None for what is no block: less than a few operations, or those that
        one operation of another framework was lowered to. No scope may be inside another."""
        new = [scope for scope in scopes if scope not in self._known]
        if new:
            for scope, names in members(self.graph, new).items():
                self._known[scope] = self._found(scope, names)
        return [self._known[scope] for scope in scopes]

    def _found(self, scope: str, names: Sequence[str]) -> Kind | None:
        operations = [self.graph[name] for name in names]
        one = any(op.attrs.get(FOREIGN_SCOPE) == scope for op in operations)
        if one or len(names) < SMALLEST:
            return None
        kind = _described(len(scope) + 1, operations)
        return self._same.setdefault(kind, kind)


def members(graph: Graph, scopes: Iterable[str]) -> dict[str, list[str]]:
    """The operations in each of some scopes, of which none is inside another."""
    found: dict[str, list[str]] = {scope: [] for scope in scopes}
    homes: dict[str, list[str] | None] = {}
    for name in graph.operations:
        scope = name.rpartition("/")[0]
        if scope not in homes:
            around = next((s for s in (*parents(scope), scope) if s in found), None)
            homes[scope] = None if around is None else found[around]
        home = homes[scope]
        if home is not None:
            home.append(name)
    return found


def _touched(before: Graph, after: Graph, scopes: Collection[str]) -> set[str]:
    """The scopes in which an operation is another now, is gone, or came."""
    others = changes_between(before, after).names
    return {scope for name in others for scope in parents(name) if scope in scopes}


def _described(start: int, operations: Sequence[Operation]) -> Kind:
    """A block by the names that its operations have inside it, from character number `start` on. Of
    a wire from outside no more is told than that it is one."""
    inside = {op.name: op.name[start:] for op in operations}
    return frozenset(
        (
            inside[op.name],
            label_of(op),
            "value" in op.attrs and _value(op.attrs["value"]),
            *(ref and (inside.get(ref.op), ref.op in inside and ref.index) for ref in op.inputs),
            op.control_inputs and frozenset(map(inside.get, op.control_inputs)),
        )
        for op in operations
    )


def _value(value: object) -> Hashable:
    """Of a constant, what decides about what is computed: one number, or a few whole ones, such as
    a shape, an axis or paddings. Others are weights, or were drawn at random."""
    if not isinstance(value, Constant):
        return None
    array = value.array
    decides = array.ndim == 0 or (array.dtype.kind in "iu" and array.size <= _FEW)
    return array.tobytes() if decides and not array.dtype.hasobject else None
