"""Steps across, layers down, a number's size as colour: the picture of a gradient-flow map.

What is drawn costs what its pixels cost, however many steps there are: each row is read in bins of
about a pixel (see `curve_points`), and of those that share a pixel the largest is seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from PySide6.QtGui import QColor

from gradstep.gui.look.theme import Theme, Tone, mix
from gradstep.gui.model.curve_points import Stretch
from gradstep.gui.model.earlier_trainings import AnyPoints

Array = np.ndarray[Any, Any]
DECADES = 9.0  # at most: what is smaller has the lowest colour
SHADES = 256
_FINE = 8  # bins a pixel at most: there may be eight times fewer
_STRIPE = 3  # pixels


def cells_of(
    rows: Sequence[AnyPoints], start: float, stop: float, width: int
) -> tuple[Array, Array]:
    """float64[rows, width], the largest number of each pixel, or the one before it while nothing
    newer is known; NaN where there is none. bool[rows, width]: where one is NaN or infinite."""
    numbers, wrong = np.full((len(rows), width), np.nan), np.zeros((len(rows), width), bool)
    found = [points.stretch(start, stop, _FINE * width) for points in rows]
    scale = width / (stop - start)
    for alike in _alike(found):
        steps, last = found[alike[0]].steps, rows[alike[0]].stop
        if not len(steps):
            continue
        pixels = np.clip(np.floor((steps - start) * scale), 0, width).astype(np.intp)
        first = np.flatnonzero(np.diff(pixels, prepend=-2))  # of those that share a pixel
        high = np.array([found[row].high for row in alike])
        high[~np.isfinite(high)] = np.nan
        largest = np.fmax.reduceat(high, first, axis=1)
        odd = np.array([found[row].wrong for row in alike])
        anywhere = np.logical_or.reduceat(odd, first, axis=1)
        end = min(max(math.ceil((last - start) * scale), 0), width)
        at = np.searchsorted(pixels[first], np.arange(end), "right") - 1
        begin = int(np.searchsorted(at, 0))
        numbers[alike, begin:end] = largest[:, at[begin:]]
        wrong[alike, begin:end] = anywhere[:, at[begin:]]
    return numbers, _widened(wrong)


def _alike(found: Sequence[Stretch]) -> Iterator[list[int]]:
    """Numbers of those, one behind the other, that are in the same steps: layers are looked at
    together."""
    group: list[int] = []
    for number, stretch in enumerate(found):
        if group and not np.array_equal(found[group[0]].steps, stretch.steps):
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _widened(wrong: Array) -> Array:
    """So that one of them can be seen."""
    if not wrong.any():
        return wrong
    wide = wrong.copy()
    wide[:, 1:] |= wrong[:, :-1]
    wide[:, :-1] |= wrong[:, 1:]
    return wide


def span_of(rows: Sequence[AnyPoints], share: bool) -> tuple[float, float]:
    """What the ends of the colours stand for, of all that is known. share: of shares of a whole."""
    if share:
        return 0.0, 1.0
    low, high = np.inf, 0.0
    for points in rows:
        found = points.stretch(points.first, points.stop, 64)
        for numbers in (found.low, found.high):
            good = numbers[np.isfinite(numbers) & (numbers > 0)]
            if len(good):
                low, high = min(low, float(good.min())), max(high, float(good.max()))
    if not high:
        return 1e-3, 1.0
    low = max(low, high * 10**-DECADES)
    return (low, high) if high > low * 1.001 else (low / 10, high)


def shares_of(numbers: Array, span: tuple[float, float], share: bool) -> Array:
    """0 to 1: where numbers lie between the ends, logarithmically unless `share`; NaN stays."""
    low, high = span
    if share:
        return np.clip((numbers - low) / (high - low), 0, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        place = (np.log10(numbers) - math.log10(low)) / (math.log10(high) - math.log10(low))
    found: Array = np.clip(place, 0, 1)
    return found


@lru_cache(maxsize=16)
def shades(theme: Theme, tone: Tone) -> Array:
    """uint8[256, 3]: from near the ground through the colour to near the ink: its lightness goes
    one way, so that no eye needs hues."""
    color, ground = theme.tone(tone), mix(theme.panel, theme.text, 0.06)
    half = SHADES * 3 // 4
    low = [mix(ground, color, i / half) for i in range(half)]
    high = [mix(color, theme.text, 0.75 * i / (SHADES - half)) for i in range(SHADES - half)]
    return np.array([_rgb(each) for each in (*low, *high)], np.uint8)


def paint_rows(
    rows: Sequence[AnyPoints],
    view: tuple[float, float],
    width: int,
    span: tuple[float, float],
    look: tuple[Theme, Tone],
    share: bool,
) -> Array:
    """uint8[rows, width, 4], RGBA. view: from which step to which; span: see `span_of`; look: the
    colours. Wrong numbers alternate between two colours, so that they look like nothing else."""
    theme, tone = look
    numbers, wrong = cells_of(rows, *view, width)
    known = ~np.isnan(numbers)
    place = np.where(known, shares_of(numbers, span, share) * (SHADES - 1), 0).astype(np.intp)
    image = np.full((len(rows), width, 4), 255, np.uint8)
    image[..., :3] = shades(theme, tone)[place]
    image[~known, 3] = 0
    if wrong.any():
        stripes = (np.arange(width) // _STRIPE) % 2 == 0
        image[wrong & stripes] = (*_rgb(theme.problem), 255)
        image[wrong & ~stripes] = (*_rgb(theme.text), 255)
    return image


def _rgb(color: QColor) -> tuple[int, int, int]:
    return color.red(), color.green(), color.blue()
