"""Images read at computed places: weighted sums of neighbours, as PyTorch and ONNX have them.

A place is a number of pixels, 0 at the first one's centre. A gradient goes to the pixels, and to
the places by the weights.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import UnloweredError
from gradstep.core.lowering.plain_operands import add_axis, cast, scalar, transpose
from gradstep.core.ops.build.builder import Tensor, call

_CUBIC = -0.75
PADDINGS = ("zeros", "border", "reflection")
Settle = Callable[[Tensor, int], Tensor]


def sampled(
    pixels: Tensor,
    grid: Tensor,
    lengths: Sequence[int],
    mode: str,
    padding: str,
    corners: bool,
    settle: Settle = lambda place, length: place,
) -> Tensor:
    """pixels: [batch, all places of the image, channels]; grid: [batch, …, axes], from -1 to 1, the
    last axis of the image first, both ends at the centres of the outermost pixels with `corners`,
    else at their edges. mode: "linear", "nearest" or "cubic". settle: what becomes of a place along
    an axis of so many pixels before its neighbours are looked for. [batch, channels, …]. Raises
    UnloweredError for a mode or a padding that there is not."""
    if padding not in PADDINGS:
        raise UnloweredError(f"padding by {padding!r:.40}")
    last = len(lengths) - 1
    places = [
        settle(_place(grid[..., last - axis], length, corners), length)
        for axis, length in enumerate(lengths)
    ]
    taps = [_taps(place, mode) for place in places]
    total: Tensor | None = None
    for chosen in itertools.product(*taps):
        value = _weighed(pixels, chosen, lengths, padding, corners)
        total = value if total is None else call("AddV2", total, value)
    if total is None:
        raise UnloweredError(f"sampling by {mode!r:.40}")
    end = len(tuple(total.shape)) - 1
    return transpose(total, [0, end, *range(1, end)])


def _place(g: Tensor, length: int, corners: bool) -> Tensor:
    """A place from -1 to 1 as one from 0 to the last element, or a half beyond either."""
    up = call("AddV2", g, scalar(g, 1))
    if corners:
        return call("Mul", up, scalar(g, (length - 1) / 2))
    return call("Sub", call("Mul", up, scalar(g, length / 2)), scalar(g, 0.5))


def _taps(place: Tensor, mode: str) -> list[tuple[Tensor, Tensor | None]]:
    """The neighbours of a place, and how much of each; None for all of it."""
    if mode == "nearest":
        return [(call("StopGradient", call("Round", place)), None)]
    low = call("StopGradient", call("Floor", place))
    part = call("Sub", place, low)
    one = scalar(place, 1)
    if mode == "linear":
        return [(low, call("Sub", one, part)), (call("AddV2", low, one), part)]
    if mode != "cubic":
        return []
    offsets = [-1, 0, 1, 2]
    return [
        (call("AddV2", low, scalar(low, n)), _cubic(call("Sub", part, scalar(part, n)), n))
        for n in offsets
    ]


def _cubic(away: Tensor, offset: int) -> Tensor:
    """How much a neighbour counts: those beside the place, or those one farther."""
    x = call("Abs", away)
    near = offset in (0, 1)
    a = _CUBIC
    powers = (a + 2, -(a + 3), 0.0, 1.0) if near else (a, -5 * a, 8 * a, -4 * a)
    found = call("AddV2", call("Mul", x, scalar(x, powers[0])), scalar(x, powers[1]))
    for factor in powers[2:]:
        found = call("AddV2", call("Mul", found, x), scalar(x, factor))
    return found


def _weighed(
    pixels: Tensor,
    chosen: Sequence[tuple[Tensor, Tensor | None]],
    lengths: Sequence[int],
    padding: str,
    corners: bool,
) -> Tensor:
    """One neighbour of each place, [batch, …, channels], times how much of it there is."""
    flat: Tensor | None = None
    weight: Tensor | None = None
    for axis, ((index, share), length) in enumerate(zip(chosen, lengths, strict=True)):
        inside, there = _inside(index, length, padding, corners)
        step = call("Mul", inside, np.int32(math.prod(lengths[axis + 1 :])))
        flat = step if flat is None else call("AddV2", flat, step)
        for factor in (share, there):
            if factor is not None:
                weight = factor if weight is None else call("Mul", weight, factor)
    assert flat is not None
    found = call("GatherV2", pixels, flat, np.int32(1), batch_dims=1)
    if weight is None:
        return found
    return call("Mul", found, add_axis(weight, len(tuple(weight.shape))))


def _inside(
    index: Tensor, length: int, padding: str, corners: bool
) -> tuple[Tensor, Tensor | None]:
    """An index that there is, int32, and 0 where it is taken for zeros."""
    zero, last = scalar(index, 0), scalar(index, length - 1)
    if padding == "reflection":
        around = 2 * (length - 1) if corners else 2 * length
        wave = call("FloorMod", index, scalar(index, max(around, 1)))
        back = scalar(index, around if corners else around - 1)
        index = call("Minimum", wave, call("Sub", back, wave))
    kept = call("Minimum", call("Maximum", index, zero), last)
    there = cast(call("Equal", kept, index), index.dtype) if padding == "zeros" else None
    return cast(kept, DType.INT32), there


def base_places(lines: Sequence[np.ndarray]) -> np.ndarray:
    """The places of an image as rows, the last axis first, each with a 1 behind it: float64[all,
    axes + 1]. lines: along each axis, from -1 to 1."""
    mesh = np.meshgrid(*lines, indexing="ij")
    columns = [one.reshape(-1) for one in mesh[::-1]]
    return np.stack([*columns, np.ones_like(columns[0])], -1)


def line(length: int, corners: bool) -> np.ndarray:
    """So many places from -1 to 1: of centres, or with both ends."""
    if corners:
        return np.linspace(-1, 1, length)
    return (2 * np.arange(length) + 1) / length - 1
