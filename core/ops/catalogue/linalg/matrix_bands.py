"""MatrixBandPart: the band around the diagonal of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import unref


def _band_type(ctx: InferContext) -> TensorType:
    for index, (name, _) in enumerate(_SIDES, start=1):
        if ctx.types[index].shape.rank not in (None, 0):
            raise ctx.fail(
                f"{name} must be scalar, got shape {brackets(ctx.types[index].shape.dims)}"
            )
    dims = ctx.types[0].shape.dims
    if dims is not None and len(dims) < 2:
        raise ctx.fail(f"input must be at least 2-dim, received shape: {brackets(dims)}")
    if dims is not None:
        for index, (side, size) in enumerate(zip(_SIDES, dims[-2:], strict=True), start=1):
            count = ctx.constant(index)
            if count is not None and size is not None:
                _check_count(side, integer(count), size)
    return unref(ctx)


_SIDES = (("num_lower", "rows"), ("num_upper", "columns"))


def _check_count(side: tuple[str, str], count: int, size: int) -> None:
    if count > size:
        name, what = side
        raise GradstepError(
            f"{name} must be negative or less or equal to number of {what} ({size}) got: {count}",
            hint="a negative number keeps the whole triangle",
        )


def _band_part(xp: Any, x: Any, num_lower: Any, num_upper: Any) -> Any:
    if x.ndim < 2:
        raise GradstepError(f"input must be at least 2-dim, received shape: {brackets(x.shape)}")
    counts = [_count(x, *pair) for pair in zip(_SIDES, (num_lower, num_upper), strict=True)]
    rows, columns = x.shape[-2:]
    below = xp.arange(rows).reshape(rows, 1) - xp.arange(columns)
    lower, upper = counts[0], counts[1]
    inside = (below <= (rows if lower < 0 else lower)) & (
        below >= (-columns if upper < 0 else -upper)
    )
    return xp.where(inside, x, xp.zeros_like(x))


def _count(x: Any, side: tuple[str, str], given: Any) -> int:
    if given.ndim:
        raise GradstepError(f"{side[0]} must be scalar, got shape {brackets(given.shape)}")
    _check_count(side, integer(given), x.shape[-2 if side[1] == "rows" else -1])
    return integer(given)


def _gradient(op: OpView, g: Tensor) -> tuple[Tensor, None, None]:
    return call("MatrixBandPart", g, *op.inputs[1:]), None, None


def _samples(rng: np.random.Generator) -> list[Sample]:
    x = rng.normal(size=(2, 3, 4))
    pairs = ((0, -1), (-1, 0), (1, 2), (0, 0), (-1, -1))
    return [Sample((x, np.int64(lower), np.int64(upper))) for lower, upper in pairs]


op(
    "MatrixBandPart",
    inputs="input #num_lower:int32,int64 #num_upper:num_lower",
    outputs="band",
    type_attrs={"T": "input", "Tindex": "num_lower"},
    formula="banded(input, num_lower, num_upper)",
    infer=_band_type,
    kernel=_band_part,
    gradient=_gradient,
    samples=_samples,
    arithmetic="exact",
    python="matrix_band_part band_part",
    doc="Each matrix with zeros outside a band around its diagonal: num_lower diagonals below it "
    "stay and num_upper above; negative: all of them.",
)
