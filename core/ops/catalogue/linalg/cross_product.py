"""Cross: the cross product of vectors in space."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.linalg.matrix_shape_rules import misfit, same_batch
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import real


def _type(ctx: InferContext) -> TensorType:
    dtype = one_dtype(ctx)
    shape = same_batch(ctx, ctx.types[0].shape, ctx.types[1].shape)
    if shape.dims is None:
        return TensorType(dtype, shape)
    if not shape.dims:
        raise misfit(ctx, "Shape must be at least rank 1 but is rank 0")
    if shape.dims[-1] not in (None, 3):
        raise misfit(ctx, f"Dimension must be 3 but is {shape.dims[-1]}")
    return TensorType(dtype, Shape((*shape.dims[:-1], 3)))


def _check(a: Any, b: Any) -> None:
    if a.shape != b.shape:
        shapes = f"{brackets(a.shape)} vs. {brackets(b.shape)}"
        raise GradstepError(f"Both inputs must be of same shape: {shapes}")
    if not a.ndim:
        raise GradstepError(f"Input must be at least 1D{brackets(a.shape)}")
    if a.shape[-1] != 3:
        raise GradstepError(
            "Cross-products are only defined for 3-element vectors.",
            kind="FailedPreconditionError",
            hint=f"the shape of the inputs is {brackets(a.shape)}",
        )


def _cross(xp: Any, a: Any, b: Any) -> Any:
    _check(a, b)
    (x, y, z), (u, v, w) = ([each[..., i] for i in range(3)] for each in (a, b))
    return xp.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def _gradient(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    return call("Cross", op.inputs[1], g), call("Cross", g, op.inputs[0])


def _samples(rng: np.random.Generator) -> list[Sample]:
    return [Sample((rng.normal(size=shape), rng.normal(size=shape))) for shape in ((3,), (2, 2, 3))]


op(
    "Cross",
    inputs="a b",
    outputs="product",
    type_attrs={"T": "a"},
    formula="cross(a, b)",
    infer=real(_type),
    kernel=_cross,
    gradient=_gradient,
    samples=_samples,
    python="cross",
    doc="The cross product of vectors in space, which lie along the last axis.",
)
