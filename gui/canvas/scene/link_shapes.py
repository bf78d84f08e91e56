"""The curves of links, by rows that are written once: links before and after an edit share them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.gui.canvas.scene.curve_flattening import LEVELS

PIECES = 5  # curves of a link at most: two to a lane, one along it, and two to the end
ZONES = 3
SPARE = 8  # of so many rows one more: for what edits will add
LEAST = 64  # such rows

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


class Shapes:
    """curves: float64[k, PIECES, 4, 2]; deviations: float32[k, PIECES, LEVELS]; zones: float64[4,
    ZONES, k], as who asks of all of them whether they meet a rectangle reads memory. Of Routes."""

    def __init__(self, count: int) -> None:
        """Room for so many rows, and some; memory that nothing is written to costs nothing."""
        room = count + count // SPARE + LEAST
        self.curves = np.empty((room, PIECES, 4, 2))
        self.deviations = np.empty((room, PIECES, LEVELS), dtype=np.float32)
        self.zones = np.empty((4, ZONES, room))
        self.used = 0

    @classmethod
    def of(cls, parts: Sequence[Arrays]) -> Shapes:
        """parts: curves, deviations and zones (float64[k, ZONES, 4]) of some links each."""
        found = cls(sum(len(curves) for curves, _, _ in parts))
        for part in parts:
            found._add(part)
        return found

    def with_others(
        self, rows: np.ndarray, places: np.ndarray, others: Arrays
    ) -> tuple[Shapes, np.ndarray]:
        """These with others behind them, and `rows`, which has the others at some places; without
        what is in none of those rows where there is no room."""
        first, found = self.used, rows.copy()
        if first + len(others[0]) > len(self.curves):
            kept = np.ones(len(rows), dtype=bool)
            kept[places] = False
            shapes = Shapes.of([self.taken(rows[kept]), others])
            found[kept] = np.arange(len(rows) - len(places))
            found[places] = np.arange(len(rows) - len(places), shapes.used)
            return shapes, found
        self._add(others)
        found[places] = np.arange(first, self.used)
        return self, found

    def taken(self, rows: np.ndarray) -> Arrays:
        """Some rows, as `of` takes them."""
        return self.curves[rows], self.deviations[rows], self.zones[..., rows].T

    def put(self, rows: np.ndarray, others: Arrays) -> None:
        """Write over some rows; for who made them, and shares them with nobody."""
        self.curves[rows], self.deviations[rows] = others[:2]
        self.zones[..., rows] = others[2].T

    def meet(self, left: float, top: float, right: float, bottom: float) -> np.ndarray:
        """bool[k]: rows with a zone that meets a rectangle."""
        x, y, far_x, far_y = self.zones[..., : self.used]
        near = (x < right) & (y < bottom)
        near &= (far_x > left) & (far_y > top)
        return np.asarray(near.any(axis=0))

    def _add(self, part: Arrays) -> None:
        rows = slice(self.used, self.used + len(part[0]))
        self.curves[rows], self.deviations[rows] = part[:2]
        self.zones[..., rows] = part[2].T
        self.used = rows.stop


class Rows:
    """An array's rows in the order of links: of which only what is asked for is copied."""

    def __init__(self, array: np.ndarray, rows: np.ndarray) -> None:
        self._array, self._rows = array, rows

    def __getitem__(self, key: Any) -> np.ndarray:
        """By the numbers of links, or by these and more indexes."""
        links, *more = key if isinstance(key, tuple) else (key,)
        return np.asarray(self._array[(self._rows[links], *more)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._array[self._rows], dtype)
