"""Which tensors of a graph are one TensorList after the other, and what its elements are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import MAX_RANK, UNKNOWN, DType, Shape
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
# Where the element is that an operation puts in or takes out: an input, an output.
_PUTS = {"TensorListSetItem": 2, "TensorListPushBack": 1}
_TAKES = {"TensorListGetItem": 0, "TensorListPopBack": 1}
_STACK = frozenset({"EmptyTensorList", "TensorListPushBack", "TensorListPopBack"})


class Element(NamedTuple):
    """What a list holds. dtype: None where nobody says it, VARIANT where that are no lists. Of
    lists in lists, what the innermost hold; shape begins with how long each of those between is,
    and the first `stacks` of these are only ever written and read at their end."""

    dtype: DType | None
    shape: Shape = UNKNOWN
    stacks: int = 0


class ListGroups:
    """Tensors that are made of each other as lists are one group. What is in the lists of a group
    is of one group, too, where that are lists."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._leaders: dict[TensorRef, TensorRef] = {}
        self._types: dict[TensorRef, DType] = {}
        self._shapes: dict[TensorRef, Shape] = {}
        self._types_of_ops: dict[TensorRef, set[str]] = defaultdict(set)
        for first, other in self._joined():
            self._leaders[self._leader(first)] = self._leader(other)
        self._inner = self._held()
        for op in graph:
            self._note(op)

    def element(self, op: Operation) -> Element:
        """What the lists hold that an operation is about."""
        lists = self._lists(op)
        return self._of(self._leader(lists[0])) if lists else Element(None)

    def _of(self, leader: TensorRef, around: tuple[TensorRef, ...] = ()) -> Element:
        dtype, inner = self._types.get(leader), self._inner.get(leader)
        if (
            dtype is not DType.VARIANT
            or inner is None
            or inner in around
            or len(around) >= MAX_RANK
        ):
            return Element(dtype, self._shapes.get(leader, UNKNOWN))
        dtype, shape, stacks = self._of(inner, (*around, leader))
        if shape.dims is None:
            return Element(dtype)
        is_stack = self._types_of_ops[inner] <= _STACK
        return Element(dtype, Shape((None, *shape.dims)), stacks + 1 if is_stack else 0)

    def _held(self) -> dict[TensorRef, TensorRef]:
        """Of each group whose elements are lists, their group: of all that is put into the one and
        taken out of it."""
        held: dict[TensorRef, TensorRef] = {}
        waiting = [*self._elements()]
        while waiting:
            outer, element = waiting.pop()
            leader, inner = self._leader(outer), self._leader(element)
            known = self._leader(held.setdefault(leader, inner))
            if known != inner:
                self._leaders[inner] = known
                if inner in held:  # what that held, the one that it is now holds
                    waiting.append((known, held.pop(inner)))
        return {self._leader(outer): self._leader(inner) for outer, inner in held.items()}

    def _elements(self) -> Iterator[tuple[TensorRef, TensorRef]]:
        """Lists, and lists in them."""
        for op in self._graph:
            if op.attrs.get("element_dtype") is not DType.VARIANT or not (lists := self._lists(op)):
                continue
            place = _PUTS.get(op.type, len(op.inputs))
            given = op.inputs[place] if place < len(op.inputs) else None
            if op.type in _TAKES:
                given = op.output(_TAKES[op.type])
            if given is not None:
                yield lists[0], given

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
        self._types_of_ops[leader].add(op.type)
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
