"""All of a tensor array at once: gathered and scattered, concatenated and split."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.ops.catalogue.control.tensor_array_ops import (
    element_shape,
    flow,
    open_to_read,
    open_to_write,
)
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.op_state import PerRun
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.state.run_resources import RunArrays
from gradstep.core.ops.state.tensor_array_gradient_rules import (
    concat_gradient,
    read_gradient,
    split_gradient,
    write_gradient,
)

_SCALAR = "Shape must be at least rank 1 but is rank 0"
_ROWS = "give a tensor with one row for each index"


def _index_count(ctx: InferContext) -> int | None:
    """How many indices, input 1, there are, as far as known."""
    indices = ctx.types[1].shape
    if indices.rank not in (1, None):
        raise ctx.fail(
            f"Shape must be rank 1 but is rank {indices.rank}", "give a vector of indices"
        )
    return None if indices.dims is None else indices.dims[0]


def _gathered(ctx: InferContext) -> TensorType:
    count = _index_count(ctx)
    try:
        element = ctx.attr("element_shape").merge(element_shape(ctx))
    except ValueError as error:
        raise ctx.fail(str(error), "correct element_shape") from None
    dims = None if element.dims is None else (count, *element.dims)
    return TensorType(ctx.attr("dtype"), Shape(dims))


def _scattered(ctx: InferContext) -> TensorType:
    want, value = _index_count(ctx), ctx.types[2].shape
    if value.rank == 0:
        raise ctx.fail(_SCALAR, _ROWS)
    have = value.dims[0] if value.dims else None
    if None not in (have, want) and have != want:
        raise ctx.fail(
            f"Dimensions must be equal, but are {have} and {want}",
            "give one index for each element",
        )
    return flow(ctx)


def _concatenated(ctx: InferContext) -> tuple[TensorType, ...]:
    rest = ctx.attr("element_shape_except0")
    shape = UNKNOWN if rest.dims is None else Shape((None, *rest.dims))
    return TensorType(ctx.attr("dtype"), shape), TensorType(DType.INT64, Shape.of(None))


def _gather(
    xp: Any,
    handle: Any,
    indices: Any,
    flow_in: Any,
    run: RunArrays,
    *,
    dtype: DType,
    element_shape: Shape,
) -> tuple[Any, RunArrays]:
    name, array = open_to_read(handle, run, dtype)
    values, array = array.look(name, integers(indices), xp)
    if not values:
        return _empty(xp, array.element, element_shape, dtype), run.with_(name, array)
    _want_equal(values, 0)
    return xp.stack(values), run.with_(name, array)


def _empty(xp: Any, element: Shape, declared: Shape, dtype: DType) -> Any:
    """No elements at all, whose shape has to be declared."""
    shape = declared if element.dims is None else element.merge(declared)
    if not shape.is_static:
        raise GradstepError(
            f"TensorArray has size zero, but element shape {brackets(shape.dims)} is not fully "
            "defined. Currently only static shapes are supported when packing zero-size "
            "TensorArrays.",
            kind="UnimplementedError",
            hint="give the array an element_shape",
        )
    return xp.zeros((0, *shape.static()), dtype.numpy)


def _want_equal(values: list[Any], start: int) -> None:
    """Raise GradstepError if the values differ in shape from axis `start`."""
    first = values[0].shape[start:]
    for index, value in enumerate(values):
        if value.shape[start:] != first:
            besides = " (excepting dimension 0)" if start else ""
            raise GradstepError(
                f"TensorArray has inconsistent shapes.  Index 0 has{besides} shape: "
                f"{brackets(first)} but index {index} has{besides} shape: "
                f"{brackets(value.shape[start:])}",
                hint="write elements of one shape",
            )


def _scatter(
    xp: Any, handle: Any, indices: Any, value: Any, flow_in: Any, run: RunArrays
) -> tuple[Any, RunArrays]:
    name, array = open_to_write(handle, run, value)
    places = integers(indices)
    if not value.shape:
        raise GradstepError(_SCALAR, hint=_ROWS)
    if len(places) != len(value):
        raise GradstepError(
            f"Expected len(indices) == values.shape[0], but saw: {len(places)} vs. {len(value)}",
            hint="give one index for each element",
        )
    if not array.grows and max(places, default=-1) >= array.size:
        raise GradstepError(
            f"Max scatter index must be < array size ({max(places)} vs. {array.size})",
            hint="give the array a larger size, or dynamic_size=True",
        )
    kept = xp.array(value)
    return flow_in, run.with_(
        name, array.written(name, places, [kept[i] for i in range(len(kept))]), kept.nbytes
    )


def _concat(
    xp: Any,
    handle: Any,
    flow_in: Any,
    run: RunArrays,
    *,
    dtype: DType,
    element_shape_except0: Shape,
) -> tuple[Any, ...]:
    name, array = open_to_read(handle, run, dtype)
    values, array = array.look(name, range(array.size), xp)
    run = run.with_(name, array)
    if not values:
        none = _empty(xp, UNKNOWN, element_shape_except0, dtype)
        return none, xp.zeros((0,), np.int64), run
    for index, value in enumerate(values):
        if value.ndim == 0:
            raise GradstepError(
                f"Concat saw a scalar shape at index {index} but requires at least vectors.  Did "
                "you mean to call pack?",
                hint="stack scalars instead",
            )
    _want_equal(values, 1)
    return xp.concatenate(values), xp.array([len(v) for v in values], np.int64), run


def _split(
    xp: Any, handle: Any, value: Any, lengths: Any, flow_in: Any, run: RunArrays
) -> tuple[Any, RunArrays]:
    name, array = open_to_write(handle, run, value)
    sizes = integers(lengths)
    _want_sizes(sizes, value.shape, array.size, array.grows)
    kept = xp.array(value)
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    parts = [kept[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    return flow_in, run.with_(name, array.written(name, range(len(parts)), parts), kept.nbytes)


def _want_sizes(sizes: tuple[int, ...], shape: tuple[int, ...], places: int, grows: bool) -> None:
    """Raise GradstepError if a value of `shape` cannot be split like that."""
    if not shape:
        raise GradstepError(
            "Expected value to be at least a vector, but received shape: []",
            hint="there is nothing to split in a scalar",
        )
    if sum(sizes) != shape[0]:
        raise GradstepError(
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{sum(sizes)} and value's shape is: {brackets(shape)}",
            hint="the lengths have to add up to the first size",
        )
    if places != len(sizes) and not (grows and len(sizes) > places):
        raise GradstepError(
            "TensorArray's size is not equal to the size of lengths "
            f"({places} vs. {len(sizes)}), and the TensorArray is not marked as dynamically "
            "resizeable",
            hint="give the array one place for each length",
        )


op(
    "TensorArrayGatherV3",
    inputs="handle:tensor_array #indices:int32 flow_in:float32",
    outputs="value",
    attrs={"dtype": DType, "element_shape": UNKNOWN},
    infer=_gathered,
    kernel=_gather,
    gradient=read_gradient("TensorArrayScatterV3"),
    state=PerRun(RunArrays),
    arithmetic="exact",
    doc="The elements at some indices, stacked along a new first axis.",
)
op(
    "TensorArrayScatterV3",
    inputs="handle:tensor_array #indices:int32 value flow_in:float32",
    outputs="flow_out",
    type_attrs={"T": "value"},
    infer=_scattered,
    kernel=_scatter,
    gradient=write_gradient("TensorArrayGatherV3"),
    state=PerRun(RunArrays),
    arithmetic="exact",
    doc="Writes the parts of a tensor along its first axis as elements.",
)
op(
    "TensorArrayConcatV3",
    inputs="handle:tensor_array flow_in:float32",
    outputs="value lengths",
    attrs={"dtype": DType, "element_shape_except0": UNKNOWN},
    infer=_concatenated,
    kernel=_concat,
    gradient=concat_gradient,
    state=PerRun(RunArrays),
    arithmetic="exact",
    doc="All elements joined along their first axis, and how long each is.",
)
op(
    "TensorArraySplitV3",
    inputs="handle:tensor_array value #lengths:int64 flow_in:float32",
    outputs="flow_out",
    type_attrs={"T": "value"},
    infer=flow,
    kernel=_split,
    gradient=split_gradient,
    state=PerRun(RunArrays),
    arithmetic="exact",
    doc="Writes pieces of a tensor, of the given lengths along its first axis, as elements.",
)
