"""The operations that a backward pass visits, in order, and where cotangents meet on it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import cached_property

from gradstep.core.autodiff.reverse.tf_gradient_order import rank_operations
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.typing.tensor_type_dict import TensorTypes

Arrival = tuple[int, str, int]  # at which output, from which operation, over which of its inputs

_CARRIERS = frozenset(dtype for dtype in DType if dtype.is_differentiable)


class BackwardSlice:
    """path:     operations between some `wrt` and some `of`, ends included, the last one first.
    asked:    operation -> which of its outputs are in `wrt`.
    exits:    loop -> the Exits of its outputs that are in `wrt`, by the number of the output.
    live:     those of the graph that some `wrt` leads to through tensors that can carry a gradient.
    arrivals: operation of the path -> the wires over which gradients may come back to it, in the
              order in which TensorFlow adds them up.
    """

    def __init__(
        self, graph: Graph, types: TensorTypes, of: Sequence[TensorRef], wrt: Sequence[TensorRef]
    ) -> None:
        self.graph, self.types, self.of, self.wrt = graph, types, tuple(of), tuple(wrt)
        self.asked: dict[str, set[int]] = {}
        for ref in wrt:
            self.asked.setdefault(ref.op, set()).add(ref.index)
        self.exits = _exits(graph, wrt)
        below, self.live = _below(graph, types, self.asked.keys())
        self.path: dict[str, Operation] = {}
        self.arrivals: dict[str, list[Arrival]] = {}
        self._walk(below)
        rank = rank_operations(graph, of, self.path.keys() & self.live)
        for arrivals in self.arrivals.values():
            if len(arrivals) > 1:
                arrivals.sort(key=lambda arrival: rank.get(arrival[1], len(rank)))

    def is_live(self, op: Operation) -> bool:
        """Whether `op` takes a tensor that some `wrt` leads to."""
        return any(ref is not None and ref.op in self.live for ref in op.inputs)

    @cached_property
    def has_gradient_scopes(self) -> bool:
        """Whether scopes of operations' gradients may have names that are taken."""
        return any("_grad/" in name.lower() for name in self.graph.operations)

    def needs_input_grad(self, op: Operation) -> list[bool]:
        """Which inputs of `op` lead to what is asked for."""
        return [ref is not None and ref.op in self.path for ref in op.inputs]

    def is_same_at(self, other: BackwardSlice, op: Operation) -> bool:
        """Whether a visit to `op` finds the same in both slices."""
        name = op.name
        return (
            self.arrivals.get(name) == other.arrivals.get(name)
            and self.needs_input_grad(op) == other.needs_input_grad(op)
            and self.is_live(op) == other.is_live(op)
            and self.asked.get(name) == other.asked.get(name)
            and self.exits.get(name) == other.exits.get(name)
        )

    def _walk(self, below: set[str]) -> None:
        operations, arrivals = self.graph.operations, self.arrivals
        needed = {ref.op for ref in self.of}
        for name in reversed(self.graph.order):
            if name not in needed or name not in below:
                continue
            op = self.path[name] = operations[name]
            for index, ref in enumerate(op.inputs):
                if ref is not None and ref.op in below:
                    needed.add(ref.op)
                    arrivals.setdefault(ref.op, []).append((ref.index, name, index))


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
