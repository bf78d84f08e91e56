"""Which axes of a slice are the rows and the columns of what is shown, and which its channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradstep.core.host.tensors.slice_syntax import Picks

_CHANNELS = (1, 3, 4)  # grey, RGB, RGBA
_SMALLEST_PICTURE = 4  # pixels on a side; smaller ones are tables
_KERNELS = (1, 3, 5, 7, 11)  # sides that convolutions have


@dataclass(frozen=True, slots=True)
class Layout:
    """Axes of the tensor. -1: none. What the slice does not keep is replaced by what it does."""

    rows: int
    columns: int
    channels: int = -1

    def swapped(self) -> Layout:
        """Rows and columns exchanged."""
        return Layout(self.columns, self.rows, self.channels)


@dataclass(frozen=True, slots=True)
class Arranged:
    """The kept axes in the order in which they are shown: `outer`, rows, columns, channels.

    order: numbers among the kept axes, as numpy.transpose takes them.
    """

    outer: tuple[int, ...]
    rows: int
    columns: int
    channels: int
    order: tuple[int, ...]

    @property
    def axes(self) -> tuple[int, ...]:
        """Of the tensor."""
        last = (self.rows, self.columns, self.channels)
        return (*self.outer, *(axis for axis in last if axis >= 0))


def arrange(picks: Picks, layout: Layout) -> Arranged:
    """The layout for a slice: what of it the slice lacks is taken from its last axes."""
    kept = picks.kept
    channels = layout.channels if layout.channels in kept and len(kept) > 1 else -1
    left = [axis for axis in kept if axis != channels]
    rows = layout.rows if layout.rows in left else -1
    columns = layout.columns if layout.columns in left and layout.columns != rows else -1
    if len(left) == 1:
        rows, columns = left[0], -1
    elif left:
        columns = columns if columns >= 0 else [a for a in left if a != rows][-1]
        rows = rows if rows >= 0 else [a for a in left if a != columns][-1]
    outer = tuple(axis for axis in left if axis not in (rows, columns))
    axes = (*outer, *(axis for axis in (rows, columns, channels) if axis >= 0))
    return Arranged(outer, rows, columns, channels, tuple(kept.index(axis) for axis in axes))


def first_layout(shape: Sequence[int]) -> Layout:
    """What suits a shape: images have their channels last or before their rows, a kernel of a
    convolution begins with its rows and columns; of others these are the last two axes."""
    rank = len(shape)
    if (channels := channel_axis(shape)) >= 0:
        rows = rank - 3 if channels == rank - 1 else rank - 2
        return Layout(rows, rows + 1, channels)
    if is_kernel(shape):
        return Layout(0, 1)
    if rank == 4 and shape[1] == shape[2] > 1:  # of a convolution: batch, rows, columns, features
        return Layout(1, 2)
    return Layout(max(rank - 2, 0), rank - 1)


def channel_axis(shape: Sequence[int]) -> int:
    """The axis of an image's channels, or of many images'; -1 where it is none."""
    rank = len(shape)
    if rank not in (3, 4) or is_kernel(shape):
        return -1
    if shape[-1] in _CHANNELS and min(shape[-3], shape[-2]) >= _SMALLEST_PICTURE:
        return rank - 1
    if shape[-3] in _CHANNELS and min(shape[-2], shape[-1]) >= _SMALLEST_PICTURE:
        return rank - 3
    return -1


def is_kernel(shape: Sequence[int]) -> bool:
    """Whether it looks like height × width × inputs × outputs of a convolution."""
    return len(shape) == 4 and shape[0] == shape[1] in _KERNELS
