"""Whether a wire may go from an output to an input, and if not, why; asked of many at once."""

from __future__ import annotations

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import crossing_error, graph_around, loops_around
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.ops.typing.flatten_loops import original_edge
from gradstep.core.ops.typing.inference import Inference
from gradstep.core.ops.typing.input_fit import cast_that_fits, why_not


class Wiring:
    """Answers for a graph as it is. It walks up from each source once, or down from `into` if all
    that is asked about is wires into that. inference: of the graph and of what is in its loops."""

    def __init__(self, graph: Graph, inference: Inference, into: Edge | None = None) -> None:
        self._graph = graph
        self._inference = inference
        self._before: dict[str, set[str]] = {}  # operation -> what it depends on
        self._after: dict[str, frozenset[str]] = {}  # operation -> what depends on it
        if into is not None:
            name = original_edge(graph, into).op
            for reader in (*loops_around(graph, name), name):
                self._after[reader] = graph_around(graph, reader).descendants(reader)

    def refusal(self, source: TensorRef, edge: Edge) -> GradstepError | None:
        """Why `source` must not go into `edge`; None if it may."""
        edge = original_edge(self._graph, edge)
        out_of_place = self._out_of_place(source, edge)
        return out_of_place or why_not(self._graph, self._inference.types, source, edge)

    def _out_of_place(self, source: TensorRef, edge: Edge) -> GradstepError | None:
        """Why nothing of `source` may go there, of whatever type."""
        graph = self._graph
        if edge.op == source.op:
            return _error("an operation cannot read its own output", edge.op)
        way = loops_around(graph, source.op)
        around = loops_around(graph, edge.op)
        if around[: len(way)] != way:
            return crossing_error(source.op, edge.op, bool(around))
        # Beside the source: the operation, or a loop around it.
        reader = (*around, edge.op)[len(way)]
        if self._depends(source.op, reader):
            already = f"{source.op} already depends on {reader}"
            return _error(f"{already}: this would close a cycle", edge.op)
        return None

    def cast(self, source: TensorRef, edge: Edge) -> DType | None:
        """The element type that a Cast between them would have to give; None where none helps."""
        edge = original_edge(self._graph, edge)
        if self._out_of_place(source, edge) is not None:
            return None
        return cast_that_fits(self._graph, self._inference.types, source, edge)

    def _depends(self, name: str, other: str) -> bool:
        """Whether `name` needs `other`, which is in the same graph or loop."""
        if other in self._after:
            return name in self._after[other]
        if name not in self._before:
            self._before[name] = graph_around(self._graph, name).ancestors([name])
        return other in self._before[name]


def _error(text: str, node: str) -> GradstepError:
    return GradstepError(text, kind="ValueError", node=node)
