"""Windows that go over the axes of an image, as ONNX's attributes say: sizes, strides, pads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.lowering.lowering_table import UnloweredError
from gradstep.core.lowering.onnx.onnx_operands import rank
from gradstep.core.ops.build.builder import Tensor


@dataclass(frozen=True)
class Windows:
    """For each axis behind batch and channels: the window's size, how far apart two are, the gap
    between its places, and the padding before and behind."""

    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    gaps: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        return len(self.sizes)

    @property
    def spans(self) -> tuple[int, ...]:
        """How far each reaches."""
        return tuple((s - 1) * g + 1 for s, g in zip(self.sizes, self.gaps, strict=True))

    @property
    def explicit(self) -> tuple[int, ...]:
        """As attributes of ours have it, with batch and channels."""
        return (0, 0, 0, 0, *(amount for pair in self.pads for amount in pair))

    @property
    def is_padded(self) -> bool:
        return any(map(any, self.pads))

    def places(self, axis: int, length: int) -> np.ndarray:
        """[windows, places in one]: where each is on an axis that is so long with its padding."""
        starts = np.arange((length - self.spans[axis]) // self.steps[axis] + 1) * self.steps[axis]
        return starts[:, None] + np.arange(self.sizes[axis]) * self.gaps[axis]

    def flat(self) -> Windows:
        """Of one axis, as of two, the first of size 1."""
        return Windows((1, *self.sizes), (1, *self.steps), (1, *self.gaps), ((0, 0), *self.pads))


def windows_of(
    x: Tensor,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str,
    ceil_mode: int = 0,
) -> Windows:
    """Over `x`. Raises UnloweredError where it takes sizes that may be any."""
    count = len(kernel_shape)
    if rank(x) != count + 2:
        raise UnloweredError(f"windows over {count} axes of {rank(x) - 2}")
    steps = tuple(strides or [1] * count)
    gaps = tuple(dilations or [1] * count)
    around = tuple(pads or [0] * (2 * count))
    if len(steps) != count or len(gaps) != count or len(around) != 2 * count:
        raise UnloweredError("strides, dilations or pads for other axes than it has")
    told = Windows(
        tuple(kernel_shape), steps, gaps, tuple(zip(around[:count], around[count:], strict=True))
    )
    if min(*told.sizes, *steps, *gaps, *around) < 0 or 0 in (*told.sizes, *steps, *gaps):
        raise UnloweredError("windows of no size, or a stride, dilation or padding below 0")
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        told = replace(told, pads=_same(x, told, auto_pad == "SAME_UPPER"))
    elif auto_pad == "VALID":
        told = replace(told, pads=((0, 0),) * count)
    return replace(told, pads=_hanging_over(x, told)) if ceil_mode else told


def _same(x: Tensor, windows: Windows, behind: bool) -> tuple[tuple[int, int], ...]:
    """As many windows as there are steps; what does not go evenly is behind, or before."""
    found = []
    for size, step, span in zip(_lengths(x), windows.steps, windows.spans, strict=True):
        total = max(0, (math.ceil(size / step) - 1) * step + span - size)
        less, more = total // 2, total - total // 2
        found.append((less, more) if behind else (more, less))
    return tuple(found)


def _hanging_over(x: Tensor, windows: Windows) -> tuple[tuple[int, int], ...]:
    """The last window may reach beyond the end, if it begins before that: so much is padded."""
    found = []
    for axis, size in enumerate(_lengths(x)):
        before, after = windows.pads[axis]
        step, span = windows.steps[axis], windows.spans[axis]
        count = -(-(size + before + after - span) // step) + 1
        if (count - 1) * step >= size + before:
            count -= 1
        found.append((before, max(after, (count - 1) * step + span - size - before)))
    return tuple(found)


def _lengths(x: Tensor) -> list[int]:
    """Sizes behind batch and channels."""
    found = [size for size in tuple(x.shape)[2:] if size is not None]
    if len(found) != rank(x) - 2:
        raise UnloweredError("padding that follows from sizes that may be any")
    return found
