"""Summing a gradient back to the shape of an input that was broadcast."""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import Shape
from gradstep.core.ops.build.builder import Tensor, call, call_many


def sum_to_shape_of(grad: Tensor, x: Tensor) -> Tensor:
    """`grad` summed over the axes along which `x` was broadcast, in `x`'s shape; as it is where
    `x` cannot have been broadcast to it, as with another op's gradient.

    With both shapes known this adds nothing, or one Sum and one Reshape; otherwise the axes are
    found while running, by TensorFlow's BroadcastGradientArgs.
    """
    if x.shape.is_static and grad.shape.is_static:
        return _static(grad, x.shape)
    shape = call("Shape", x)
    axes, _ = call_many("BroadcastGradientArgs", shape, call("Shape", grad))
    return call("Reshape", call("Sum", grad, axes), shape)


def _static(grad: Tensor, shape: Shape) -> Tensor:
    have, want = grad.shape.static(), shape.static()
    extra = len(have) - len(want)
    if have == want or extra < 0 or not _reaches(want, have[extra:]):
        return grad
    axes = [*range(extra)]
    axes += [i + extra for i, size in enumerate(want) if size == 1 and have[i + extra] != 1]
    if not axes:
        return grad
    total = call("Sum", grad, np.array(axes, np.int32))
    return call("Reshape", total, np.array(want, _size_type(want)))


def _size_type(sizes: tuple[int, ...]) -> type[np.signedinteger]:
    """int32, as TensorFlow has sizes, as long as they fit."""
    return np.int32 if max(sizes, default=0) <= np.iinfo(np.int32).max else np.int64


def _reaches(sizes: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether sizes are broadcast to those of the same rank."""
    return all(size in (1, there) for size, there in zip(sizes, whole, strict=True))
