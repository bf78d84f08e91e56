"""What gradients are of: the maps of a differentiation the other way round, made when asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.persistent.inverse_mapping import InverseMapping

Readers = Mapping[str, Sequence[Edge]] | None  # the wires from each operation, where they are known


class GradientOwners:
    """Of one differentiation; see Notation for the rest. loss: as it is written; before: those of
    the same before an edit."""

    def __init__(
        self,
        graph: Graph,
        loss: str,
        gradients: Mapping[TensorRef, TensorRef],
        edges: Mapping[Edge, TensorRef],
        readers: Readers = None,
        before: GradientOwners | None = None,
    ) -> None:
        self.loss, self._graph, self._edges, self._readers = loss, graph, edges, readers
        tensors = None if before is None else before._tensors
        wires = None if before is None else before._wires
        self._tensors: InverseMapping[TensorRef, TensorRef] = InverseMapping(gradients, tensors)
        self._wires: InverseMapping[Edge, TensorRef] = InverseMapping(edges, wires, last=True)

    def tensor(self, gradient: TensorRef) -> TensorRef | None:
        """The tensor whose gradient it holds; of several the first."""
        return self._tensors.get(gradient)

    def flows_to(self, contribution: TensorRef) -> TensorRef | None:
        """The tensor to which it comes back over a wire."""
        edge = self._wires.get(contribution)
        return None if edge is None else self._graph.source(edge)

    def is_summand(self, contribution: TensorRef) -> bool:
        """Whether others come back to that tensor, too."""
        to = self.flows_to(contribution)
        readers = None if to is None or self._readers is None else self._readers.get(to.op)
        if readers is None:
            return self._counted[to] > 1
        over = (wire for wire in readers if self._graph.source(wire) == to)
        back = ((wire, self._edges.get(wire)) for wire in over)
        return sum(self._wires.get(held) == wire for wire, held in back if held is not None) > 1

    @cached_property
    def _counted(self) -> Counter[TensorRef | None]:
        wires = dict(zip(self._edges.values(), self._edges, strict=True)).values()
        operations = self._graph.operations
        try:  # far quicker, and nearly always so
            return Counter([operations[wire.op].inputs[wire.index] for wire in wires])
        except LookupError:
            return Counter(map(self._graph.source, wires))
