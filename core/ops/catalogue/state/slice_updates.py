"""Assigning to a slice of a variable, ref or resource: `tf.assign(v[1:3], value)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.catalogue.arrays.strided_slice_spec import (
    MASKS,
    Spec,
    cut_shape,
    python_index,
)
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.op_state import Writes
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import wrong_type


def _assigned(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
    ref, value = ctx.types[0], ctx.types[4]
    if ref.dtype not in (value.dtype, DType.RESOURCE):
        raise wrong_type(ctx, value.dtype, f"a value of the variable's type ({ref.dtype.value})")
    parts = [ctx.constant(i) for i in (1, 2, 3)]
    if ref.shape.dims is not None and all(part is not None for part in parts):
        spec = _spec(*parts, *(ctx.attr(name) for name in MASKS))
        _want_like(cut_shape(ref.shape.dims, python_index(ref.shape.dims, spec)), value.shape)
    return TensorType(ref.dtype, ref.shape, ref=True) if ctx.definition.outputs else ()


def _spec(begin: Any, end: Any, strides: Any, *masks: int) -> Spec:
    return Spec(integers(begin), integers(end), integers(strides), *masks)


def _want_like(cut: Shape, value: Shape) -> None:
    """Raise GradstepError unless a value of this shape can be broadcast to a slice of that one."""
    if cut.dims is None or value.dims is None:
        return
    wanted = (1,) * (len(value.dims) - len(cut.dims)) + cut.dims
    pairs = zip(reversed(value.dims), reversed(wanted), strict=False)
    if any(have not in (1, None, size) and size is not None for have, size in pairs):
        raise GradstepError(
            f"Cannot broadcast input shape {brackets(value.dims)} into final shape "
            f"{brackets(cut.dims)}",
            hint="give the value the slice's shape",
        )


def _kernel(
    xp: Any,
    ref: Any,
    begin: Any,
    end: Any,
    strides: Any,
    value: Any,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Any:
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    index = python_index(ref.shape, _spec(begin, end, strides, *masks))
    _want_like(cut_shape(ref.shape, index), Shape(tuple(value.shape)))
    changed = xp.array(ref)
    changed[index] = value
    return changed


_CUTS: tuple[tuple[Any, Any, Any, tuple[int, ...], dict[str, int]], ...] = (
    (ints(0, 1), ints(2, 4), ints(1, 2), (2, 2), {}),
    (ints(1, 0), ints(2, 3), ints(1, 1), (3,), {"shrink_axis_mask": 1}),
    (ints(-1, 0), ints(0, 0), ints(-1, 1), (2, 4), {"begin_mask": 2, "end_mask": 2}),
    (ints(0, 0), ints(0, 3), ints(1, 1), (3, 1), {"ellipsis_mask": 1}),
    (ints(1), ints(3), ints(1), (), {}),
)


def _samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.normal(size=(3, 4)), b, e, s, rng.normal(size=size)), masks)
        for b, e, s, size, masks in _CUTS
    ]


_FORMULA = "assigned(ref, slices(ref, begin, end, strides, masks), value)"

op(
    "StridedSliceAssign",
    inputs="&ref #begin:int32,int64 #end:begin #strides:begin value",
    outputs="&output_ref",
    attrs=dict.fromkeys(MASKS, 0),
    type_attrs={"T": "value", "Index": "begin"},
    formula=_FORMULA,
    infer=_assigned,
    kernel=_kernel,
    state=Writes((0,)),
    samples=_samples,
    arithmetic="exact",
    doc="Set a slice of a variable; the output is the variable's buffer.",
)
op(
    "ResourceStridedSliceAssign",
    inputs="ref:variable #begin:int32,int64 #end:begin #strides:begin value",
    outputs="",
    attrs=dict.fromkeys(MASKS, 0),
    type_attrs={"T": "value", "Index": "begin"},
    formula=_FORMULA,
    infer=_assigned,
    kernel=_kernel,
    state=Writes((0,)),
    samples=_samples,
    arithmetic="exact",
    doc="Set a slice of a resource variable.",
)
