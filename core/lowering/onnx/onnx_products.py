"""Products of matrices, vectors and more, of ONNX."""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site
from gradstep.core.lowering.onnx.onnx_operands import (
    add_axis,
    apply,
    cast,
    rank,
    scalar,
    squeeze,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call


@lower("MatMul")
def matmul(site: Site, a: Tensor, b: Tensor) -> Tensor:
    """NumPy's: a vector is a row on the left, a column on the right."""
    x = add_axis(a, 0) if rank(a) == 1 else a
    y = add_axis(b, 1) if rank(b) == 1 else b
    flat = rank(x) == 2 and rank(y) == 2
    found = apply("MatMul", x, y) if flat else apply("BatchMatMulV2", x, y)
    gone = ([-2] if x is not a else []) + ([-1] if y is not b else [])
    return squeeze(found, [axis + rank(found) for axis in gone])


@lower("Gemm", ignores=("broadcast",))
def gemm(
    site: Site,
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,  # noqa: N803, as ONNX calls it
    transB: int = 0,  # noqa: N803
) -> Tensor:
    y = apply("MatMul", a, b, transpose_a=bool(transA), transpose_b=bool(transB))
    y = y if alpha == 1 else apply("Mul", y, scalar(y, alpha))
    if c is None:
        return y
    added = c if beta == 1 else apply("Mul", c, scalar(c, beta))
    return apply("AddV2", y, added)


@lower("Einsum")
def einsum(site: Site, *xs: Tensor, equation: str) -> Tensor:
    """Without an arrow, what is there once comes out in the order of the alphabet."""
    told = equation.replace(" ", "")
    if "->" not in told:
        letters = [c for c in told if c.isalpha()]
        once = "".join(sorted(c for c in {*letters} if letters.count(c) == 1))
        told = f"{told}->{'...' if '...' in told else ''}{once}"
    return apply("Einsum", *xs, equation=told)


@lower("Det")
def det(site: Site, x: Tensor) -> Tensor:
    return call("MatrixDeterminant", x)


# -- of whole numbers ------------------------------------------------------------------------------


@lower("MatMulInteger")
def matmul_integer(
    site: Site,
    a: Tensor,
    b: Tensor,
    a_zero: Tensor | None = None,
    b_zero: Tensor | None = None,
) -> Tensor:
    x, y = _centred(a, a_zero, rows=True), _centred(b, b_zero, rows=False)
    return matmul(site, x, y)


def _centred(x: Tensor, zero: Tensor | None, rows: bool) -> Tensor:
    """As int32, without what stands for zero: of all, or of each row or column."""
    wide = cast(x, DType.INT32)
    if zero is None:
        return wide
    less = cast(zero, DType.INT32)
    if rows and rank(zero) == 1 and rank(x) > 1:
        less = add_axis(less, 1)
    return call("Sub", wide, less)


@lower("QLinearMatMul")
def q_linear_matmul(
    site: Site,
    a: Tensor,
    a_scale: Tensor,
    a_zero: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
) -> Tensor:
    found = matmul(site, _centred(a, a_zero, True), _centred(b, b_zero, False))
    left = cast(a_scale, DType.FLOAT32)
    left = add_axis(left, 1) if rank(left) == 1 and rank(a) > 1 else left
    scale = call("Mul", left, cast(b_scale, DType.FLOAT32))
    scale = call("RealDiv", scale, cast(y_scale, DType.FLOAT32))
    return quantized(call("Mul", cast(found, DType.FLOAT32), scale), y_zero)


def quantized(x: Tensor, zero: Tensor) -> Tensor:
    """Rounded to even, moved by what stands for zero, and kept within what that type holds."""
    limits = np.iinfo(zero.dtype.numpy)
    moved = call("AddV2", call("Round", x), cast(zero, x.dtype))
    low, high = scalar(x, limits.min), scalar(x, limits.max)
    return cast(call("Minimum", call("Maximum", moved, low), high), zero.dtype)
