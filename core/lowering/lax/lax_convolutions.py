"""JAX's convolutions: any order of axes, strides, gaps in window and input, groups."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.lowering.foreign_graph import ElementType
from gradstep.core.lowering.lax.lax_operands import (
    add_axis,
    cast,
    dims,
    inverse,
    rank,
    reshape,
    scalar,
    transpose,
)
from gradstep.core.lowering.lax.lax_shapes import padded
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

Sizes = Sequence[int]


@lower("conv_general_dilated")
def convolution(
    site: Site,
    lhs: Tensor,
    rhs: Tensor,
    window_strides: Sizes,
    padding: Sequence[Sizes],
    lhs_dilation: Sizes,
    rhs_dilation: Sizes,
    lhs_spec: Sizes,
    rhs_spec: Sizes,
    out_spec: Sizes,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    preferred_element_type: ElementType | None = None,
) -> Tensor:
    """lhs_spec: the axes of examples, channels and space; rhs_spec: of channels out, in, and space.
    Groups follow from the shapes."""
    count = len(window_strides)
    if not 1 <= count <= 3:
        raise UnloweredError("a convolution over other than 1 to 3 axes")
    first = _channels_last(count)
    x = transpose(cast(lhs, site.dtype()), [lhs_spec[i] for i in first])
    x = _of_groups(x, batch_group_count)
    kernel = cast(rhs, site.dtype())
    kernel = transpose(kernel, [*rhs_spec[2:], rhs_spec[1], rhs_spec[0]])
    around = [(b, a, d - 1) for (b, a), d in zip(padding, lhs_dilation, strict=True)]
    x = padded(x, scalar(x, 0), [(0, 0, 0), *around, (0, 0, 0)])
    y = _convolved(x, kernel, window_strides, rhs_dilation)
    return transpose(y, inverse([out_spec[i] for i in first]))


def _channels_last(count: int) -> list[int]:
    """Of (examples, channels, space…), the order with channels behind space."""
    return [0, *range(2, count + 2), 1]


def _of_groups(x: Tensor, count: int) -> Tensor:
    """Groups of examples, each of which goes to channels of its own, as groups of channels."""
    if count == 1:
        return x
    examples, *space, channels = dims(x)
    apart = reshape(x, [count, examples // count, *space, channels])
    order = [*range(1, rank(x)), 0, rank(x)]
    return reshape(transpose(apart, order), [examples // count, *space, count * channels])


def _convolved(x: Tensor, kernel: Tensor, steps: Sizes, gaps: Sizes) -> Tensor:
    """Nothing is padded any more. Of one axis, as of two, the first of size 1."""
    if len(steps) == 1:
        wide = _convolved(add_axis(x, 1), add_axis(kernel, 0), [1, *steps], [1, *gaps])
        return reshape(wide, [size for i, size in enumerate(dims(wide)) if i != 1])
    volumes = rank(x) == 5
    return call(
        "Conv3D" if volumes else "Conv2D",
        x,
        kernel,
        strides=(1, *steps, 1),
        padding="VALID",
        dilations=(1, *gaps, 1),
        data_format="NDHWC" if volumes else "NHWC",
    )
