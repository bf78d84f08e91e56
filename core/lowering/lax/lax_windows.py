"""JAX's reductions over windows that go over axes: pooling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.lowering.lax.lax_operands import (
    dims,
    ints,
    inverse,
    rank,
    reshape,
    scalar,
    transpose,
)
from gradstep.core.lowering.lax.lax_reductions import least
from gradstep.core.lowering.lax.lax_shapes import padded
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Site
from gradstep.core.ops.build.builder import Tensor, call

Sizes = Sequence[int]


@lower(
    "reduce_window_max",
    "reduce_window_min",
    "reduce_window_sum",
    differs="of equal numbers in a window over one axis, or over more than two, the gradient is "
    "shared",
)
def reduce_window(
    site: Site,
    x: Tensor,
    window_dimensions: Sizes,
    window_strides: Sizes,
    padding: Sequence[Sizes],
    base_dilation: Sizes,
    window_dilation: Sizes,
) -> Tensor:
    """Each axis after the other; the largest of windows over two, in one go."""
    kind = site.variant.rpartition("_")[2]
    empty = scalar(x, 0) if kind == "sum" else least(x, kind == "max")
    around = [(b, a, d - 1) for (b, a), d in zip(padding, base_dilation, strict=True)]
    x = padded(x, empty, around)
    over = [i for i, size in enumerate(window_dimensions) if size > 1 or window_strides[i] > 1]
    plain = {window_dilation[i] for i in over} <= {1} and x.dtype.is_floating
    if kind == "max" and 1 <= len(over) <= 2 and plain and rank(x) >= 2:
        return _largest(x, over, window_dimensions, window_strides)
    for axis in over:
        size, step, gap = (p[axis] for p in (window_dimensions, window_strides, window_dilation))
        x = _reduced({"max": "Max", "min": "Min", "sum": "Sum"}[kind], x, axis, size, step, gap)
    return x


def _reduced(type: str, x: Tensor, axis: int, size: int, step: int, gap: int) -> Tensor:
    """Over windows along one axis, which are laid out beside each other first."""
    count = (dims(x)[axis] - (size - 1) * gap - 1) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(size) * gap
    laid = call("GatherV2", x, places.astype(np.int32), np.int32(axis))
    return call(type, laid, ints([axis + 1]))


def _largest(x: Tensor, over: Sequence[int], sizes: Sizes, steps: Sizes) -> Tensor:
    """The gradient goes to the first of equal numbers, as JAX's does: by the op for images, whose
    two axes lie between those before and those behind them."""
    others = [i for i in range(rank(x)) if i not in over]
    order = [*others[:1], *over, *others[1:]]
    turned = transpose(x, order)
    lengths = dims(turned)
    head, images = lengths[:1], [lengths[1 + i] for i in range(len(over))]
    rest = int(np.prod(lengths[1 + len(over) :]))
    flat = [1] * (2 - len(over))
    pooled = call(
        "MaxPool",
        reshape(turned, [*head, *flat, *images, rest]),
        ksize=(1, *flat, *(sizes[i] for i in over), 1),
        strides=(1, *flat, *(steps[i] for i in over), 1),
        padding="VALID",
    )
    found = dims(pooled)[3 - len(over) : 3]
    return transpose(reshape(pooled, [*head, *found, *lengths[1 + len(over) :]]), inverse(order))
