"""Pooling over windows that tile the image: each element is in one of them.

The taps are laid side by side in memory, where NumPy is fast however few channels there are."""

from __future__ import annotations

import numpy as np

from gradstep.core.ops.catalogue.neural.image_blocks import Axes

_NARROW = 16  # elements in a row from which on slices are as fast


def tiles(axes: Axes) -> bool:
    """Whether each element is seen by one window, at one tap."""
    return all(a.stride == a.window and not a.before and a.out * a.window == a.size for a in axes)


def is_narrow(axes: Axes) -> bool:
    """Whether slices of the image have few elements in a row."""
    return axes[-1].window > 1 or axes[-1].size < _NARROW


def by_taps(x: np.ndarray, axes: Axes) -> np.ndarray:
    """A view of images as [taps of each axis, images, outputs of each axis]."""
    sizes = [size for axis in axes for size in (axis.out, axis.window)]
    outputs, taps = range(1, 2 * len(axes), 2), range(2, 2 * len(axes) + 1, 2)
    return x.reshape(len(x), *sizes).transpose(*taps, 0, *outputs)
