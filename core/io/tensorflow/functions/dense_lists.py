"""TensorLists, which functions keep arrays in, as tensors of one more dimension.

A list of n tensors becomes one tensor whose rows they are, so that its values, its gradient and its
shape are those of any other. What no one has written yet is zeros; where sizes of a list's elements
are not known before they are written, it begins with rows of size 1 there, which broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.tensorflow.functions.list_groups import LIST_OPS, Element, ListGroups


def with_dense_lists(graph: Graph) -> Graph:
    """`graph`, with the lists in it as tensors, as far as the rank of their elements is known; the
    operations of others stay, and are of types that Gradstep does not run."""
    if not graph.of_types(LIST_OPS):
        return graph
    groups = ListGroups(graph)
    return Graph.of(made for op in graph for made in _dense(op, groups))


def said_of_lists(graph: Graph) -> Iterator[str]:
    """A sentence on the lists that are left, if there are any: how many operations, the first of
    them, and why. Nobody runs them."""
    left = graph.of_types(LIST_OPS)
    if left:
        groups, op = ListGroups(graph), graph[left[0]]
        yield (
            f"Lists that are no tensors here, in {len(left)} operations, are not run; the "
            f"first is {op.name:.200} ({op.type:.60}): {_why_left(op, groups.element(op))}."
        )


def _why_left(op: Operation, element: Element) -> str:
    if op.type not in _BUILDERS:
        return "there is nothing like it for tensors"
    if element.dtype in (None, DType.VARIANT):
        return "nothing says of what type its elements are"
    return "nothing says how many axes its elements have; give them an element_shape"


def _dense(op: Operation, groups: ListGroups) -> Iterable[Operation]:
    build = _BUILDERS.get(op.type)
    element = groups.element(op)
    dtype = element.dtype
    if dtype in (None, DType.VARIANT) or element.shape.dims is None:
        return [op]
    if build is not None:
        return _DenseOp(op, element).made(build)
    if op.attrs.get("T") is not DType.VARIANT:
        return [op]
    return [op.with_attrs(T=dtype)]


class _DenseOp:
    """What is in the place of one operation on a list of such elements."""

    def __init__(self, op: Operation, element: Element) -> None:
        self.op, self.dims, self.stacks = op, element.shape.dims or (), element.stacks
        self.dtype = element.dtype or DType.VARIANT
        self._made: list[Operation] = []

    def made(self, build: Callable[[_DenseOp], None]) -> Iterator[Operation]:
        build(self)
        *before, last = self._made
        yield from before
        yield replace(last, control_inputs=(*last.control_inputs, *self.op.control_inputs))

    def input(self, index: int) -> TensorRef:
        """Raises GradstepError where there is none."""
        ref = self.op.inputs[index] if index < len(self.op.inputs) else None
        if ref is None:
            raise GradstepError(
                f"'{self.op.name}' has no input {index}",
                kind="FileError",
                node=self.op.name,
                hint="the file is damaged",
            )
        return ref

    def make(self, type: str, own: str, *inputs: TensorRef, **attrs: Any) -> TensorRef:
        """A part, with a name of its own; "" is what stands under the operation's name."""
        name = f"{self.op.name}/{own}" if own else self.op.name
        self._made.append(Operation(name, type, inputs, attrs=attrs, device=self.op.device))
        return TensorRef(name)

    def constant(self, own: str, value: Any, dtype: Any = np.int32) -> TensorRef:
        """Where the operation is: in a branch or a loop, perhaps."""
        array = np.asarray(value, dtype)
        ref = self.make("Const", own, value=Constant(array), dtype=DType.of(array.dtype))
        self._made[-1] = replace(self._made[-1], control_inputs=(self.input(0).op,))
        return ref

    def part(
        self, own: str, tensor: TensorRef, begin: int, end: int, called: str = "", **masks: int
    ) -> TensorRef:
        """Rows of a tensor. called: what its bounds are called after, where not after itself."""
        named = (("begin", begin), ("end", end), ("step", 1))
        bounds = [self.constant(f"{called or own}_{name}", [value]) for name, value in named]
        return self.make("StridedSlice", own, tensor, *bounds, **masks)

    def length(self, own: str = "length") -> TensorRef:
        """How many elements the list has, input 0."""
        scope = f"{own}/" if own else ""
        sizes = self.make("Shape", f"{scope}shape", self.input(0))
        zero, axis = self.constant(f"{scope}first", 0), self.constant(f"{scope}axis", 0)
        return self.make("GatherV2", own, sizes, zero, axis)


def _reserve(made: _DenseOp) -> None:
    """Zeros."""
    sizes = [made.constant(f"size_{i}", 1 if d is None else d) for i, d in enumerate(made.dims)]
    empty = made.op.type == "EmptyTensorList"
    count = made.constant("length", 0) if empty else made.input(1)
    shape = made.make("Pack", "shape", count, *sizes)
    zero = made.constant("zero", 0, made.dtype.numpy)
    made.make("Fill", "", shape, zero)


def _same(made: _DenseOp) -> None:
    made.make("Identity", "", made.input(0))


def _set_item(made: _DenseOp) -> None:
    """The element where the number is that of the row, else the row."""
    index, item, rows = made.input(1), made.input(2), made.input(0)
    count = made.length()
    if made.op.attrs.get("resize_if_index_out_of_bounds"):
        rows, count = _grown(made, rows, count, index)
    on, off = (made.constant(name, name == "true", np.bool_) for name in ("true", "false"))
    chosen = made.make("OneHot", "is_row", index, count, on, off)
    column = made.constant("column", [-1, *(1 for _ in made.dims)])
    chosen = made.make("Reshape", "is_row_of", chosen, column)
    row = made.make("ExpandDims", "row", item, made.constant("axis", 0))
    made.make("SelectV2", "", chosen, row, rows)


def _grown(
    made: _DenseOp, rows: TensorRef, count: TensorRef, index: TensorRef
) -> tuple[TensorRef, TensorRef]:
    """The rows and zeros behind them, so that there is one with that number; and how many."""
    one = made.constant("one", 1)
    needed = made.make("Maximum", "needed", count, made.make("AddV2", "end", index, one))
    more = made.make("Sub", "more", needed, count)
    sizes = made.make("Shape", "sizes", rows)
    tail = made.part("tail", sizes, 1, 0, called="sizes", end_mask=1)
    axis = made.constant("more_axis", 0)
    first = made.make("ExpandDims", "more_rows", more, axis)
    shape = made.make("ConcatV2", "more_shape", first, tail, axis)
    zero = made.constant("zero", 0, made.dtype.numpy)
    zeros = made.make("Fill", "zeros", shape, zero)
    return made.make("ConcatV2", "grown", rows, zeros, axis), needed


def _get_item(made: _DenseOp) -> None:
    made.make("GatherV2", "", made.input(0), made.input(1), made.constant("axis", 0))


def _push(made: _DenseOp) -> None:
    """One more row behind the others."""
    rows, item = made.input(0), made.input(1)
    if made.stacks:
        rows, item = _of_one_height(made, rows, item)
    axis = made.constant("axis", 0)
    count = made.make("ExpandDims", "rows", made.length(), axis)
    sizes = made.make("ConcatV2", "sizes", count, made.make("Shape", "item", item), axis)
    rows = made.make("BroadcastTo", "before", rows, sizes)
    row = made.make("ExpandDims", "row", item, axis)
    made.make("ConcatV2", "", rows, row, axis)


def _of_one_height(made: _DenseOp, rows: TensorRef, item: TensorRef) -> tuple[TensorRef, TensorRef]:
    """The rows and one more element, whose lists are stacks: zeros before what is in the lower ones
    make them as high as the others, and nobody comes to these."""
    axes = list(range(made.stacks))
    old = _sizes(made, "old", rows, [axis + 1 for axis in axes])
    new = _sizes(made, "new", item, axes)
    height = made.make("Maximum", "height", old, new)
    rest = len(made.dims) - made.stacks
    return _heightened(made, "old", rows, height, old, 1, rest), _heightened(
        made, "new", item, height, new, 0, rest
    )


def _sizes(made: _DenseOp, own: str, tensor: TensorRef, axes: list[int]) -> TensorRef:
    shape = made.make("Shape", f"{own}/shape", tensor)
    first = made.constant(f"{own}/axis", 0)
    return made.make("GatherV2", f"{own}/sizes", shape, made.constant(f"{own}/axes", axes), first)


def _heightened(
    made: _DenseOp,
    own: str,
    tensor: TensorRef,
    height: TensorRef,
    size: TensorRef,
    before: int,
    behind: int,
) -> TensorRef:
    """before, behind: how many axes there are before and behind those of the stacks."""
    more = made.make("Sub", f"{own}/more", height, size)
    around = [
        made.constant(f"{own}/{n}", [0] * k) for n, k in (("left", before), ("right", behind))
    ]
    axis = made.constant(f"{own}/first", 0)
    begins = made.make("ConcatV2", f"{own}/begins", around[0], more, around[1], axis)
    ends = made.make("Sub", f"{own}/ends", begins, begins)
    pads = made.make("Pack", f"{own}/pads", begins, ends, axis=1)
    return made.make("Pad", f"{own}/padded", tensor, pads)


def _pop(made: _DenseOp) -> None:
    """The rows but the last, and that one."""
    one, rows = made.constant("one", 1), made.input(0)
    last = made.make("Sub", "last", made.length(), one)
    item = made.make("GatherV2", "item", rows, last, made.constant("axis", 0))
    rest = made.part("rest", rows, 0, -1, begin_mask=1)
    made.make("IdentityN", "", rest, item, T=(made.dtype, made.dtype))


def _concat(made: _DenseOp) -> None:
    """The rows of all elements, one behind the other, and how many each has."""
    rows, axis = made.input(0), made.constant("axis", 0)
    sizes = made.make("Shape", "sizes", rows)
    inner = made.part("inner", sizes, 2, 0, end_mask=1)
    shape = made.make("ConcatV2", "shape", made.constant("all", [-1]), inner, axis)
    tensor = made.make("Reshape", "tensor", rows, shape)
    each = made.make("GatherV2", "size", sizes, made.constant("one", 1), axis)
    each = made.make("Cast", "size_of_each", each, DstT=DType.INT64)
    count = made.make("ExpandDims", "count", made.length(), axis)
    lengths = made.make("Fill", "lengths", count, each)
    made.make("IdentityN", "", tensor, lengths, T=(made.dtype, DType.INT64))


def _length(made: _DenseOp) -> None:
    made.length("")


_BUILDERS: dict[str, Callable[[_DenseOp], None]] = {
    "EmptyTensorList": _reserve,
    "TensorListReserve": _reserve,
    "TensorListFromTensor": _same,
    "TensorListStack": _same,
    "TensorListSetItem": _set_item,
    "TensorListGetItem": _get_item,
    "TensorListGather": _get_item,
    "TensorListPushBack": _push,
    "TensorListPopBack": _pop,
    "TensorListConcatV2": _concat,
    "TensorListLength": _length,
}
