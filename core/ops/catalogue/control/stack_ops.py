"""Stacks, on which TensorFlow's training loops keep what their gradients need."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.dtypes import SCALAR, UNKNOWN, DType, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import home
from gradstep.core.ops.declare.op_state import PerRun
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.state.run_resources import RunArrays
from gradstep.core.ops.state.stack import Stack


def _made(
    xp: Any, max_size: Any, run: RunArrays, *, op: Operation, stack_name: str
) -> tuple[Any, RunArrays]:
    return run.made(stack_name or op.name, Stack())


def _push(xp: Any, handle: Any, elem: Any, run: RunArrays) -> tuple[Any, RunArrays]:
    name, stack = run.stack(handle)
    kept = home(xp, elem).array(elem)
    return elem, run.with_(name, stack.pushed(kept), kept.nbytes)


def _pop(xp: Any, handle: Any, run: RunArrays) -> tuple[Any, RunArrays]:
    name, stack = run.stack(handle)
    value, below = stack.popped(name)
    return value, run.with_(name, below)


def _close(xp: Any, handle: Any, run: RunArrays) -> RunArrays:
    run.stack(handle)
    return run


op(
    "StackV2",
    inputs="#max_size:int32",
    outputs="handle",
    attrs={"elem_type": DType, "stack_name": ""},
    infer=lambda ctx: TensorType(DType.RESOURCE, SCALAR, handle="stack"),
    kernel=_made,
    state=PerRun(RunArrays),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="A stack for one run; it grows as it has to.",
)
op(
    "StackPushV2",
    inputs="handle:stack elem",
    attrs={"swap_memory": False},
    type_attrs={"T": "elem"},
    infer=lambda ctx: TensorType(ctx.types[1].dtype, ctx.types[1].shape),
    kernel=_push,
    state=PerRun(RunArrays),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="Puts a tensor on a stack; the same tensor.",
)
op(
    "StackPopV2",
    inputs="handle:stack",
    outputs="elem",
    attrs={"elem_type": DType},
    infer=lambda ctx: TensorType(ctx.attr("elem_type"), UNKNOWN),
    kernel=_pop,
    state=PerRun(RunArrays),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="Takes the tensor from a stack that was put there last.",
)
op(
    "StackCloseV2",
    inputs="handle:stack",
    outputs="",
    infer=lambda ctx: (),
    kernel=_close,
    state=PerRun(RunArrays),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="Ends the use of a stack; nothing else.",
)
