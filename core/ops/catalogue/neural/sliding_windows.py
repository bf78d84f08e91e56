"""Windows that slide over images: how convolution and pooling lay them, and which do not fit.

An image has the axes batch, one to three spatial ones, and channels; `data_format` says whether
the channels come last (NHWC) or second (NCHW). Sizes that are not known before running are None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType

Size = int | None
Sizes = tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of an image under a window: output `o` sees the elements
    `o * stride + tap * dilation - before` for each `tap` of the window; outside, padding."""

    size: int
    window: int
    stride: int
    dilation: int
    before: int
    out: int

    @property
    def reach(self) -> int:
        """Elements from a window's first to its last."""
        return (self.window - 1) * self.dilation + 1

    @property
    def seen(self) -> int:
        """Elements, padding included, from the first window's first to the last one's last."""
        return (self.out - 1) * self.stride + self.reach if self.out else 0

    @property
    def padded(self) -> bool:
        return self.before > 0 or self.seen > self.size

    @property
    def trivial(self) -> bool:
        """Whether output and input are one and the same axis."""
        return self.reach == self.stride == 1 and not self.padded

    def within(self, tap: int) -> tuple[slice, slice]:
        """The outputs whose element `tap` is no padding, and the places of those elements."""
        shift = tap * self.dilation - self.before
        first = max(0, -(shift // self.stride))
        last = min(self.out, (self.size - 1 - shift) // self.stride + 1)
        if last <= first:
            return slice(0, 0), slice(0, 0)
        start = first * self.stride + shift
        stop = (last - 1) * self.stride + shift + 1
        return slice(first, last), slice(start, stop, self.stride)

    def only(self, outputs: slice) -> tuple[Axis, slice]:
        """The axis of these outputs, and the elements that it has: from the first that they see."""
        start = outputs.start * self.stride - self.before
        first = min(max(0, start), self.size)
        size, out = self.size - first, outputs.stop - outputs.start
        return replace(self, size=size, before=max(0, -start), out=out), slice(first, None)

    def without_idle_taps(self) -> Axis:
        """The same outputs, each of the same elements, without the first and the last taps of a
        window that are padding for all: of a window that is larger than the image nearly all."""
        if self.out == 0:
            return replace(self, window=1, before=0)
        first = max(0, -(((self.out - 1) * self.stride - self.before) // self.dilation))
        last = min(self.window - 1, (self.size - 1 + self.before) // self.dilation)
        before = self.before - first * self.dilation
        return replace(self, window=last - first + 1, before=before)

    def counts(self) -> np.ndarray:
        """For each output, how many of its elements are no padding."""
        total = np.zeros(self.out, np.int64)
        for tap in range(self.window):
            total[self.within(tap)[0]] += 1
        return total


@dataclass(frozen=True, slots=True)
class Slide:
    """How a window slides, axis by axis, batch and channels included."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: str
    explicit: tuple[int, ...]
    channels_first: bool

    @classmethod
    def of(cls, attrs: Mapping[str, Any]) -> Slide:
        """The slide that an operation's attributes describe; what is left out has TensorFlow's
        default."""
        strides = tuple(attrs["strides"])
        return cls(
            strides,
            tuple(attrs.get("dilations") or (1,) * len(strides)),
            attrs["padding"],
            tuple(attrs.get("explicit_paddings") or ()),
            attrs.get("data_format", "").startswith("NC"),
        )

    @property
    def channel(self) -> int:
        return 1 if self.channels_first else len(self.strides) - 1

    @property
    def spatial(self) -> tuple[int, ...]:
        return tuple(i for i in range(1, len(self.strides)) if i != self.channel)

    def axis(self, place: int, size: int, window: int) -> Axis:
        """Axis number `place` of an image. Raises GradstepError when no window fits."""
        stride, dilation = self.strides[place], self.dilations[place]
        reach = (window - 1) * dilation + 1
        if self.padding == "SAME":
            out = -(-size // stride)
            before = max((out - 1) * stride + reach - size, 0) // 2
            return Axis(size, window, stride, dilation, before, out)
        before, after = self.explicit[2 * place : 2 * place + 2] or (0, 0)
        room = size + before + after
        if room < reach:
            raise GradstepError(
                f"Negative dimension size caused by subtracting {reach} from {room}",
                kind="ValueError",
                hint="the window is larger than what it slides over; padding SAME makes room",
            )
        return Axis(size, window, stride, dilation, before, (room - reach) // stride + 1)

    def axes(self, sizes: Sequence[int], windows: Sequence[int]) -> tuple[Axis, ...]:
        """The spatial axes, for their sizes and those of the window."""
        triples = zip(self.spatial, sizes, windows, strict=True)
        return tuple(self.axis(place, size, window) for place, size, window in triples)

    def out_sizes(self, sizes: Sizes, windows: Sizes) -> Sizes:
        """The spatial sizes of the output, as far as they are known."""
        triples = zip(self.spatial, sizes, windows, strict=True)
        return tuple(
            None if size is None or window is None else self.axis(place, size, window).out
            for place, size, window in triples
        )

    def split(self, image: Sizes) -> tuple[Size, Sizes, Size]:
        """Batch, spatial sizes and channels of an image's sizes."""
        return image[0], tuple(image[i] for i in self.spatial), image[self.channel]

    def joined(self, batch: Size, spatial: Sizes, channels: Size) -> Sizes:
        """An image's sizes from its batch, spatial sizes and channels."""
        if self.channels_first:
            return (batch, channels, *spatial)
        return (batch, *spatial, channels)

    def channels_last(self, xp: Any, x: Any) -> Any:
        return xp.moveaxis(x, 1, -1) if self.channels_first else x

    def back(self, xp: Any, x: Any) -> Any:
        """An image with the channels last, as this format has it."""
        return xp.moveaxis(x, -1, 1) if self.channels_first else x


def known_sizes(kind: TensorType, rank: int) -> Sizes:
    """The sizes of a tensor, all of them unknown where even their number is."""
    return (None,) * rank if kind.shape.dims is None else kind.shape.dims


def certain(sizes: Sizes) -> tuple[int, ...]:
    """Sizes that are all known."""
    return Shape(sizes).static()


def require_rank(name: str, sizes: Sizes, rank: int) -> None:
    """Raise GradstepError unless there are `rank` sizes."""
    if len(sizes) != rank:
        raise GradstepError(
            f"Shape must be rank {rank} but is rank {len(sizes)}",
            kind="ValueError",
            hint=f"'{name}' has shape {Shape(sizes)}",
        )


def differ(a: Size, b: Size) -> bool:
    """Whether two sizes are known to be different."""
    return a is not None and b is not None and a != b
