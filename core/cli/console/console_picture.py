"""What the window draws beside what the console prints: a line, a matrix or an image of a value."""

from __future__ import annotations

import numpy as np

from gradstep.core.cli.console.console_command import Picture, PictureKind
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.host.tensors.aggregate import aggregate

LEAST = 4  # elements that are worth a picture
LONG, HIGH, WIDE = 256, 64, 128  # cells at most: of a line, of a matrix down and across


def picture_of(array: np.ndarray | None) -> Picture | None:
    """Of a vector a line, of a matrix its cells, of a picture's pixels the picture; of what is
    larger than that, blocks, of which nothing that sticks out is lost. None for anything else."""
    if array is None or kind_of(array.dtype) not in "biuf" or array.size < LEAST:
        return None
    squeezed = array.reshape([n for n in array.shape if n > 1] or [1])
    if squeezed.ndim == 1:
        return _cells("line", squeezed[np.newaxis], 1, LONG)
    if squeezed.ndim == 2:
        return _cells("matrix", squeezed, HIGH, WIDE)
    if array.ndim == 3 and array.shape[-1] in (3, 4):
        planes = [aggregate(array[..., c], HIGH, WIDE) for c in range(3)]
        values = np.stack([plane.extreme for plane in planes], axis=-1)
        return Picture("image", values, np.stack([p.kinds for p in planes], axis=-1), _name(array))
    return None


def _cells(kind: PictureKind, table: np.ndarray, height: int, width: int) -> Picture:
    cells = aggregate(table.astype(np.float64) if table.dtype == bool else table, height, width)
    return Picture(kind, np.asarray(cells.extreme, np.float64), cells.kinds, _name(table))


def _name(array: np.ndarray) -> str:
    return array.dtype.name
