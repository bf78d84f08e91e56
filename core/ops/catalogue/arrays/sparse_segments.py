"""Chosen rows of a tensor reduced by segments, as embeddings of bags of words need it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.arrays.sorted_segments import count_segments
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import Infer, InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import real, want_rank, wrong_type
from gradstep.core.ops.numerics.index_bounds import (
    bounds_hint,
    check,
    fill_outside,
    resolve,
    subscript,
    want_indices,
)
from gradstep.core.ops.numerics.row_updates import sum_rows
from gradstep.core.ops.typing.static_values import shape_of

# How much a row counts, from the number of rows in its segment.
_Weight = Callable[[Any, Any], Any]  # (xp, numbers) -> what the sum is divided by
_WEIGHTS: dict[str, _Weight] = {
    "Sum": lambda xp, many: xp.ones_like(many),
    "Mean": lambda xp, many: xp.maximum(many, 1),
    "SqrtN": lambda xp, many: xp.sqrt(xp.maximum(many, 1)),
}


def _bags(ctx: InferContext) -> TensorType:
    data = ctx.types[0]
    _want_vectors(ctx)
    if data.shape.rank == 0:
        raise ctx.fail("Shape must be at least rank 1")
    rows = None
    if len(ctx.types) == 4:
        want_rank(ctx, 3, 0)
        given = ctx.constant(3)
        rows = None if given is None else _segments(given)
    if data.shape.dims is None:
        return TensorType(data.dtype)
    return TensorType(data.dtype, Shape((rows, *data.shape.dims[1:])))


def _want_vectors(ctx: InferContext) -> None:
    for index, name in ((1, "indices"), (2, "segment_ids")):
        want_indices(ctx, index)
        if ctx.types[index].shape.rank not in (None, 1):
            raise ctx.fail(f"{name} should be a vector.")
    _check_sizes(ctx.types[1].shape, ctx.types[2].shape)


def _check_sizes(indices: Shape, ids: Shape) -> None:
    try:
        indices.merge(ids)
    except ValueError:
        raise GradstepError(
            "segment_ids and indices should have same size.", hint="each index has its segment"
        ) from None


def _segments(count: Any) -> int:
    found = integer(count)
    if found < 0:
        raise GradstepError("Cannot specify a negative value for num_segments")
    return found


def _kernel(weight: _Weight) -> Callable[..., Any]:
    def kernel(
        xp: Any, data: Any, indices: Any, ids: Any, *number: Any, rules: Rules = TF_CPU
    ) -> Any:
        _check_sizes(Shape(indices.shape), Shape(ids.shape))
        size = data.shape[0]
        safe, outside = resolve(xp, indices, size, rules.gather, rules.negative_ok)
        count, beyond = count_segments(xp, ids, outside)
        if number:
            count = _enough(count, _segments(number[0]))
        if rules.gather == "raise":
            if beyond:
                check(xp, outside, lambda place: _no_such_row(indices, place, size))
            outside = None
        rows = fill_outside(xp, xp.take(data, safe, axis=0), outside, 0)
        total = sum_rows(xp, rows, ids, None, count)
        if data.dtype.kind != "f":  # the sum: others take no integers
            return total
        return total / weight(xp, _numbers(xp, ids, count, data))

    return kernel


def _enough(needed: int, given: int) -> int:
    if needed > given:
        raise GradstepError(
            "segment ids must be < num_segments", hint=f"there are {given} segments"
        )
    return given


def _numbers(xp: Any, ids: Any, count: int, like: Any) -> Any:
    """How many rows each segment has, lined up with the rows of `like` and of its type."""
    many = sum_rows(xp, xp.ones(ids.shape, dtype=like.dtype), ids, None, count)
    return many.reshape((count,) + (1,) * (like.ndim - 1))


def _no_such_row(indices: Any, place: tuple[int, ...], size: int) -> GradstepError:
    return GradstepError(
        f"Bad: indices{subscript(place)} == {indices[place].item()} out of range [0, {size})",
        index=place,
        hint=bounds_hint(size),
    )


def _spread(name: str) -> Callable[[OpView, Tensor], list[Tensor | None]]:
    def gradient(op: OpView, g: Tensor) -> list[Tensor | None]:
        data, indices, ids = op.inputs[:3]
        dense = call(f"SparseSegment{name}Grad", g, indices, ids, _first_size(data))
        return [dense, *[None] * (len(op.inputs) - 1)]

    return gradient


def _first_size(x: Tensor) -> Tensor | np.ndarray:
    if x.shape.dims and x.shape.dims[0] is not None:
        return np.array(x.shape.dims[0], np.int32)
    return call("GatherV2", shape_of(x), np.array(0, np.int32), np.array(0, np.int32))


def _back_type(ctx: InferContext) -> TensorType:
    _want_vectors(ctx)
    want_rank(ctx, 3, 0)
    g, size = ctx.types[0], ctx.constant(3)
    if g.shape.rank == 0:
        raise ctx.fail("Shape must be at least rank 1")
    if g.shape.dims is None:
        return TensorType(g.dtype)
    rows = None if size is None else _rows(size)
    return TensorType(g.dtype, Shape((rows, *g.shape.dims[1:])))


def _rows(size: Any) -> int:
    found = integer(size)
    if found < 0:
        raise GradstepError("Cannot specify a negative value for output_dim0")
    return found


def _back(weight: _Weight) -> Callable[..., Any]:
    def kernel(xp: Any, g: Any, indices: Any, ids: Any, output_dim0: Any) -> Any:
        _check_sizes(Shape(indices.shape), Shape(ids.shape))
        size, segments = _rows(output_dim0), g.shape[0]
        if ids.size == 0:
            return xp.zeros((size, *g.shape[1:]), dtype=g.dtype)
        ends = [xp.min(ids), xp.max(ids), xp.min(indices), xp.max(indices)]
        _check_ends([int(x) for x in xp.stack(ends).tolist()], segments, size)
        scaled = g / weight(xp, _numbers(xp, ids, segments, g))
        return sum_rows(xp, xp.take(scaled, ids, axis=0), indices, None, size)

    return kernel


def _check_ends(ends: list[int], segments: int, size: int) -> None:
    """Raises GradstepError for the smallest and largest segment and index that are outside."""
    first_id, last_id, first, last = ends
    if last_id >= segments:
        raise GradstepError("Invalid number of segments", hint=f"there are {segments}")
    if first_id < 0:
        raise GradstepError(f"Segment id {first_id} out of range [0, {segments}).")
    for index in (first, last):
        if not 0 <= index < size:
            raise GradstepError(f"Index {index} out of range [0, {size}).", hint=bounds_hint(size))


def _samples(number: int | None) -> Any:
    extra = () if number is None else (np.int32(number),)
    return lambda rng: [
        Sample((rng.normal(size=shape), ints(*indices), ints(*ids), *extra))
        for shape, indices, ids in (
            ((3, 2), (0, 2, 1, 0), (0, 0, 1, 3)),
            ((3,), (2, 2), (1, 1)),
            ((3, 2), (), ()),
        )
    ]


def _back_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.normal(size=(3, 2)), ints(0, 2, 1, 0), ints(0, 0, 1, 2), np.int32(4))),
        Sample((rng.normal(size=(2,)), ints(), ints(), np.int32(3))),
    ]


_TYPES = {
    "T": "data",
    "Tidx": "indices",
    "Tsegmentids": "segment_ids",
}
_WORDS = {
    "Sum": ("sum", "The sum"),
    "Mean": ("mean", "The mean"),
    "SqrtN": ("root_mean", "The sum over the square root of the number"),
}
_DIFFERS = "the gradient is dense even if sparse_gradient asks for rows"


_ASKS = "the last segment id, and whether ids ascend"


def _declare(name: str) -> None:
    reduce, words = _WORDS[name]
    rule = real if name == "Sum" else _of_floats
    for numbered in (False, True):
        count = "num_segments" if numbered else "last(segment_ids)"
        op(
            f"SparseSegment{name}{'WithNumSegments' if numbered else ''}",
            inputs=f"data indices segment_ids{' #num_segments:int32,int64' if numbered else ''}",
            attrs={"sparse_gradient": False},
            type_attrs={**_TYPES, "Tnumsegments": "num_segments"} if numbered else _TYPES,
            formula=f"segments(take(data, indices, 0), segment_ids, {count}, {reduce}, 0)",
            infer=rule(_bags),
            kernel=Kernels(_kernel(_WEIGHTS[name]), asks=_ASKS),
            gradient=_spread(name),
            samples=_samples(5 if numbered else None),
            arithmetic="reducing",
            python="" if numbered else f"sparse_segment_{_PYTHON[name]}",
            doc=f"{words} of the rows that the indices name in each segment; ids ascend.",
            differs=_DIFFERS,
        )
    op(
        f"SparseSegment{name}Grad",
        inputs="grad indices segment_ids #output_dim0:int32",
        type_attrs={**_TYPES, "T": "grad"},
        formula=f"spread_rows(grad, indices, segment_ids, output_dim0, '{name}')",
        infer=_of_floats(_back_type),
        kernel=Kernels(_back(_WEIGHTS[name]), asks="whether ids and indices are inside"),
        samples=_back_samples,
        arithmetic="reducing",
        doc=f"The gradient of SparseSegment{name}: each row's share, added up where it came from.",
        kinks="it has no gradient: asking for one is a LookupError, as in TensorFlow",
        differs="without any index it is 0; TensorFlow leaves what was in the memory",
    )


_PYTHON = {"Sum": "sum", "Mean": "mean", "SqrtN": "sqrt_n"}


def _of_floats(rule: Infer) -> Infer:
    """`rule`, for a first input of floating-point numbers."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        if not ctx.types[0].dtype.is_floating:
            raise wrong_type(ctx, ctx.types[0].dtype, "floating-point numbers")
        return rule(ctx)

    return checked


for _name in _WEIGHTS:
    _declare(_name)
