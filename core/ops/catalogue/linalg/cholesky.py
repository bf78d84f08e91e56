"""Cholesky's decomposition of positive definite matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.linalg.linalg_composites import (
    adjoint,
    diagonal,
    diagonal_matrix,
    lower_triangle,
    product,
    with_diagonal,
)
from gradstep.core.ops.catalogue.linalg.linear_solvers import substitute
from gradstep.core.ops.catalogue.linalg.matrix_shape_rules import (
    PRECISE,
    batch_shape,
    check_square,
    only,
    same_batch,
    same_size,
    square_type,
    squares,
)
from gradstep.core.ops.declare.shape_rules import one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.typing.static_values import ones_like


def _cholesky(xp: Any, x: Any) -> Any:
    """NaN below and on the diagonal where a matrix is not positive definite."""
    check_square(x)
    factor = _factored(xp, x)
    batch, size = x.shape[:-2], x.shape[-1]
    # CuPy does not say that it failed: it leaves a diagonal that is not positive.
    pivots = xp.real(factor.reshape(*batch, size * size)[..., :: size + 1])
    good = xp.all(pivots > 0, axis=-1).reshape(*batch, 1, 1)
    factor = xp.where(good, factor, xp.full_like(factor, np.nan))
    return xp.where(_below(xp, size), factor, xp.zeros_like(factor))


def _below(xp: Any, size: int) -> Any:
    """Where the lower triangle is, diagonal included."""
    return xp.arange(size).reshape(size, 1) >= xp.arange(size)


def _factored(xp: Any, x: Any) -> Any:
    try:
        return xp.linalg.cholesky(x)
    except np.linalg.LinAlgError:  # one of them; which?
        if x.ndim == 2:
            return xp.full_like(x, np.nan)
        return xp.stack([_factored(xp, x[i]) for i in range(x.shape[0])])


def _gradient(op: OpView, g: Tensor) -> Tensor:
    """Of l: l⁻ᴴ (lᴴ g, its lower triangle, the diagonal halved) l⁻¹, made symmetric."""
    factor = op.outputs[0]
    unit = diagonal_matrix(ones_like(diagonal(factor)))
    inverse = call("MatrixTriangularSolve", factor, unit)
    middle = product(factor, g, adjoint_a=True)
    half = np.array(0.5, middle.dtype.numpy)
    middle = lower_triangle(with_diagonal(middle, half * diagonal(middle)))
    raw = product(product(inverse, middle, adjoint_a=True), inverse)
    return (raw + adjoint(raw)) * half


def _positive_definite(rng: np.random.Generator, *shape: int) -> np.ndarray:
    root = rng.uniform(-1, 1, shape)
    return root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1])


op(
    "Cholesky",
    inputs="input",
    type_attrs={"T": "input"},
    formula="linalg.cholesky(input)",
    infer=only(PRECISE, square_type),
    kernel=_cholesky,
    gradient=_gradient,
    samples=lambda rng: [
        Sample((_positive_definite(rng, *shape),), differentiable=False)
        for shape in ((2, 2), (2, 3, 3))
    ],
    python="cholesky",
    doc="The lower triangular matrix that gives the input when multiplied with its adjoint; only "
    "the input's lower triangle is looked at.",
    kinks="NaN for a matrix that is not positive definite; the gradient is spread evenly over both "
    "triangles, though only the lower one is looked at",
)


def _gradient_type(ctx: InferContext) -> TensorType:
    (batch, size), (other, rows) = squares(ctx, 0), squares(ctx, 1)
    size = same_size(ctx, size, rows)
    return TensorType(one_dtype(ctx), batch_shape(same_batch(ctx, batch, other), size, size))


def _cholesky_grad(xp: Any, factor: Any, g: Any) -> Any:
    check_square(factor)
    if factor.shape != g.shape:
        raise GradstepError("Inputs (L and grad) must have the same shape.")
    below = _below(xp, factor.shape[-1])
    lower = xp.where(below, factor, xp.zeros_like(factor))
    middle = xp.matmul(xp.swapaxes(lower, -1, -2), g)
    middle = xp.where(below, middle, xp.swapaxes(middle, -1, -2))
    left = substitute(xp, lower, middle, adjoint=True)
    return xp.swapaxes(substitute(xp, lower, xp.swapaxes(left, -1, -2), adjoint=True), -1, -2) / 2


def _factor_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((np.linalg.cholesky(_positive_definite(rng, *shape)), rng.normal(size=shape)))
        for shape in ((2, 2), (2, 3, 3))
    ]


op(
    "CholeskyGrad",
    inputs="l grad",
    type_attrs={"T": "l"},
    formula="cholesky_gradient(l, grad)",
    infer=only((DType.FLOAT32, DType.FLOAT64), _gradient_type),
    kernel=_cholesky_grad,
    samples=_factor_samples,
    doc="The gradient of Cholesky for its input, from the factor and the factor's gradient.",
)
