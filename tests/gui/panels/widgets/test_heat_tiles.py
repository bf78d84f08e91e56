"""Heat tiles: every number that is shown can be read, in whatever room there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QImage

from gradstep.gui.look import heat_colours, theme
from gradstep.gui.look.contrast import contrast, ink_on
from gradstep.gui.look.theme import DARK, LIGHT, SMALL, mono
from gradstep.gui.panels.widgets.heat_tiles import HeatTiles

FLOATS = st.floats(-1e6, 1e6, width=32) | st.sampled_from([-0.6, -0.0, np.nan, -np.inf, 1e-9])
TABLES = arrays(np.float32, array_shapes(max_dims=2, max_side=10), elements=FLOATS)


def tiles_of(array: np.ndarray) -> HeatTiles:
    theme.load_fonts()
    tiles = HeatTiles(lambda: LIGHT, "tiles")
    tiles.show_head(array.reshape(-1)[:64], array.shape)
    return tiles


@given(TABLES, st.integers(90, 500))
def test_each_number_fits_into_its_tile(qapp: object, array: np.ndarray, room: int) -> None:
    fit = tiles_of(array).fit(room)
    metrics = QFontMetrics(mono(SMALL))
    shown = [text for row in fit.texts for text in row[: fit.columns]]
    assert shown
    assert all(text and metrics.horizontalAdvance(text) <= fit.width - 4 for text in shown)
    assert fit.columns == 1 or fit.columns * (fit.width + 2) - 2 <= room


@given(arrays(np.float32, 8, elements=st.floats(-100, 100, width=32)), st.integers(90, 500))
@example(np.full(8, 0.0022, np.float32), 90)
def test_fewer_decimals_leave_the_largest_two_digits(
    qapp: object, array: np.ndarray, room: int
) -> None:
    largest = float(np.abs(array).max())
    texts = tiles_of(array).fit(room).texts[0]
    said = max(abs(float(text)) for text in texts)
    assert said == pytest.approx(largest, rel=0.05)


def test_a_row_of_small_negative_numbers_is_whole(qapp: object) -> None:
    array = np.float32([0.5, -0.6, 0.9, -0.7, 0.3, 0.8, -0.2, 0.4])
    fit = tiles_of(array).fit(318)
    assert fit.columns == 8
    assert fit.texts == [["0.50", "-0.60", "0.90", "-0.70", "0.30", "0.80", "-0.20", "0.40"]]


def test_what_has_no_room_is_said(qapp: object) -> None:
    tiles = tiles_of(np.float32([[-1.5e-7] * 8] * 2))
    tiles.resize(200, 80)
    fit = tiles.fit(200)
    assert 1 < fit.columns < 8
    assert tiles.minimumSizeHint().height() >= 3 * 24
    image = QImage(200, 80, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    tiles.render(image)
    below = [image.pixelColor(x, y) for y in range(54, image.height()) for x in range(100)]
    assert any(color.lightness() < 200 for color in below)  # "… 16 elements"


@pytest.mark.parametrize("chosen", [LIGHT, DARK], ids=["light", "dark"])
def test_numbers_stand_out_from_every_heat(chosen: theme.Theme) -> None:
    for share in np.linspace(-1, 1, 401):
        ground = heat_colours.color(chosen, float(share), 1.0)
        assert contrast(ink_on(ground), ground) >= 4.5
    assert contrast(ink_on(chosen.problem), chosen.problem) >= 4.5


@pytest.mark.parametrize("chosen", [LIGHT, DARK], ids=["light", "dark"])
def test_zeros_stand_out_from_what_they_lie_on(chosen: theme.Theme) -> None:
    zero = heat_colours.color(chosen, 0.0, 0.0)
    for ground in (chosen.panel, chosen.raised, chosen.background):
        assert contrast(zero, ground) >= 1.3
