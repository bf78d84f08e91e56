"""Some operations of a graph as a document of their own: numbers stand for all that they read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

import numpy as np

from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.requests import main_request
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef

Read = Callable[[Operation, int], np.ndarray | None]
COTANGENT = "cotangent"  # the constant with which a gradient starts


class ReducedGraph:
    """Of `graph`, which has `names`, and what they read as constants. read: what an operation read
    as its input number so-and-so. standing: constant -> what it stands for. Raises GradstepError
    where something was not there, or is no array."""

    def __init__(self, graph: Graph, names: Collection[str], read: Read) -> None:
        self._names, self._read = names, read
        self.standing: dict[TensorRef, TensorRef] = {}
        self._constants: dict[str, Operation] = {}
        kept = [self._own(graph[name]) for name in graph.order if name in names]
        self.operations = {**self._constants, **{op.name: op for op in kept}}

    def _own(self, op: Operation) -> Operation:
        inputs = tuple(self._input(op, number) for number in range(len(op.inputs)))
        waits = tuple(name for name in op.control_inputs if name in self._names)
        return replace(op, inputs=inputs, control_inputs=waits)

    def _input(self, op: Operation, number: int) -> TensorRef | None:
        ref = op.inputs[number]
        if ref is None or ref.op in self._names:
            return ref
        array = self._read(op, number)
        if array is None:
            raise GradstepError(f"'{ref.short}' has no value there", node=ref.op)
        value = Constant(array)
        return self._standing_for(ref, value) or self._constant(ref, value)

    def _standing_for(self, ref: TensorRef, value: Constant) -> TensorRef | None:
        """A constant that there is already; of a variable that changes in between there are two."""
        there = (stands for stands, outside in self.standing.items() if outside == ref)
        return next((x for x in there if self._constants[x.op].attrs["value"] == value), None)

    def _constant(self, ref: TensorRef, value: Constant) -> TensorRef:
        name = self._free(ref.op if ref.index == 0 else f"{ref.op}_{ref.index}")
        self._constants[name] = constant(name, value)
        self.standing[TensorRef(name)] = ref
        return TensorRef(name)

    def _free(self, name: str) -> str:
        taken = {*self._names, *self._constants}
        while name in taken:
            name = f"{name}_"
        return name


def constant(name: str, value: Constant) -> Operation:
    attrs = {"value": value, "dtype": DType.of(value.array.dtype)}
    return Operation(name, "Const", attrs=attrs)


def of_value(document: Document, graph: ReducedGraph, tensor: TensorRef) -> Document:
    """Computes `tensor`."""
    return _bare(document, graph.operations).with_(fetches=(tensor,))


def of_gradient(
    document: Document,
    graph: ReducedGraph,
    of: TensorRef,
    wrt: Iterable[TensorRef],
    cotangent: np.ndarray | None,
) -> Document:
    """Asks for the gradient of `of` with respect to constants, as the document asks for its own;
    None starts with ones."""
    operations, asked = dict(graph.operations), main_request(document)
    starts: tuple[TensorRef | None, ...] = ()
    if cotangent is not None:
        operations[COTANGENT] = constant(COTANGENT, Constant(cotangent))
        starts = (TensorRef(COTANGENT),)
    there = {*operations}
    request = replace(
        asked,
        of=(of,),
        wrt=tuple(wrt),
        stops=frozenset(ref for ref in asked.stops if ref.op in there),
        stopped_edges=frozenset(edge for edge in asked.stopped_edges if edge.op in there),
        grad_ys=starts,
    )
    return _bare(document, operations).with_(request=request)


def _bare(document: Document, operations: dict[str, Operation]) -> Document:
    """With the Python that these call, and that gradients may be."""
    tokens = {str(op.attrs.get("token", "")) for op in operations.values()}
    code = {
        name: item
        for name, item in document.code.items()
        if item.kind is not CodeKind.PYFUNC or name in tokens
    }
    return Document(graph=Graph(operations), code=code)


def float_inputs(graph: ReducedGraph, on_way: Collection[str] | None) -> Iterator[TensorRef]:
    """The constants that a gradient may be asked for. on_way: operations from which alone; None
    for any."""
    for stands, outside in graph.standing.items():
        value = graph.operations[stands.op].attrs["value"]
        assert isinstance(value, Constant)
        differentiable = DType.of(value.array.dtype).is_differentiable
        if differentiable and (on_way is None or outside.op in on_way):
            yield stands
