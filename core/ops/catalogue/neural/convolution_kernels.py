"""Kernels and gradient rules of convolution and depthwise convolution, for any Method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural.convolution_types import (
    Method,
    check_way_back,
    not_negative,
    out_sizes,
    whole_image,
)
from gradstep.core.ops.catalogue.neural.image_blocks import contiguous
from gradstep.core.ops.catalogue.neural.sliding_windows import Sizes, Slide, certain
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.kernel_forms import Kernels, kernels_of
from gradstep.core.ops.declare.ufunc import Calls, Kernel
from gradstep.core.ops.typing.static_values import shape_of


def out_kernels(method: Method) -> Kernels:
    """Kernels of `op(input, filter)`."""

    def sizes(x: Any, w: Any, op: Operation) -> Sizes:
        return out_sizes(method, Slide.of(op.attrs), x.shape, w.shape)

    def calls(xp: Any, x: Any, w: Any, *, op: Operation, out: Any, room: Any) -> Calls:
        slide = Slide.of(op.attrs)
        sizes(x, w, op)  # raises where they do not fit
        image = yield from _last(xp, slide, x, room)
        filter = yield from contiguous(xp, w, wide(w.dtype), room)
        axes = slide.axes(image.shape[1:-1], filter.shape[:-2])
        place = _place(slide, out, room)
        yield from method.forward(xp, image, filter, axes, place, room)
        yield from _given_back(xp, slide, place, out)

    return _kernels(calls, sizes)


def input_kernels(method: Method) -> Kernels:
    """Kernels of `op(input_sizes, filter, out_backprop)`."""

    def sizes(told: Any, w: Any, g: Any, op: Operation) -> Sizes:
        slide = Slide.of(op.attrs)
        found = whole_image(method, slide, integers(told), w.shape, g.shape)
        check_way_back(method, method.labels[0], slide, found, w.shape, g.shape)
        return found

    def calls(xp: Any, told: Any, w: Any, g: Any, *, op: Operation, out: Any, room: Any) -> Calls:
        slide, whole = Slide.of(op.attrs), sizes(told, w, g, op)
        backprop = yield from _last(xp, slide, g, room)
        filter = yield from contiguous(xp, w, wide(w.dtype), room)
        axes = slide.axes(certain(slide.split(whole)[1]), filter.shape[:-2])
        place = _place(slide, out, room)
        yield from method.to_input(xp, backprop, filter, axes, place, room)
        yield from _given_back(xp, slide, place, out)

    return _kernels(calls, sizes)


def filter_kernels(method: Method) -> Kernels:
    """Kernels of `op(input, filter_sizes, out_backprop)`."""

    def sizes(x: Any, told: Any, g: Any, op: Operation) -> Sizes:
        found = integers(told)
        not_negative(found)
        check_way_back(method, method.labels[1], Slide.of(op.attrs), x.shape, found, g.shape)
        return found

    def calls(xp: Any, x: Any, told: Any, g: Any, *, op: Operation, out: Any, room: Any) -> Calls:
        slide, filter = Slide.of(op.attrs), certain(sizes(x, told, g, op))
        image = yield from _last(xp, slide, x, room)
        backprop = yield from _last(xp, slide, g, room)
        axes = slide.axes(image.shape[1:-1], filter[:-2])
        place = _writable(out, room)
        yield from method.to_filter(xp, image, backprop, axes, place, room)
        if place is not out:
            yield xp.copyto, out, place

    return _kernels(calls, sizes)


def _kernels(calls: Kernel, sizes: Callable[..., Sizes]) -> Kernels:
    """Kernels that are these calls, of a result of these sizes."""

    def empty(xp: Any, *inputs: Any, op: Operation) -> Any:
        return xp.empty(sizes(*inputs, op), inputs[-1].dtype)

    return kernels_of(calls, empty)


def wide(dtype: Any) -> Any:
    """Half precision is computed in single precision: it is quicker, and sums stay exact."""
    return np.dtype(np.float32) if dtype == "float16" else dtype


def _last(xp: Any, slide: Slide, x: Any, room: Any) -> Any:
    """`x` with the channels last, in contiguous memory, once the calls given are made."""
    x = slide.channels_last(xp, x)
    return (yield from contiguous(xp, x, wide(x.dtype), room))


def _writable(out: Any, room: Any) -> Any:
    """`out` itself where algorithms can write into it."""
    if out.flags.c_contiguous and wide(out.dtype) == out.dtype:
        return out
    return room(out.shape, wide(out.dtype))


def _place(slide: Slide, out: Any, room: Any) -> Any:
    """Where the image `out` is made, with the channels last: there itself where that can be."""
    if not slide.channels_first:
        return _writable(out, room)
    batch, channels, *places = out.shape
    return room((batch, *places, channels), wide(out.dtype))


def _given_back(xp: Any, slide: Slide, place: Any, out: Any) -> Calls:
    if place is not out:
        yield xp.copyto, out, slide.back(xp, place)


# -- gradients: TensorFlow's, by the other two ops of the method ---------------------------------


def out_gradient(method: Method) -> Callable[[OpView, Tensor], list[Tensor | None]]:
    _, to_input, to_filter = method.types

    def rule(op: OpView, g: Tensor) -> list[Tensor | None]:
        (x, w), attrs = op.inputs, _attributes(op)
        return [
            call(to_input, shape_of(x), w, g, **attrs),
            call(to_filter, x, shape_of(w), g, **attrs),
        ]

    return rule


def input_gradient(method: Method) -> Callable[[OpView, Tensor], list[Tensor | None]]:
    out, _, to_filter = method.types

    def rule(op: OpView, g: Tensor) -> list[Tensor | None]:
        (_, w, backprop), attrs = op.inputs, _attributes(op)
        return [
            None,
            call(to_filter, g, shape_of(w), backprop, **attrs),
            call(out, g, w, **attrs),
        ]

    return rule


def filter_gradient(method: Method) -> Callable[[OpView, Tensor], list[Tensor | None]]:
    out, to_input, _ = method.types

    def rule(op: OpView, g: Tensor) -> list[Tensor | None]:
        (x, _, backprop), attrs = op.inputs, _attributes(op)
        return [
            call(to_input, shape_of(x), g, backprop, **attrs),
            None,
            call(out, x, g, **attrs),
        ]

    return rule


def _attributes(op: OpView) -> dict[str, Any]:
    """The attributes that were given; the other two ops have the same."""
    return {k: v for k, v in op.operation.attrs.items() if k in _SHARED}


_SHARED = frozenset(
    "strides padding explicit_paddings data_format dilations use_cudnn_on_gpu".split()
)
