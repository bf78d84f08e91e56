"""Nodes in a row, or one below the other, with the same space between them."""

from __future__ import annotations

import numpy as np

from gradstep.core.layout.box_diagram import GRID
from gradstep.gui import commands
from gradstep.gui.canvas.scene.scene_model import SceneModel

ROW, COLUMN = 0, 1  # the axis along which they stand


class Aligning:
    """Moves what is selected, as one edit."""

    def __init__(self, stage: SceneModel) -> None:
        self._stage = stage

    def align(self, along: int) -> None:
        """Put the selected boxes on one line along an axis. The outermost ones stay on it where
        they are, and those between them get the same space on either side."""
        stage, boxes = self._stage, sorted(self._stage.facts.selected)
        if len(boxes) < 2:
            stage.workspace.say("select at least two nodes")
            return
        corners, sizes = np.split(stage.arrays.rects[boxes], 2, axis=1)
        wanted = corners.copy()
        across = 1 - along
        middle = np.mean(corners[:, across] + sizes[:, across] / 2)
        wanted[:, across] = middle - sizes[:, across] / 2
        order = np.argsort(corners[:, along], kind="stable")
        first, last = order[0], order[-1]
        end = corners[last, along] + sizes[last, along]
        room = end - corners[first, along] - np.sum(sizes[:, along])
        gap = max(room / (len(boxes) - 1), GRID)
        steps = np.cumsum(sizes[order, along] + gap)
        wanted[order[1:], along] = corners[first, along] + steps[:-1]
        shifts = (wanted - corners).tolist()
        moved = stage.moved_apart({box: (x, y) for box, (x, y) in zip(boxes, shifts, strict=True)})
        commands.move_nodes(stage.workspace, moved)
