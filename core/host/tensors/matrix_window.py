"""A view as a table: the last axis across, all others down; and any rectangle of that."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gradstep.core.host.tensors.element_chunks import Array

MOST = 1 << 18  # elements of one rectangle


def table_size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns: a vector is one column, a scalar one cell."""
    if len(shape) < 2:
        return (shape[0] if shape else 1), 1
    return prod(shape[:-1]), shape[-1]


def rectangle(view: Array, row: int, rows: int, column: int, columns: int) -> Array:
    """At most so many rows and columns from there on; a copy of these elements and no others."""
    height, width = table_size(view.shape)
    row, column = min(max(row, 0), height), min(max(column, 0), width)
    columns = min(columns, width - column, MOST)
    rows = min(rows, height - row, MOST // max(columns, 1))
    if view.ndim < 2:
        return np.array(view.reshape(-1)[row : row + rows])[:, None][:, column : column + columns]
    lines = np.unravel_index(np.arange(row, row + rows), view.shape[:-1])
    index: tuple[Any, ...] = (*lines, slice(column, column + columns))
    return np.asarray(view[index])
