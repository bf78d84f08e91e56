"""Functions of `tf.layers` for images: convolutions with kernels of their own, and pools.

Source: TensorFlow 1's layers/convolutional.py and pooling.py. Images are [batch, height, width,
channels]; of data formats there is channels_last alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradstep.core.ops.api.tf_creation import constant
from gradstep.core.ops.api.tf_dense_layers import Activation, activated, last_size, layer_scope
from gradstep.core.ops.api.tf_scopes import Scope, get_variable
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call
from gradstep.core.ops.build.variable_scopes import Reuse

Pair = int | tuple[int, int]


def conv2d(
    inputs: TensorLike,
    filters: int,
    kernel_size: Pair,
    strides: Pair = (1, 1),
    padding: str = "valid",
    dilation_rate: Pair = (1, 1),
    activation: Activation = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = "zeros",
    trainable: bool = True,
    name: Scope = None,
    reuse: Reuse = None,
) -> Tensor:
    """A convolution with kernel [height, width, channels, filters] and bias [filters]."""
    with layer_scope(name, "conv2d", reuse, inputs):
        x = constant(inputs)
        shape = (*pair(kernel_size, "kernel_size"), last_size(x, "a Conv2D layer"), filters)
        kernel = get_variable("kernel", shape, x.dtype, kernel_initializer, trainable)
        y = call(
            "Conv2D",
            x,
            kernel,
            strides=(1, *pair(strides, "strides"), 1),
            padding=padding.upper(),
            dilations=(1, *pair(dilation_rate, "dilation_rate"), 1),
        )
        if use_bias:
            bias = get_variable("bias", (filters,), x.dtype, bias_initializer, trainable)
            y = call("BiasAdd", y, bias)
        return activated(y, activation)


def pair(value: Pair, name: str) -> tuple[int, int]:
    """Height and width; one number is both. Raises ValueError for anything else."""
    sizes = (value, value) if isinstance(value, int) else tuple(value)
    if len(sizes) != 2:
        raise ValueError(
            f"The `{name}` argument must be a tuple of 2 integers. Received {value} of length "
            f"{len(sizes)}."
        )
    if min(sizes) < 1:
        raise ValueError(f"The `{name}` argument must be positive. Received {value}.")
    return sizes


def _pooling(op_type: str, default: str, doc: str) -> Callable[..., Tensor]:
    def function(
        inputs: TensorLike,
        pool_size: Pair,
        strides: Pair,
        padding: str = "valid",
        name: Scope = None,
    ) -> Tensor:
        with layer_scope(name, default, None, inputs):
            return call(
                op_type,
                constant(inputs),
                ksize=(1, *pair(pool_size, "pool_size"), 1),
                strides=(1, *pair(strides, "strides"), 1),
                padding=padding.upper(),
            )

    function.__name__ = default
    function.__doc__ = doc
    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "layers.average_pooling2d": _pooling(
        "AvgPool", "average_pooling2d", "The mean of each window; padding does not count."
    ),
    "layers.conv2d": conv2d,
    "layers.max_pooling2d": _pooling(
        "MaxPool", "max_pooling2d", "The largest of each window, in each channel."
    ),
}
