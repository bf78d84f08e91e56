"""Functions of `tf` and `tf.linalg` for matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_creation import Axes, constant, ints
from gradstep.core.ops.api.tf_matmul import pair
from gradstep.core.ops.api.tf_reductions import over
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call, call_many
from gradstep.core.ops.catalogue.linalg.linalg_composites import (
    diagonal,
    diagonal_matrix,
    transpose_matrices,
)
from gradstep.core.ops.typing.static_values import conj

_LAST = np.array([-1], np.int32)


def matrix_inverse(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    return call("MatrixInverse", constant(input), adjoint=adjoint, name=name)


def matrix_solve(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    return call("MatrixSolve", *pair(matrix, rhs), adjoint=adjoint, name=name)


def matrix_triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    operands = pair(matrix, rhs)
    with operands[0].builder.scope(name or "triangular_solve"):
        return call("MatrixTriangularSolve", *operands, lower=lower, adjoint=adjoint)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """What the matrix with this Cholesky factor must be multiplied with to give `rhs`."""
    factor, b = pair(chol, rhs)
    with factor.builder.scope(name or "cholesky_solve"):
        y = call("MatrixTriangularSolve", factor, b)
        return call("MatrixTriangularSolve", factor, y, adjoint=True)


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of a positive definite matrix."""
    x = constant(matrix)
    with x.builder.scope(name or "logdet"):
        roots = diagonal(call("Cholesky", x))
        if roots.dtype.is_complex:
            double = roots.dtype is DType.COMPLEX128
            roots = call("Real", roots, Tout=DType.FLOAT64 if double else DType.FLOAT32)
        return 2.0 * call("Sum", call("Log", roots), _LAST)


def log_matrix_determinant(input: TensorLike, name: str | None = None) -> tuple[Tensor, ...]:
    """The sign of the determinant, and the logarithm of its size."""
    return call_many("LogMatrixDeterminant", constant(input), name=name)


def matrix_transpose(
    a: TensorLike, name: str = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """Rows and columns exchanged."""
    x = constant(a)
    if x.shape.rank is not None and x.shape.rank < 2:
        raise ValueError(
            "Argument `a` should be a (batch) matrix with rank >= 2.  "
            f"Received `a` = {x} with shape: {x.shape}"
        )
    with x.builder.scope(name):
        return conj(transpose_matrices(x)) if conjugate else transpose_matrices(x)


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """Rows and columns exchanged, and conjugated."""
    return matrix_transpose(matrix, name or "adjoint", conjugate=True)


def matrix_diag(
    diagonal: TensorLike,
    name: str = "diag",
    k: Any = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: float = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with these diagonals."""
    x = constant(diagonal)
    sizes = ints(num_rows), ints(num_cols)
    padding = np.array(padding_value, x.dtype.numpy)
    return call("MatrixDiagV3", x, ints(k), *sizes, padding, align=align, name=name)


def matrix_diag_part(
    input: TensorLike,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: float = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The diagonals of matrices."""
    x = constant(input)
    padding = np.array(padding_value, x.dtype.numpy)
    return call("MatrixDiagPartV3", x, ints(k), padding, align=align, name=name)


def matrix_set_diag(
    input: TensorLike,
    diagonal: TensorLike,
    name: str = "set_diag",
    k: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with other diagonals."""
    return call("MatrixSetDiagV3", *pair(input, diagonal), ints(k), align=align, name=name)


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the diagonal of each matrix."""
    matrix = constant(x)
    with matrix.builder.scope(name or "Trace") as scope:
        return call("Sum", diagonal(matrix), _LAST, name=f"{scope}/")


def eye(
    num_rows: int,
    num_columns: int | None = None,
    batch_shape: Sequence[int] | None = None,
    dtype: DType | str = "float32",
    name: str | None = None,
) -> Tensor:
    """Unit matrices."""
    columns = num_rows if num_columns is None else num_columns
    shape = np.array([*(batch_shape or ()), min(num_rows, columns)], np.int32)
    with builder_of(()).scope(name or "eye"):
        ones = call("Fill", shape, np.ones((), DType(dtype).numpy))
        if columns == num_rows:
            return diagonal_matrix(ones)
        return diagonal_matrix(ones, rows=num_rows, columns=columns)


def norm(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: int | tuple[int, int] | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The norm of vectors along an axis, of matrices along two, or of everything."""
    matrix = isinstance(axis, tuple | list)
    _check_norm(ord, axis, matrix)
    axes: Axes = tuple(axis) if isinstance(axis, tuple | list) else axis
    with builder_of((tensor,)).scope(name or "norm"):
        x = constant(tensor)
        result = _norm(x, ord, axes, matrix)
        if keepdims or keep_dims:
            return result
        if axes is None:
            return call("Squeeze", result)
        return call("Squeeze", result, squeeze_dims=tuple(np.atleast_1d(axes).tolist()))


def _check_norm(ord: Any, axis: Any, matrix: bool) -> None:
    if matrix:
        if len(axis) != 2 or axis[0] == axis[1]:
            raise ValueError(f"'axis' must be None, an integer, or 2 unique integers, got {axis}")
        if ord not in ("euclidean", "fro", 1, np.inf):
            raise ValueError(f"'ord' must be 'euclidean', 'fro', 1 or inf for a matrix, got {ord}")
    elif ord != "euclidean" and (isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def _norm(x: Tensor, ord: Any, axes: Any, matrix: bool) -> Tensor:
    """With all axes kept, of size 1."""
    if ord in ("fro", "euclidean") or (ord == 2 and not matrix):
        return call("Sqrt", _kept("Sum", x * conj(x), axes))
    size = _abs(x)
    first, last = axes if matrix else (axes, axes)
    if ord == 1:
        total = _kept("Sum", size, first)
        return _kept("Max", total, last) if matrix else total
    if ord == np.inf:
        return _kept("Max", _kept("Sum", size, last) if matrix else size, first)
    powers = call("Pow", size, np.array(ord, size.dtype.numpy))
    return call("Pow", _kept("Sum", powers, axes), np.array(1.0 / ord, size.dtype.numpy))


def _abs(x: Tensor) -> Tensor:
    if not x.dtype.is_complex:
        return call("Abs", x)
    double = x.dtype is DType.COMPLEX128
    return call("ComplexAbs", x, Tout=DType.FLOAT64 if double else DType.FLOAT32)


def _kept(op_type: str, x: Tensor, axes: Any) -> Tensor:
    return call(op_type, x, over(x, axes), keep_dims=True)


_BOTH: dict[str, Callable[..., Any]] = {
    "adjoint": adjoint,
    "cholesky_solve": cholesky_solve,
    "eye": eye,
    "log_matrix_determinant": log_matrix_determinant,
    "logdet": logdet,
    "matrix_diag": matrix_diag,
    "matrix_diag_part": matrix_diag_part,
    "matrix_inverse": matrix_inverse,
    "matrix_set_diag": matrix_set_diag,
    "matrix_solve": matrix_solve,
    "matrix_transpose": matrix_transpose,
    "matrix_triangular_solve": matrix_triangular_solve,
    "norm": norm,
    "trace": trace,
}
# What has another name in `tf.linalg`, where some names mean another function than in `tf`.
_LINALG: dict[str, Callable[..., Any]] = {
    "linalg.diag": matrix_diag,
    "linalg.diag_part": matrix_diag_part,
    "linalg.inv": matrix_inverse,
    "linalg.set_diag": matrix_set_diag,
    "linalg.slogdet": log_matrix_determinant,
    "linalg.solve": matrix_solve,
    "linalg.transpose": matrix_transpose,
    "linalg.triangular_solve": matrix_triangular_solve,
}
FUNCTIONS = {**_BOTH, **_LINALG}
