"""Products of matrices, vectors and more, of PyTorch."""

from __future__ import annotations

from typing import Any

from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import add_axis, cast, rank, reshape, scalar, size_at
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call


@lower("linear")
def linear(site: Site, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """PyTorch keeps weights as [out, in]."""
    rows = input if rank(input) == 2 else reshape(input, [-1, size_at(input, -1)])
    y = call("MatMul", rows, weight, transpose_b=True)
    y = y if bias is None else call("BiasAdd", y, bias)
    return y if rank(input) == 2 else reshape(y, site.shape())


@lower("mm")
def mm(site: Site, self: Tensor, mat2: Tensor) -> Tensor:
    return call("MatMul", self, mat2)


@lower("bmm")
def bmm(site: Site, self: Tensor, mat2: Tensor) -> Tensor:
    return call("BatchMatMulV2", self, mat2)


@lower("addmm", "baddbmm")
def addmm(
    site: Site,
    self: Tensor,
    mat1: Tensor | None = None,
    mat2: Any = None,
    batch1: Tensor | None = None,
    batch2: Tensor | None = None,
    beta: float = 1,
    alpha: float = 1,
) -> Tensor:
    if mat1 is not None:
        y = call("MatMul", mat1, mat2)
    else:
        y = call("BatchMatMulV2", batch1, batch2)
    y = y if alpha == 1 else call("Mul", y, scalar(y, alpha))
    added = self if beta == 1 else call("Mul", self, scalar(self, beta))
    return call("AddV2", added, y)


@lower("mv")
def mv(site: Site, self: Tensor, vec: Tensor) -> Tensor:
    return matmul(site, self, vec)


@lower("matmul")
def matmul(site: Site, self: Tensor, other: Tensor) -> Tensor:
    """A vector is a row on the left, a column on the right, and is none in the result."""
    a = add_axis(self, 0) if rank(self) == 1 else self
    b = add_axis(other, 1) if rank(other) == 1 else other
    type = "MatMul" if rank(a) == rank(b) == 2 else "BatchMatMulV2"
    y = call(type, a, b)
    return y if a is self and b is other else reshape(y, site.shape())


@lower("dot", "vdot", "inner")
def dot(
    site: Site, self: Tensor, tensor: Tensor | None = None, other: Tensor | None = None
) -> Tensor:
    second = tensor if tensor is not None else other
    if rank(self) != 1:
        raise UnloweredError("inner of more than vectors")
    return call("Einsum", self, second, equation="i,i->")


@lower("outer", "ger")
def outer(site: Site, self: Tensor, vec2: Tensor) -> Tensor:
    return call("Mul", add_axis(self, 1), add_axis(vec2, 0))


@lower("linalg_solve")
def solve(site: Site, A: Tensor, B: Tensor, left: bool = True) -> Tensor:
    """Of a vector, the column that it is."""
    if not left:
        raise UnloweredError("solving from the right")
    if rank(B) == rank(A) - 1:
        return reshape(call("MatrixSolve", A, add_axis(B, rank(B))), site.shape())
    return call("MatrixSolve", A, B)


@lower("linalg_inv", "inverse")
def inverse(site: Site, A: Tensor | None = None, self: Tensor | None = None) -> Tensor:
    return call("MatrixInverse", A if A is not None else self)


@lower("linalg_cholesky", "cholesky")
def cholesky(site: Site, self: Tensor, upper: bool = False) -> Tensor:
    if upper:
        raise UnloweredError("the upper factor")
    return call("Cholesky", self)


@lower("linalg_det", "det", "_linalg_det")
def determinant(site: Site, A: Tensor | None = None, self: Tensor | None = None) -> list[Tensor]:
    """And the factors that PyTorch's inner operation keeps."""
    x = A if A is not None else self
    return [call("MatrixDeterminant", x), *_factors(site, 1)]


@lower("linalg_slogdet", "slogdet", "_linalg_slogdet")
def sign_and_log_determinant(
    site: Site, A: Tensor | None = None, self: Tensor | None = None
) -> list[Tensor]:
    x = A if A is not None else self
    return [*site.builder.op("LogMatrixDeterminant", x), *_factors(site, 2)]


@lower("logdet")
def log_determinant(site: Site, self: Tensor) -> Tensor:
    """NaN where the determinant is below 0."""
    sign, log = site.builder.op("LogMatrixDeterminant", self)
    return call("AddV2", log, call("Log", sign))


def _factors(site: Site, first: int) -> list[Tensor]:
    return [site.constant(site.recorded(i)) for i in range(first, len(site.node.outputs))]


@lower("einsum", ignores=("path",))
def einsum(site: Site, equation: str, tensors: list[Tensor]) -> Tensor:
    if len(tensors) > 2:
        raise UnloweredError("an einsum of more than two")
    known = [cast(x, site.dtype()) for x in tensors]
    return call("Einsum", *known, equation=equation.replace(" ", ""))
