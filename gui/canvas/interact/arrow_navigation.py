"""Walking over the graph by arrow keys: along wires to the sides, to neighbours up and down."""

from __future__ import annotations

import numpy as np

from gradstep.gui.canvas.scene.scene_arrays import SceneArrays


def step(arrays: SceneArrays, box: int, dx: int, dy: int) -> int | None:
    """The box that an arrow key leads to from `box`; None when there is none that way."""
    return _along(arrays, box, dx) if dx else _beside(arrays, box, dy)


def first(arrays: SceneArrays) -> int | None:
    """Where a walk begins: the upper left box."""
    if not len(arrays):
        return None
    return int(np.lexsort((arrays.rects[:, 1], arrays.rects[:, 0]))[0])


def _along(arrays: SceneArrays, box: int, dx: int) -> int | None:
    """Of the boxes wired to it on that side the one nearest in height."""
    here, there = (0, 1) if dx > 0 else (1, 0)
    ends = arrays.visible.ends
    found = np.unique(ends[ends[:, here] == box, there])
    if not len(found):
        return None
    gap = np.abs(arrays.rects[found, 1] - arrays.rects[box, 1])
    return int(found[gap.argmin()])


def _beside(arrays: SceneArrays, box: int, dy: int) -> int | None:
    """The nearest box above or below; distance to the side counts double."""
    middle = arrays.rects[:, :2] + arrays.rects[:, 2:] / 2
    across, down = (middle - middle[box]).T
    right_way = down * dy > 1
    if not right_way.any():
        return None
    cost = np.where(right_way, np.abs(down) + 2 * np.abs(across), np.inf)
    return int(cost.argmin())
