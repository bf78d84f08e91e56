"""Finding the gradients of a graph among its operations, where a program has made them.

The graph is differentiated once more, beside itself: that says over which wires a gradient flows,
which rules pass on what arrives, and where and why it ends. Then, from the loss on back, the
operations that the program's own call of `tf.gradients` has made for the same are looked up. A
tensor's gradient counts as found only if everything that flows back to it was found, and is added
up somewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gradstep.core.autodiff.recognition.cotangent_pairing import Found, Pairing
from gradstep.core.autodiff.recognition.gradient_scope import GradientScope, as_sum
from gradstep.core.autodiff.reverse.contributions import Slices
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, gradient_name
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction, is_registered
from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.build.tensor import OpView, Tensor, call
from gradstep.core.ops.typing.inference import infer_declared

_ROWS = "UnsortedSegmentSum"  # what makes a whole tensor of rows
_ROW_PARTS = 3  # of rows that a loop collects: which they are, their values, the whole's shape


@dataclass(frozen=True, eq=False)
class Recognised:
    """gradients: tensor -> what holds its gradient; edges: wire -> what flows back over it; ended:
    wires over which a gradient that only the program knew gives nothing; again: the graph
    differentiated once more, with respect to all that it begins with."""

    gradients: Mapping[TensorRef, Found]
    edges: Mapping[Edge, Found]
    ended: Collection[Edge]
    again: Differentiation


def recognise(graph: Graph, scope: str, seeds: Mapping[TensorRef, TensorRef]) -> Recognised:
    """What the operations of `scope` are the gradients of. seeds: what was differentiated -> what
    its gradient starts with. Raises GradstepError for what cannot be differentiated."""
    return _Recognition(graph, GradientScope(graph, scope), seeds).run()


class _Recognition:
    def __init__(
        self, graph: Graph, scope: GradientScope, seeds: Mapping[TensorRef, TensorRef]
    ) -> None:
        self.graph, self.scope, self.seeds = graph, scope, seeds
        self.again = _again(graph, [*seeds])
        self.pairing = Pairing(scope, infer_declared(graph).types, self._passes)
        self.flowing: dict[TensorRef, list[Edge]] = {}
        for edge in self.again.edges:
            if edge.op in graph and (source := graph.source(edge)) is not None:
                self.flowing.setdefault(source, []).append(edge)
        self.edges: dict[Edge, Found] = {}
        self.ended: set[Edge] = set()
        self.gradients: dict[TensorRef, Found] = {}

    def run(self) -> Recognised:
        needed = self.graph.ancestors(ref.op for ref in self.seeds)
        for name in reversed(self.graph.order):
            if name in needed:
                self._find_vjp(self.graph[name])
        ended = {edge for edge in self.ended if not self._is_known(self.graph[edge.op])}
        return Recognised(self.gradients, self.edges, ended, self.again)

    def _find_vjp(self, op: Operation) -> None:
        """One forward operation: what arrives at it, and what goes on."""
        outputs = len(infer_declared(self.graph).types.of.get(op.name, ()))
        arrived: Found | None = None
        for index in range(outputs):
            ref = op.output(index)
            found = self._arrived(ref)
            if found is not None:
                self.gradients[ref] = found
                arrived = arrived or found
        if arrived is not None:
            self.edges.update(self._sent(op, arrived))
        if not self._goes_on(op, outputs) or not self._is_known(op):
            wires = (Edge(op.name, index) for index in range(len(op.inputs)))
            self.ended.update(wire for wire in wires if wire not in self.edges)

    def _arrived(self, ref: TensorRef) -> Found | None:
        """The sum of what flows back to a tensor; None where some of it is not known."""
        parts: list[Found] = [self.seeds[ref]] if ref in self.seeds else []
        for edge in self.flowing.get(ref, ()):
            if edge in self.ended:
                continue
            if edge not in self.edges:
                return None
            parts.append(self.edges[edge])
        return self._total(parts)

    def _goes_on(self, op: Operation, outputs: int) -> bool:
        """Whether anything can have arrived at `op`, found or not."""
        refs = [op.output(index) for index in range(outputs)]
        wires = (edge for ref in refs for edge in self.flowing.get(ref, ()))
        return not self.seeds.keys().isdisjoint(refs) or any(w not in self.ended for w in wires)

    @staticmethod
    def _is_known(op: Operation) -> bool:
        """Whether Gradstep has the gradient of `op`: not where only the program knew it."""
        return loop_of(op) is not None or is_registered(gradient_name(op, ()), ())

    def _total(self, parts: list[Found]) -> Found | None:
        if len(parts) < 2:
            return parts[0] if parts else None
        rows = [part for part in parts if isinstance(part, Slices)]
        if len(rows) == len(parts):
            values = self.scope.joins.get(as_sum(part.values for part in rows))
            indices = self.scope.joins.get(as_sum(part.indices for part in rows))
            return None if values is None or indices is None else Slices(values, indices)
        whole = [self._whole(part) for part in parts]
        known = [ref for ref in whole if ref is not None]
        return self.scope.sums.get(as_sum(iter(known))) if len(known) == len(parts) else None

    def _whole(self, part: Found) -> TensorRef | None:
        """A part that comes as rows, as the tensor that TensorFlow adds to others."""
        if isinstance(part, TensorRef):
            return part
        made = (self.graph[edge.op] for edge in self.graph.consumers[part.values.op])
        wanted = (part.values, part.indices)
        return next(
            (op.output() for op in made if op.type == _ROWS and op.inputs[:2] == wanted), None
        )

    def _sent(self, op: Operation, arrived: Found) -> Iterator[tuple[Edge, Found]]:
        inputs = [i for i in range(len(op.inputs)) if Edge(op.name, i) in self.again.edges]
        if loop_of(op) is not None:
            return self._sent_by_loop(op, inputs)
        if op.name not in self.scope.vjps:
            return ((Edge(op.name, i), arrived) for i in inputs if self._passes(op, i))
        whole = [i for i in inputs if self._maker(op, i).type != _ROWS]
        found = self.pairing.pairs(op, whole, arrived, self._is_known(op)) if whole else {}
        rows = self.pairing.rows(op) if len(whole) < len(inputs) else None
        found |= {i: rows for i in inputs if i not in whole and rows is not None}
        return ((Edge(op.name, i), x) for i, x in found.items())

    def _maker(self, op: Operation, index: int) -> Operation:
        """What makes, in the graph differentiated again, what flows over an input."""
        return self.again.graph[self.again.edges[Edge(op.name, index)].op]

    def _passes(self, op: Operation, index: int) -> bool:
        """Whether the op's rule passes on to an input what arrives."""
        if Edge(op.name, index) not in self.again.edges:
            return False
        made = self._maker(op, index)
        arriving = (self.again.gradients.get(op.output(k)) for k in range(8))
        return made.type == "Identity" and made.inputs[0] in {*arriving}

    def _sent_by_loop(self, op: Operation, inputs: list[int]) -> Iterator[tuple[Edge, Found]]:
        """What comes out of the loop that runs the iterations of `op` backward: each variable of it
        by the Enter that begins it, what is captured by the Enter of the capture."""
        loop = loop_of(op)
        assert loop is not None
        for i in inputs:
            source, captured = op.inputs[i], i - len(loop.variables)
            enter = loop.captures[captured] if captured >= 0 else source.op if source else ""
            made = [o.output() for o in self.scope.vjps.get(enter, ()) if o.type == "Exit"]
            if len(made) == 1:
                yield Edge(op.name, i), made[0]
            elif len(made) == _ROW_PARTS:
                indices, values, _ = made
                yield Edge(op.name, i), Slices(values, indices)


def _again(graph: Graph, of: list[TensorRef]) -> Differentiation:
    """The graph's gradient, with respect to every tensor that it begins with."""
    names = graph.ancestors(ref.op for ref in of)
    forward = Graph.of(op for op in graph if op.name in names)
    request = GradientRequest(of=tuple(of), wrt=tuple(find_beginnings(forward)))
    return differentiate(forward, request, _stand_ins(forward), scope="again")


def find_beginnings(graph: Graph) -> Iterator[TensorRef]:
    """The tensors that can have a gradient, and are made from nothing that can."""
    types = infer_declared(graph).types
    for op in graph:
        before = (types.get(ref) for ref in op.inputs if ref is not None)
        if not any(kind is None or kind.dtype.is_differentiable for kind in before):
            outputs = range(len(types.of.get(op.name, ())))
            yield from (r for r in map(op.output, outputs) if types[r].dtype.is_differentiable)


def _stand_ins(graph: Graph) -> dict[str, GradientFunction]:
    """For gradients that nobody has given: the program had them, and every input got one."""
    names = {gradient_name(op, ()) for op in within(graph)}
    return {name: _anything for name in names if not is_registered(name, ())}


def _anything(op: OpView, *grads: Any) -> list[Tensor | None]:
    return [call("ZerosLike", x) if x.dtype.is_differentiable else None for x in op.inputs]
