"""Levels of detail: what is worth drawing at a scale."""

from __future__ import annotations

from enum import IntEnum


class Detail(IntEnum):
    """From a far view to a near one."""

    DOTS = 0  # coloured rectangles, no smoothing
    SHAPES = 1  # rectangles with stripes
    NAMES = 2  # cards with large texts
    FULL = 3  # letters of rows, ports, arrows

    @classmethod
    def at(cls, scale: float) -> Detail:
        """scale: pixels per scene unit."""
        return cls(sum(scale >= limit for limit in (0.12, 0.3, 0.6)))


TEXT = 0.8  # pixels per scene unit below which texts do not shrink with their nodes
LARGEST_TEXT = 2.0  # times the usual size; more has no room in a title row


def text_size(scale: float) -> float:
    """How much larger than usual texts are on their nodes, so that they can be read from afar."""
    return min(LARGEST_TEXT, max(1.0, TEXT / scale))


MOST_FAR_LINKS = 25_000  # links drawn in a far view; more only make it slow and grey
