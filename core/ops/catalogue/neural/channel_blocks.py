"""Images in blocks that stay in the cache, with a value for each channel beside them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from gradstep.core.ops.catalogue.neural.image_blocks import block_bytes
from gradstep.core.ops.catalogue.neural.image_channels import channel_axis
from gradstep.core.ops.declare.ufunc import BLOCK, Calls
from gradstep.core.ops.numerics.column_sums import rows_as_one
from gradstep.core.ops.numerics.scalar_operands import number


class ChannelBlocks:
    """How images of this shape are gone through, in contiguous memory. With the channels last
    several pixels make a row, so that rows are long. `room` gives the memory for vectors."""

    def __init__(self, xp: Any, shape: tuple[int, ...], data_format: str, room: Any) -> None:
        self._xp, self._room = xp, room
        axis = channel_axis(data_format, len(shape))
        self._last, self.channels = axis == len(shape) - 1, shape[axis]
        self.count = prod(shape[:axis]) * prod(shape[axis + 1 :])  # elements of a channel
        self._pixels = rows_as_one(self.count, self.channels) if self._last else 1
        self._shape: tuple[int, ...] = shape[0], self.channels, prod(shape[axis + 1 :])
        if self._last:
            self._shape = self.count // self._pixels, self._pixels * self.channels
        self._rows = max(1, _elements(xp) // max(1, prod(self._shape[1:])))

    def each(self, *images: Any) -> Iterator[tuple[Any, ...]]:
        """The blocks of all these images."""
        flat = [x.reshape(self._shape) for x in images]
        for start in range(0, self._shape[0], self._rows):
            yield tuple(x[start : start + self._rows] for x in flat)

    def memory(self, dtype: Any) -> Any:
        """Memory as large as the largest block."""
        return self._room((min(self._rows, self._shape[0]), *self._shape[1:]), np.dtype(dtype))

    def beside(self, *vectors: Any) -> Any:
        """The vectors, of a value for each channel, such that they broadcast against blocks, once
        the calls given are made."""
        found = []
        for vector in vectors:
            aligned = vector if self._last else vector.reshape(-1, 1)
            if self._pixels > 1:
                repeated = self._room((self._pixels, self.channels), vector.dtype)
                yield self._xp.copyto, repeated, vector
                aligned = repeated.reshape(-1)
            found.append(aligned)
        return found

    def sums(self, dtype: Any) -> Sums:
        """A place for sums over all pixels."""
        size = (self._pixels, self.channels)
        return Sums(self._xp, size, (0,) if self._last else (0, 2), self._room, np.dtype(dtype))


class Sums:
    """Sums of channels over blocks, one after the other."""

    def __init__(
        self, xp: Any, size: tuple[int, int], axes: tuple[int, ...], room: Any, dtype: np.dtype
    ) -> None:
        self._xp, self._axes, self._dtype, self._size = xp, axes, dtype, size
        self._total, self._part = (room((size[0] * size[1],), dtype) for _ in range(2))
        self._begun = False

    def add(self, block: Any) -> Calls:
        place = self._part if self._begun else self._total
        yield self._xp.sum, block, self._axes, self._dtype, place
        if self._begun:
            yield self._xp.add, self._total, self._part, self._total
        self._begun = True

    def into(self, out: Any) -> Calls:
        """The sums, when all blocks are added; 0, of none."""
        if not self._begun:
            yield out.fill, 0
        else:
            yield self._xp.sum, self._total.reshape(self._size), 0, self._dtype, out


def scalar(xp: Any, value: float, dtype: np.dtype) -> Any:
    """A number as an operand beside arrays."""
    return number(value, dtype) if xp is np else value


def _elements(xp: Any) -> int:
    return BLOCK if xp is np else block_bytes(xp) // 4
