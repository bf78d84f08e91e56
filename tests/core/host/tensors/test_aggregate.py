"""Cells of a picture: no element is overlooked, whatever the blocks are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gradstep.core.host.tensors import aggregate as module
from gradstep.core.host.tensors.aggregate import INF, NAN, NEGATIVE_INF, ZERO, aggregate

SIDES = st.tuples(st.integers(1, 9), st.integers(1, 9))
NUMBERS = st.sampled_from([0.0, 1.0, -3.0, 0.5, np.nan, np.inf, -np.inf])


@given(
    SIDES.flatmap(lambda shape: arrays(np.float32, shape, elements=NUMBERS)),
    st.integers(1, 10),
    st.integers(1, 10),
    st.sampled_from([1, 7, 1000]),
)
def test_each_cell_says_what_its_elements_are(
    table: np.ndarray, height: int, width: int, together: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", together)
        cells = aggregate(table, height, width)
    down, across = cells.block
    assert cells.kinds.shape[0] <= height
    assert cells.kinds.shape[1] <= width
    for (row, column), kind in np.ndenumerate(cells.kinds):
        part = table[row * down :, column * across :][:down, :across]
        finite = part[np.isfinite(part)]
        assert kind == expected_kind(part)
        found = (cells.least, cells.most, cells.mean, cells.extreme)
        least, most, mean, extreme = (float(each[row, column]) for each in found)
        if not finite.size:
            assert np.isnan([least, most, mean, extreme]).all()
            continue
        assert (least, most) == (finite.min(), finite.max())
        assert mean == pytest.approx(finite.astype(np.float64).mean())
        assert abs(extreme) == np.abs(finite).max()
        assert extreme in finite


def expected_kind(part: np.ndarray) -> int:
    if np.isnan(part).any():
        return NAN
    if (part == np.inf).any():
        return INF
    if (part == -np.inf).any():
        return NEGATIVE_INF
    return ZERO if (part == 0).all() else 0


def test_complex_and_truth_values_have_cells() -> None:
    assert aggregate(np.array([[3 + 4j]]), 1, 1).most[0, 0] == 5
    assert aggregate(np.array([[True, False]]), 1, 2).most.tolist() == [[1, 0]]
