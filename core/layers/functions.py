"""Functions of one or two tensors that are several operations."""

from __future__ import annotations

from typing import Any

from core.layers.block import block
from core.ops import api as tf
from core.ops.builder import Tensor


@block(
    "clip_by_value",
    "t:float32[2,3]",
    "Values below the least or above the greatest become those.",
    clip_value_min=-1.0,
    clip_value_max=1.0,
)
def clip_by_value(t: Tensor, **limits: Any) -> None:
    tf.clip_by_value(t, **limits)


@block("l2_normalize", "x:float32[2,3]", "Rows of length one along an axis.", axis=-1)
def l2_normalize(x: Tensor, **how: Any) -> None:
    tf.nn.l2_normalize(x, **how)


@block("moments", "x:float32[4,3]", "Mean and variance along an axis.", axes=(0,))
def moments(x: Tensor, axes: tuple[int, ...]) -> None:
    tf.nn.moments(x, list(axes))


@block("meshgrid", "x:float32[3] y:float32[2]", "Two vectors as the coordinates of a grid.")
def meshgrid(x: Tensor, y: Tensor) -> None:
    tf.meshgrid(x, y)
