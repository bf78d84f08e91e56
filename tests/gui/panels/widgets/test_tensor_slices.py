"""Slices of tensors agree with NumPy's indexing."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradstep.gui.panels.widgets.tensor_slices import first_slice


@given(hnp.array_shapes(min_dims=0, max_dims=5, max_side=4), st.data())
def test_a_slice_is_where_numpy_says(shape: tuple[int, ...], data: st.DataObject) -> None:
    array = np.arange(int(np.prod(shape))).reshape(shape)
    part = first_slice(shape)
    for axis in range(len(part.lead)):
        part = part.at(axis, data.draw(st.integers(-1, shape[axis] + 1)))
    row = data.draw(st.integers(0, part.rows - 1))
    column = data.draw(st.integers(0, part.columns - 1))
    assert array[part.index(row, column)] == part.number(row, column)
    assert part.rows * part.columns * int(np.prod(shape[:-2])) == array.size
