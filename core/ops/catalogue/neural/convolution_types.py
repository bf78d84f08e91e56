"""What convolution and depthwise convolution have in common: which sizes fit, and type rules.

Each comes as three ops: the output, and the gradients of the input and of the filter. They differ
in a Method; the formats of images, the checks and the element types are the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.catalogue.neural.sliding_windows import (
    Axis,
    Size,
    Sizes,
    Slide,
    differ,
    known_sizes,
    require_rank,
)
from gradstep.core.ops.catalogue.neural.window_attributes import convolution_slide
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.shape_rules import one_dtype
from gradstep.core.ops.declare.table import Infer, InferContext
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type
from gradstep.core.ops.declare.ufunc import Calls

# (xp, one array, the other, axes, place for the result, room) -> the calls that compute it; images
# have the channels last, arrays are contiguous
Algorithm = Callable[[Any, Any, Any, Sequence[Axis], Any, Any], Calls]


@dataclass(frozen=True, slots=True)
class Method:
    """One way to convolve.

    name:      what TensorFlow's messages about attributes call it.
    types:     the op types of the output and of the gradients of input and filter.
    labels:    what TensorFlow's messages call the two gradients.
    integers:  whether it and the gradient of its input take int32.
    depthwise: whether the filter has a plane for each channel.
    outputs:   the channels of the output, for those of the input and the filter's sizes; raises
               GradstepError where these do not fit.
    """

    name: str
    types: tuple[str, str, str]
    labels: tuple[str, str]
    integers: bool
    depthwise: bool
    outputs: Callable[[Size, Sizes], Size]
    forward: Algorithm
    to_input: Algorithm
    to_filter: Algorithm


# -- which sizes fit each other ------------------------------------------------------------------


def out_sizes(method: Method, slide: Slide, image: Sizes, filter: Sizes) -> Sizes:
    """The output's sizes as far as they are known. Raises GradstepError where there is none."""
    for name, sizes in (("input", image), ("filter", filter)):
        require_rank(name, sizes, len(slide.strides))
    batch, sizes, channels = slide.split(image)
    outputs = method.outputs(channels, filter)
    if 0 in filter[:-1]:
        raise GradstepError(
            "filter must not have zero elements (i.e. all dimensions must be non-zero)"
        )
    return slide.joined(batch, slide.out_sizes(sizes, filter[:-2]), outputs)


def check_way_back(
    method: Method, label: str, slide: Slide, image: Sizes, filter: Sizes, found: Sizes
) -> None:
    """Raise GradstepError unless `found` may be the sizes of the output for this input and
    filter."""
    require_rank("out_backprop", found, len(slide.strides))
    wanted = out_sizes(method, slide, image, filter)
    if differ(wanted[0], found[0]):
        raise GradstepError(
            f"{label}: input and out_backprop must have the same batch size. Input batch: "
            f"{wanted[0]}, outbackprop batch: {found[0]}, batch_dim: 0"
        )
    if differ(wanted[slide.channel], found[slide.channel]):
        words = "filter and out_backprop must have the same out_depth"
        if method.depthwise:
            words = "depth_multiplier * in_depth not equal to out_depth"
        raise GradstepError(f"{label}: {words}", hint=_hint(wanted, found))
    for place, window in zip(slide.spatial, filter, strict=False):
        if differ(wanted[place], found[place]):
            what, details = _misfit(method, slide, place)
            details = details.format(image[place], window, found[place])
            raise GradstepError(
                f"{label}: {what} of out_backprop doesn't match computed: actual = "
                f"{found[place]}, computed = {wanted[place]}{details}",
                hint=_hint(wanted, found),
            )


def _misfit(method: Method, slide: Slide, place: int) -> tuple[str, str]:
    """How TensorFlow calls a spatial axis, and what it tells about its sizes."""
    if method.depthwise:
        return f"Number of {'rows' if place == slide.spatial[0] else 'cols'}", ""
    return "Size", (
        f" spatial_dim: {place} input: {{}} filter: {{}} output: {{}} "
        f"stride: {slide.strides[place]} dilation: {slide.dilations[place]}"
    )


def _hint(wanted: Sizes, found: Sizes) -> str:
    return f"the output has shape {Shape(wanted)}, out_backprop {Shape(found)}"


def whole_image(method: Method, slide: Slide, sizes: Sizes, filter: Sizes, out: Sizes) -> Sizes:
    """The input's sizes, of which Conv2D's gradient may be told the spatial ones alone."""
    rank = len(slide.strides)
    not_negative(sizes)
    if method.name != "Conv2D":
        require_rank("input_sizes", sizes, rank)
    elif len(sizes) == 2:
        require_rank("filter", filter, rank)
        require_rank("out_backprop", out, rank)
        return slide.joined(slide.split(out)[0], sizes, filter[-2])
    elif len(sizes) != rank:
        raise GradstepError(
            "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: "
            f"{len(sizes)}",
            kind="ValueError",
            hint="the sizes of the input, or of its spatial axes alone",
        )
    return sizes


def not_negative(sizes: Sizes) -> None:
    """Raise GradstepError for sizes that no tensor can have."""
    for size in sizes:
        if size is not None and size < 0:
            raise GradstepError(f"Dimension {size} must be >= 0")


# -- type rules ----------------------------------------------------------------------------------


def out_type(method: Method) -> Infer:
    """Type rule of `op(input, filter)`."""

    def rule(ctx: InferContext) -> TensorType:
        slide, dtype = _slide(ctx, method), _dtype(ctx, method.integers, ctx.types)
        image, filter = (known_sizes(kind, len(slide.strides)) for kind in ctx.types)
        return TensorType(dtype, Shape(out_sizes(method, slide, image, filter)))

    return rule


def input_type(method: Method) -> Infer:
    """Type rule of `op(input_sizes, filter, out_backprop)`."""

    def rule(ctx: InferContext) -> TensorType:
        slide, dtype = _slide(ctx, method), _dtype(ctx, method.integers, ctx.types[1:])
        filter, out = (known_sizes(kind, len(slide.strides)) for kind in ctx.types[1:])
        image = whole_image(method, slide, _told(ctx, 0, slide), filter, out)
        check_way_back(method, method.labels[0], slide, image, filter, out)
        return TensorType(dtype, Shape(image))

    return rule


def filter_type(method: Method) -> Infer:
    """Type rule of `op(input, filter_sizes, out_backprop)`."""

    def rule(ctx: InferContext) -> TensorType:
        slide = _slide(ctx, method)
        dtype = _dtype(ctx, False, (ctx.types[0], ctx.types[2]))
        image, out = (known_sizes(ctx.types[i], len(slide.strides)) for i in (0, 2))
        filter = _told(ctx, 1, slide)
        not_negative(filter)
        check_way_back(method, method.labels[1], slide, image, filter, out)
        return TensorType(dtype, Shape(filter))

    return rule


def _slide(ctx: InferContext, method: Method) -> Slide:
    slide = convolution_slide(ctx, method.name)
    if method.depthwise and len({slide.strides[place] for place in slide.spatial}) > 1:
        raise GradstepError(
            "Current implementation only supports equal length strides in the row and column "
            "dimensions.",
            hint="use Conv2D with groups, or slice the output of equal strides",
        )
    return slide


def _dtype(ctx: InferContext, integers: bool, types: tuple[TensorType, ...]) -> DType:
    """The element type of these tensors: floating-point, or int32 where an op takes `integers`."""
    dtype = one_dtype(ctx, types)
    if dtype.is_floating or (integers and dtype is DType.INT32):
        return dtype
    raise wrong_type(ctx, dtype, "floating-point numbers" + " or int32" * integers)


def _told(ctx: InferContext, index: int, slide: Slide) -> Sizes:
    """The sizes that input `index` holds, or as many unknown ones as there are axes."""
    want_rank(ctx, index, 1)
    value = ctx.constant(index)
    return (None,) * len(slide.strides) if value is None else integers(value)
