"""What a pooling op slides over: its windows along every axis but the batch, in any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.ops.catalogue.neural.sliding_windows import Axis, Sizes, differ, require_rank
from gradstep.core.ops.catalogue.neural.window_attributes import check_slide, unimplemented, wrong

RANK = 4
SIDES = ("Top", "Bottom", "Left", "Right")


class Pool:
    """A window of sizes `ksize` that slides over images.

    attrs:   attributes by name; defaults may be left out.
    type:    the op type, for messages.
    depth:   whether the window may go over the channels (instead of the image).
    """

    def __init__(self, type: str, attrs: Mapping[str, Any], depth: bool) -> None:
        self.ksize = tuple(attrs["ksize"])
        for name in ("ksize", "strides"):
            if len(attrs[name]) != RANK:
                raise wrong(
                    f"Attr '{name}' of '{type}' Op passed list of length {len(attrs[name])} "
                    f"{'less than minimum' if len(attrs[name]) < RANK else 'more than'} {RANK}.",
                    hint="one number for each axis of the input",
                )
        self.slide = check_slide(attrs)
        self._check_window()
        self._check_depth(depth)
        self._check_padding()

    def _check_window(self) -> None:
        if min(self.ksize) <= 0:
            raise wrong(
                "Sliding window ksize must be positive. The specified or inferred ksize is: "
                + ",".join(map(str, self.ksize))
            )
        if self.ksize[0] != 1 or self.slide.strides[0] != 1:
            raise unimplemented("Pooling is not yet supported on the batch dimension.")

    def _check_depth(self, allowed: bool) -> None:
        slide, channel = self.slide, self.slide.channel
        window, stride = self.ksize[channel], slide.strides[channel]
        if window == stride == 1:
            return
        if any(self.ksize[i] != 1 or slide.strides[i] != 1 for i in slide.spatial):
            raise unimplemented(
                "MaxPooling supports exactly one of pooling across depth or pooling across "
                "width/height."
            )
        if not allowed:
            raise unimplemented("Non-spatial pooling is not yet supported. Volunteers? :)")
        if window != stride:
            raise unimplemented(
                "Depthwise max pooling requires the depth window to equal the depth stride"
            )

    def _check_padding(self) -> None:
        pads = [p for i in self.slide.spatial for p in self.slide.explicit[2 * i : 2 * i + 2]]
        sizes = [self.ksize[i] for i in self.slide.spatial for _ in range(2)]
        for side, pad, size in zip(SIDES, pads, sizes, strict=False):
            if pad >= size:
                raise wrong(
                    f"{side} padding {pad} needs to be smaller than the window size {size}",
                    hint="a window of nothing but padding has no value",
                )

    def axes(self, sizes: Sequence[int]) -> tuple[Axis, ...]:
        """Every axis but the batch, for an image of these sizes. Padding is in no result, so that
        taps which are nothing else are left out."""
        whole = (self.slide.axis(i, sizes[i], self.ksize[i]) for i in range(1, RANK))
        return tuple(axis.without_idle_taps() for axis in whole)

    def out_sizes(self, image: Sizes) -> Sizes:
        """The output's sizes, as far as they are known. Raises GradstepError where no window
        fits."""
        require_rank("input", image, RANK)
        channels, window = image[self.slide.channel], self.ksize[self.slide.channel]
        if channels is not None and channels % window:
            raise unimplemented(
                "Depthwise max pooling requires the depth window to evenly divide the input depth"
            )
        found = [image[0]]
        for place in range(1, RANK):
            size = image[place]
            found.append(
                None if size is None else self.slide.axis(place, size, self.ksize[place]).out
            )
        return tuple(found)

    def check(self, name: str, wanted: Sizes, found: Sizes) -> None:
        """Raise GradstepError unless a tensor's sizes may be the `wanted` ones."""
        require_rank(name, found, RANK)
        if any(differ(a, b) for a, b in zip(wanted, found, strict=True)):
            raise GradstepError(
                f"Expected {name} shape to be {_text(wanted)}, but got {_text(found)}",
                kind="ValueError",
                hint="it must come from pooling this input with the same window",
            )


def _text(sizes: Sizes) -> str:
    return f"[{','.join('?' if size is None else str(size) for size in sizes)}]"
