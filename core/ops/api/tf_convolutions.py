"""Functions of `tf.nn` that convolve.

Numbers for strides and dilations may be one for all spatial axes, one for each, or one for
every axis of the input; padding may be a list of pairs instead of a name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradstep.core.ops.api.tf_creation import constant, ints
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call

Numbers = int | Sequence[int] | None
Padding = str | Sequence[Sequence[int]]


def chosen(names: str, first: Any, second: Any) -> Any:
    """The value of an argument that has two names."""
    if (first is None) == (second is None):
        raise ValueError(f"Exactly one of the arguments {names} must be given")
    return second if first is None else first


def sequence(value: Numbers, spatial: int, data_format: str, name: str) -> tuple[int, ...]:
    """`value` with a number for every axis."""
    if value is None:
        return (1,) * (spatial + 2)
    values = (value,) if isinstance(value, int | np.integer) else tuple(value)
    if len(values) == spatial + 2:
        return values
    if len(values) not in (1, spatial):
        raise ValueError(
            f"{name} should be of length 1, {spatial} or {spatial + 2}. "
            f"Received: {name}={list(values)} of length {len(values)}"
        )
    inner = values * spatial if len(values) == 1 else values
    return (1, 1, *inner) if data_format.startswith("NC") else (1, *inner, 1)


def padding_attributes(padding: Padding) -> dict[str, Any]:
    """The attributes that say it."""
    if padding == "EXPLICIT":
        raise ValueError(
            "'EXPLICIT' is not a valid value for `padding`. To use explicit padding, `padding` "
            "must be a list."
        )
    if isinstance(padding, str):
        return {"padding": padding}
    if len(padding) != 4 or any(len(pair) != 2 for pair in padding):
        raise ValueError(
            "When `padding` is a list, it must be of 4 pairs: before and after each axis. "
            f"Received: padding={padding}"
        )
    return {"padding": "EXPLICIT", "explicit_paddings": tuple(n for pair in padding for n in pair)}


def _window(
    strides: Numbers, padding: Padding, data_format: str | None, dilations: Numbers = None
) -> dict[str, Any]:
    """The attributes of a convolution."""
    given = data_format or "NHWC"
    return {
        "strides": sequence(strides, 2, given, "strides"),
        "dilations": sequence(dilations, 2, given, "dilations"),
        "data_format": given,
        **padding_attributes(padding),
    }


def conv2d(
    input: TensorLike,
    filter: TensorLike = None,
    strides: Numbers = None,
    padding: Padding = "VALID",
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Numbers = None,
    name: str | None = None,
    filters: TensorLike = None,
) -> Tensor:
    weights = chosen("'filter' and 'filters'", filter, filters)
    attrs = _window(strides, padding, data_format, dilations)
    return call("Conv2D", input, weights, use_cudnn_on_gpu=use_cudnn_on_gpu, **attrs, name=name)


def conv2d_transpose(
    value: TensorLike = None,
    filter: TensorLike = None,
    output_shape: TensorLike = None,
    strides: Numbers = None,
    padding: Padding = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike = None,
    filters: TensorLike = None,
    dilations: Numbers = None,
) -> Tensor:
    """The gradient of a convolution, taken for an op of its own ("deconvolution")."""
    image = chosen("'input' and 'value'", value, input)
    weights = chosen("'filter' and 'filters'", filter, filters)
    attrs = _window(strides, padding, data_format, dilations)
    made = name or "conv2d_transpose"
    return call("Conv2DBackpropInput", ints(output_shape), weights, image, **attrs, name=made)


def conv2d_backprop_input(
    input_sizes: TensorLike,
    filter: TensorLike = None,
    out_backprop: TensorLike = None,
    strides: Numbers = None,
    padding: Padding = "VALID",
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Numbers = None,
    name: str | None = None,
    filters: TensorLike = None,
) -> Tensor:
    weights = chosen("'filter' and 'filters'", filter, filters)
    attrs = _window(strides, padding, data_format, dilations)
    attrs["use_cudnn_on_gpu"] = use_cudnn_on_gpu
    sizes = ints(input_sizes)
    return call("Conv2DBackpropInput", sizes, weights, out_backprop, **attrs, name=name)


def conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: TensorLike,
    out_backprop: TensorLike,
    strides: Numbers = None,
    padding: Padding = "VALID",
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Numbers = None,
    name: str | None = None,
) -> Tensor:
    attrs = _window(strides, padding, data_format, dilations)
    attrs["use_cudnn_on_gpu"] = use_cudnn_on_gpu
    return call("Conv2DBackpropFilter", input, ints(filter_sizes), out_backprop, **attrs, name=name)


def conv1d(
    value: TensorLike = None,
    filters: TensorLike = None,
    stride: Numbers = None,
    padding: str = "VALID",
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = None,
    name: str | None = None,
    input: TensorLike = None,
    dilations: Numbers = None,
) -> Tensor:
    """A convolution along one axis, made of Conv2D on images of one row."""
    signal = constant(chosen("'input' and 'value'", value, input))
    first = (data_format or "NWC") in ("NCW", "NCHW")
    row, image_format = (2, "NCHW") if first else (1, "NHWC")
    attrs = {
        "strides": (1, *sequence(stride, 1, image_format, "stride")),
        "dilations": (1, *sequence(dilations, 1, image_format, "dilations")),
        "padding": padding,
        "data_format": image_format,
        "use_cudnn_on_gpu": use_cudnn_on_gpu,
    }
    with builder_of((signal,)).scope(name or "conv1d") as scope:
        image = call("ExpandDims", signal, np.array(row, np.int32))
        window = call("ExpandDims", constant(filters), np.array(0, np.int32))
        result = call("Conv2D", image, window, **attrs, name=f"{scope}/")
        return call("Squeeze", result, squeeze_dims=(row,))


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Numbers,
    padding: Padding,
    rate: Numbers = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Numbers = None,
) -> Tensor:
    """Each channel by itself. TensorFlow's CPU has no dilations and moves pixels to the batch
    instead (SpaceToBatchND); here the op has them."""
    spread = rate if dilations is None else dilations
    attrs = _window(strides, padding, data_format, spread)
    return call("DepthwiseConv2dNative", input, filter, **attrs, name=name or "depthwise")


def depthwise_conv2d_native(
    input: TensorLike,
    filter: TensorLike,
    strides: Numbers,
    padding: Padding,
    data_format: str | None = "NHWC",
    dilations: Numbers = None,
    name: str | None = None,
) -> Tensor:
    attrs = _window(strides, padding, data_format, dilations)
    return call("DepthwiseConv2dNative", input, filter, **attrs, name=name)


def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: Numbers,
    padding: Padding,
    rate: Numbers = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Numbers = None,
) -> Tensor:
    """A depthwise convolution, and then one that mixes the channels of each pixel."""
    image = constant(input)
    spread = rate if dilations is None else dilations
    attrs = _window(strides, padding, data_format, spread)
    mixing = _window(1, "VALID", data_format)
    with builder_of((image,)).scope(name or "separable_conv2d") as scope:
        planes = call("DepthwiseConv2dNative", image, depthwise_filter, **attrs, name="depthwise")
        return call("Conv2D", planes, pointwise_filter, **mixing, name=f"{scope}/")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "conv1d": conv1d,
    "conv2d": conv2d,
    "conv2d_backprop_filter": conv2d_backprop_filter,
    "conv2d_backprop_input": conv2d_backprop_input,
    "conv2d_transpose": conv2d_transpose,
    "depthwise_conv2d": depthwise_conv2d,
    "depthwise_conv2d_native": depthwise_conv2d_native,
    "separable_conv2d": separable_conv2d,
}
