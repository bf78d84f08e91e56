"""JAX's primitives of linear algebra."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradstep.core.lowering.lax.lax_operands import (
    dims,
    ints,
    inverse,
    rank,
    reshape,
    scalar,
    transpose,
)
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call


@lower("cholesky")
def cholesky(site: Site, x: Tensor, symmetrize_input: bool = False) -> Tensor:
    return call("Cholesky", x)


@lower("triangular_solve")
def triangular_solve(
    site: Site,
    a: Tensor,
    b: Tensor,
    left_side: bool,
    lower: bool,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Tensor:
    """op(a) · x = b, or x · op(a) = b, which is the same of all transposed."""
    if conjugate_a and a.dtype.is_complex:
        raise UnloweredError("conjugates")
    if unit_diagonal:
        ones = np.ones(dims(a)[:-1], a.dtype.numpy)
        a = call("MatrixSetDiagV3", a, site.constant(ones), np.int32(0))
    adjoint = transpose_a if left_side else not transpose_a
    right = b if left_side else _transposed(b)
    found = call("MatrixTriangularSolve", a, right, lower=lower, adjoint=adjoint)
    return found if left_side else _transposed(found)


@lower("tridiagonal_solve")
def tridiagonal_solve(site: Site, operands: Sequence[Tensor]) -> Tensor:
    """By the whole matrix: below, on and above the diagonal, each as long as that is; what is first
    below it and last above it lies outside."""
    below, on, above, b = operands
    bands = call("Pack", above, on, below, axis=rank(on) - 1)
    size = np.int32(dims(on)[-1])
    matrix = call(
        "MatrixDiagV3", bands, ints([-1, 1]), size, size, scalar(on, 0), align="LEFT_RIGHT"
    )
    return call("MatrixSolve", matrix, b)


def _transposed(x: Tensor) -> Tensor:
    return transpose(x, [*range(rank(x) - 2), rank(x) - 1, rank(x) - 2])


@lower("linear_solve")
def linear_solve(site: Site, matrix: Tensor, x: Tensor, axis: int, transpose: bool) -> Tensor:
    """What the matrix, or its transpose, makes `x` of along one axis."""
    batch = rank(matrix) - 2
    rest = [i for i in range(batch, rank(x)) if i != axis]
    order = [*range(batch), axis, *rest]
    turned = _in_order(x, order)
    shape = dims(turned)
    columns = reshape(turned, [*shape[: batch + 1], math.prod(shape[batch + 1 :])])
    found = call("MatrixSolve", matrix, columns, adjoint=transpose)
    return _in_order(reshape(found, shape), inverse(order))


_in_order = transpose


@lower("slogdet")
def log_determinant(site: Site, x: Tensor) -> list[Tensor]:
    """Sign, and logarithm of the absolute value."""
    return [*site.builder.op("LogMatrixDeterminant", x)]
