"""Blocks that are functions of one or two tensors: clipping, norms, moments, grids."""

from __future__ import annotations

from typing import Any

from gradstep.core.layers.block_settings import number, sizes, whole
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor


@block(
    "clip_by_value",
    "t:float32[2,3]",
    "Values below the least or above the greatest become those. Source: tf.clip_by_value.",
    clip_value_min=number(-1.0, "the least value"),
    clip_value_max=number(1.0, "the greatest value"),
)
def clip_by_value(t: Tensor, **limits: Any) -> Outputs:
    return tf.clip_by_value(t, **limits)


@block(
    "l2_normalize",
    "x:float32[2,3]",
    "Rows of length one along an axis. Source: tf.nn.l2_normalize.",
    axis=whole(-1, "the axis of the rows", least=-8),
)
def l2_normalize(x: Tensor, **how: Any) -> Outputs:
    return tf.nn.l2_normalize(x, **how)


@block(
    "moments",
    "x:float32[4,3]",
    "Mean and variance along an axis. Source: tf.nn.moments.",
    axes=sizes((0,), "the axes that are summed over", least=None),
)
def moments(x: Tensor, axes: tuple[int, ...]) -> Outputs:
    return tf.nn.moments(x, list(axes))


@block(
    "meshgrid",
    "x:float32[3] y:float32[2]",
    "Two vectors as the coordinates of a grid. Source: tf.meshgrid.",
)
def meshgrid(x: Tensor, y: Tensor) -> Outputs:
    return tf.meshgrid(x, y)
