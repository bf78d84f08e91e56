"""SpaceToBatchND and BatchToSpaceND: blocks of space moved into the batch, and back."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank

Dims = tuple[int | None, ...]
Margins = list[tuple[int, int]]  # what is added, or taken away, before and after each space axis


def _moved(ctx: InferContext, sizes: Any) -> TensorType:
    """The output's type; `sizes(dims, block, margins)` gives its sizes."""
    source, block, margins = ctx.types[0], ctx.constant(1), ctx.constant(2)
    want_rank(ctx, 1, 1)
    want_rank(ctx, 2, 2)
    if block is None or margins is None or source.shape.dims is None:
        rank = source.shape.rank
        return TensorType(source.dtype, Shape(None if rank is None else (None,) * rank))
    found = sizes(source.shape.dims, *_read(ctx.op.type, len(source.shape.dims), block, margins))
    return TensorType(source.dtype, Shape(found))


def _read(type: str, rank: int, block: Any, margins: Any) -> tuple[tuple[int, ...], Margins]:
    """The block's sizes and the margins. Raises GradstepError when they are none."""
    name = "paddings" if type.startswith("Space") else "crops"
    steps = integers(block)
    if margins.shape != (len(steps), 2):
        raise GradstepError(
            f"{name} should have shape [{len(steps)}, 2]: {brackets(margins.shape)}"
        )
    if rank <= len(steps):
        raise GradstepError(f"input rank should be >= {1 + len(steps)} instead of {rank}")
    if min(steps, default=1) < 1:
        raise GradstepError("block_shape must be positive")
    pairs = [(before, after) for before, after in margins.tolist()]
    if any(min(pair) < 0 for pair in pairs):
        raise GradstepError(f"{name} cannot be negative")
    return steps, pairs


def _batch_sizes(dims: Dims, block: tuple[int, ...], paddings: Margins) -> Dims:
    found = []
    for index, (size, step, pair) in enumerate(zip(dims[1:], block, paddings, strict=False)):
        full = None if size is None else size + sum(pair)
        if full is not None and full % step:
            raise GradstepError(
                f"padded_shape[{index}]={full} is not divisible by block_shape[{index}]={step}"
            )
        found.append(None if full is None else full // step)
    batch = None if dims[0] is None else dims[0] * prod(block)
    return (batch, *found, *dims[1 + len(block) :])


def _space_sizes(dims: Dims, block: tuple[int, ...], crops: Margins) -> Dims:
    if dims[0] is not None and dims[0] % prod(block):
        raise GradstepError(
            f"Input batch dimension ({dims[0]}) is not divisible by product of block sizes "
            f"({prod(block)})"
        )
    found = []
    for index, (size, step, pair) in enumerate(zip(dims[1:], block, crops, strict=False)):
        left = None if size is None else size * step - sum(pair)
        if left is not None and left < 0:
            raise GradstepError(
                f"cropped_shape[{index}]={left} must be non-negative",
                hint="the crops take away more than there is",
            )
        found.append(left)
    batch = None if dims[0] is None else dims[0] // prod(block)
    return (batch, *found, *dims[1 + len(block) :])


def _to_batch(xp: Any, x: Any, block: Any, paddings: Any) -> Any:
    steps, pairs = _read("SpaceToBatchND", x.ndim, block, paddings)
    sizes = _batch_sizes(x.shape, steps, pairs)
    n, rest = len(steps), x.shape[1 + len(steps) :]
    full = xp.pad(x, [(0, 0), *pairs, *[(0, 0)] * len(rest)])
    # [batch, space, block, space, block, …, rest] -> [block…, batch, space…, rest]
    split = [size for pair in zip(sizes[1:], steps, strict=False) for size in pair]
    apart = full.reshape((x.shape[0], *split, *rest))
    order = [*range(2, 2 * n + 1, 2), 0, *range(1, 2 * n, 2), *range(2 * n + 1, apart.ndim)]
    return xp.transpose(apart, order).reshape(sizes)


def _to_space(xp: Any, x: Any, block: Any, crops: Any) -> Any:
    steps, pairs = _read("BatchToSpaceND", x.ndim, block, crops)
    sizes = _space_sizes(x.shape, steps, pairs)
    n = len(steps)
    apart = x.reshape((*steps, sizes[0], *x.shape[1:]))
    woven = [axis for i in range(n) for axis in (n + 1 + i, i)]
    order = [n, *woven, *range(2 * n + 1, apart.ndim)]
    space = [size * step for size, step in zip(x.shape[1:], steps, strict=False)]
    full = xp.transpose(apart, order).reshape((sizes[0], *space, *x.shape[1 + n :]))
    kept = [slice(a, size - b) for (a, b), size in zip(pairs, space, strict=True)]
    return full[(slice(None), *kept)]


def _opposite(type: str) -> Any:
    def gradient(op: OpView, g: Tensor) -> tuple[Tensor, None, None]:
        return call(type, g, *op.inputs[1:]), None, None

    return gradient


def _nd_samples(shapes: Any) -> Any:
    return lambda rng: [
        Sample((rng.normal(size=shape), np.array(block, np.int32), np.array(margins, np.int32)))
        for shape, block, margins in shapes
    ]


op(
    "SpaceToBatchND",
    inputs="input #block_shape:int32,int64 #paddings:int32,int64",
    type_attrs={"T": "input", "Tblock_shape": "block_shape", "Tpaddings": "paddings"},
    formula="blocks_to_batch(input, block_shape, paddings)",
    infer=lambda ctx: _moved(ctx, _batch_sizes),
    kernel=_to_batch,
    gradient=_opposite("BatchToSpaceND"),
    samples=_nd_samples(
        [
            ((2, 3, 2), [2], [[1, 0]]),
            ((1, 4, 3, 1), [2, 3], [[0, 0], [1, 2]]),
        ]
    ),
    arithmetic="exact",
    python="space_to_batch_nd",
    doc="Every block-th element of the space axes, from each start, as a batch of its own.",
)
op(
    "BatchToSpaceND",
    inputs="input #block_shape:int32,int64 #crops:int32,int64",
    type_attrs={"T": "input", "Tblock_shape": "block_shape", "Tcrops": "crops"},
    formula="batch_to_blocks(input, block_shape, crops)",
    infer=lambda ctx: _moved(ctx, _space_sizes),
    kernel=_to_space,
    gradient=_opposite("SpaceToBatchND"),
    samples=_nd_samples(
        [
            ((4, 2, 2), [2], [[1, 0]]),
            ((6, 2, 1, 1), [2, 3], [[0, 0], [1, 2]]),
        ]
    ),
    arithmetic="exact",
    python="batch_to_space_nd",
    doc="The batches woven into each other along the space axes, then cropped.",
)
