"""Levels of detail: what is worth drawing at a scale."""

from __future__ import annotations

from enum import IntEnum


class Detail(IntEnum):
    """From a far view to a near one."""

    DOTS = 0  # coloured rectangles, straight links, no smoothing
    SHAPES = 1  # rectangles with stripes, coarse curves
    NAMES = 2  # title rows with names
    FULL = 3  # rows, ports, arrows

    @classmethod
    def at(cls, scale: float) -> Detail:
        """scale: pixels per scene unit."""
        return cls(sum(scale >= limit for limit in (0.12, 0.35, 0.6)))


# Every how-manieth point of a link's polyline is drawn.
CURVE_STEP = {Detail.DOTS: 24, Detail.SHAPES: 8, Detail.NAMES: 4, Detail.FULL: 1}
MOST_FAR_LINKS = 12_000  # links drawn in a far view; more only make it grey
