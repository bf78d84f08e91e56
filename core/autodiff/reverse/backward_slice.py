"""The operations that a backward pass visits, in order, and where cotangents meet on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from functools import cached_property
from itertools import compress, count
from operator import is_not, ne
from weakref import ref as weak

from gradstep.core.autodiff.reverse.tf_gradient_order import rank_operations
from gradstep.core.graph.changes import Changes
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.graph.other_keys import with_other_keys
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes
from gradstep.core.persistent.overlaid_mapping import overlaid
from gradstep.core.persistent.spliced_mapping import copied

_CARRIERS = frozenset(dtype for dtype in DType if dtype.is_differentiable)


class BackwardSlice:
    """path:     operations between some `wrt` and some `of`, ends included, the last one first.
    asked:    operation -> which of its outputs are in `wrt`.
    exits:    loop -> the Exits of its outputs that are in `wrt`, by the number of the output.
    live:     those of the graph that some `wrt` leads to through tensors that can carry a gradient.
    arrivals: operation of the path -> the wires over which gradients may come back to it, in the
              order in which TensorFlow adds them up.
    """

    _since: tuple[weak[BackwardSlice], frozenset[str]] | None = None

    def __init__(
        self, graph: Graph, types: TensorTypes, of: Sequence[TensorRef], wrt: Sequence[TensorRef]
    ) -> None:
        self.graph, self.types, self.of, self.wrt = graph, types, tuple(of), tuple(wrt)
        self.asked: dict[str, frozenset[int]] = {}
        alike: dict[frozenset[int], frozenset[int]] = {}  # of nearly all the first output is asked
        for op, index in wrt:
            outputs = self.asked.get(op, frozenset()) | {index}
            self.asked[op] = alike.setdefault(outputs, outputs)
        self.exits = _exits(graph, wrt)
        below, self.live = _below(graph, types, self.asked.keys())
        self.path: dict[str, Operation] = {}
        self._walk(below)
        rank = rank_operations(graph, of, self.path.keys() & self.live)
        for name in self.path:  # what that leaves out comes behind, in this order
            rank.setdefault(name, len(rank))
        self.arrivals = {name: tuple(edges) for name, edges in self._arrivals(rank)}

    def after(
        self, graph: Graph, types: TensorTypes, changes: Changes, retyped: Iterable[str]
    ) -> BackwardSlice | None:
        """The same in a graph after an edit, which may have given one operation another name; None
        if other operations may be visited, or in another order. retyped: operations that may have
        other types."""
        named = _find_renamed(self.graph, graph, changes)
        if named is None or not named.keys().isdisjoint(self.exits):
            return None
        old, new = self.graph.operations, graph.operations
        earlier = {name: before for before, name in named.items()}
        for name in (*changes.changed, *named.values()):
            then, now = old[earlier.get(name, name)], new[name]
            if "Exit" in (then.type, now.type) or _inputs(then, named) != _inputs(now, {}):
                return None
        for name in filter(types.of.__contains__, retyped):
            if _carriers(self.types, earlier.get(name, name)) != _carriers(types, name):
                return None
        found = copy(self)
        found.graph, found.types = graph, types
        found._since = weak(self), frozenset()
        for before, name in named.items():
            found._rename(old[before], name)
            moved = {before, name, *(ref.op for ref in old[before].inputs if ref is not None)}
            found._since = weak(self), frozenset(moved)
        others = (name for name in (*changes.changed, *named.values()) if name in found.path)
        found.path = copied(found.path)
        found.path.update((name, new[name]) for name in others)
        return found

    def _rename(self, op: Operation, name: str) -> None:
        """Let an operation of the graph before be called so, where it is."""
        self.__dict__.pop("scopes", None)
        if self.__dict__.get("has_gradient_scopes") is not False or _is_gradient_scope(name):
            self.__dict__.pop("has_gradient_scopes", None)
        old, arrivals = op.name, copied(self.arrivals)
        if old in self.path:
            self.path = with_other_keys(self.path, {old: name})
            if "places" in self.__dict__:
                places = self.__dict__["places"] = overlaid(self.places)
                places[name] = places.pop(old)
        if old in self.live:
            self.live = self.live.copy()
            self.live.remove(old)
            self.live.add(name)
        for source in {ref.op for ref in op.inputs if ref is not None} & arrivals.keys():
            arrivals[source] = tuple(
                Edge(name if reader == old else reader, index)
                for reader, index, _ in arrivals[source]
            )
        if old in arrivals:
            arrivals[name] = arrivals.pop(old)
        self.arrivals = arrivals

    def is_live(self, op: Operation) -> bool:
        """Whether `op` takes a tensor that some `wrt` leads to."""
        return any(ref is not None and ref.op in self.live for ref in op.inputs)

    @cached_property
    def has_gradient_scopes(self) -> bool:
        """Whether scopes of operations' gradients may have names that are taken."""
        return any(map(_is_gradient_scope, self.graph.operations))

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The places of the operations on the path; in no order itself."""
        return dict(zip(self.path, count(), strict=False))

    @cached_property
    def scopes(self) -> frozenset[str]:
        """Those that lie around operations of the path."""
        return frozenset(op.scope for op in self.path.values())

    def output_at(self, arrival: Edge) -> int:
        """Which output of its source a wire of the path leaves."""
        ref = self.path[arrival.op].inputs[arrival.index]
        assert ref is not None
        return ref.index

    def needs_input_grad(self, op: Operation) -> list[bool]:
        """Which inputs of `op` lead to what is asked for."""
        return [ref is not None and ref.op in self.path for ref in op.inputs]

    def differing_from(self, other: BackwardSlice) -> set[str]:
        """The operations of the path at which a visit finds something else than in `other`, not
        counting those that are others themselves."""
        path, graphs = self.path, (self.graph, other.graph)
        found, moved = self._moved_since(other)
        for name in moved:
            there = (graph.consumers[name] for graph in graphs if name in graph)
            found.update(edge.op for edges in there for edge in edges)
        for a, b in ((self.asked, other.asked), (self.exits, other.exits)):
            if a is not b:
                found.update(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))
        return {name for name in found if name in path}

    def _moved_since(self, other: BackwardSlice) -> tuple[set[str], set[str]]:
        """Operations to which gradients may come back otherwise than in `other`; and those that
        only the one visits, or that are live only in the one."""
        path = self.path
        if self._since is not None and self._since[0]() is other:
            moved = self._since[1]  # others are as they were
            arrived = {n for n in moved if self.arrivals.get(n) != other.arrivals.get(n)}
            ends = {n for n in moved if (n in path) != (n in other.path)}
            return arrived, ends | {n for n in moved if (n in self.live) != (n in other.live)}
        arrivals = (map(slice.arrivals.get, path) for slice in (self, other))
        ends = (path.keys() ^ other.path.keys()) | (self.live ^ other.live)
        arrived = {*compress(path, map(ne, *arrivals))}
        for name in compress(path, map(is_not, path.values(), map(other.path.get, path))):
            then, now = other.path.get(name), path[name]
            pairs = zip(() if then is None else then.inputs, now.inputs, strict=False)
            # The same wire from another output, of which the wire alone says nothing.
            arrived.update(a.op for a, b in pairs if a and b and a != b and a.op == b.op)
        return arrived, ends

    def _walk(self, below: set[str]) -> None:
        """Fills the path."""
        operations = self.graph.operations
        needed = {ref.op for ref in self.of}
        for name in reversed(self.graph.order):
            if name not in needed or name not in below:
                continue
            op = self.path[name] = operations[name]
            needed.update([ref.op for ref in op.inputs if ref is not None])

    def _arrivals(self, rank: Mapping[str, int]) -> Iterator[tuple[str, Sequence[Edge]]]:
        """The wires over which gradients come back to each operation, in the order of `rank`."""
        path, consumers = self.path, self.graph.consumers
        for name in path:
            edges: Sequence[Edge] = consumers[name]  # mostly one, and the very same tuple
            if not all(edge.op in path for edge in edges):
                edges = [edge for edge in edges if edge.op in path]
            if len(edges) > 1:
                edges = sorted(edges, key=lambda edge: rank[edge.op])
            if edges:
                yield name, edges


def _is_gradient_scope(name: str) -> bool:
    return "_grad/" in name.lower()


def _carriers(types: TensorTypes, name: str) -> list[bool]:
    """Which outputs of an operation can carry a gradient."""
    return [kind is not None and kind.dtype in _CARRIERS for kind in types.of.get(name, ())]


def _find_renamed(before: Graph, graph: Graph, changes: Changes) -> dict[str, str] | None:
    """Old name -> new one, of the one operation that has another, if any; None where that is not
    all there is to the names and their order."""
    if not changes.added and not changes.removed:
        return {} if before.order == graph.order else None
    if len(changes.added) != 1 or len(changes.removed) != 1:
        return None
    (old,), (new,) = changes.removed, changes.added
    place, then, now = before.order.index(old), before.order, graph.order
    same = (
        now[place] == new and then[:place] == now[:place] and then[place + 1 :] == now[place + 1 :]
    )
    return {old: new} if same else None


def _inputs(op: Operation, named: Mapping[str, str]) -> list[TensorRef | None]:
    """What an operation reads, by other names."""
    return [ref and TensorRef(named.get(ref.op, ref.op), ref.index) for ref in op.inputs]


def _exits(graph: Graph, wrt: Sequence[TensorRef]) -> dict[str, dict[int, TensorRef]]:
    found: dict[str, dict[int, TensorRef]] = {}
    for ref in wrt:
        op = graph[ref.op]
        source = op.inputs[0] if op.type == "Exit" else None
        if source is not None:
            found.setdefault(source.op, {})[source.index] = ref
    return found


def _below(graph: Graph, types: TensorTypes, starts: Set[str]) -> tuple[set[str], set[str]]:
    """Operations that `starts` lead to, ends included; and those that they lead to through
    tensors that can carry a gradient."""
    below, live, of = set(starts), set(starts), types.of
    for name in graph.order:
        for ref in graph.operations[name].inputs:
            if ref is not None and ref.op in below:
                below.add(name)
                if ref.op in live and of[ref.op][ref.index].dtype in _CARRIERS:  # type: ignore[union-attr]
                    live.add(name)
    return below, live
