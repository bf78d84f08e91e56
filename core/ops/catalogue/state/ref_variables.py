"""Ref variables and the ops that assign to them."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.catalogue.control.identity_ops import copy_calls
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.op_state import Stateful, Writes
from gradstep.core.ops.declare.samples import equal_shapes, unary
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.declare.type_rules import merge_shapes, numeric, wrong_type
from gradstep.core.ops.declare.ufunc import Calls


def _variable(ctx: InferContext) -> TensorType:
    return TensorType(ctx.attr("dtype"), ctx.attr("shape"), ref=True)


op(
    "VariableV2",
    outputs="ref",
    attrs={"dtype": DType, "shape": Shape, "container": "", "shared_name": ""},
    infer=_variable,
    state=Stateful(),
    doc="A variable; its output is the buffer itself, so readers see later updates.",
)


def _same_dtype(ctx: InferContext) -> None:
    ref, value = ctx.types[0], ctx.types[1]
    if ref.dtype != value.dtype:
        raise wrong_type(ctx, value.dtype, f"a value of the variable's type ({ref.dtype.value})")


def _updated(ctx: InferContext) -> TensorType:
    _same_dtype(ctx)
    shape = merge_shapes(ctx, ctx.types[0].shape, ctx.types[1].shape)
    return TensorType(ctx.types[0].dtype, shape, ref=True)


def _assigned(ctx: InferContext) -> TensorType:
    if ctx.attr("validate_shape"):
        return _updated(ctx)
    _same_dtype(ctx)
    return TensorType(ctx.types[0].dtype, ctx.types[1].shape, ref=True)


def _value_calls(xp: Any, ref: Any, value: Any, *, out: Any, room: Any) -> Calls:
    return copy_calls(xp, value, out=out, room=room)


op(
    "Assign",
    inputs="&ref value",
    outputs="&output_ref",
    attrs={"validate_shape": True, "use_locking": True},
    type_attrs={"T": "value"},
    formula="value",
    infer=_assigned,
    kernel=Kernels(lambda xp, ref, value: xp.array(value), calls=_value_calls),
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    samples=equal_shapes(2),
    arithmetic="exact",
    doc="Set a variable; the output is the variable's buffer.",
)
op(
    "AssignAdd",
    inputs="&ref value",
    outputs="&output_ref",
    attrs={"use_locking": False},
    type_attrs={"T": "value"},
    formula="ref + value",
    infer=numeric(_updated),
    kernel=ufunc("add"),
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    samples=equal_shapes(2),
    doc="Add to a variable; the output is the variable's buffer.",
)
op(
    "AssignSub",
    inputs="&ref value",
    outputs="&output_ref",
    attrs={"use_locking": False},
    type_attrs={"T": "value"},
    formula="ref - value",
    infer=numeric(_updated),
    kernel=ufunc("subtract"),
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    samples=equal_shapes(2),
    doc="Subtract from a variable; the output is the variable's buffer.",
)


def _flag(ctx: InferContext) -> TensorType:
    return TensorType(DType.BOOL, Shape.of())


op(
    "IsVariableInitialized",
    inputs="&ref",
    outputs="is_initialized",
    type_attrs={"dtype": "ref"},
    formula="ref is not None",
    infer=_flag,
    kernel=lambda xp, ref: xp.asarray(ref is not None),
    state=Stateful(),
    gradient=NOT_DIFFERENTIABLE,
    samples=unary(),
    doc="Whether a variable has a value; one that has none arrives as None.",
)
