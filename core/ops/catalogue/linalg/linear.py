"""Matrix products and biases."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.graph.dtypes import Shape, TensorType
from core.ops.builder import OpView, Tensor, call
from core.ops.shapes import one_dtype
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import merged, numeric, want_rank


def _product_type(ctx: InferContext) -> TensorType:
    dtype = one_dtype(ctx)
    for index in (0, 1):
        want_rank(ctx, index, 2)
    rows, inner_a = _oriented(ctx.types[0].shape, ctx.attr("transpose_a"))
    inner_b, columns = _oriented(ctx.types[1].shape, ctx.attr("transpose_b"))
    if inner_a is not None and inner_b is not None and inner_a != inner_b:
        raise ctx.fail(
            f"Dimensions must be equal, but are {inner_a} and {inner_b} for MatMul with input "
            f"shapes: {ctx.types[0].shape}, {ctx.types[1].shape}",
            hint="the columns of a must match the rows of b; transpose_a and transpose_b swap them",
        )
    return TensorType(dtype, Shape.of(rows, columns))


def _oriented(shape: Shape, transposed: bool) -> tuple[int | None, int | None]:
    if shape.dims is None:
        return None, None
    rows, columns = shape.dims
    return (columns, rows) if transposed else (rows, columns)


def _operands(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    return a.T if transpose_a else a, b.T if transpose_b else b


def _matmul(xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    return xp.matmul(*_operands(a, b, transpose_a, transpose_b))


def _matmul_out(xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool, out: Any) -> Any:
    return xp.matmul(*_operands(a, b, transpose_a, transpose_b), out=out)


def _product(a: Tensor, b: Tensor, ta: bool = False, tb: bool = False) -> Tensor:
    return call("MatMul", a, b, transpose_a=ta, transpose_b=tb)


def _matmul_gradient(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    """For each pair of flags the product that undoes it; no Transpose is ever needed."""
    a, b = op.inputs
    ta, tb = op.get_attr("transpose_a"), op.get_attr("transpose_b")
    if not ta and not tb:
        return _product(g, b, tb=True), _product(a, g, ta=True)
    if not ta:
        return _product(g, b), _product(g, a, ta=True)
    if not tb:
        return _product(b, g, tb=True), _product(a, g)
    return _product(b, g, True, True), _product(g, a, True, True)


def _matmul_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample(
            (rng.normal(size=(3, 2) if ta else (2, 3)), rng.normal(size=(4, 3) if tb else (3, 4))),
            {"transpose_a": ta, "transpose_b": tb},
        )
        for ta in (False, True)
        for tb in (False, True)
    ]


op(
    "MatMul",
    inputs="a b",
    outputs="product",
    attrs={"transpose_a": False, "transpose_b": False, "grad_a": False, "grad_b": False},
    type_attrs={"T": "a"},
    formula="matmul(a.T if transpose_a else a, b.T if transpose_b else b)",
    infer=numeric(_product_type),
    kernel=_matmul,
    out_kernel=_matmul_out,
    gradient=_matmul_gradient,
    samples=_matmul_samples,
    arithmetic="product",
    doc="The product of two matrices, either of them transposed first if asked for.",
)


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
    channels = merged(ctx, Shape((value.dims[axis],)), bias)
    return TensorType(dtype, Shape((*value.dims[:axis], *channels, *value.dims[axis + 1 :])))


def _lined_up(value: Any, bias: Any, data_format: str) -> Any:
    if data_format != "NCHW":
        return bias
    return bias.reshape((-1,) + (1,) * (value.ndim - 2))


def _bias_add(xp: Any, value: Any, bias: Any, *, data_format: str) -> Any:
    return xp.add(value, _lined_up(value, bias, data_format))


def _bias_add_out(xp: Any, value: Any, bias: Any, *, data_format: str, out: Any) -> Any:
    return xp.add(value, _lined_up(value, bias, data_format), out=out)


def _bias_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.normal(size=(2, 3)), rng.normal(size=3))),
        Sample((rng.normal(size=(2, 3, 2)), rng.normal(size=3)), {"data_format": "NCHW"}),
    ]


op(
    "BiasAdd",
    inputs="value bias",
    attrs={"data_format": "NHWC"},
    type_attrs={"T": "value"},
    formula="value + channels(bias, value, data_format)",
    infer=numeric(_bias_type),
    kernel=_bias_add,
    out_kernel=_bias_add_out,
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


def _bias_grad(xp: Any, g: Any, *, data_format: str) -> Any:
    channel = _channel_axis(data_format) % g.ndim
    return xp.sum(g, axis=tuple(i for i in range(g.ndim) if i != channel), dtype=g.dtype)


def _bias_grad_second(op: OpView, g: Tensor) -> Tensor:
    """Spread the vector over the shape that was summed."""
    x = op.inputs[0]
    zeros = call("ZerosLike", x)
    return call("BiasAdd", zeros, g, data_format=op.get_attr("data_format"))


op(
    "BiasAddGrad",
    inputs="out_backprop",
    attrs={"data_format": "NHWC"},
    type_attrs={"T": "out_backprop"},
    formula="sum(out_backprop, others(out_backprop, data_format))",
    infer=numeric(_bias_grad_type),
    kernel=_bias_grad,
    gradient=_bias_grad_second,
    samples=lambda rng: [Sample(s.inputs[:1], s.attrs) for s in _bias_samples(rng)],
    arithmetic="reducing",
    doc="The gradient of a bias: the sum over everything but the channels.",
)
