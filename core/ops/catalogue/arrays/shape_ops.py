"""What a tensor's shape is, as a tensor; and that it is what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, SCALAR, UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op


def _rank_known(ctx: InferContext) -> TensorType:
    return TensorType(DType(ctx.attr("out_type")), Shape.of(ctx.types[0].shape.rank))


op(
    "Shape",
    inputs="input",
    attrs={"out_type": DType.INT32},
    choices={"out_type": INDEX},
    type_attrs={"T": "input"},
    formula="shape(input)",
    infer=_rank_known,
    kernel=lambda xp, x, *, out_type: xp.asarray(x.shape, dtype=DType(out_type).numpy),
    gradient=NOT_DIFFERENTIABLE,
    samples=unary(),
    python="shape",
    doc="The sizes of a tensor.",
)
op(
    "ShapeN",
    inputs="input*",
    outputs="output*",
    attrs={"out_type": DType.INT32},
    choices={"out_type": INDEX},
    type_attrs={"T": "input", "N": "len(input)"},
    formula="shape(input[0])",
    infer=lambda ctx: tuple(
        TensorType(DType(ctx.attr("out_type")), Shape.of(kind.shape.rank)) for kind in ctx.types
    ),
    kernel=lambda xp, *inputs, out_type: tuple(
        xp.asarray(x.shape, dtype=DType(out_type).numpy) for x in inputs
    ),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [Sample((rng.normal(size=(2, 3)), rng.normal(size=4)))],
    doc="The sizes of several tensors.",
)
op(
    "Size",
    inputs="input",
    attrs={"out_type": DType.INT32},
    choices={"out_type": INDEX},
    type_attrs={"T": "input"},
    formula="size(input)",
    infer=lambda ctx: TensorType(DType(ctx.attr("out_type")), SCALAR),
    kernel=lambda xp, x, *, out_type: xp.asarray(x.size, dtype=DType(out_type).numpy),
    gradient=NOT_DIFFERENTIABLE,
    samples=unary(),
    python="size",
    doc="The number of elements.",
)


def _rank(xp: Any, x: Any) -> Any:
    return xp.asarray(x.ndim, dtype=np.int32)


op(
    "Rank",
    inputs="input",
    type_attrs={"T": "input"},
    formula="ndim(input)",
    infer=lambda ctx: TensorType(DType.INT32, SCALAR),
    kernel=_rank,
    gradient=NOT_DIFFERENTIABLE,
    samples=unary(),
    python="rank",
    doc="The number of axes.",
)


def _ensured(ctx: InferContext) -> TensorType:
    source, wanted = ctx.types[0], ctx.attr("shape")
    try:
        return TensorType(source.dtype, source.shape.merge(wanted))
    except ValueError:
        raise _another_shape(ctx.op, source.shape, wanted) from None


def _another_shape(op: Operation | None, found: Shape, wanted: Shape) -> GradstepError:
    name = "" if op is None or op.inputs[0] is None else f"{op.inputs[0].short} "
    return GradstepError(
        f"Shape of tensor {name}{brackets(found)} is not compatible with expected shape "
        f"{brackets(wanted)}.",
        hint="correct the shape attribute, or what comes in",
    )


def _ensure(xp: Any, x: Any, *, shape: Shape, op: Any = None) -> Any:
    if not shape.accepts(x.shape):
        raise _another_shape(op, Shape(x.shape), shape)
    return x


op(
    "EnsureShape",
    inputs="input",
    attrs={"shape": UNKNOWN},
    type_attrs={"T": "input"},
    formula="input",
    infer=_ensured,
    kernel=_ensure,
    gradient=lambda op, g: g,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)),), {"shape": shape})
        for shape in (Shape.of(None, 3), Shape.of(2, 3))
    ],
    arithmetic="exact",
    python="ensure_shape",
    doc="The tensor itself, if its shape is compatible with the given one.",
)
