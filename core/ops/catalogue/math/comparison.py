"""Comparisons, logic, and choosing by a condition. Nothing here but the choice has a gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.samples import binary
from gradstep.core.ops.declare.shape_rules import broadcast, broadcast_shapes, compare, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import merge_shapes, real, real_floating, wrong_type
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.typing.static_values import select, zeros_like

_ORDERED = (
    ("Greater", "greater", ">", "x is greater than y"),
    ("GreaterEqual", "greater_equal", ">=", "x is greater than or equal to y"),
    ("Less", "less", "<", "x is less than y"),
    ("LessEqual", "less_equal", "<=", "x is less than or equal to y"),
)
for _type, _ufunc, _sign, _words in _ORDERED:
    op(
        _type,
        inputs="x y",
        outputs="z",
        type_attrs={"T": "x"},
        formula=f"x {_sign} y",
        infer=real(compare),
        kernel=ufunc(_ufunc),
        gradient=NOT_DIFFERENTIABLE,
        broadcasts=True,
        samples=binary(),
        python=_ufunc,
        causes=Causes(vanishes="false"),
        doc=f"Whether {_words}, elementwise with broadcasting.",
    )
for _type, _ufunc, _sign, _words in (
    ("Equal", "equal", "==", "x and y are equal"),
    ("NotEqual", "not_equal", "!=", "x and y differ"),
):
    op(
        _type,
        inputs="x y",
        outputs="z",
        attrs={"incompatible_shape_error": True},
        type_attrs={"T": "x"},
        formula=f"x {_sign} y",
        infer=compare,
        kernel=ufunc(_ufunc),
        gradient=NOT_DIFFERENTIABLE,
        broadcasts=True,
        samples=binary(),
        python=_ufunc,
        causes=Causes(vanishes="false"),
        doc=f"Whether {_words}, elementwise with broadcasting.",
        differs="incompatible_shape_error is taken as true, whatever it says",
    )


def _close_type(ctx: InferContext) -> TensorType:
    one_dtype(ctx)
    return TensorType(DType.BOOL, merge_shapes(ctx, ctx.types[0].shape, ctx.types[1].shape))


def _close(xp: Any, x: Any, y: Any, *, tolerance: float) -> Any:
    return xp.abs(x - y) <= tolerance


op(
    "ApproximateEqual",
    inputs="x y",
    outputs="z",
    attrs={"tolerance": 1e-5},
    type_attrs={"T": "x"},
    formula="abs(x - y) <= tolerance",
    infer=real_floating(_close_type),
    kernel=_close,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((np.array([1.0, 2.0, -3.0]), np.array([1.0 + 5e-6, 2.1, -3.0]))),
        Sample((rng.normal(size=(2, 3)), rng.normal(size=(2, 3))), {"tolerance": 0.5}),
    ],
    arithmetic="exact",
    doc="Whether x and y differ by no more than the tolerance, elementwise.",
    differs="refuses integers, which TensorFlow has no kernel for",
)


def _logical(ctx: InferContext) -> TensorType:
    for kind in ctx.types:
        if kind.dtype is not DType.BOOL:
            raise wrong_type(ctx, kind.dtype, "bool")
    return broadcast(ctx)


def _flags(count: int) -> Any:
    return lambda rng: [Sample(tuple(rng.random((2, 3)) < 0.5 for _ in range(count)))]


for _type, _ufunc, _sign, _words in (
    ("LogicalAnd", "logical_and", "&", "both x and y hold"),
    ("LogicalOr", "logical_or", "|", "x or y holds"),
):
    op(
        _type,
        inputs="x y",
        outputs="z",
        formula=f"x {_sign} y",
        infer=_logical,
        kernel=ufunc(_ufunc),
        gradient=NOT_DIFFERENTIABLE,
        broadcasts=True,
        samples=_flags(2),
        python=_ufunc,
        causes=Causes(vanishes="false"),
        doc=f"Whether {_words}, elementwise with broadcasting.",
    )
op(
    "LogicalNot",
    inputs="x",
    outputs="y",
    formula="~x",
    infer=_logical,
    kernel=ufunc("logical_not"),
    gradient=NOT_DIFFERENTIABLE,
    samples=_flags(1),
    python="logical_not",
    doc="Whether x does not hold.",
)


def _chosen(op: OpView, g: Tensor) -> tuple[None, Tensor, Tensor]:
    condition = op.inputs[0]
    zeros = zeros_like(g)
    return None, select(condition, g, zeros), select(condition, zeros, g)


def _want_condition(ctx: InferContext) -> None:
    if ctx.types[0].dtype is not DType.BOOL:
        raise wrong_type(ctx, ctx.types[0].dtype, "a condition of element type bool")
    one_dtype(ctx, ctx.types[1:])


def _select_type(ctx: InferContext) -> TensorType:
    _want_condition(ctx)
    shape = merge_shapes(ctx, ctx.types[1].shape, ctx.types[2].shape)
    return TensorType(ctx.types[1].dtype, _with_condition(ctx, ctx.types[0].shape, shape))


def _with_condition(ctx: InferContext, condition: Shape, shape: Shape) -> Shape:
    """`shape` and what the condition's shape adds to it."""
    if not condition.dims or shape.dims is None:
        return shape
    if len(condition.dims) == len(shape.dims):
        return merge_shapes(ctx, condition, shape)
    if len(condition.dims) != 1:
        raise ctx.fail(f"Select needs a condition of shape {shape}, a vector or a scalar")
    merge_shapes(ctx, condition, Shape(shape.dims[:1]))  # one flag for each row
    return shape


def _select(xp: Any, condition: Any, t: Any, e: Any) -> Any:
    return xp.where(_of_rows(condition, t), t, e)


def _of_rows(condition: Any, t: Any) -> Any:
    """A flag for each row as one that broadcasts."""
    if condition.ndim == 1 and t.ndim > 1:
        return condition.reshape((-1,) + (1,) * (t.ndim - 1))
    return condition


def _select_calls(xp: Any, condition: Any, t: Any, e: Any, *, out: Any, room: Any) -> Calls:
    return _chosen_calls(xp, _of_rows(condition, t), t, e, out=out, room=room)


def _chosen_calls(xp: Any, condition: Any, t: Any, e: Any, *, out: Any, room: Any) -> Calls:
    yield xp.copyto, out, e
    yield xp.copyto, out, t, "same_kind", condition


def _select_samples(rng: np.random.Generator) -> list[Sample]:
    def draw(shape: tuple[int, ...]) -> Sample:
        condition = np.asarray(rng.random(shape) < 0.5)
        return Sample((condition, rng.normal(size=(2, 3)), rng.normal(size=(2, 3))))

    return [draw((2, 3)), draw((2,)), draw(())]


op(
    "Select",
    inputs="condition t e",
    type_attrs={"T": "t"},
    formula="where(rows(condition, t), t, e)",
    infer=_select_type,
    kernel=Kernels(_select, calls=_select_calls),
    gradient=_chosen,
    samples=_select_samples,
    arithmetic="exact",
    doc="t where the condition holds, else e; a vector condition chooses whole rows.",
)


def _select_v2_type(ctx: InferContext) -> TensorType:
    _want_condition(ctx)
    shape = ctx.types[0].shape
    for kind in ctx.types[1:]:
        try:
            shape = broadcast_shapes(shape, kind.shape)
        except ValueError as error:
            raise ctx.fail(str(error)) from None
    return TensorType(ctx.types[1].dtype, shape)


def _chosen_v2(op: OpView, g: Tensor) -> tuple[None, Tensor, Tensor]:
    condition = op.inputs[0]
    zeros = zeros_like(g)
    return None, call("SelectV2", condition, g, zeros), call("SelectV2", condition, zeros, g)


op(
    "SelectV2",
    inputs="condition t e",
    type_attrs={"T": "t"},
    formula="where(condition, t, e)",
    infer=_select_v2_type,
    kernel=Kernels(lambda xp, condition, t, e: xp.where(condition, t, e), calls=_chosen_calls),
    gradient=_chosen_v2,
    broadcasts=True,
    samples=lambda rng: [
        *_select_samples(rng)[::2],
        Sample((rng.random((2, 1)) < 0.5, rng.normal(size=(3,)), rng.normal(size=()))),
    ],
    arithmetic="exact",
    doc="t where the condition holds, else e, with broadcasting.",
)
