"""The ops by which a loop's backward pass reads the iterations that have run."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import SCALAR, UNKNOWN, DType, TensorType
from gradstep.core.graph.model import TensorRef
from gradstep.core.memory_release import memo_of_document
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import home
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.state.loop_trace import Trace


def _one_count(ctx: InferContext) -> TensorType:
    return TensorType(DType.INT32, SCALAR)


op(
    "IterationCount",
    inputs="trace:trace",
    infer=_one_count,
    kernel=lambda xp, trace: xp.asarray(trace.iterations, dtype=xp.int32),
    gradient=NOT_DIFFERENTIABLE,
    doc="How often a loop's body ran.",
    differs="TensorFlow counts in the loop, with operations of its own",
)


def _declared(ctx: InferContext) -> TensorType:
    ctx.attr("tensor")  # without which nothing can be kept of an iteration
    return TensorType(ctx.attr("dtype"), ctx.attr("shape"))


def _value(xp: Any, trace: Trace, iteration: np.ndarray, *, tensor: str) -> Any:
    value = trace.read(_parsed(tensor), int(iteration))
    # What lay on the host in those iterations was kept there.
    return home(xp, value).asarray(value) if type(value) is np.ndarray else value


@memo_of_document(1024)
def _parsed(tensor: str) -> TensorRef:
    """It is asked for in every iteration."""
    return TensorRef.parse(tensor)


op(
    "IterationValue",
    inputs="trace:trace #iteration",
    attrs={"tensor": str, "dtype": DType, "shape": UNKNOWN},
    infer=_declared,
    kernel=_value,
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",
    doc="The value that a tensor inside a loop had in an iteration that has run.",
    differs="TensorFlow keeps such values on stacks (StackPushV2, StackPopV2)",
)
