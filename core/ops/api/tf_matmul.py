"""Functions of `tf` that multiply tensors with each other: matmul, einsum, tensordot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_creation import alike, constant
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call
from gradstep.core.ops.catalogue.linalg.einsum_path import explicit, steps
from gradstep.core.ops.typing.static_values import conj


def pair(a: TensorLike, b: TensorLike) -> tuple[Tensor, Tensor]:
    """Both as tensors of one element type: a tensor's, where one is a tensor."""
    if isinstance(b, Tensor) and not isinstance(a, Tensor):
        return alike(a, b), b
    a = constant(a)
    return a, alike(b, a)


def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    output_type: DType | str | None = None,
    name: str | None = None,
) -> Tensor:
    """MatMul of two matrices, BatchMatMulV2 of many; BatchMatMulV3 for another `output_type`."""
    for side, both in (("a", transpose_a and adjoint_a), ("b", transpose_b and adjoint_b)):
        if both:
            raise ValueError(f"Only one of `transpose_{side}` and `adjoint_{side}` can be True.")
    x, y = (constant(a), constant(b)) if output_type else pair(a, b)
    flags = transpose_a or adjoint_a, transpose_b or adjoint_b
    if output_type and {x.dtype, y.dtype} != {DType(output_type)}:
        x, y = conj(x) if transpose_a else x, conj(y) if transpose_b else y
        adjoints = {"adj_x": flags[0], "adj_y": flags[1]}
        return call("BatchMatMulV3", x, y, Tout=DType(output_type), name=name, **adjoints)
    if x.shape.rank == y.shape.rank == 2:
        x, y = conj(x) if adjoint_a else x, conj(y) if adjoint_b else y
        return call("MatMul", x, y, transpose_a=flags[0], transpose_b=flags[1], name=name)
    x, y = conj(x) if transpose_a else x, conj(y) if transpose_b else y
    return call("BatchMatMulV2", x, y, adj_x=flags[0], adj_y=flags[1], name=name)


def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    name: str | None = None,
) -> Tensor:
    """Matrices times vectors."""
    last = np.array(-1, np.int32)
    with builder_of((a, b)).scope(name or "MatVec"):
        x, y = pair(a, b)
        product = matmul(x, call("ExpandDims", y, last), transpose_a, adjoint_a=adjoint_a)
        return call("Squeeze", product, squeeze_dims=(-1,))


def einsum(equation: str, *inputs: TensorLike, name: str | None = None) -> Tensor:
    """Sums of products over axes named by letters; Einsum ops of at most two tensors each."""
    with builder_of(inputs).scope(name or "einsum"):
        operands = _alike(inputs)
        equation = explicit(equation, len(operands))
        if len(operands) <= 2:
            return call("Einsum", *operands, equation=equation)
        for places, binary in steps(equation, [x.shape.dims for x in operands]):
            chosen = [operands.pop(i) for i in places]
            operands.append(call("Einsum", *chosen, equation=binary))
        return operands[0]


def _alike(inputs: Sequence[TensorLike]) -> list[Tensor]:
    first = next((x for x in inputs if isinstance(x, Tensor)), None)
    return [alike(x, first) for x in inputs]


def tensordot(a: TensorLike, b: TensorLike, axes: Any, name: str | None = None) -> Tensor:
    """The sum of products over some axes of each: Transpose, Reshape and MatMul."""
    with builder_of((a, b)).scope(name or "Tensordot"):
        x, y = pair(a, b)
        of_x, of_y = _contracted(x, y, axes)
        left, free_left = _as_matrix(x, of_x, last=True)
        right, free_right = _as_matrix(y, of_y, last=False)
        product = matmul(left, right)
        if isinstance(free_left, list) and isinstance(free_right, list):
            shape = [*free_left, *free_right]
            if product.shape.is_static and list(product.shape.static()) == shape:
                return product
            return call("Reshape", product, np.array(shape, np.int32))
        parts = [
            x.builder.tensor(np.array(f, np.int32) if isinstance(f, list) else f)
            for f in (free_left, free_right)
        ]
        return call("Reshape", product, call("ConcatV2", *parts, np.array(0, np.int32)))


def _contracted(x: Tensor, y: Tensor, axes: Any) -> tuple[list[int], list[int]]:
    if x.shape.rank is None or y.shape.rank is None:
        raise ValueError("tensordot needs tensors of known rank")
    if isinstance(axes, int | np.integer):
        if not 0 <= axes <= x.shape.rank:
            raise ValueError(
                f"`axes` must be at least 0 and not larger than the rank {x.shape.rank}, not {axes}"
            )
        return list(range(x.shape.rank - int(axes), x.shape.rank)), list(range(int(axes)))
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    first, second = (np.atleast_1d(each).astype(int).tolist() for each in axes)
    if len(first) != len(second):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}."
        )
    return [i % x.shape.rank for i in first], [i % y.shape.rank for i in second]


def _as_matrix(x: Tensor, axes: list[int], last: bool) -> tuple[Tensor, Any]:
    """`x` with the contracted axes as the last (or first) of two, and the sizes of the others."""
    rank = x.shape.rank or 0
    free = [i for i in range(rank) if i not in axes]
    order = [*free, *axes] if last else [*axes, *free]
    moved = x if order == list(range(rank)) else call("Transpose", x, np.array(order, np.int32))
    parts = (free, axes) if last else (axes, free)
    if x.shape.is_static:
        sizes = x.shape.static()
        shape = [int(np.prod([sizes[i] for i in part], dtype=np.int64)) for part in parts]
        known = moved.shape.is_static and list(moved.shape.static()) == shape
        matrix = moved if known else call("Reshape", moved, np.array(shape, np.int32))
        return matrix, [sizes[i] for i in free]
    zero, sizes_of = np.array(0, np.int32), call("Shape", x)
    found = [call("GatherV2", sizes_of, np.array(part, np.int32), zero) for part in parts]
    both = call("Pack", *(call("Prod", each, zero) for each in found), axis=0)
    return call("Reshape", moved, both), found[0 if last else 1]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "einsum": einsum,
    "matmul": matmul,
    "matvec": matvec,
    "tensordot": tensordot,
}
