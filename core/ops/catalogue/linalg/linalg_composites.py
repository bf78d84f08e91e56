"""Combinations of ops that gradient rules of linear algebra and `tf.linalg` both make."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import Tensor, call, call_many
from gradstep.core.ops.typing.static_values import conj, reshape_like, shape_of

Diagonals = Any  # which ones: an integer, a pair (lowest, highest), or a tensor of them


def product(a: Tensor, b: Tensor, adjoint_a: bool = False, adjoint_b: bool = False) -> Tensor:
    """`a` times `b`: MatMul where both are known to be one matrix, else BatchMatMulV2."""
    if a.shape.rank != 2 or b.shape.rank != 2:
        return call("BatchMatMulV2", a, b, adj_x=adjoint_a, adj_y=adjoint_b)
    a, b = conj(a) if adjoint_a else a, conj(b) if adjoint_b else b
    return call("MatMul", a, b, transpose_a=adjoint_a, transpose_b=adjoint_b)


def adjoint(x: Tensor) -> Tensor:
    """Rows and columns exchanged, and conjugated."""
    return conj(transpose_matrices(x))


def transpose_matrices(x: Tensor) -> Tensor:
    """Rows and columns exchanged."""
    rank = x.shape.rank
    if rank is not None:
        return call("Transpose", x, np.array([*range(rank - 2), rank - 1, rank - 2], np.int32))
    count = call("Rank", x)
    last, before = count - np.int32(1), count - np.int32(2)
    front = call("Range", np.array(0, np.int32), before, np.array(1, np.int32))
    swapped = call("Pack", last, before, axis=0)
    return call("Transpose", x, call("ConcatV2", front, swapped, np.array(0, np.int32)))


def diagonal(x: Tensor, k: Diagonals = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """The diagonals `k` of each matrix."""
    return call("MatrixDiagPartV3", x, _which(k), _zero(x), align=align)


def with_diagonal(
    x: Tensor, diagonals: Tensor, k: Diagonals = 0, align: str = "RIGHT_LEFT"
) -> Tensor:
    """`x` with other diagonals `k`."""
    return call("MatrixSetDiagV3", x, diagonals, _which(k), align=align)


def diagonal_matrix(
    diagonals: Tensor,
    k: Diagonals = 0,
    rows: int = -1,
    columns: int = -1,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices of zeros but for the diagonals `k`."""
    sizes = np.array(rows, np.int32), np.array(columns, np.int32)
    return call("MatrixDiagV3", diagonals, _which(k), *sizes, _zero(diagonals), align=align)


def band(x: Tensor, lower: int, upper: int) -> Tensor:
    """`x` with zeros more than `lower` below or `upper` above the diagonal; negative: all stay."""
    return call("MatrixBandPart", x, np.array(lower, np.int64), np.array(upper, np.int64))


def lower_triangle(x: Tensor) -> Tensor:
    return band(x, -1, 0)


def unbroadcast_batches(
    grads: tuple[Tensor, Tensor], inputs: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Each gradient summed over the axes before the last two that its input was broadcast along."""
    x, y = inputs
    if x.shape.is_static and y.shape.is_static:
        axes = broadcast_axes(x.shape.static()[:-2], y.shape.static()[:-2])
        return _summed(grads[0], x, axes[0]), _summed(grads[1], y, axes[1])
    if x.shape.rank == 2 and y.shape.rank == 2:
        return grads
    shapes = [call("Shape", t) for t in inputs]
    found = call_many("BroadcastGradientArgs", *(_batch_of(s) for s in shapes))
    sums = [call("Sum", g, over) for g, over in zip(grads, found, strict=True)]
    return call("Reshape", sums[0], shapes[0]), call("Reshape", sums[1], shapes[1])


def broadcast_axes(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """The axes that each is repeated along, of the shape that both broadcast to."""
    full = np.broadcast_shapes(a, b)
    return _repeated(a, full), _repeated(b, full)


def _repeated(own: tuple[int, ...], full: tuple[int, ...]) -> list[int]:
    missing = len(full) - len(own)
    return [i for i, size in enumerate(full) if i < missing or own[i - missing] != size]


def _summed(grad: Tensor, x: Tensor, axes: list[int]) -> Tensor:
    return reshape_like(call("Sum", grad, np.array(axes, np.int32)) if axes else grad, x)


def _batch_of(shape: Tensor) -> Tensor:
    ends = (np.array([i], np.int32) for i in (0, -2, 1))
    return call("StridedSlice", shape, *ends, begin_mask=1)


def sizes_of(x: Tensor) -> Tensor:
    """The sizes of `x` as a tensor, whether they are known or not."""
    return x.builder.tensor(shape_of(x))


def _which(k: Diagonals) -> Any:
    return k if isinstance(k, Tensor) else np.array(k, np.int32)


def _zero(like: Tensor) -> np.ndarray:
    return np.zeros((), like.dtype.numpy)
