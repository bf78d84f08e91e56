"""Rectangles of a table, of tensors of any shape, empty ones too."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.host.tensors.matrix_window import rectangle, table_size

places = st.integers(-1, 6)
sizes = st.integers(0, 6)


@given(st.lists(st.integers(0, 4), max_size=3).map(tuple), places, sizes, places, sizes)
def test_it_is_what_numpy_has_there(
    shape: tuple[int, ...], row: int, rows: int, column: int, columns: int
) -> None:
    view = np.arange(prod(shape)).reshape(shape)
    height, width = table_size(shape)
    whole = view.reshape(height, width)
    top, left = min(max(row, 0), height), min(max(column, 0), width)
    found = rectangle(view, row, rows, column, columns)
    assert np.array_equal(found, whole[top : top + rows, left : left + columns])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_of_what_is_empty_there_is_no_element(shape: tuple[int, ...]) -> None:
    assert rectangle(np.zeros(shape), 0, 8, 0, 8).size == 0


def test_it_is_a_copy() -> None:
    view = np.arange(6)
    rectangle(view, 0, 6, 0, 1)[:] = -1
    assert view.tolist() == [0, 1, 2, 3, 4, 5]
