"""Histograms over time: each column has all of a tensor's numbers, where they lie."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from gradstep.core.debug.breaks.histograms import histogram
from gradstep.gui.look.theme import DARK, LIGHT
from gradstep.gui.model.histogram_points import HistogramPoints
from gradstep.gui.panels.training.histogram_image import densities, paint_histograms


def points_of(arrays: dict[int, list[float]]) -> HistogramPoints:
    points = HistogramPoints()
    rows = [histogram(np.array(numbers)) for numbers in arrays.values()]
    points.put(np.array([*arrays]), np.array(rows, np.float32))
    return points


FLOATS = st.floats(-100, 100, width=32)


@given(
    st.dictionaries(
        st.integers(0, 20), st.lists(FLOATS, min_size=1, max_size=9), min_size=1, max_size=6
    ),
    st.integers(1, 40),
    st.integers(2, 30),
)
def test_a_column_has_all_numbers(arrays: dict[int, list[float]], width: int, height: int) -> None:
    arrays = dict(sorted(arrays.items()))
    points = points_of(arrays)
    found = densities(points, (0.0, 21.0), width, height)
    assert found.shape == (height, width)
    for pixel in range(width):
        begin, end = (21 * i / width for i in (pixel, pixel + 1))
        column = found[:, pixel]
        if min(arrays) < end - 1e-6 and begin < points.stop - 1e-6:
            np.testing.assert_allclose(column.sum(), 1, rtol=1e-4)
        elif min(arrays) > end + 1e-6 or begin > points.stop + 1e-6:
            assert np.isnan(column).all()


def test_large_numbers_are_above_and_colours_say_how_many() -> None:
    points = points_of({0: [0.0] * 90 + [1.0] * 10, 1: [0.5], 2: [np.nan]})
    found = densities(points, (0.0, 3.0), 3, 10)
    assert found[:, 0].round(3).tolist() == [0.1, *[0] * 8, 0.9]
    assert found[:, 1].argmax() in (4, 5)
    assert np.isnan(found[:, 2]).all()
    for theme in (DARK, LIGHT):
        image = paint_histograms(points, (0.0, 3.0), (3, 10), (theme, "update"))
        assert image[:, :2, 3].min() == 255
        assert image[:, 2, 3].max() == 0
        ground, few, many = image[5, 0, :3], image[0, 0, :3], image[9, 0, :3]
        assert len({tuple(x.tolist()) for x in (ground, few, many)}) == 3
