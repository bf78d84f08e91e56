"""Kernels and gradient rules of convolution and depthwise convolution, for any Method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural.convolution_types import (
    Method,
    check_way_back,
    not_negative,
    out_sizes,
    whole_image,
)
from gradstep.core.ops.catalogue.neural.sliding_windows import Sizes, Slide, certain
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.ufunc import Kernel
from gradstep.core.ops.typing.static_values import shape_of

Kernels = tuple[Kernel, Kernel]  # plain, and with a place for the result


def out_kernels(method: Method) -> Kernels:
    """Kernels of `op(input, filter)`."""

    def compute(xp: Any, x: Any, w: Any, op: Operation, out: Any = None) -> Any:
        slide = Slide.of(op.attrs)
        sizes = out_sizes(method, slide, x.shape, w.shape)
        image, filter = _last(xp, slide, x), _wide(w)
        axes = slide.axes(image.shape[1:-1], filter.shape[:-2])

        def fill(result: Any) -> None:
            method.forward(xp, image, filter, axes, result)

        return _image(xp, slide, sizes, x.dtype, fill, out)

    def kernel(xp: Any, x: Any, w: Any, *, op: Operation) -> Any:
        return compute(xp, x, w, op)

    def out_kernel(xp: Any, x: Any, w: Any, *, op: Operation, out: Any) -> Any:
        return compute(xp, x, w, op, out)

    return kernel, out_kernel


def input_kernels(method: Method) -> Kernels:
    """Kernels of `op(input_sizes, filter, out_backprop)`."""

    def compute(xp: Any, told: Any, w: Any, g: Any, op: Operation, out: Any = None) -> Any:
        slide = Slide.of(op.attrs)
        sizes = whole_image(method, slide, integers(told), w.shape, g.shape)
        check_way_back(method, method.labels[0], slide, sizes, w.shape, g.shape)
        backprop, filter = _last(xp, slide, g), _wide(w)
        axes = slide.axes(certain(slide.split(sizes)[1]), filter.shape[:-2])

        def fill(result: Any) -> None:
            method.to_input(xp, backprop, filter, axes, result)

        return _image(xp, slide, sizes, g.dtype, fill, out)

    def kernel(xp: Any, told: Any, w: Any, g: Any, *, op: Operation) -> Any:
        return compute(xp, told, w, g, op)

    def out_kernel(xp: Any, told: Any, w: Any, g: Any, *, op: Operation, out: Any) -> Any:
        return compute(xp, told, w, g, op, out)

    return kernel, out_kernel


def filter_kernel(method: Method) -> Kernel:
    """Kernel of `op(input, filter_sizes, out_backprop)`."""

    def kernel(xp: Any, x: Any, told: Any, g: Any, *, op: Operation) -> Any:
        slide, sizes = Slide.of(op.attrs), integers(told)
        not_negative(sizes)
        check_way_back(method, method.labels[1], slide, x.shape, sizes, g.shape)
        image, backprop = _last(xp, slide, x), _last(xp, slide, g)
        axes = slide.axes(image.shape[1:-1], sizes[:-2])
        result = xp.empty(sizes, image.dtype)
        method.to_filter(xp, image, backprop, axes, result)
        return result.astype(x.dtype) if result.dtype != x.dtype else result

    return kernel


def _wide(x: Any) -> Any:
    """Half precision is computed in single precision: it is quicker, and sums stay exact."""
    return x.astype("float32") if x.dtype == "float16" else x


def _last(xp: Any, slide: Slide, x: Any) -> Any:
    return slide.channels_last(xp, _wide(x))


def _image(
    xp: Any, slide: Slide, sizes: Sizes, dtype: Any, fill: Callable[[Any], None], out: Any
) -> Any:
    """The image of `sizes` and `dtype` that `fill` writes into an array with the channels last;
    that is `out` itself where it can be."""
    batch, places, channels = slide.split(sizes)
    wide = "float32" if dtype == "float16" else dtype
    if out is not None and not slide.channels_first and wide == dtype and out.flags.c_contiguous:
        fill(out)
        return out
    result = xp.empty((batch, *places, channels), wide)
    fill(result)
    result = slide.back(xp, result if wide == dtype else result.astype(dtype))
    if out is None:
        return result
    out[...] = result
    return out


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
