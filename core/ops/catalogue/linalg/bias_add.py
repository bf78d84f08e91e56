"""BiasAdd: a vector added along the channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.parted_calls import make_calls
from gradstep.core.ops.declare.result_memory import InPlace
from gradstep.core.ops.declare.shape_rules import one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import merge_shapes, numeric, want_rank
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.column_sums import column_sums


def _channel_axis(data_format: str) -> int:
    return 1 if data_format == "NCHW" else -1


def _bias_type(ctx: InferContext) -> TensorType:
    dtype = one_dtype(ctx)
    want_rank(ctx, 1, 1)
    value, bias = ctx.types[0].shape, ctx.types[1].shape
    if value.dims is None:
        return TensorType(dtype, value)
    if len(value.dims) < 2:
        raise ctx.fail(f"BiasAdd needs a value of rank 2 or more, not shape {value}")
    axis = _channel_axis(ctx.attr("data_format")) % len(value.dims)
    channels = merge_shapes(ctx, Shape((value.dims[axis],)), bias)
    return TensorType(dtype, Shape((*value.dims[:axis], *channels, *value.dims[axis + 1 :])))


def _lined_up(value: Any, bias: Any, data_format: str) -> Any:
    if data_format != "NCHW":
        return bias
    return bias.reshape((-1,) + (1,) * (value.ndim - 2))


def _bias_add(xp: Any, value: Any, bias: Any, *, data_format: str) -> Any:
    return xp.add(value, _lined_up(value, bias, data_format))


def _bias_add_calls(
    xp: Any, value: Any, bias: Any, *, data_format: str, out: Any, room: Any
) -> Calls:
    yield np.add, value, _lined_up(value, bias, data_format), out


def _bias_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.normal(size=(2, 3)), rng.normal(size=3))),
        Sample((rng.normal(size=(2, 3, 2)), rng.normal(size=3)), {"data_format": "NCHW"}),
    ]


op(
    "BiasAdd",
    inputs="value bias",
    attrs={"data_format": "NHWC"},
    choices={"data_format": ("NHWC", "NCHW")},
    type_attrs={"T": "value"},
    formula="value + channels(bias, value, data_format)",
    infer=numeric(_bias_type),
    kernel=Kernels(_bias_add, calls=_bias_add_calls),
    memory=InPlace("value"),
    gradient=lambda op, g: (
        g,
        call("BiasAddGrad", g, data_format=op.get_attr("data_format")),
    ),
    samples=_bias_samples,
    arithmetic="rounded",
    python="bias_add",
    doc="Add a vector along the channels: the last axis, or axis 1 for NCHW.",
)


def _bias_grad_type(ctx: InferContext) -> TensorType:
    shape = ctx.types[0].shape
    if shape.dims is None:
        return TensorType(ctx.types[0].dtype, Shape.of(None))
    if len(shape.dims) < 2:
        raise ctx.fail(f"BiasAddGrad needs rank 2 or more, not shape {shape}")
    return TensorType(
        ctx.types[0].dtype, Shape.of(shape.dims[_channel_axis(ctx.attr("data_format"))])
    )


def _others(g: Any, data_format: str) -> tuple[int, ...]:
    """All axes but that of the channels."""
    channel = _channel_axis(data_format) % g.ndim
    return tuple(i for i in range(g.ndim) if i != channel)


def _bias_grad(xp: Any, g: Any, *, data_format: str) -> Any:
    if xp is not np:
        return xp.sum(g, axis=_others(g, data_format), dtype=g.dtype)
    out = np.empty(g.shape[_channel_axis(data_format)], g.dtype)
    make_calls(_bias_grad_calls(np, g, data_format=data_format, out=out, room=np.empty), np.empty)
    return out


def _bias_grad_calls(xp: Any, g: Any, *, data_format: str, out: Any, room: Any) -> Calls:
    others = _others(g, data_format)
    if others[-1] == g.ndim - 2:
        yield from column_sums(g, out, room)
    else:
        yield np.add.reduce, g, others, g.dtype, out


def _bias_grad_second(op: OpView, g: Tensor) -> Tensor:
    """Spread the vector over the shape that was summed."""
    x = op.inputs[0]
    zeros = call("ZerosLike", x)
    return call("BiasAdd", zeros, g, data_format=op.get_attr("data_format"))


op(
    "BiasAddGrad",
    inputs="out_backprop",
    attrs={"data_format": "NHWC"},
    choices={"data_format": ("NHWC", "NCHW")},
    type_attrs={"T": "out_backprop"},
    formula="sum(out_backprop, others(out_backprop, data_format))",
    infer=numeric(_bias_grad_type),
    kernel=Kernels(_bias_grad, calls=_bias_grad_calls),
    gradient=_bias_grad_second,
    samples=lambda rng: [Sample(s.inputs[:1], s.attrs) for s in _bias_samples(rng)],
    arithmetic="reducing",
    doc="The gradient of a bias: the sum over everything but the channels.",
)
