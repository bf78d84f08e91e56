"""Coordinates: columns from left to right; heights that keep chains straight and boxes apart.

Each layer in turn moves as near as it can to the medians of its neighbours. "As near as it can"
is weighted isotonic regression (pool adjacent violators; Barlow et al., 1972), exact in linear
time: minimise sum w (y - wanted)^2 subject to the boxes' order and distances.
"""

from __future__ import annotations

import numpy as np

from gradstep.core.layout.box_diagram import BOX_GAP, LANE_GAP, LAYER_GAP
from gradstep.core.layout.crossing_reduction import Layered

PASSES = 10
LANE_WEIGHT = 8.0  # an arrow that bends in the middle looks worse than one that bends at a box


def columns(layered: Layered, sizes: np.ndarray) -> np.ndarray:
    """Centre x of every box: as wide columns as their widest box. float64[n]."""
    layer = layered.layer[: len(sizes)]
    width = np.zeros(layered.depth)
    np.maximum.at(width, layer, sizes[:, 0])
    left = np.concatenate(([0.0], np.cumsum(width + LAYER_GAP)[:-1]))
    return np.asarray((left + width / 2)[layer])


def heights(layered: Layered, rows: list[np.ndarray], sizes: np.ndarray) -> np.ndarray:
    """Centre y of every vertex. float64[v]."""
    offsets = [_offsets(row, layered, sizes) for row in rows]
    y = np.zeros(len(layered.layer))
    for row, offset in zip(rows, offsets, strict=True):
        y[row] = offset - offset[-1] / 2
    before, after = _sides(layered)
    weight = np.where(layered.lane, LANE_WEIGHT, 1.0)
    for number in range(PASSES):
        last = number >= PASSES - 2
        forward = number % 2 == 0
        for i in range(len(rows)) if forward else range(len(rows) - 1, -1, -1):
            first, second = (before, after) if forward else (after, before)
            wanted = [_wanted(v, y, first, second, last) for v in rows[i].tolist()]
            y[rows[i]] = apart(np.array(wanted), weight[rows[i]], offsets[i])
    return y


def apart(wanted: np.ndarray, weight: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """The places nearest to `wanted` whose neighbours keep the distances of `offset`.

    All float64[k]; offset is cumulative, so that place[i+1] - place[i] >= offset[i+1] - offset[i].
    """
    blocks: list[list[float]] = []  # mean, weight, count
    for value, mass in zip((wanted - offset).tolist(), weight.tolist(), strict=True):
        blocks.append([value, mass, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, heavy, count = blocks.pop()
            below = blocks[-1]
            total = below[1] + heavy
            below[0] = (below[0] * below[1] + mean * heavy) / total
            below[1], below[2] = total, below[2] + count
    level = np.repeat([b[0] for b in blocks], [int(b[2]) for b in blocks])
    return np.asarray(level + offset)


def _offsets(row: np.ndarray, layered: Layered, sizes: np.ndarray) -> np.ndarray:
    """Smallest distances from the first vertex of a layer to each of it. float64[k]."""
    lane = layered.lane[row]
    height = np.zeros(len(row))
    height[~lane] = sizes[row[~lane], 1]
    gap = np.where(lane[1:] | lane[:-1], LANE_GAP, BOX_GAP)
    steps = (height[1:] + height[:-1]) / 2 + gap
    return np.concatenate(([0.0], np.cumsum(steps)))


def _sides(layered: Layered) -> tuple[list[list[int]], list[list[int]]]:
    before: list[list[int]] = [[] for _ in layered.layer]
    after: list[list[int]] = [[] for _ in layered.layer]
    for a, b in layered.links.tolist():
        before[b].append(a)
        after[a].append(b)
    return before, after


def _wanted(
    vertex: int, y: np.ndarray, first: list[list[int]], second: list[list[int]], both: bool
) -> float:
    neighbours = first[vertex] + second[vertex] if both else first[vertex] or second[vertex]
    return _median([float(y[n]) for n in neighbours]) if neighbours else float(y[vertex])


def _median(values: list[float]) -> float:
    values.sort()
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
