"""Pooling of PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import add_axis, dims, ints, rank, size_at
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call


@dataclass(frozen=True)
class Windows:
    """Windows over two axes: their size, how far apart, the padding before and behind."""

    size: tuple[int, int]
    step: tuple[int, int]
    pads: tuple[tuple[int, int], tuple[int, int]]

    @property
    def explicit(self) -> tuple[int, ...]:
        return (0, 0, 0, 0, *self.pads[0], *self.pads[1])


def _windows(
    x: Tensor, out: Sequence[int], size: Sequence[int], step: Sequence[int], padding: Sequence[int]
) -> Windows:
    """With ceil_mode the last window hangs over: so much is padded behind besides."""
    sizes, steps, around = _pair(size), _pair(step or size), _pair(padding)
    pads = []
    for axis in (0, 1):
        covered = (out[axis] - 1) * steps[axis] + sizes[axis]
        extra = max(0, covered - dims(x)[2 + axis] - 2 * around[axis])
        pads.append((around[axis], around[axis] + extra))
    return Windows(sizes, steps, (pads[0], pads[1]))


def _pair(value: Sequence[int]) -> tuple[int, int]:
    return (value[0], value[-1])


def _flat(value: Sequence[int], neutral: int) -> list[int]:
    """Of one axis, that of two, the first of size 1; of nothing, nothing."""
    return [neutral, *value] if value else []


@lower("max_pool2d", "max_pool2d_with_indices")
def max_pool2d(
    site: Site,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> list[Tensor]:
    if {*dilation} != {1} or rank(self) != 4:
        raise UnloweredError("dilated pooling, or of one example alone")
    pooled = _largest(self, _windows(self, site.sizes()[2:], kernel_size, stride, padding))
    if len(site.node.outputs) == 1:
        return [pooled]
    return [pooled, site.constant(site.recorded(1))]


@lower("max_pool1d")
def max_pool1d(
    site: Site,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Tensor:
    if {*dilation} != {1} or rank(self) != 3:
        raise UnloweredError("dilated pooling, or of one example alone")
    x = add_axis(self, 2)
    windows = _windows(
        x, [1, site.sizes()[2]], _flat(kernel_size, 1), _flat(stride, 1), _flat(padding, 0)
    )
    return call("Squeeze", _largest(x, windows), squeeze_dims=(2,))


def _largest(x: Tensor, windows: Windows) -> Tensor:
    return call(
        "MaxPool",
        x,
        ksize=(1, 1, *windows.size),
        strides=(1, 1, *windows.step),
        padding="EXPLICIT",
        explicit_paddings=windows.explicit,
        data_format="NCHW",
    )


@lower("avg_pool2d")
def avg_pool2d(
    site: Site,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    windows = _windows(self, site.sizes()[2:], kernel_size, stride, padding)
    return _mean(site, self, windows, _pair(padding), count_include_pad, divisor_override)


@lower("avg_pool1d")
def avg_pool1d(
    site: Site,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    x = add_axis(self, 2)
    windows = _windows(
        x, [1, site.sizes()[2]], _flat(kernel_size, 1), _flat(stride, 1), _flat(padding, 0)
    )
    pooled = _mean(site, x, windows, (0, padding[0]), count_include_pad, None)
    return call("Squeeze", pooled, squeeze_dims=(2,))


@lower("avg_pool3d")
def avg_pool3d(
    site: Site,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean over a box is that along one axis after the other."""
    if ceil_mode or (any(padding) and not count_include_pad):
        raise UnloweredError("pooling of volumes whose windows count otherwise at the edges")
    x, first = self, rank(self) - 3
    for place in range(3):
        size, step, pad = (_at(v, place) for v in (kernel_size, stride or kernel_size, padding))
        axis, around = first + place, np.zeros((rank(self), 2), np.int32)
        around[axis] = pad
        x = call("Pad", x, around) if pad else x
        if (size, step) != (1, 1):
            count = (size_at(x, axis) - size) // step + 1
            places = np.arange(count)[:, None] * step + np.arange(size)
            windows = call("GatherV2", x, places.astype(np.int32), np.int32(axis))
            x = call("Mean", windows, ints([axis + 1]))
    return x


def _at(value: Sequence[int], place: int) -> int:
    """One number for all axes, or one for each."""
    return value[place] if len(value) > 1 else value[0]


def _mean(
    site: Site,
    x: Tensor,
    windows: Windows,
    padding: tuple[int, int],
    counts_pads: bool,
    divisor: int | None,
) -> Tensor:
    """PyTorch divides by the window without what hangs over, and with the padding or not."""
    around = [(0, 0), (0, 0), *windows.pads]
    padded = call("Pad", x, np.array(around, np.int32)) if any(map(any, around)) else x
    means = call(
        "AvgPool",
        padded,
        ksize=(1, 1, *windows.size),
        strides=(1, 1, *windows.step),
        padding="VALID",
        data_format="NCHW",
    )
    if padded is x and divisor is None:
        return means
    counted = _counts(dims(x)[2:], windows, padding, counts_pads)
    over = np.full_like(counted, divisor) if divisor else counted
    share = (windows.size[0] * windows.size[1] / over).astype(x.dtype.numpy)
    return call("Mul", means, site.constant(share[None, None]))


def _counts(
    shape: Sequence[int], windows: Windows, padding: tuple[int, int], counts_pads: bool
) -> np.ndarray:
    """How many elements count in each window."""
    ones = np.pad(np.ones(shape), [(p, p) for p in padding], constant_values=float(counts_pads))
    behind = [(0, pads[1] - p) for pads, p in zip(windows.pads, padding, strict=True)]
    ones = np.pad(ones, behind)
    seen = np.lib.stride_tricks.sliding_window_view(ones, windows.size)
    found: np.ndarray = seen[:: windows.step[0], :: windows.step[1]].sum((2, 3))
    return found


@lower(
    "adaptive_avg_pool2d", "_adaptive_avg_pool2d", "adaptive_avg_pool1d", ignores=("output_size",)
)
def adaptive_avg_pool(site: Site, self: Tensor) -> Tensor:
    """Windows of unequal size: a matrix of shares for each axis."""
    count = len(site.sizes()) - (2 if rank(self) > 2 else 1)
    axes = list(range(rank(self) - count, rank(self)))
    sizes = site.sizes()
    if all(sizes[axis] == 1 for axis in axes):
        return call("Mean", self, ints(axes), keep_dims=True)
    x = self
    for axis in axes:
        x = _shared(x, axis, sizes[axis])
    return call("Identity", x) if x is self else x


def _shared(x: Tensor, axis: int, out: int) -> Tensor:
    size = size_at(x, axis)
    if size == out:
        return x
    shares = np.zeros((size, out), x.dtype.numpy)
    for i in range(out):
        first, end = i * size // out, -(-(i + 1) * size // out)
        shares[first:end, i] = 1 / (end - first)
    letters = "abcdefg"[: rank(x)]
    equation = f"{letters},{letters[axis]}z->{letters.replace(letters[axis], 'z')}"
    return call("Einsum", x, x.builder.constant(shares), equation=equation)
