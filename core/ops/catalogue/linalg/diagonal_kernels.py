"""What the ops of diagonal_ops.py do: their type rules, kernels and gradients.

TensorFlow has each op three times: the first knows the main diagonal only; the second takes
several (`k`), with `padding_value` around; the third says how the shorter ones are aligned.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor
from gradstep.core.ops.catalogue.linalg.diagonal_places import Diagonals, diagonals, places
from gradstep.core.ops.catalogue.linalg.linalg_composites import (
    diagonal,
    diagonal_matrix,
    with_diagonal,
)
from gradstep.core.ops.catalogue.linalg.matrix_shape_rules import batch_shape, matrices, misfit
from gradstep.core.ops.declare.host_arrays import integer, integers
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.table import InferContext
from gradstep.core.ops.typing.static_values import zeros_like

MAIN = Diagonals(0, 0)
_SMALLEST = np.array(-1, np.int32)


def _known_diagonals(ctx: InferContext, index: int) -> Diagonals | None:
    """Which diagonals are meant; None while that is not known. Without the input: the main one."""
    if index >= len(ctx.types):
        return MAIN
    if (ctx.types[index].shape.rank or 0) > 1:
        raise misfit(ctx, "diag_index must be a scalar or vector")
    k = ctx.constant(index)
    return None if k is None else diagonals(integers(k))


def taken_type(ctx: InferContext) -> TensorType:
    batch, rows, columns = matrices(ctx, 0)
    which, dtype = _known_diagonals(ctx, 1), ctx.types[0].dtype
    if which is None or batch.dims is None:
        return TensorType(dtype, UNKNOWN)
    if rows is None or columns is None:
        return TensorType(dtype, batch_shape(batch, *([which.count] * (which.count > 1)), None))
    which.check_inside(rows, columns, (".", ""))
    return TensorType(dtype, batch_shape(batch, *which.given_shape(rows, columns)))


def taken(xp: Any, x: Any, which: Diagonals, padding: Any, align: str) -> Any:
    _check_dims("input", x, 2)
    rows, columns = x.shape[-2:]
    which.check_inside(rows, columns, (".", ""))
    batch, length = x.shape[:-2], which.longest(rows, columns)
    full = (*batch, which.count, length)
    found = xp.zeros(full, dtype=x.dtype) if padding is None else xp.broadcast_to(padding, full)
    found = found.copy()
    i, j, row, column = (xp.asarray(v) for v in places(which, rows, columns, align))
    found[..., i, j] = x[..., row, column]
    return found.reshape(*batch, *which.given_shape(rows, columns))


def _check_dims(name: str, x: Any, least: int) -> None:
    if x.ndim < least:
        raise GradstepError(
            f"{name} must be at least {least}-dim, received shape: {brackets(x.shape)}"
        )


def matrix_type(ctx: InferContext) -> TensorType:
    dims, dtype = ctx.types[0].shape.dims, ctx.types[0].dtype
    which = _known_diagonals(ctx, 1)
    if dims is not None and len(dims) < 1:
        raise misfit(ctx, "Shape must be at least rank 1 but is rank 0")
    if dims is None or which is None:
        return TensorType(dtype, UNKNOWN)
    kept = 1 if which.count == 1 else 2
    batch = Shape(dims[:-kept])
    _check_given(dims, which)
    sizes = [ctx.constant(i) for i in (2, 3)] if len(ctx.types) > 1 else [_SMALLEST, _SMALLEST]
    if dims[-1] is None or None in [*map(_none_or_size, sizes)]:
        return TensorType(dtype, batch_shape(batch, None, None))
    return TensorType(dtype, batch_shape(batch, *which.matrix_size(dims[-1], *map(integer, sizes))))


def _none_or_size(value: Any) -> int | None:
    return None if value is None else integer(value)


def _check_given(dims: tuple[int | None, ...], which: Diagonals) -> None:
    """Several diagonals are given as so many rows."""
    if which.count == 1:
        return
    if len(dims) < 2:
        raise GradstepError(
            f"diagonal must be at least 2-dim, received shape: {Shape(dims)}",
            hint=f"k means {which.count} diagonals, one row each",
        )
    if dims[-2] not in (None, which.count):
        raise GradstepError(
            "The number of diagonals provided in the input does not match the lower_diag_index "
            "and upper_diag_index range.",
            hint=f"k means {which.count} diagonals, one row each",
        )


def matrix(
    xp: Any, given: Any, which: Diagonals, size: tuple[int, int], padding: Any, align: str
) -> Any:
    _check_dims("diagonal", given, 1)
    _check_given(given.shape, which)
    batch = given.shape[: -1 if which.count == 1 else -2]
    rows, columns = which.matrix_size(given.shape[-1], *size)
    full = (*batch, rows, columns)
    made = xp.zeros(full, dtype=given.dtype) if padding is None else xp.broadcast_to(padding, full)
    return _written(xp, made.copy(), given, which, align)


def _written(xp: Any, matrix: Any, given: Any, which: Diagonals, align: str) -> Any:
    """Writes the given diagonals into `matrix`, which is nobody else's."""
    given = given.reshape(*matrix.shape[:-2], which.count, given.shape[-1])
    rows, columns = matrix.shape[-2:]
    i, j, row, column = (xp.asarray(v) for v in places(which, rows, columns, align))
    matrix[..., row, column] = given[..., i, j]
    return matrix


def replaced_type(ctx: InferContext) -> TensorType:
    dtype = one_dtype(ctx, ctx.types[:2])
    batch, rows, columns = matrices(ctx, 0)
    which, given = _known_diagonals(ctx, 2), ctx.types[1].shape
    if which is None or rows is None or columns is None or batch.dims is None:
        return TensorType(dtype, ctx.types[0].shape)
    which.check_inside(rows, columns)
    wanted = batch_shape(batch, *which.given_shape(rows, columns))
    try:
        given.merge(wanted)
    except ValueError:
        raise _not_fitting(given, wanted, which) from None
    return TensorType(dtype, ctx.types[0].shape)


def _not_fitting(given: Shape, wanted: Shape, which: Diagonals) -> GradstepError:
    hint = f"the shape of diagonal should be {brackets(wanted.dims)}"
    if which.count > 1 and (given.dims or ())[-2:-1] != (which.count,):
        return GradstepError(
            "The number of diagonals provided in `diag` is not consistent with `lower_diag_index` "
            "and `upper_diag_index`",
            hint=hint,
        )
    return GradstepError(
        "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] "
        "is not equal to the longests diagonal in range [lower_diag_index:upper_diag_index].",
        hint=hint,
    )


def replaced(xp: Any, x: Any, given: Any, which: Diagonals, align: str) -> Any:
    _check_dims("input", x, 2)
    which.check_inside(*x.shape[-2:])
    wanted = (*x.shape[:-2], *which.given_shape(*x.shape[-2:]))
    if given.shape != wanted:
        raise _not_fitting(Shape(given.shape), Shape(wanted), which)
    return _written(xp, x.copy(), given, which, align)


def _which(op: OpView, index: int) -> tuple[Any, str]:
    """The diagonals an op means, and their alignment."""
    k = op.inputs[index] if index < len(op.inputs) else 0
    if op.type.endswith("V3"):
        return k, op.get_attr("align")
    return k, "LEFT_LEFT" if op.type.endswith("V2") else "RIGHT_LEFT"


def matrix_gradient(op: OpView, g: Tensor) -> list[Tensor | None]:
    return [diagonal(g, *_which(op, 1)), *[None] * (len(op.inputs) - 1)]


def part_gradient(op: OpView, g: Tensor) -> list[Tensor | None]:
    x, (k, align) = op.inputs[0], _which(op, 1)
    sizes = x.shape.dims[-2:] if x.shape.dims is not None else (None, None)
    rows, columns = sizes
    if rows is None or columns is None:
        grad = with_diagonal(zeros_like(x), g, k, align)
    else:
        grad = diagonal_matrix(g, k, rows, columns, align)
    return [grad, *[None] * (len(op.inputs) - 1)]


def set_gradient(op: OpView, g: Tensor) -> list[Tensor | None]:
    k, align = _which(op, 2)
    others = with_diagonal(g, zeros_like(op.inputs[1]), k, align)
    return [others, diagonal(g, k, align), *[None] * (len(op.inputs) - 2)]
