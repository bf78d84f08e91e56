"""The first operation on the way back from a loss whose inputs get other gradients than others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.autodiff.check.frozen_values import Evaluate, Point, evaluate_alive
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.autodiff.reverse.gradient_request import gradient_name, native_name
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.graph.number_kinds import kind_of, limits_of

_ROUNDINGS = 64  # of its precision, by which one gradient made in two ways may differ


@dataclass(frozen=True)
class Parting:
    """An operation, and what is in force there; name: "" where none was found."""

    node: str = ""
    type: str = ""
    why: str = ""


def is_same(left: np.ndarray | None, right: np.ndarray | None) -> bool:
    """Whether two gradients are one, but for rounding; None is not zero."""
    if left is None or right is None:
        return left is right
    if left.shape != right.shape:
        return False
    wide, other = (np.asarray(x, np.complex128) for x in (left, right))
    if not (np.isfinite(wide).all() and np.isfinite(other).all()):
        return bool(np.array_equal(left, right, equal_nan=True))
    largest = max(float(np.max(np.abs(x), initial=0.0)) for x in (wide, other)) or 1.0
    wide, other = wide / largest, other / largest  # whose squares are no infinities
    scale = max(float(np.linalg.norm(wide)), float(np.linalg.norm(other)))
    return float(np.linalg.norm(wide - other)) <= _ROUNDINGS * _eps(left, right) * scale


def _eps(*arrays: np.ndarray) -> float:
    kinds = [x.dtype for x in arrays if kind_of(x.dtype) in "fc"]
    return max((float(limits_of(kind).eps) for kind in kinds), default=0.0)


class Flow:
    """What the wires of `graph` carry back in one differentiation: evaluated when it is asked for,
    all at once."""

    def __init__(
        self, evaluate: Evaluate, graph: Graph, derived: Differentiation, point: Point
    ) -> None:
        self._evaluate, self._point, self.derived = evaluate, point, derived
        self._carried = {
            edge: ref
            for edge, ref in derived.edges.items()
            if edge.op in graph and ref.op in derived.graph
        }
        self._values: Mapping[TensorRef, np.ndarray] | None = None

    def gradients(self, wrt: Sequence[TensorRef]) -> dict[TensorRef, np.ndarray | None]:
        """The gradients of some tensors; None where there is none. Of strings there is none, and
        the zeros in its place are no numbers."""
        held = self.derived.gradients
        refs = [*dict.fromkeys(held[ref] for ref in wrt if ref in held)]
        found = evaluate_alive(self._evaluate, self.derived.graph, refs, self._point)
        numbers = {ref: array for ref, array in found.items() if not array.dtype.hasobject}
        return {ref: numbers.get(held[ref]) if ref in held else None for ref in wrt}

    def carried(self, edge: Edge) -> np.ndarray | None:
        """What flows back through a wire, None for nothing."""
        if self._values is None:
            refs = [*dict.fromkeys(self._carried.values())]
            self._values = evaluate_alive(self._evaluate, self.derived.graph, refs, self._point)
        ref = self._carried.get(edge)
        return None if ref is None else self._values.get(ref)

    @property
    def edges(self) -> Iterable[Edge]:
        """The wires that carry something."""
        return self._carried


class PartedWires:
    """The wires of a graph that carry another gradient in one flow than in the native one, walking
    back from the loss."""

    def __init__(self, graph: Graph, native: Flow, other: Flow) -> None:
        self._graph, self._native, self._other = graph, native, other
        self._parted = [*self._find()]

    def first(self, wrt: TensorRef) -> Parting:
        """On the ways from the loss to this tensor."""
        leads = _leads_from(self._graph, wrt)
        edge = next((edge for edge in self._parted if leads(self._graph.source(edge))), None)
        if edge is None:
            return Parting()
        op = self._graph[edge.op]
        return Parting(op.name, op.type, _say_why(edge, self._native.derived, self._other.derived))

    def _find(self) -> Iterator[Edge]:
        flowing = {*self._native.edges, *self._other.edges}
        for name in reversed(self._graph.order):
            for index in range(len(self._graph[name].inputs)):
                edge = Edge(name, index)
                if edge in flowing and not self._is_same(edge):
                    yield edge

    def _is_same(self, edge: Edge) -> bool:
        return is_same(self._native.carried(edge), self._other.carried(edge))


def first_on_the_way(graph: Graph, wrt: TensorRef, nodes: Mapping[str, str]) -> Parting:
    """The first of some operations on the ways back to this tensor; nodes: with what is said of
    them."""
    leads = _leads_from(graph, wrt)
    for name in reversed(graph.order):
        if name in nodes and any(map(leads, graph[name].inputs)):
            return Parting(name, graph[name].type, nodes[name])
    return Parting()


def first_end(graph: Graph, native: Flow, wrt: TensorRef) -> Parting:
    """Where the native gradient of a tensor ends that has none, or is NaN or infinite first."""
    leads = _leads_from(graph, wrt)
    blocked = {} if wrt in native.derived.gradients else native.derived.blocked
    for name in reversed(graph.order):
        op = graph[name]
        for edge in (Edge(name, index) for index, ref in enumerate(op.inputs) if leads(ref)):
            if edge in blocked:
                return Parting(name, op.type, blocked[edge].text)
            value = native.carried(edge)
            if value is not None and not np.isfinite(value).all():
                return Parting(name, op.type, "its gradient is NaN or infinite")
    return Parting()


def _leads_from(graph: Graph, wrt: TensorRef) -> Callable[[TensorRef | None], bool]:
    """Whether a tensor is this one, or computed from it."""
    readers = (edge.op for edge in graph.consumers[wrt.op] if graph.source(edge) == wrt)
    below = graph.takers(*readers)
    return lambda ref: ref is not None and (ref == wrt or ref.op in below)


def _say_why(edge: Edge, native: Differentiation, other: Differentiation) -> str:
    """What is in force where the two part."""
    if other.imported:
        return f"the graph's own gradients, in {other.imported}/"
    op, request = other.graph[edge.op], other.request
    source = op.inputs[edge.index]
    if edge in request.stopped_edges and source is not None:
        return f"stop on the wire {source.short} → {op.name}"
    stopped = next((ref for ref in request.stops if ref.op == op.name), None)
    if stopped is not None:
        return f"stop at {stopped.short}"
    name = gradient_name(op, request.overrides)
    if name != native_name(op):
        return f"gradient {name} in place of {_what_of(op, edge, native)}"
    if loop_of(op) is not None:
        return "what is in force in the loop"
    end = other.blocked.get(edge) or native.blocked.get(edge)
    return end.text if end is not None else ""


def _what_of(op: Operation, edge: Edge, native: Differentiation) -> str:
    none = ", which is None" if edge in native.blocked else ""
    return f"{native_name(op)}'s own{none}"
