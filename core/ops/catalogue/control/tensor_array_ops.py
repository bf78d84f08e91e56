"""Tensor arrays: what loops read their inputs from, and write their outputs to."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.op_state import PerRun
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.state.run_resources import RunArrays
from gradstep.core.ops.state.tensor_array import ArrayPlace, TensorArray
from gradstep.core.ops.state.tensor_array_gradient_rules import read_gradient, write_gradient

# An attribute of reads, which TensorFlow passes over: there, Python remembers the shape.
SHAPE = "_element_shape"
_FLOW = TensorType(DType.FLOAT32, SCALAR)


def _handle(ctx: InferContext) -> tuple[TensorType, ...]:
    element = TensorType(ctx.attr("dtype"), ctx.attr("element_shape"))
    return TensorType(DType.RESOURCE, SCALAR, holds=(element,), handle="tensor_array"), _FLOW


def element_shape(ctx: InferContext) -> Shape:
    """What the handle, input 0, says of its elements' shape."""
    holds = ctx.types[0].holds
    return holds[0].shape if holds else UNKNOWN


def flow(ctx: InferContext) -> TensorType:
    """The type rule of what only changes an array."""
    return _FLOW


def _element(ctx: InferContext) -> TensorType:
    said = attribute(ctx.op, SHAPE, Shape, UNKNOWN)
    try:
        return TensorType(ctx.attr("dtype"), element_shape(ctx).merge(said))
    except ValueError as error:
        raise ctx.fail(str(error), f"correct the attribute {SHAPE}") from None


def open_array(handle: Any, run: RunArrays) -> tuple[str, TensorArray]:
    """The array of `handle`. Raises GradstepError if there is none, or it has been closed."""
    name, array = run.array(handle)
    if array.closed:
        raise GradstepError(
            f"TensorArray {name} has already been closed.", hint="close it after its last use"
        )
    return name, array


def open_to_read(handle: Any, run: RunArrays, dtype: DType) -> tuple[str, TensorArray]:
    """The same, for elements of that type. Raises GradstepError if it holds others."""
    return _of(dtype, "requested", *open_array(handle, run))


def open_to_write(handle: Any, run: RunArrays, value: Any) -> tuple[str, TensorArray]:
    """The same, for elements that are like `value`, or parts of it."""
    return _of(DType.of(value.dtype), "is trying to write", *open_array(handle, run))


def _of(dtype: DType, does: str, name: str, array: TensorArray) -> tuple[str, TensorArray]:
    if array.dtype is not dtype:
        have, want = (d.cpp_name for d in (array.dtype, dtype))
        raise GradstepError(
            f"TensorArray dtype is {have} but Op {does} dtype {want}.",
            hint="cast the elements, or give the array the other dtype",
        )
    return name, array


def _made(
    xp: Any,
    size: Any,
    run: RunArrays,
    *,
    op: Operation,
    dtype: DType,
    element_shape: Shape,
    dynamic_size: bool,
    clear_after_read: bool,
    identical_element_shapes: bool,
    tensor_array_name: str,
) -> tuple[Any, ...]:
    if (count := integer(size)) < 0:
        raise GradstepError("Size should be >= 0.", hint=f"the size is {count}")
    places = (ArrayPlace(),) * count
    array = TensorArray(
        dtype, places, element_shape, dynamic_size, clear_after_read, identical_element_shapes
    )
    handle, run = run.made(tensor_array_name or op.name, array)
    return handle, xp.zeros((), np.float32), run


def _gradient(
    xp: Any, handle: Any, flow_in: Any, run: RunArrays, *, source: str
) -> tuple[Any, ...]:
    name, array = open_array(handle, run)
    grad = f"{name}@{source}"
    if grad not in run.held:
        settled = TensorArray(**{**_fields(array), "grows": False})
        run = run.with_(name, settled).with_(grad, array.gradient())
    return np.array(grad, object), xp.zeros((), np.float32), run


def _fields(array: TensorArray) -> dict[str, Any]:
    return {name: getattr(array, name) for name in TensorArray.__slots__}


def _write(
    xp: Any, handle: Any, index: Any, value: Any, flow_in: Any, run: RunArrays
) -> tuple[Any, RunArrays]:
    name, array = open_to_write(handle, run, value)
    kept = xp.array(value)
    return flow_in, run.with_(name, array.written(name, [integer(index)], [kept]), kept.nbytes)


def _read(
    xp: Any, handle: Any, index: Any, flow_in: Any, run: RunArrays, *, dtype: DType
) -> tuple[Any, RunArrays]:
    name, array = open_to_read(handle, run, dtype)
    (value,), array = array.look(name, [integer(index)], xp)
    return value, run.with_(name, array)


def _size(xp: Any, handle: Any, flow_in: Any, run: RunArrays) -> tuple[Any, RunArrays]:
    return xp.array(open_array(handle, run)[1].size, np.int32), run


def _close(xp: Any, handle: Any, run: RunArrays) -> RunArrays:
    name, array = open_array(handle, run)
    return run.with_(name, TensorArray(array.dtype, (), array.element, closed=True))


op(
    "TensorArrayV3",
    inputs="#size:int32",
    outputs="handle flow",
    attrs={
        "dtype": DType,
        "element_shape": UNKNOWN,
        "dynamic_size": False,
        "clear_after_read": True,
        "identical_element_shapes": False,
        "tensor_array_name": "",
    },
    infer=_handle,
    kernel=_made,
    state=PerRun(RunArrays),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="An array of tensors for one run. Its flow orders what is done with it.",
)
op(
    "TensorArrayGradV3",
    inputs="handle:tensor_array flow_in:float32",
    outputs="grad_handle flow_out",
    attrs={"source": str},
    infer=lambda ctx: (ctx.types[0], _FLOW),
    kernel=_gradient,
    state=PerRun(RunArrays),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="The array for the gradients of an array's elements: one for each `source`, which is the "
    "name of the gradient computation. What is written to a place again is added.",
)
op(
    "TensorArrayWriteV3",
    inputs="handle:tensor_array #index:int32 value flow_in:float32",
    outputs="flow_out",
    type_attrs={"T": "value"},
    infer=flow,
    kernel=_write,
    gradient=write_gradient("TensorArrayReadV3"),
    state=PerRun(RunArrays),
    arithmetic="exact",
    doc="Writes an element, once.",
)
op(
    "TensorArrayReadV3",
    inputs="handle:tensor_array #index:int32 flow_in:float32",
    outputs="value",
    attrs={"dtype": DType},
    infer=_element,
    kernel=_read,
    gradient=read_gradient("TensorArrayWriteV3"),
    state=PerRun(RunArrays),
    arithmetic="exact",
    doc="An element, which is then cleared if the array says so.",
)
op(
    "TensorArraySizeV3",
    inputs="handle:tensor_array flow_in:float32",
    outputs="size",
    infer=lambda ctx: TensorType(DType.INT32, SCALAR),
    kernel=_size,
    state=PerRun(RunArrays),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="How many places an array has.",
)
op(
    "TensorArrayCloseV3",
    inputs="handle:tensor_array",
    outputs="",
    infer=lambda ctx: (),
    kernel=_close,
    state=PerRun(RunArrays),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="Gives up what an array holds.",
)
