"""What a picture consists of, and how its planes stand side by side in a room."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradstep.gui.look.theme import GRID

LABEL = 16  # pixels over a plane, for its index
GAP = GRID
_LOW = 72  # pixels
_WHOLE = 4  # pixels of a row from which on all have as many
_LEAST_SIDE = 32  # pixels of the shorter side of one of many planes
_MOST_PLANES = 256

Array = np.ndarray[Any, Any]
_NONE = np.empty((0, 0, 0))


@dataclass(frozen=True, eq=False)
class Picture:
    """pixels: uint8[planes, height, width, 4]; values, kinds: float64 and uint8[planes, height,
    width] or with channels; first, total: of the planes; block: elements of a cell, down and
    across; outer: lengths of the axes that the planes are counted along; stretch: how many times as
    wide as high a cell may be, to fill the room."""

    pixels: Array = field(default_factory=lambda: np.empty((0, 0, 0, 4), np.uint8))
    values: Array = field(default_factory=lambda: _NONE)
    kinds: Array = field(default_factory=lambda: _NONE)
    first: int = 0
    total: int = 0
    block: tuple[int, int] = (1, 1)
    outer: tuple[int, ...] = ()
    stretch: float = 1.0

    def label(self, plane: int) -> str:
        """The index of a plane: "3", "0,12"."""
        at = np.unravel_index(self.first + plane, self.outer) if self.outer else ()
        return ",".join(str(int(i)) for i in at)

    def position(self, plane: int, row: int, column: int) -> tuple[int, ...]:
        """Of a cell's first element in what is shown, the channels left out."""
        at = np.unravel_index(self.first + plane, self.outer) if self.outer else ()
        return (*(int(i) for i in at), row * self.block[0], column * self.block[1])


@dataclass(frozen=True, slots=True)
class Fit:
    """How planes stand in a room: how many of them, in how many columns, of what size in pixels."""

    planes: int
    columns: int
    width: float
    height: float


def fit(room: tuple[int, int], shape: tuple[int, int], total: int, stretch: float = 1.0) -> Fit:
    """As large as they can be side by side in `room` (width, height), and no smaller than can be
    made out; shape: rows and columns of each; stretch: as of a Picture, for one alone."""
    rows, columns = max(shape[0], 1), max(shape[1], 1)
    label = label_height(room[1], total)
    least = _LEAST_SIDE / min(rows, columns)
    best = Fit(1, 1, 0.0, 0.0)
    wanted = max(min(total, _MOST_PLANES), 1)
    for across in range(1, wanted + 1):
        wide = (room[0] - (across - 1) * GAP) / across
        high = _high(room[1], -(-wanted // across), label)
        scale = min(wide / columns, high / rows)
        if total > 1 and scale < least:
            if wide / columns < least and across > 1:
                break  # no more fit side by side
            scale = min(wide / columns, least, _high(room[1], 1, label) / rows)
        down = max(1, int((room[1] + GAP) // (rows * scale + label + GAP))) if scale > 0 else 1
        shown = min(wanted, across * down)
        area = (min(shown, wanted), scale)
        if scale > 0 and area > (best.planes, best.width / columns):
            best = Fit(shown, across, columns * scale, rows * scale)
    if total == 1 and stretch > 1:
        wide = min(room[0], best.width * stretch)
        high = min(room[1], best.height * stretch)
        best = replace(best, width=wide, height=high)
        if high >= _WHOLE * rows:
            whole = wide // columns * columns  # none, where columns have less than a pixel
            best = replace(best, width=whole or wide, height=high // rows * rows)
    elif best.width >= columns:  # cells of whole pixels
        scale = int(best.width / columns)
        best = Fit(best.planes, best.columns, columns * scale, rows * scale)
    return best


def label_height(room: int, total: int) -> int:
    """Of the line over each plane that says which it is: none over the only one, and none in a room
    so low that the planes need it."""
    return LABEL if total > 1 and room >= _LOW else 0


def _high(room: int, lines: int, label: int) -> float:
    return max((room - (lines - 1) * GAP) / lines - label, 1.0)
