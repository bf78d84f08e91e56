"""Blocks for images [batch, height, width, channels]: convolution, pools, inverse warp."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.layers.block_settings import choice, sizes, whole
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.layers.dense_layers import ACTIVATION, BIAS, INITIALIZER
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call

_IMAGE = "inputs:float32[1,4,4,2]"
_PADDING = choice("valid keeps to the image; same pads it with zeros", "valid", "same")
_STRIDES = sizes((1, 1), "how far apart windows are, down and across")
_POOL: dict[str, Any] = {
    "pool_size": sizes((2, 2), "height and width of a window"),
    "strides": sizes((2, 2), "how far apart windows are, down and across"),
    "padding": _PADDING,
}


@block(
    "conv2d",
    _IMAGE,
    "The same kernel at each place of an image. Source: tf.layers.conv2d.",
    weights=True,
    filters=whole(3, "how many channels come out"),
    kernel_size=sizes((3, 3), "height and width of the kernel"),
    strides=_STRIDES,
    padding=_PADDING,
    activation=ACTIVATION,
    use_bias=BIAS,
    kernel_initializer=INITIALIZER,
)
def conv2d(inputs: Tensor, **how: Any) -> Outputs:
    return tf.layers.conv2d(inputs, **how, name=tf.get_variable_scope())


@block(
    "max_pool",
    _IMAGE,
    "The largest of each window; the gradient goes to that one. Source: tf.layers.max_pooling2d.",
    **_POOL,
)
def max_pool(inputs: Tensor, **how: Any) -> Outputs:
    return tf.layers.max_pooling2d(inputs, **how, name=tf.get_variable_scope())


@block(
    "avg_pool",
    _IMAGE,
    "The mean of each window; padding does not count. Source: tf.layers.average_pooling2d.",
    **_POOL,
)
def avg_pool(inputs: Tensor, **how: Any) -> Outputs:
    return tf.layers.average_pooling2d(inputs, **how, name=tf.get_variable_scope())


@block(
    "inverse_warp",
    "image:float32[1,3,4,2] flow:float32[1,3,4,2]",
    "Each pixel from where its flow points to, between pixels bilinearly. The gradient to the flow "
    "comes through the four weights alone. Source: Jaderberg et al. 2015, arXiv:1506.02025.",
)
def inverse_warp(image: Tensor, flow: Tensor) -> Outputs:
    """image [batch, height, width, channels]; flow [batch, height, width, 2], columns first; like
    image. Corners outside are those of the border; weights are not clipped."""
    batch, height, width = _sizes(image)
    rows, columns = np.arange(height), np.arange(width)
    x = _channel(flow, 0) + columns[None, None, :].astype(flow.dtype.numpy)
    y = _channel(flow, 1) + rows[None, :, None].astype(flow.dtype.numpy)
    left, top = tf.floor(x), tf.floor(y)
    right, below = left + 1.0, top + 1.0
    samples = np.arange(batch, dtype=np.int32).repeat(height * width).reshape(batch, height, width)

    def corner(row: Tensor, column: Tensor) -> Tensor:
        places = (samples, _place(row, height), _place(column, width))
        return call("GatherNd", image, tf.stack(places, axis=3))

    def weighted(weight: Tensor, pixels: Tensor) -> Tensor:
        return call("ExpandDims", weight, np.array(3, np.int32)) * pixels

    return call(
        "AddN",
        weighted((right - x) * (below - y), corner(top, left)),
        weighted((right - x) * (y - top), corner(below, left)),
        weighted((x - left) * (below - y), corner(top, right)),
        weighted((x - left) * (y - top), corner(below, right)),
    )


def _sizes(image: Tensor) -> tuple[int, int, int]:
    if image.shape.rank != 4 or None in (image.shape.dims or ())[:3]:
        raise ValueError(
            f"an inverse warp needs the image's batch, height and width; it is {image.shape}"
        )
    batch, height, width = (image.shape.dims or ())[:3]
    return batch or 0, height or 0, width or 0


def _channel(flow: Tensor, index: int) -> Tensor:
    return flow[..., index]


def _place(position: Tensor, size: int) -> Tensor:
    """The nearest pixel inside."""
    inside = tf.clip_by_value(position, 0.0, float(size - 1))
    return call("Cast", inside, DstT=DType.INT32)
