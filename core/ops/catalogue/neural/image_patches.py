"""ExtractImagePatches: what a sliding window sees of images, laid out as channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural.image_blocks import every_tap
from gradstep.core.ops.catalogue.neural.sliding_windows import (
    Axis,
    Slide,
    known_sizes,
    require_rank,
)
from gradstep.core.ops.catalogue.neural.window_attributes import (
    MAX_INT32,
    PADDINGS,
    check_slide,
    require_int32,
    unimplemented,
    wrong,
)
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import wrong_type
from gradstep.core.ops.typing.static_values import shape_of

_LISTS = ("ksizes", "strides", "rates")
_WRITTEN = 512  # filters that are written into the graph; more of them are made as it runs


def _slide(attrs: Mapping[str, Any]) -> Slide:
    for name in _LISTS:
        values = attrs[name]
        require_int32(name, values)
        if len(values) != 4:
            raise wrong(
                f"ExtractImagePatches requires the {name} attribute to contain 4 values, but got: "
                f"{len(values)}",
                hint="one number for each axis of the images",
            )
        if values[0] != 1 or values[3] != 1:
            raise unimplemented(
                f"Current implementation does not yet support {name} in the batch and depth "
                "dimensions.",
                hint="windows slide along the spatial axes only",
            )
        if min(values) < 1:
            raise wrong(f"{name} must be positive, but got {min(values)}")
    sliding = {key: attrs[key] for key in ("strides", "padding")}
    return check_slide({**sliding, "dilations": attrs["rates"], "data_format": "NHWC"})


def _axes(attrs: Mapping[str, Any], sizes: Sequence[int]) -> tuple[Axis, ...]:
    return _slide(attrs).axes(sizes[1:3], attrs["ksizes"][1:3])


def _cut(ctx: InferContext) -> TensorType:
    kind = ctx.types[0]
    if kind.dtype in (DType.STRING, DType.RESOURCE, DType.VARIANT):
        raise wrong_type(ctx, kind.dtype, "images of numbers or bool")
    sizes, ksizes = known_sizes(kind, 4), ctx.attr("ksizes")
    require_rank("images", sizes, 4)
    slide = _slide({name: ctx.attr(name) for name in (*_LISTS, "padding")})
    taps = prod(ksizes[1:3])
    if taps * (sizes[3] or 1) > MAX_INT32:
        raise wrong(
            f"a patch of {taps} pixels has more channels than a tensor can have",
            hint="make ksizes smaller",
        )
    channels = None if sizes[3] is None else sizes[3] * taps
    return TensorType(
        kind.dtype, Shape((sizes[0], *slide.out_sizes(sizes[1:3], ksizes[1:3]), channels))
    )


def _patches(xp: Any, x: Any, *, op: Operation) -> Any:
    """One tap of all windows at a time; what lies outside is 0."""
    axes = _axes(op.attrs, x.shape)
    taps = prod(axis.window for axis in axes)
    out = xp.zeros((x.shape[0], *(axis.out for axis in axes), taps, x.shape[3]), x.dtype)
    for number, (_, outputs, elements) in enumerate(every_tap(axes)):
        out[(*outputs, number)] = x[elements]
    return out.reshape((*out.shape[:3], -1 if x.size else taps * x.shape[3]))


def _gradient(op: OpView, g: Tensor) -> Tensor:
    """As for a convolution with a filter for each element of a window: 1 at the element, else 0."""
    x, window = op.inputs[0], op.get_attr("ksizes")[1:3]
    sizes = shape_of(x)
    return call(
        "Conv2DBackpropInput",
        sizes,
        _picking(g, window, sizes[3]),
        g,
        strides=op.get_attr("strides"),
        dilations=op.get_attr("rates"),
        padding=op.get_attr("padding"),
    )


def _picking(g: Tensor, window: Sequence[int], channels: Any) -> Any:
    """[*window, channels, window's elements]: the filters. channels: a number, or a tensor."""
    count = prod(window) * channels
    if not isinstance(channels, Tensor) and count <= _WRITTEN:
        return np.eye(int(count), dtype=g.dtype.numpy).reshape((*window, int(channels), -1))
    ones = call("Fill", call("Pack", count), np.ones((), g.dtype.numpy))
    rows = [*(np.int32(size) for size in window), channels, count]
    return call("Reshape", call("MatrixDiag", ones), call("Pack", *rows))


def _samples(rng: np.random.Generator) -> list[Sample]:
    def sample(size: tuple[int, ...], *lists: tuple[int, int], padding: str) -> Sample:
        attrs = {name: (1, *pair, 1) for name, pair in zip(_LISTS, lists, strict=True)}
        return Sample((rng.normal(size=size),), {**attrs, "padding": padding})

    return [
        sample((2, 4, 3, 2), (2, 2), (1, 1), (1, 1), padding="VALID"),
        sample((1, 5, 4, 1), (3, 2), (2, 2), (1, 1), padding="SAME"),
        sample((1, 5, 5, 1), (2, 2), (1, 1), (2, 2), padding="SAME"),
    ]


op(
    "ExtractImagePatches",
    inputs="images",
    outputs="patches",
    attrs={"ksizes": tuple, "strides": tuple, "rates": tuple, "padding": str},
    type_attrs={"T": "images"},
    choices={"padding": PADDINGS},
    formula="patches(images, ksizes, strides, rates, padding)",
    infer=_cut,
    kernel=_patches,
    gradient=_gradient,
    samples=_samples,
    arithmetic="exact",
    doc="Every window's pixels, row by row, as the channels of one pixel.",
    differs="the gradient is a convolution's; TensorFlow multiplies by a sparse matrix",
)
