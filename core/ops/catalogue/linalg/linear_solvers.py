"""Systems of linear equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.linalg.linalg_composites import band, product, unbroadcast_batches
from gradstep.core.ops.catalogue.linalg.matrix_shape_rules import (
    PRECISE,
    SOLVED,
    batch_shape,
    broadcast_batch,
    check_matrices,
    check_square,
    matrices,
    only,
    same_batch,
    same_size,
    squares,
)
from gradstep.core.ops.catalogue.linalg.regular_matrices import regular, well_conditioned
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op

_ROWS = "the right-hand sides must have as many rows as the matrices"


def _solution_type(ctx: InferContext) -> TensorType:
    (batch, size), (other, rows, columns) = squares(ctx), matrices(ctx, 1)
    size = same_size(ctx, size, rows, _ROWS)
    return TensorType(one_dtype(ctx), batch_shape(same_batch(ctx, batch, other), size, columns))


def _check_system(matrix: Any, rhs: Any) -> None:
    if matrix.ndim != rhs.ndim:
        raise GradstepError(
            "All input tensors must have the same rank.",
            hint="a right-hand side is a matrix, too: ExpandDims makes one of a vector",
        )
    check_matrices(matrix, rhs)
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise GradstepError(
            "All input tensors must have the same outer dimensions.",
            hint=f"their shapes are {brackets(matrix.shape)} and {brackets(rhs.shape)}",
        )
    check_square(matrix, "First input (lhs) must be a square matrix.")
    if matrix.shape[-1] != rhs.shape[-2]:
        raise GradstepError("Input matrix and rhs are incompatible.", hint=_ROWS)


def _adjoint(xp: Any, x: Any) -> Any:
    return xp.conj(xp.swapaxes(x, -1, -2))


def _solve(xp: Any, matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    _check_system(matrix, rhs)
    a = _adjoint(xp, matrix) if adjoint else matrix
    message = "Input matrix is not invertible."
    return regular(xp, lambda: xp.linalg.solve(a, rhs), a, message, nan_too=True)


def _solve_gradient(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    adjoint = op.get_attr("adjoint")
    of_rhs = call("MatrixSolve", op.inputs[0], g, adjoint=not adjoint)
    return _of_matrix(op, of_rhs), of_rhs


def _of_matrix(op: OpView, of_rhs: Tensor) -> Tensor:
    """The gradient for the matrix, from the one for the right-hand side."""
    found = op.outputs[0]
    pair = (found, of_rhs) if op.get_attr("adjoint") else (of_rhs, found)
    return -product(*pair, adjoint_b=True)


def _solve_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((well_conditioned(rng, *shape), rng.normal(size=(*shape[:-1], 2))), attrs)
        for shape in ((2, 2), (2, 3, 3))
        for attrs in ({"adjoint": False}, {"adjoint": True})
    ]


op(
    "MatrixSolve",
    inputs="matrix rhs",
    attrs={"adjoint": False},
    type_attrs={"T": "matrix"},
    formula="linalg.solve(adjoint_if(adjoint, matrix), rhs)",
    infer=only(PRECISE, _solution_type),
    kernel=Kernels(_solve, asks="whether a matrix is singular"),
    gradient=_solve_gradient,
    samples=_solve_samples,
    doc="What each matrix, or its adjoint, must be multiplied with to give the right-hand side.",
)


def _triangular_type(ctx: InferContext) -> TensorType:
    (batch, size), (other, rows, columns) = squares(ctx), matrices(ctx, 1)
    size = same_size(ctx, size, rows, _ROWS)
    return TensorType(
        one_dtype(ctx), batch_shape(broadcast_batch(ctx, batch, other), size, columns)
    )


def _check_triangular(a: Any, b: Any) -> tuple[int, ...]:
    """The shape of the batches together."""
    for index, x in enumerate((a, b)):
        if x.ndim < 2:
            raise GradstepError(
                f"In[{index}] ndims must be >= 2: {x.ndim}",
                hint="a right-hand side is a matrix, too: ExpandDims makes one of a vector",
            )
    shapes = f"{brackets(a.shape)} vs. {brackets(b.shape)}"
    rows, columns = a.shape[-2:]
    if rows != columns:
        raise GradstepError(
            f"In[0] matrices in the last dimensions must be square ({columns} =/= {rows})"
        )
    if columns != b.shape[-2]:
        raise GradstepError(
            f"In[0] mismatch In[1] shape: {columns} vs. {b.shape[-2]}: "
            f"{brackets(a.shape)} {brackets(b.shape)}",
            hint=_ROWS,
        )
    try:
        return np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise GradstepError(
            f"In[0] and In[1] must have compatible batch dimensions: {shapes}",
            hint="the axes before the last two broadcast: sizes must be equal or 1",
        ) from None


def substitute(xp: Any, a: Any, b: Any, lower: bool = True, adjoint: bool = False) -> Any:
    """The solution of triangular systems, row by row; a zero on the diagonal divides."""
    if adjoint:
        a, lower = _adjoint(xp, a), not lower
    batch, size = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-1]
    x = xp.zeros((*batch, *b.shape[-2:]), dtype=b.dtype)
    for row in range(size) if lower else reversed(range(size)):
        known = slice(0, row) if lower else slice(row + 1, size)
        here = slice(row, row + 1)
        rest = b[..., here, :] - xp.matmul(a[..., here, known], x[..., known, :])
        x[..., here, :] = rest / a[..., here, here]
    return x


def _triangular(xp: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    _check_triangular(matrix, rhs)
    return substitute(xp, matrix, rhs, lower, adjoint)


def _triangular_gradient(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    matrix, rhs = op.inputs
    lower, adjoint = op.get_attr("lower"), op.get_attr("adjoint")
    of_rhs = call("MatrixTriangularSolve", matrix, g, lower=lower, adjoint=not adjoint)
    of_matrix = band(_of_matrix(op, of_rhs), *((-1, 0) if lower else (0, -1)))
    return unbroadcast_batches((of_matrix, of_rhs), (matrix, rhs))


def _triangular_samples(rng: np.random.Generator) -> list[Sample]:
    flags = [(lower, adjoint) for lower in (True, False) for adjoint in (False, True)]
    return [
        Sample(
            (well_conditioned(rng, *shape), rng.normal(size=(*batch, shape[-1], 2))),
            {"lower": lower, "adjoint": adjoint},
        )
        for shape, batch in (((2, 2), ()), ((2, 3, 3), (2,)), ((1, 2, 2), (2,)), ((2, 2), (2,)))
        for lower, adjoint in flags
    ]


op(
    "MatrixTriangularSolve",
    inputs="matrix rhs",
    attrs={"lower": True, "adjoint": False},
    type_attrs={"T": "matrix"},
    formula="linalg.solve(adjoint_if(adjoint, tril(matrix) if lower else triu(matrix)), rhs)",
    infer=only(SOLVED, _triangular_type),
    kernel=_triangular,
    gradient=_triangular_gradient,
    samples=_triangular_samples,
    doc="MatrixSolve for triangular matrices; the other triangle is not looked at.",
    kinks="a zero on the diagonal gives infinities, no error",
)
