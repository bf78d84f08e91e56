"""IndexedSlices of an imported graph as dense tensors, for those who look at its gradients."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gradstep.core.autodiff.recognition.cotangent_pairing import Found
from gradstep.core.autodiff.reverse.contributions import Slices
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.free_names import collect_names, take_free_name
from gradstep.core.graph.model import Constant, Graph, Operation, Phase, TensorRef
from gradstep.core.ops.typing.inference import infer_declared


class Views:
    """Beside the operations of a graph, in one of its gradient scopes."""

    def __init__(self, graph: Graph, scope: str) -> None:
        self._graph, self._scope = graph, scope
        self._made: dict[Slices, TensorRef | None] = {}
        self._behind: dict[str, list[Operation]] = {}  # operation -> what is to come after it

    def whole(self, origin: str, ref: TensorRef, held: Found) -> TensorRef | None:
        """A tensor with the gradient of `ref`, which belongs to operation `origin`; None where
        nobody knows how many rows that has."""
        if isinstance(held, TensorRef):
            return held
        if held not in self._made:
            count = self._rows(ref)
            self._made[held] = None if count is None else self._view(origin, held, count)
        return self._made[held]

    def graph(self) -> Graph:
        """The graph with all that was made."""
        if not self._behind:
            return self._graph
        behind = self._behind
        return Graph.of(each for op in self._graph for each in (op, *behind.get(op.name, ())))

    def _rows(self, ref: TensorRef) -> int | None:
        declares = self._graph[ref.op].attrs.get("shape")  # of a variable behind a handle
        kind = infer_declared(self._graph).types.get(ref)
        shape = kind.shape if kind is not None and kind.dtype is not DType.RESOURCE else declares
        return shape.dims[0] if shape is not None and shape.dims else None

    def _view(self, origin: str, rows: Slices, count: int) -> TensorRef:
        name = take_free_name(f"{self._scope}/{origin}_grad/whole", self._taken)
        size = {"value": Constant(np.int32(count)), "dtype": DType.INT32}
        number = Operation(f"{name}/rows", "Const", (), (), size, "", origin, Phase.BACKWARD)
        inputs = (rows.values, rows.indices, number.output())
        made = Operation(name, "UnsortedSegmentSum", inputs, origin=origin, phase=Phase.BACKWARD)
        rank = {name: place for place, name in enumerate(self._graph.operations)}
        last = max(rows.values.op, rows.indices.op, key=rank.__getitem__)
        self._behind.setdefault(last, []).extend((number, made))
        return made.output()

    @cached_property
    def _taken(self) -> set[str]:
        return collect_names(self._graph)
