"""Rows of an array that are to be fed: taken into where they are read, with no copy between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


class ChosenRows:
    """`array[rows]`, not taken yet. rows: int64 [n], of rows that are there."""

    __slots__ = ("_array", "_rows", "dtype", "shape")

    def __init__(self, array: np.ndarray, rows: np.ndarray) -> None:
        self._array, self._rows = array, rows
        self.shape, self.dtype = (len(rows), *array.shape[1:]), array.dtype

    def taken(self) -> np.ndarray:
        """As an array."""
        return self._array.take(self._rows, 0)

    def put(self, place: np.ndarray) -> None:
        """Take them into an array of their shape and element type."""
        self._array.take(self._rows, 0, place, "clip")  # any other mode goes by a copy


def taken(values: Iterable[np.ndarray | ChosenRows]) -> Sequence[np.ndarray]:
    """All as arrays."""
    return [value.taken() if isinstance(value, ChosenRows) else value for value in values]
