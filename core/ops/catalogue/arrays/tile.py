"""Tile: repeating a tensor along its axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import shape_from_sizes, want_rank
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.typing.static_values import constant_of, shape_of


def _tiled(ctx: InferContext) -> TensorType:
    source, times = ctx.types[0], ctx.constant(1)
    want_rank(ctx, 1, 1)
    if times is None:
        shape = (
            shape_from_sizes(ctx.types[1].shape)
            if source.shape.dims is None
            else _any(source.shape)
        )
        return TensorType(source.dtype, shape)
    if source.shape.dims is None:
        return TensorType(source.dtype, Shape((None,) * len(integers(times))))
    _check_multiples(integers(times), len(source.shape.dims))
    dims = zip(source.shape.dims, integers(times), strict=True)
    return TensorType(source.dtype, Shape(tuple(None if d is None else d * t for d, t in dims)))


def _any(shape: Shape) -> Shape:
    return UNKNOWN if shape.dims is None else Shape((None,) * len(shape.dims))


def _check_multiples(times: tuple[int, ...], rank: int) -> None:
    """Raises GradstepError unless there is one count for each axis."""
    if len(times) != rank:
        raise GradstepError(
            f"Expected multiples argument to be a vector of length {rank} but got length "
            f"{len(times)}",
            hint="give one multiple for each axis",
        )
    for index, count in enumerate(times):
        if count < 0:
            raise GradstepError(f"Expected multiples[{index}] >= 0, but got {count}")


def _tile(xp: Any, x: Any, multiples: Any) -> Any:
    times = integers(multiples)
    _check_multiples(times, x.ndim)
    return xp.tile(x, times)


def _tile_calls(xp: Any, x: Any, multiples: Any, *, out: Any, room: Any) -> Calls:
    """One copy, with the repeats of each axis as an axis of their own."""
    times = integers(multiples)
    _check_multiples(times, x.ndim)
    split = [n for pair in zip(times, x.shape, strict=True) for n in pair]
    yield np.copyto, out.reshape(split), x.reshape([n for d in x.shape for n in (1, d)])


def _untiled(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    """Split each axis into (repeat, place), and sum over the repeats."""
    x, multiples = op.inputs
    times = constant_of(multiples)
    if times is not None and x.shape.is_static:
        pairs = np.stack([times, np.array(x.shape.static(), times.dtype)], axis=1).reshape(-1)
        split = call("Reshape", g, pairs.astype(np.int32))
        return call("Sum", split, np.arange(0, len(pairs), 2, dtype=np.int32)), None
    stacked = call("Pack", multiples, shape_of(x, multiples.dtype), axis=1)
    sizes = call("Reshape", stacked, np.array([-1], np.int32))
    axes = call("Range", np.array(0, np.int32), call("Size", sizes), np.array(2, np.int32))
    return call("Sum", call("Reshape", g, sizes), axes), None


op(
    "Tile",
    inputs="input #multiples:int32,int64",
    type_attrs={"T": "input", "Tmultiples": "multiples"},
    formula="tile(input, multiples)",
    infer=_tiled,
    kernel=Kernels(_tile, calls=_tile_calls),
    gradient=_untiled,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), ints(2, 1))),
        Sample((rng.normal(size=(3,)), ints(3))),
        Sample((rng.normal(size=()), ints())),
    ],
    arithmetic="exact",
    python="tile",
    doc="The tensor repeated a number of times along each axis.",
)
