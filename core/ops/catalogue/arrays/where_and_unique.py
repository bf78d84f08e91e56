"""Where elements are: indices of those that are not zero, distinct values, differences of lists.

How many there are depends on the values, so the sizes are only known while running.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, DType, Shape, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import wrong_type
from gradstep.core.ops.numerics.unique import distinct_integers

_MOST_AXES = 8


def _found(ctx: InferContext) -> TensorType:
    rank, dtype = ctx.types[0].shape.rank, ctx.types[0].dtype
    if dtype in (DType.STRING, DType.RESOURCE):
        raise wrong_type(ctx, dtype, "numbers or bool")
    if rank is not None:
        _check_rank(rank)
    return TensorType(DType.INT64, Shape.of(None, rank))


def _check_rank(rank: int) -> None:
    if not 1 <= rank <= _MOST_AXES:
        raise GradstepError(
            f"WhereOp : Unhandled input dimensions: {rank}",
            hint="reshape it to between 1 and 8 axes",
        )


def _where(xp: Any, x: Any) -> Any:
    _check_rank(x.ndim)
    return xp.argwhere(x)


op(
    "Where",
    inputs="input",
    outputs="index",
    type_attrs={"T": "input"},
    formula="argwhere(input)",
    infer=_found,
    kernel=Kernels(_where, asks="how many there are"),
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((rng.random((2, 3)) < 0.5,)),
        Sample((np.array([0.0, -0.0, np.nan, 1.0]),)),
        Sample((np.zeros((2, 0), np.int32),)),
    ],
    arithmetic="exact",
    doc="The indices of the elements that are not zero or false, a row for each, in order.",
)


def _vector(ctx: InferContext, index: int, name: str) -> int | None:
    """The size of a vector."""
    shape = ctx.types[index].shape
    if shape.dims is None:
        return None
    if len(shape.dims) != 1:
        raise ctx.fail(f"{name} a 1D vector.", hint=f"its shape is {shape}")
    return shape.dims[0]


def _distinct(ctx: InferContext) -> tuple[TensorType, ...]:
    if ctx.types[0].dtype.is_complex:
        raise wrong_type(ctx, ctx.types[0].dtype, "real numbers, bool or strings")
    size, index = _vector(ctx, 0, "unique expects"), DType(ctx.attr("out_idx"))
    values = TensorType(ctx.types[0].dtype, Shape.of(None))
    counts = [TensorType(index, Shape.of(None))] * (len(ctx.definition.outputs) - 2)
    return values, TensorType(index, Shape.of(size)), *counts


def _unique(xp: Any, x: Any, *, out_idx: DType) -> Any:
    _check_vector(x)
    kind = DType(out_idx).numpy
    found = distinct_integers(x, kind) if xp is np else None
    return found or _sorted_unique(xp, x, kind)[:2]


def _unique_with_counts(xp: Any, x: Any, *, out_idx: DType) -> Any:
    _check_vector(x)
    return _sorted_unique(xp, x, DType(out_idx).numpy)


def _check_vector(x: Any) -> None:
    if x.ndim != 1:
        raise GradstepError("unique expects a 1D vector.")


def _sorted_unique(xp: Any, x: Any, kind: np.dtype) -> tuple[Any, Any, Any]:
    first, index, counts = in_order(xp, x, kind)
    return xp.take(x, first), index, counts


def in_order(xp: Any, x: Any, kind: np.dtype) -> tuple[Any, Any, Any]:
    """Where the distinct values of a vector come first, in that order; which one each is; how often
    they occur. Every NaN is a value apart."""
    if xp is not np:
        order = xp.argsort(x, kind="stable")
        in_turn = xp.take(x, order)
        return distinct_groups(xp, order, in_turn[1:] != in_turn[:-1], kind)
    _, first, place, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first)
    rank = np.argsort(order)  # of each sorted value, its place in that order
    index = np.take(rank, place.reshape(-1)).astype(kind)
    return np.take(first, order), index, np.take(counts, order).astype(kind)


def distinct_groups(xp: Any, order: Any, differs: Any, kind: np.dtype) -> tuple[Any, Any, Any]:
    """The same of values that `order` [n] sorts, equal ones as they were; differs: [n - 1], whether
    the next one in that order is another. The host waits once, to hear how many there are."""
    count = order.shape[0]
    if count == 0:
        return order, order.astype(kind), order.astype(kind)
    begins = xp.concatenate([xp.ones(1, dtype=bool), differs])
    starts = xp.argwhere(begins).reshape(-1)
    first = xp.take(order, starts)
    turn = xp.argsort(first)  # of the groups as they are first met
    rank = xp.argsort(turn).astype(kind)
    index = xp.zeros(count, dtype=kind)
    index[order] = xp.take(rank, xp.cumsum(begins.astype(np.int64)) - 1)
    ends = xp.concatenate([starts[1:], xp.full(1, count, dtype=starts.dtype)])
    return xp.take(first, turn), index, xp.take(ends - starts, turn).astype(kind)


def _unique_samples(rng: np.random.Generator) -> list[Sample]:
    vectors = (ints(3, 1, 3, 2, 1), np.array([0.5, np.nan, -1.0, 0.5, np.nan]), np.zeros(0))
    return [Sample((x,)) for x in vectors] + [Sample((ints(5, 5),), {"out_idx": DType.INT64})]


op(
    "Unique",
    inputs="x",
    outputs="y idx",
    attrs={"out_idx": DType.INT32},
    choices={"out_idx": INDEX},
    type_attrs={"T": "x"},
    formula="distinct(x)",
    infer=_distinct,
    kernel=Kernels(_unique, asks="how many there are"),
    samples=_unique_samples,
    arithmetic="exact",
    doc="The distinct values in the order in which they first occur, and which one each is.",
    kinks="it has no gradient: asking for one is a LookupError, as in TensorFlow",
)
op(
    "UniqueWithCounts",
    inputs="x",
    outputs="y idx count",
    attrs={"out_idx": DType.INT32},
    choices={"out_idx": INDEX},
    type_attrs={"T": "x"},
    formula="distinct(x)",
    infer=_distinct,
    kernel=Kernels(_unique_with_counts, asks="how many there are"),
    samples=_unique_samples,
    arithmetic="exact",
    doc="The distinct values in order of appearance, which one each is, and how often they occur.",
    kinks="it has no gradient: asking for one is a LookupError, as in TensorFlow",
)


def _left(ctx: InferContext) -> tuple[TensorType, TensorType]:
    dtype = one_dtype(ctx)
    if dtype.is_complex or dtype is DType.BOOL:
        raise wrong_type(ctx, dtype, "real numbers or strings")
    for index, name in enumerate("xy"):
        _vector(ctx, index, f"{name} should be")
    return TensorType(dtype, Shape.of(None)), TensorType(DType(ctx.attr("out_idx")), Shape.of(None))


def _difference(xp: Any, x: Any, y: Any, *, out_idx: DType) -> Any:
    for name, value in (("x", x), ("y", y)):
        if value.ndim != 1:
            raise GradstepError(f"{name} should be a 1D vector.")
    kept = xp.argwhere(~xp.isin(x, y)).reshape(-1)
    return xp.take(x, kept), kept.astype(DType(out_idx).numpy)


op(
    "ListDiff",
    inputs="x y",
    outputs="out idx",
    attrs={"out_idx": DType.INT32},
    choices={"out_idx": INDEX},
    type_attrs={"T": "x"},
    formula="x[~isin(x, y)]",
    infer=_left,
    kernel=Kernels(_difference, asks="how many there are"),
    samples=lambda rng: [
        Sample((ints(1, 2, 3, 4, 2), ints(2, 5))),
        Sample((np.array([0.5, np.nan, 1.0]), np.array([np.nan, 1.0]))),
        Sample((ints(1, 1), ints())),
    ],
    arithmetic="exact",
    doc="The values of x that y lacks, in order, and their indices in x.",
    kinks="it has no gradient: asking for one is a LookupError, as in TensorFlow",
)
