"""The map's pixels: the largest number of each, held until the next, and nothing wrong is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.breaks.missing_number import NOT_THERE
from gradstep.gui.look import theme
from gradstep.gui.model.curve_points import Points
from gradstep.gui.model.sampled_points import SampledPoints
from gradstep.gui.panels.training.flow_image import (
    cells_of,
    paint_rows,
    shades,
    shares_of,
    span_of,
)


@given(seed=st.integers(0, 9999), count=st.integers(1, 3000), width=st.integers(1, 90))
def test_pixels_hold_what_is_in_their_steps(seed: int, count: int, width: int) -> None:
    dice, points = np.random.default_rng(seed), SampledPoints()
    steps = np.cumsum(dice.integers(1, 4, count))
    numbers = np.where(dice.random(count) < 0.02, np.nan, dice.random(count) + 0.1)
    points.put(steps, numbers)
    start = float(dice.integers(0, steps[-1] + 1))
    stop = start + float(dice.integers(2, steps[-1] + 4))
    numbers_, wrongs = cells_of([SampledPoints(), points, points], start, stop, width)
    assert np.isnan(numbers_[0]).all()
    assert not wrongs[0].any()
    np.testing.assert_array_equal(numbers_[1], numbers_[2])
    row, wrong = numbers_[1], wrongs[1]
    scale = width / (stop - start)
    pixels = np.floor((steps - start) * scale).astype(int)
    inside = (pixels >= 0) & (pixels < width)
    for pixel in np.unique(pixels[inside]):
        here = numbers[pixels == pixel]
        if np.isfinite(here).any():
            assert np.nanmax(row[max(pixel - 1, 0) : pixel + 1]) >= np.nanmax(here), (
                "no spike is lost"
            )
        if np.isnan(here).any():
            assert wrong[max(pixel - 1, 0) : pixel + 1].any(), "and nothing wrong"
    assert np.nanmax(row, initial=0) <= np.nanmax(numbers, initial=0)
    far = np.arange(width) > (steps[-1] + 1 - start) * scale
    assert np.isnan(row[far]).all(), "nothing is known behind the last step"


def test_a_number_stands_until_the_next_look() -> None:
    points = SampledPoints()
    points.put(np.array([0, 5, 8]), np.array([1.0, 2.0, 3.0]))
    (row,), (wrong,) = cells_of([points], 0, 10, 10)
    np.testing.assert_array_equal(row, [1, 1, 1, 1, 1, 2, 2, 2, 3, np.nan])
    assert not wrong.any()


def test_what_was_not_computed_is_not_wrong() -> None:
    points = Points()
    points.put(0, np.array([1.0, NOT_THERE, np.nan, np.inf, 1.0]))
    (row,), (wrong,) = cells_of([points], 0, 5, 50)
    assert np.flatnonzero(wrong).tolist() == [*range(19, 41)]
    np.testing.assert_array_equal(row[:20], np.repeat([1, np.nan], 10))


def test_colours_are_logarithmic_and_reach_from_the_least_to_the_largest() -> None:
    points = Points()
    points.put(0, np.array([1e-4, 1e-2, 1.0, 0.0]))
    low, high = span = span_of([points], share=False)
    np.testing.assert_allclose((low, high), (1e-4, 1))
    np.testing.assert_allclose(shares_of(points.numbers, span, False), [0, 0.5, 1, 0])
    np.testing.assert_allclose(
        shares_of(np.array([0, 0.3, 1]), span_of([], True), True), [0, 0.3, 1]
    )
    points.put(4, np.array([1e300]))
    assert span_of([points], share=False)[0] >= 1e290, "not more decades than can be told apart"


@pytest.mark.parametrize("look", [theme.DARK, theme.LIGHT])
@pytest.mark.parametrize("tone", ["backward", "update", "forward"])
def test_lightness_alone_tells_the_colours_apart(look: theme.Theme, tone: theme.Tone) -> None:
    linear = (shades(look, tone) / 255.0) ** 2.2
    light = linear @ [0.2126, 0.7152, 0.0722]
    steps = np.diff(light[::8])
    assert (steps > 0).all() or (steps < 0).all()
    assert abs(light[-1] - light[0]) > 0.4


def test_wrong_cells_look_like_nothing_else() -> None:
    points = Points()
    points.put(0, np.array([0.5, np.nan]))
    image = paint_rows([points], (0, 2), 20, (0.0, 1.0), (theme.DARK, "backward"), True)
    colors = {tuple(pixel) for pixel in shades(theme.DARK, "backward").tolist()}
    assert all(tuple(pixel) in colors for pixel in image[0, :9, :3].tolist())
    assert not any(tuple(pixel) in colors for pixel in image[0, 11:12, :3].tolist())
