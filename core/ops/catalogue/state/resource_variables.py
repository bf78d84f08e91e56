"""Resource variables: a handle, reads that are snapshots, and assignments."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.catalogue.control.identity_ops import copy_calls
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE, Gradient
from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.op_state import Stateful, Writes
from gradstep.core.ops.declare.result_memory import View
from gradstep.core.ops.declare.samples import equal_shapes, unary
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.declare.type_rules import merge_shapes, wrong_type
from gradstep.core.ops.declare.ufunc import Calls, from_calls


def _handle(ctx: InferContext) -> TensorType:
    held = TensorType(ctx.attr("dtype"), ctx.attr("shape"))
    return TensorType(DType.RESOURCE, held.shape, holds=(held,), handle="variable")


def element_type(ctx: InferContext) -> DType:
    """The attribute `dtype`, which has to be what the variable, input 0, holds."""
    wanted: DType = ctx.attr("dtype")
    kind = ctx.types[0].holds[0] if ctx.types[0].holds else ctx.types[0]
    if kind.dtype not in (wanted, DType.RESOURCE):
        raise ctx.fail(
            f"Trying to access a variable of {kind.dtype.value} as {wanted.value}",
            hint="give dtype what the variable's dtype says",
        )
    return wanted


op(
    "VarHandleOp",
    outputs="resource",
    attrs={
        "dtype": DType,
        "shape": Shape,
        "container": "",
        "shared_name": "",
        "debug_name": "",
        "allowed_devices": (),
    },
    infer=_handle,
    state=Stateful(),
    doc="The handle of a resource variable; its static shape here is the variable's.",
)


def _read(ctx: InferContext) -> TensorType:
    return TensorType(element_type(ctx), ctx.types[0].shape)


op(
    "ReadVariableOp",
    inputs="resource:variable",
    outputs="value",
    attrs={"dtype": DType},
    formula="resource",
    infer=_read,
    kernel=Kernels(
        lambda xp, resource: xp.array(resource), out=from_calls(copy_calls), calls=copy_calls
    ),
    gradient=Gradient(lambda op, g: g, takes_slices=True),
    state=Stateful(),
    samples=unary(),
    arithmetic="exact",
    memory=View(),
    doc="A copy of a resource variable's value as it is now.",
)


def _assigned(ctx: InferContext) -> tuple[TensorType, ...]:
    if ctx.types[1].dtype != element_type(ctx):
        wanted = ctx.attr("dtype").value
        raise wrong_type(ctx, ctx.types[1].dtype, f"a value of the variable's type ({wanted})")
    merge_shapes(ctx, ctx.types[0].shape, ctx.types[1].shape)
    return ()


def _value_calls(xp: Any, resource: Any, value: Any, *, out: Any, room: Any) -> Calls:
    return copy_calls(xp, value, out=out, room=room)


op(
    "AssignVariableOp",
    inputs="resource:variable value",
    outputs="",
    attrs={"dtype": DType, "validate_shape": False},
    formula="value",
    infer=_assigned,
    kernel=Kernels(
        lambda xp, resource, value: xp.array(value),
        out=from_calls(_value_calls),
        calls=_value_calls,
    ),
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    samples=equal_shapes(2),
    arithmetic="exact",
    doc="Set a resource variable.",
)
op(
    "AssignAddVariableOp",
    inputs="resource:variable value",
    outputs="",
    attrs={"dtype": DType},
    formula="resource + value",
    infer=_assigned,
    kernel=ufunc("add"),
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    samples=equal_shapes(2),
    doc="Add to a resource variable.",
)
op(
    "AssignSubVariableOp",
    inputs="resource:variable value",
    outputs="",
    attrs={"dtype": DType},
    formula="resource - value",
    infer=_assigned,
    kernel=ufunc("subtract"),
    state=Writes((0,)),
    gradient=NOT_DIFFERENTIABLE,
    samples=equal_shapes(2),
    doc="Subtract from a resource variable.",
)


def _flag(ctx: InferContext) -> TensorType:
    return TensorType(DType.BOOL, Shape.of())


op(
    "VarIsInitializedOp",
    inputs="resource:variable",
    outputs="is_initialized",
    formula="resource is not None",
    infer=_flag,
    kernel=lambda xp, resource: xp.asarray(resource is not None),
    state=Stateful(),
    gradient=NOT_DIFFERENTIABLE,
    samples=unary(),
    doc="Whether a resource variable has a value; one that has none arrives as None.",
)
