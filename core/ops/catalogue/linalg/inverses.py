"""Inverses and determinants."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.linalg.linalg_composites import product
from gradstep.core.ops.catalogue.linalg.matrix_shape_rules import (
    COMPLEX,
    FLOATS,
    PRECISE,
    check_square,
    only,
    square_type,
    squares,
)
from gradstep.core.ops.catalogue.linalg.regular_matrices import regular, well_conditioned
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.table import InferContext, Sample, op


def _inverse(xp: Any, x: Any, *, adjoint: bool) -> Any:
    check_square(x)
    wide = x.astype(np.float32) if x.dtype == np.float16 else x  # LAPACK knows no float16
    inverse = regular(xp, lambda: xp.linalg.inv(wide), wide, "Input is not invertible.", False)
    inverse = inverse.astype(x.dtype)
    return xp.conj(xp.swapaxes(inverse, -1, -2)) if adjoint else inverse


def _inverse_gradient(op: OpView, g: Tensor) -> Tensor:
    inverse, adjoint = op.outputs[0], op.get_attr("adjoint")
    inner = product(g, inverse, adjoint_a=adjoint, adjoint_b=not adjoint)
    return -product(inverse, inner, adjoint_a=not adjoint)


def _inverse_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((well_conditioned(rng, *shape),), {"adjoint": adjoint})
        for shape in ((2, 2), (2, 3, 3))
        for adjoint in (False, True)
    ]


op(
    "MatrixInverse",
    inputs="input",
    attrs={"adjoint": False},
    type_attrs={"T": "input"},
    formula="adjoint_if(adjoint, linalg.inv(input))",
    infer=only((*FLOATS, *COMPLEX), square_type),
    kernel=Kernels(_inverse, asks="whether a matrix is singular"),
    gradient=_inverse_gradient,
    samples=_inverse_samples,
    doc="The inverse of each matrix, or its adjoint.",
    differs="LAPACK and Eigen round differently: of a nearly singular matrix one may give an "
    "inverse where the other says that there is none",
)


def _determinant_type(ctx: InferContext) -> TensorType:
    return TensorType(ctx.types[0].dtype, squares(ctx)[0])


def _determinant(xp: Any, x: Any) -> Any:
    check_square(x)
    return _nan_where(xp, _holds_nan(xp, x), xp.linalg.det(x))


def _log_determinant(xp: Any, x: Any) -> Any:
    check_square(x)
    sign, size = xp.linalg.slogdet(x)
    lost = _holds_nan(xp, x) | xp.isnan(size)
    return _nan_where(xp, lost, sign), _nan_where(xp, lost, size).astype(x.dtype)


def _holds_nan(xp: Any, x: Any) -> Any:
    """LAPACK may overlook a NaN, and say that the matrix is singular."""
    return xp.any(xp.isnan(x), axis=(-2, -1))


def _nan_where(xp: Any, mask: Any, x: Any) -> Any:
    return xp.where(mask, xp.full_like(x, np.nan), x)


def _times_inverse(factor: Tensor, x: Tensor) -> Tensor:
    """Each number times the adjoint of the inverse of its matrix."""
    last = np.array(-1, np.int32)
    factor = call("ExpandDims", call("ExpandDims", factor, last), last)
    return factor * call("MatrixInverse", x, adjoint=True)


def _determinant_gradient(op: OpView, g: Tensor) -> Tensor:
    return _times_inverse(g * op.outputs[0], op.inputs[0])


def _log_determinant_gradient(op: OpView, sign: Tensor, g: Tensor) -> Tensor:
    return _times_inverse(g, op.inputs[0])


def _square_samples(rng: np.random.Generator) -> list[Sample]:
    flipped = well_conditioned(rng, 2, 3, 3) * np.array([[1.0], [1.0], [-1.0]])
    return [Sample((well_conditioned(rng, 2, 2),)), Sample((flipped,))]


op(
    "MatrixDeterminant",
    inputs="input",
    type_attrs={"T": "input"},
    formula="linalg.det(input)",
    infer=only(PRECISE, _determinant_type),
    kernel=_determinant,
    gradient=_determinant_gradient,
    samples=_square_samples,
    python="matrix_determinant det",
    doc="The determinant of each matrix.",
    kinks="the gradient needs the inverse, so a singular matrix has none",
)
op(
    "LogMatrixDeterminant",
    inputs="input",
    outputs="sign log_abs_determinant",
    type_attrs={"T": "input"},
    formula="linalg.slogdet(input)[0]",
    infer=only(PRECISE, lambda ctx: (_determinant_type(ctx), _determinant_type(ctx))),
    kernel=_log_determinant,
    gradient=_log_determinant_gradient,
    samples=_square_samples,
    doc="The determinant of each matrix: its sign, and the logarithm of its size.",
    kinks="the sign has no gradient",
)
