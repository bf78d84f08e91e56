"""Steps across, numbers up, how many there are of each as colour: histograms over time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradstep.gui.look.theme import Theme, Tone
from gradstep.gui.model.histogram_points import HistogramPoints
from gradstep.gui.panels.training.flow_image import SHADES, shades

Array = np.ndarray[Any, Any]
_DECADES = 3.5  # from the fewest that are seen to the most


def densities(points: HistogramPoints, view: tuple[float, float], width: int, height: int) -> Array:
    """float64 [height, width], the largest number on top: the share of a tensor's numbers that lie
    in each pixel, of the last histogram up to that pixel's step; NaN where there is none."""
    found = np.full((height, width), np.nan)
    start, stop = view
    steps = start + (np.arange(width) + 1) * (stop - start) / width - 1e-9
    at = np.searchsorted(points.steps, np.floor(steps), "right") - 1
    known = (at >= 0) & (steps - (stop - start) / width < points.stop)
    low, high = points.span
    edges = np.linspace(low, high, height + 1)
    for number in np.unique(at[known]):
        column = _column(points.rows[number], edges)
        found[:, known & (at == number)] = column[::-1, None]
    return found


def _column(row: Array, edges: Array) -> Array:
    """How much of a histogram lies between edges; its bins part its own range evenly."""
    low, high, counts = float(row[0]), float(row[1]), row[3:].astype(np.float64)
    total = counts.sum()
    if not total:
        return np.full(len(edges) - 1, np.nan)
    if high > low:
        own = np.linspace(low, high, len(counts) + 1)
        below = np.interp(edges, own, np.concatenate([[0], counts.cumsum()]))
    else:  # all numbers are one
        below = np.where(edges > low, total, 0.0)
        if edges[-1] <= low:
            below[-1] = total
    shares: Array = np.diff(below) / total
    return shares


def paint_histograms(
    points: HistogramPoints,
    view: tuple[float, float],
    size: tuple[int, int],
    look: tuple[Theme, Tone],
) -> Array:
    """uint8 [height, width, 4], RGBA: none of a tensor's numbers is the ground, most of them the
    ink; in between by the logarithm, as few far from the others are what one looks for."""
    width, height = size
    found = densities(points, view, width, height)
    known = np.isfinite(found)
    most = float(np.max(found, initial=0.0, where=known)) or 1.0
    least = most / 10**_DECADES
    with np.errstate(divide="ignore"):
        place = (np.log10(np.where(known, found, 0)) - math.log10(least)) / _DECADES
    index = np.where(known, np.clip(place, 0, 1) * (SHADES - 1), 0).astype(np.intp)
    image = np.full((height, width, 4), 255, np.uint8)
    image[..., :3] = shades(*look)[index]
    image[~known, 3] = 0
    return image
