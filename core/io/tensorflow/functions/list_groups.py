"""Which tensors of a graph are one TensorList after the other, and what its elements are."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef

# Operation -> the input that says a shape of the elements; None where none does.
LIST_OPS: dict[str, int | None] = {
    "EmptyTensorList": 0, "TensorListReserve": 0, "TensorListFromTensor": 1,
    "TensorListScatterV2": 2, "TensorListStack": 1, "TensorListSetItem": None,
    "TensorListGetItem": 2, "TensorListGather": 2, "TensorListPushBack": None,
    "TensorListPopBack": 1, "TensorListLength": None, "TensorListResize": None,
    "TensorListConcatV2": 1, "TensorListSplit": 1, "TensorListPushBackBatch": None,
    "TensorListConcatLists": None, "TensorListElementShape": None,
}  # fmt: skip
# What makes a list of no list; and what gives none.
_MAKERS = frozenset({
    "EmptyTensorList", "TensorListReserve", "TensorListFromTensor", "TensorListScatterV2",
    "TensorListSplit",
})  # fmt: skip
_READERS = frozenset({
    "TensorListStack", "TensorListGetItem", "TensorListGather", "TensorListLength",
    "TensorListConcatV2", "TensorListElementShape",
})  # fmt: skip


class ListGroups:
    """Tensors that are made of each other as lists are one group."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._leaders: dict[TensorRef, TensorRef] = {}
        self._types: dict[TensorRef, DType] = {}
        self._shapes: dict[TensorRef, Shape] = {}
        for first, other in self._joined():
            self._leaders[self._leader(first)] = self._leader(other)
        for op in graph:
            self._note(op)

    def element(self, op: Operation) -> tuple[DType | None, Shape]:
        """Type and shape of the elements of the lists that an operation is about; None where it is
        about none."""
        lists = self._lists(op)
        leader = self._leader(lists[0]) if lists else None
        if leader is None or leader not in self._types:
            return None, UNKNOWN
        return self._types[leader], self._shapes.get(leader, UNKNOWN)

    def _joined(self) -> Iterator[tuple[TensorRef, TensorRef]]:
        for op in self._graph:
            lists = self._lists(op)
            yield from ((lists[0], other) for other in lists[1:])

    def _lists(self, op: Operation) -> list[TensorRef]:
        """The tensors that are lists, if an operation takes or gives some."""
        if op.type in LIST_OPS:
            taken = [] if op.type in _MAKERS else [op.inputs[0]] if op.inputs else []
            given = [] if op.type in _READERS else [op.output()]
        elif op.attrs.get("T") is DType.VARIANT:
            data = op.inputs[:1] if "Switch" in op.type else op.inputs
            taken = [*data]
            given = [op.output(0), op.output(1)] if "Switch" in op.type else [op.output()]
        else:
            return []
        return [ref for ref in (*taken, *given) if ref is not None]

    def _leader(self, ref: TensorRef) -> TensorRef:
        while (before := self._leaders.get(ref, ref)) != ref:
            self._leaders[ref] = self._leaders.get(before, before)
            ref = before
        return ref

    def _note(self, op: Operation) -> None:
        """What an operation says of its list's elements."""
        if op.type not in LIST_OPS or not (lists := self._lists(op)):
            return
        leader, dtype = self._leader(lists[0]), op.attrs.get("element_dtype")
        if isinstance(dtype, DType):
            self._types.setdefault(leader, dtype)
        place = LIST_OPS[op.type]
        said = UNKNOWN if place is None or place >= len(op.inputs) else self._said(op.inputs[place])
        try:
            self._shapes[leader] = self._shapes.get(leader, UNKNOWN).merge(said)
        except ValueError:
            raise GradstepError(
                f"'{op.name}' says that the elements of its list are {said}, and others say "
                f"{self._shapes[leader]}",
                kind="FileError",
                node=op.name,
                hint="the file is damaged",
            ) from None

    def _said(self, ref: TensorRef | None) -> Shape:
        """A shape that a constant says."""
        while ref is not None and (op := self._graph[ref.op]).type in ("Identity", "Enter"):
            ref = op.inputs[0]
        value = None if ref is None else self._graph[ref.op].attrs.get("value")
        if not isinstance(value, Constant) or value.array.ndim != 1:
            return UNKNOWN
        return Shape(tuple(None if size < 0 else int(size) for size in value.array.tolist()))
