"""The wires on which a gradient may come back, and which they are after an edit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import chain, count
from typing import Protocol

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef, predecessors
from gradstep.core.ops.typing.inference import Inference
from gradstep.gui.model.amended_collections import AmendedSet

_Outputs = Sequence[TensorType | None]
_BARRED_BY = "barred"
_BARRED = frozenset(dtype for dtype in DType if not dtype.is_differentiable)


@dataclass(frozen=True, eq=False)
class GradientPath:
    """The wires on some way from `request.wrt` to `request.of` that can carry a gradient at all;
    stops and missing gradients are not looked at.

    needed: the operations that `of` needs; reached: those of them to which such a wire leads from
    `wrt`; passed: the operations at both ends of `wires`."""

    needed: AmendedSet[str]
    reached: AmendedSet[str]
    wires: AmendedSet[Edge]
    passed: AmendedSet[str]

    @classmethod
    def of(cls, graph: Graph, inference: Inference, request: GradientRequest) -> GradientPath:
        needed = graph.ancestors(ref.op for ref in request.of if ref.op in graph)
        reached = {ref.op for ref in request.wrt if ref.op in needed}
        consumers, types, barred = graph.consumers, inference.types, _barred(inference)
        found: list[Edge] = []
        stack = list(reached)
        while stack:
            name = stack.pop()
            one_way = name not in barred
            for edge in consumers[name]:
                target = edge.op
                if target not in needed:
                    continue
                if one_way or _carries_gradient(types.get(_source(graph, edge))):
                    found.append(edge)
                    if target not in reached:
                        reached.add(target)
                        stack.append(target)
        passed = chain.from_iterable((e.op, _source(graph, e).op) for e in found)
        return cls(*map(AmendedSet, (needed, reached, found, passed)))  # type: ignore[arg-type]


NO_PATH = GradientPath(AmendedSet(), AmendedSet(), AmendedSet(), AmendedSet())


class Asked(Protocol):
    """Of which graph which gradients are asked for."""

    @property
    def graph(self) -> Graph: ...
    @property
    def inference(self) -> Inference: ...
    @property
    def request(self) -> GradientRequest: ...


def path_after(
    path: GradientPath, was: Asked, now: Asked, changed: Collection[str], retyped: Iterable[str]
) -> GradientPath:
    """As GradientPath.of what is asked now; `path` itself where it is the same. changed: the
    operations of either graph that differ, or are not in the other; retyped: those of which other
    types are known, perhaps."""
    if "order" not in now.graph.__dict__ or not path.needed:
        return GradientPath.of(now.graph, now.inference, now.request)
    recarried = _list_recarried(was.inference, now.inference, {*changed, *retyped})
    again = _LookingAgain(path, was, now, changed, recarried)
    return again.found()


class _Flips:
    """A set of names as an edit makes it of one that was: what it took out and put in."""

    def __init__(self, names: AmendedSet[str]) -> None:
        self._names, self._flipped = names, set[str]()

    def __contains__(self, name: str) -> bool:
        return (name in self._names) is not (name in self._flipped)

    def flip(self, name: str) -> None:
        self._flipped ^= {name}

    def drop(self, name: str) -> None:
        if name in self:
            self.flip(name)

    def found(self) -> AmendedSet[str]:
        return self._names.flip(self._flipped)


class _LookingAgain:
    """What an edit may have changed of a path: first what is needed, against the order in which
    operations run, then what is reached, along it. So each operation is looked at once."""

    def __init__(
        self,
        path: GradientPath,
        was: Asked,
        now: Asked,
        changed: Collection[str],
        recarried: Collection[str],
    ) -> None:
        self._path, self._was, self._now, self._graph = path, was, now, now.graph
        self._there = now.graph.operations
        self._changed, self._recarried = changed, recarried
        self._of = {ref.op for ref in now.request.of}
        self._wrt = {ref.op for ref in now.request.wrt}
        self._needed, self._reached = _Flips(path.needed), _Flips(path.reached)

    def found(self) -> GradientPath:
        path = self._path
        for name in self._changed:
            if name not in self._there:
                self._needed.drop(name)
                self._reached.drop(name)
        needed_anew = self._again(self._needed, self._begin_needed(), self._is_needed, -1)
        begun = {*self._begin_reached(), *needed_anew}
        reached_anew = self._again(self._reached, begun, self._is_reached, 1)
        looked_at = {*self._changed, *needed_anew, *self._readers(self._recarried)}
        looked_at.update(self._readers(reached_anew))
        wires = self._wires(looked_at)
        passed = self._passed(looked_at, wires)
        needed, reached = self._needed.found(), self._reached.found()
        now = GradientPath(needed, reached, wires, passed)
        same = (getattr(now, part) is getattr(path, part) for part in now.__dict__)
        return path if all(same) else now

    def _again(
        self, known: _Flips, begun: Iterable[str], holds: Callable[[str], bool], way: int
    ) -> list[str]:
        """Have `known` be the names of which it holds, looking from `begun` on, along the order in
        which operations run (1) or against it (-1). Those of which it did not hold and does, or the
        other way round."""
        ranks, names = self._ranks, self._graph.order
        queued = {way * ranks[name] for name in begun if name in ranks}
        queue, found = [*queued], []
        heapify(queue)
        while queue:
            name = names[way * heappop(queue)]
            if holds(name) == (name in known):
                continue
            known.flip(name)
            found.append(name)
            for other in self._behind(name) if way > 0 else predecessors(self._there[name]):
                rank = way * ranks.get(other, -1)
                if other in ranks and rank not in queued:
                    queued.add(rank)
                    heappush(queue, rank)
        return found

    @cached_property
    def _ranks(self) -> Mapping[str, int]:
        graph = self._graph
        in_place = graph.order == tuple(graph.operations)
        return graph.places if in_place else dict(zip(graph.order, count(), strict=False))

    def _begin_needed(self) -> Iterator[str]:
        """What may be needed, or not any more, whatever is behind it."""
        yield from self._changed
        if self._was.request.of is not self._now.request.of:
            yield from {ref.op for ref in self._was.request.of} ^ self._of
        for op in self._both(self._changed):
            yield from predecessors(op)

    def _begin_reached(self) -> Iterator[str]:
        """What may be reached, or not any more, whatever is before it."""
        yield from self._changed
        if self._was.request.wrt is not self._now.request.wrt:
            yield from {ref.op for ref in self._was.request.wrt} ^ self._wrt
        yield from self._readers(self._recarried)

    def _both(self, names: Iterable[str]) -> Iterator[Operation]:
        """The operations of these names in both graphs."""
        for name in names:
            for graph in (self._was.graph, self._graph):
                if name in graph.operations:
                    yield graph.operations[name]

    def _behind(self, name: str) -> Iterator[str]:
        return (edge.op for edge in self._graph.consumers[name])

    def _readers(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            yield from self._behind(name) if name in self._there else ()

    def _is_needed(self, name: str) -> bool:
        needed = self._needed
        return (
            name in self._of
            or any(edge.op in needed for edge in self._graph.consumers[name])
            or any(other in needed for other in self._graph.control_outputs.get(name, ()))
        )

    def _is_reached(self, name: str) -> bool:
        if name not in self._needed:
            return False
        refs = self._there[name].inputs
        return name in self._wrt or any(ref is not None and self._carries(ref) for ref in refs)

    def _carries(self, ref: TensorRef) -> bool:
        return ref.op in self._reached and _carries_gradient(self._now.inference.types.get(ref))

    def _wires(self, names: Iterable[str]) -> AmendedSet[Edge]:
        """The wires, of which those into some operations are looked at again."""
        known, there = self._path.wires, [*filter(None, map(self._there.get, names))]
        both = (Edge(op.name, i) for op in self._both(names) for i in range(len(op.inputs)))
        before = {*filter(known.has, both)}
        now = {
            Edge(op.name, i)
            for op in there
            if op.name in self._needed
            for i, ref in enumerate(op.inputs)
            if ref is not None and self._carries(ref)
        }
        return known.flip(before ^ now)

    def _passed(self, names: Collection[str], wires: AmendedSet[Edge]) -> AmendedSet[str]:
        """The operations at the ends of wires, of which those into some are looked at again."""
        known = self._path.passed
        refs = chain.from_iterable(op.inputs for op in self._both(names))
        touched = {*names, *(ref.op for ref in refs if ref is not None)}
        before = {*filter(known.has, touched)}
        now = {name for name in touched if self._has_end(name, wires.has)}
        return known.flip(before ^ now)

    def _has_end(self, name: str, is_there: Callable[[Edge], bool]) -> bool:
        op = self._there.get(name)
        if op is None:
            return False
        into = (Edge(name, i) for i in range(len(op.inputs)))
        return any(map(is_there, into)) or any(map(is_there, self._graph.consumers[name]))


def _list_recarried(was: Inference, now: Inference, names: Set[str]) -> list[str]:
    """The operations of which another output can carry a gradient than could. names: those of which
    another type may be known."""
    before, typed = _barred(was), now.types.of
    if _BARRED_BY not in now.__dict__:
        new = {name for name in filter(typed.__contains__, names) if _bars(typed[name])}
        same = new == before & names
        now.__dict__[_BARRED_BY] = before if same else (before - names) | new
    some = names & (before | _barred(now))
    return [n for n in some if _places_barred(was.types.of, n) != _places_barred(typed, n)]


def _barred(known: Inference) -> frozenset[str]:
    """The operations with an output that carries no gradient; kept with what tells so."""
    if _BARRED_BY not in known.__dict__:
        typed = known.types.of.items()
        known.__dict__[_BARRED_BY] = frozenset(name for name, kinds in typed if _bars(kinds))
    found: frozenset[str] = known.__dict__[_BARRED_BY]
    return found


def _bars(outputs: _Outputs) -> bool:
    return not all(map(_carries_gradient, outputs))


def _places_barred(types: Mapping[str, _Outputs], name: str) -> list[int]:
    """The outputs that carry no gradient."""
    return [i for i, kind in enumerate(types.get(name, ())) if not _carries_gradient(kind)]


def _carries_gradient(kind: TensorType | None) -> bool:
    return kind is None or kind.dtype not in _BARRED


def _source(graph: Graph, edge: Edge) -> TensorRef:
    ref = graph.source(edge)
    assert ref is not None  # consumers and paths name wired inputs only
    return ref
