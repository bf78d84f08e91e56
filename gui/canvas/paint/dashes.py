"""Lines as dashes, for drawLines: without Qt's slow dash pattern, and no more than are in view."""

from __future__ import annotations

import numpy as np

from gradstep.gui.canvas.scene.curve_flattening import Polylines
from gradstep.gui.canvas.scene.interval_bands import counted
from gradstep.gui.canvas.scene.line_clipping import shares_inside


def dashes(
    lines: Polylines, after: np.ndarray, length: float, sides: tuple[float, float, float, float]
) -> np.ndarray:
    """The dashes, and gaps as long, of polylines within a rectangle. float64[k, 4], contiguous.

    They are counted from the far end of each line, so that they stay where they are whatever is in
    view, and those of lines that end together lie upon each other. after: float64[m], how much
    longer each line goes on beyond its polyline.
    """
    chords = lines.segments()
    starts, ends = chords[:, :2], chords[:, 2:]
    enter, leave = shares_inside(starts, ends, np.array(sides))
    steps = np.hypot(*(ends - starts).T)
    seen = np.flatnonzero((enter < leave) & (steps > 0))
    first = _to_end(steps, lines) + after[lines.owners]  # from where a chord starts to the end
    starts, ends, steps, first = starts[seen], ends[seen], steps[seen], first[seen]
    farthest, nearest = first - enter[seen] * steps, first - leave[seen] * steps
    period = 2 * length
    lowest = np.floor((nearest - length) / period).astype(np.int64) + 1  # that ends in view
    highest = np.floor(farthest / period).astype(np.int64)  # that begins in view
    whose, number = counted(np.maximum(highest - lowest + 1, 0))
    begin = (lowest[whose] + number) * period
    pair = np.minimum(begin + length, farthest[whose]), np.maximum(begin, nearest[whose])
    way = (ends - starts)[whose] / steps[whose, None]
    points = [starts[whose] + (first[whose] - at)[:, None] * way for at in pair]
    return np.ascontiguousarray(np.concatenate(points, axis=1))


def _to_end(steps: np.ndarray, lines: Polylines) -> np.ndarray:
    """From the start of each chord along its polyline to where that ends. float64[s]."""
    behind = np.cumsum(steps[::-1])[::-1]
    beyond = np.append(behind, 0.0)[lines.first[1:] - np.arange(1, len(lines) + 1)]
    return np.asarray(behind - beyond[lines.owners])
