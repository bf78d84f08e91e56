"""How images become the array that is declared: grey or colour, with channels last, first or none.

Sizes are never changed, and pixels never mixed up: an array of as many numbers in another order is
no arrangement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from gradstep.core.data.image_files import Channels
from gradstep.core.graph.dtypes import Shape


@dataclass(frozen=True)
class Arrangement:
    """channels: that are decoded; shape: of the array; first: whether channels come before the rows
    of pixels."""

    channels: Channels
    shape: tuple[int, ...]
    first: bool = False

    def of(self, images: np.ndarray) -> np.ndarray:
        """Images [n, height, width, channels] in that shape."""
        ordered = np.moveaxis(images, -1, 1) if self.first else images
        return np.ascontiguousarray(ordered).reshape(self.shape)


def arrange(
    count: int, size: tuple[int, int], own: Channels, declared: Shape, single: bool
) -> Arrangement | None:
    """Of `count` images of `size` (height, width), as `declared`; if they fit but for their number,
    as that; None where they do not. own: the channels that they have; single: whether they are one
    that may stand without an axis of rows."""
    found = [*_arrangements(count, size, own, declared, single)]
    fitting = (each for each in found if declared.accepts(each.shape))
    rows_alone = (each for each in found if declared.lacks_rows_only(each.shape))
    return next(fitting, None) or next(rows_alone, None)


def _arrangements(
    count: int, size: tuple[int, int], own: Channels, declared: Shape, single: bool
) -> Iterator[Arrangement]:
    """All that there are, the likelier before the others. What is one image, before a row of it."""
    others: tuple[Channels, ...] = (1, 3, 4)
    channels = (own, *(c for c in others if c != own))
    for leading in ((), (count,)) if single else ((count,),):
        pixels = len(leading)  # axes before those of an image
        for c in channels:
            yield Arrangement(c, (*leading, *size, c))
        for c in channels:  # an axis of unknown size would take any number for them
            if (declared.dims or ())[pixels : pixels + 1] == (c,):
                yield Arrangement(c, (*leading, c, *size), first=True)
        yield Arrangement(1, (*leading, *size))
        for c in channels:
            yield Arrangement(c, (*leading, prod(size) * c))
