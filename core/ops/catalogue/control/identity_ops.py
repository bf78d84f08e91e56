"""Ops that pass a value on, stop its gradient, or only order other ops."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE, Gradient
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import Stateful
from gradstep.core.ops.declare.result_memory import View
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.shape_rules import same_as_first
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.declare.ufunc import Calls


def copy_calls(xp: Any, x: Any, *, out: Any, room: Any) -> Calls:
    """What writes `x` into `out`, both of one shape and element type."""
    yield xp.copyto, out, x


op(
    "Identity",
    inputs="input",
    outputs="&output",
    type_attrs={"T": "input"},
    formula="input",
    infer=same_as_first,
    kernel=Kernels(lambda xp, x: x, calls=copy_calls),
    gradient=Gradient(lambda op, g: g, takes_slices=True),
    samples=unary(),
    arithmetic="exact",
    python="identity",
    memory=View(),
    doc="The same value; of a ref variable, the same buffer.",
)
op(
    "StopGradient",
    inputs="input",
    outputs="&output",
    type_attrs={"T": "input"},
    formula="input",
    infer=same_as_first,
    kernel=Kernels(lambda xp, x: x, calls=copy_calls),
    gradient=NOT_DIFFERENTIABLE,
    samples=unary(),
    arithmetic="exact",
    python="stop_gradient",
    memory=View(),
    doc="The same value, through which no gradient flows.",
)


def _nothing(ctx: InferContext) -> tuple[TensorType, ...]:
    return ()


op(
    "NoOp",
    outputs="",
    infer=_nothing,
    kernel=lambda xp: (),
    state=Stateful(),
    doc="Does nothing; others wait for it, or it for others, by control inputs.",
)
op(
    "ControlTrigger",
    outputs="",
    infer=_nothing,
    kernel=lambda xp: (),
    state=Stateful(),
    branch="trigger",
    doc="Does nothing, even when what it waits for is dead: so others can wait for a branch that "
    "may not be taken.",
)
