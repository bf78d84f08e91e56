"""The product of a sparse matrix, given by its places and values, and a dense one."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import numeric, want_rank
from gradstep.core.ops.numerics.index_bounds import check
from gradstep.core.ops.numerics.row_updates import sum_rows
from gradstep.core.ops.typing.static_values import conj


def _product(ctx: InferContext) -> TensorType:
    _, values, _, dense = ctx.types
    for index, rank in ((0, 2), (1, 1), (2, 1), (3, 2)):
        want_rank(ctx, index, rank)
    if values.dtype is not dense.dtype:
        raise ctx.fail(
            f"Input 'b' of 'SparseTensorDenseMatMul' Op has type {dense.dtype.value} that does "
            f"not match type {values.dtype.value} of argument 'a_values'.",
            hint="cast one of them",
        )
    sizes = ctx.constant(2)
    left = (None, None) if sizes is None else integers(sizes)
    if len(left) != 2:
        raise ctx.fail(f"a_shape must have 2 elements, not {len(left)}")
    right = (None, None) if dense.shape.dims is None else dense.shape.dims
    rows, inner = left[::-1] if ctx.attr("adjoint_a") else left
    other, columns = right[::-1] if ctx.attr("adjoint_b") else right
    if None not in (inner, other) and inner != other:
        raise ctx.fail(
            f"Cannot multiply A and B because inner dimension does not match: {inner} vs. {other}. "
            " Did you forget a transpose?"
        )
    return TensorType(values.dtype, Shape((rows, columns)))


def _adjoint(xp: Any, x: Any) -> Any:
    return xp.conj(x.T) if x.dtype.kind == "c" else x.T


def _kernel(
    xp: Any,
    a_indices: Any,
    a_values: Any,
    a_shape: Any,
    b: Any,
    *,
    adjoint_a: bool,
    adjoint_b: bool,
) -> Any:
    sizes = integers(a_shape)
    rows, columns = a_indices[:, 0], a_indices[:, 1]
    if adjoint_a:
        rows, columns, sizes = columns, rows, sizes[::-1]
        a_values = xp.conj(a_values) if a_values.dtype.kind == "c" else a_values
    b = _adjoint(xp, b) if adjoint_b else b
    most = (b.shape[0], sizes[0]) if adjoint_a else (sizes[0], b.shape[0])
    _want_inside(xp, a_indices, most)
    parts = a_values.reshape(-1, 1) * b[columns]
    return sum_rows(xp, parts, rows, xp.zeros(rows.shape, dtype=bool), sizes[0])


def _want_inside(xp: Any, indices: Any, most: tuple[int, int]) -> None:
    """Raise GradstepError, in TensorFlow's words, for the first place beyond `most`."""

    def error(place: tuple[int, ...]) -> GradstepError:
        found = int(indices[place])
        return GradstepError(
            f"{'mk'[place[1]]} ({found}) from index[{place[0]},{place[1]}] out of bounds "
            f"(>={most[place[1]]})",
            index=place,
            hint="each place must lie inside a_shape",
        )

    check(xp, (indices < 0) | (indices >= xp.asarray(np.array(most, indices.dtype))), error)


def _gradient(op: OpView, g: Tensor) -> tuple[Any, ...]:
    """To the values and to the dense matrix."""
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    back = call(
        "SparseTensorDenseMatMul", indices, values, shape, g, adjoint_a=not adjoint_a,
        adjoint_b=False,
    )  # fmt: skip
    axis = np.array(1, np.int32)
    rows, columns = (call("GatherV2", indices, np.array(i, np.int32), axis) for i in (0, 1))
    if adjoint_a:
        rows, columns = columns, rows
    dense = _turned(b) if adjoint_b else b
    first = np.array(0, np.int32)
    left, right = call("GatherV2", g, rows, first), call("GatherV2", dense, columns, first)
    to_values = call("Sum", left * conj(right), axis)
    to_values = conj(to_values) if adjoint_a else to_values
    return None, to_values, None, _turned(back) if adjoint_b else back


def _turned(x: Tensor) -> Tensor:
    return conj(call("Transpose", x, np.array([1, 0], np.int32)))


def _samples(rng: np.random.Generator) -> list[Sample]:
    places = np.array([[0, 1], [1, 0], [1, 3], [2, 2], [1, 3]], np.int64)
    values, made = rng.normal(size=5), []
    for first in (False, True):
        for second in (False, True):
            shape = (3 if first else 4, 2)
            b = rng.normal(size=shape[::-1] if second else shape)
            attrs = {"adjoint_a": first, "adjoint_b": second}
            made.append(Sample((places, values, np.array([3, 4], np.int64), b), attrs))
    empty = (np.zeros((0, 2), np.int64), np.zeros(0), np.array([2, 3], np.int64))
    return [*made, Sample((*empty, rng.normal(size=(3, 2))))]


op(
    "SparseTensorDenseMatMul",
    inputs="a_indices:int32,int64 a_values #a_shape:int64 b",
    outputs="product",
    formula="sparse_matmul(a_indices, a_values, a_shape, b, adjoint_a, adjoint_b)",
    attrs={"adjoint_a": False, "adjoint_b": False},
    type_attrs={"T": "a_values", "Tindices": "a_indices"},
    infer=numeric(_product),
    kernel=Kernels(_kernel, asks="whether indices are inside"),
    gradient=_gradient,
    samples=_samples,
    doc="The product of a sparse matrix (places [n, 2], values [n], its shape) and a dense one.",
    kinks="no gradient to places where the sparse matrix has no value",
)
