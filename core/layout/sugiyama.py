"""Gradstep's own layout engine: layered drawing after Sugiyama, Tagawa and Toda (1981)."""

from __future__ import annotations

import numpy as np

from gradstep.core.layout.box_coordinates import columns, heights
from gradstep.core.layout.box_diagram import BOX_GAP, GRID, Diagram, snap_positions
from gradstep.core.layout.crossing_reduction import order, with_lanes
from gradstep.core.layout.layer_assignment import layers


def arrange(diagram: Diagram) -> np.ndarray:
    """Centres, float64[n, 2]: connected parts one below the other, lone boxes in a block."""
    centres = np.zeros((len(diagram), 2))
    top = 0.0
    for members in _parts(diagram):
        sizes = diagram.sizes[members]
        lone = len(members) > 1 and len(diagram.part(members).arrows) == 0
        placed = _block(sizes) if lone else _connected(diagram.part(members))
        placed[:, 1] += top - (placed - sizes / 2)[:, 1].min()
        placed = snap_positions(placed, sizes)
        centres[members] = placed
        top = np.ceil(((placed + sizes / 2)[:, 1].max() + BOX_GAP + GRID) / GRID) * GRID
    return centres


def _connected(diagram: Diagram) -> np.ndarray:
    layered = with_lanes(diagram, layers(diagram))
    rows = order(layered)
    y = heights(layered, rows, diagram.sizes)[: len(diagram)]
    return np.stack([columns(layered, diagram.sizes), y], axis=1)


def _parts(diagram: Diagram) -> list[np.ndarray]:
    """Members of each connected part, the part of the first box first; lone boxes last, as one."""
    root = list(range(len(diagram)))

    def find(box: int) -> int:
        while root[box] != box:
            root[box] = root[root[box]]
            box = root[box]
        return box

    for a, b in diagram.arrows.tolist():
        first, second = sorted((find(a), find(b)))
        root[second] = first
    roots = np.array([find(box) for box in range(len(diagram))], dtype=np.int64)
    _, inverse, counts = np.unique(roots, return_inverse=True, return_counts=True)
    parts = [np.flatnonzero(inverse == i) for i in np.flatnonzero(counts > 1)]
    lone = np.flatnonzero(counts[inverse] == 1)
    return [*parts, lone] if len(lone) else parts


def _block(sizes: np.ndarray) -> np.ndarray:
    """Rows of boxes without arrows, about as wide as high. float64[n, 2]."""
    cell = sizes.max(axis=0) + BOX_GAP
    across = max(1, int(np.ceil(np.sqrt(len(sizes) * cell[1] / cell[0]))))
    number = np.arange(len(sizes))
    corner = np.stack([number % across, number // across], axis=1) * cell
    return np.asarray(corner + sizes / 2)
