"""The decision surface in the panel: redrawn while a network is trained, its rows to be clicked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstep.core.protocol import messages as m
from gradstep.gui import commands
from gradstep.gui.look import theme
from gradstep.gui.panels.classes.classes_panel import ClassesPanel
from gradstep.gui.panels.classes.surface_view import class_colors, surface_image
from tests.support.spirals import spirals

SLOW = 20_000  # milliseconds that a loaded machine may take


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any], qtbot: Any) -> Any:
    bench.space.open_document(spirals(), None)
    bench.space.debugger.flush()
    panel = show(ClassesPanel(bench.space), 330, 400)
    qtbot.waitUntil(lambda: panel.view.seen is not None, timeout=SLOW)
    return panel


def test_rows_of_two_numbers_lie_on_the_surface(panel: Any) -> None:
    assert panel.lists.currentWidget() is panel.surface
    assert panel.surface.grab().toImage().pixelColor(panel.surface.body.center()).isValid()
    assert "ringed: wrong" in panel.caption.text()
    body = panel.surface.body
    assert body.width() == body.height() > 150
    assert all(body.contains(panel.surface.point_of(p).toPoint()) for p in panel.view.seen.points)


def test_it_is_drawn_anew_while_a_network_is_trained(bench: Any, panel: Any) -> None:
    before, drawn = panel.surface._surface, []
    panel.view.drawn.connect(drawn.append)
    bench.space.training.by_epochs, bench.space.training.steps = False, 20
    commands.train(bench.space)
    assert drawn
    assert panel.surface._surface is drawn[-1]
    assert drawn[-1].sure != before.sure
    panel.hide()
    number = len(drawn)
    commands.train(bench.space)
    asked = [message for message in bench.bridge.asked if isinstance(message, m.Train)]
    assert [message.surface for message in asked] == [True, False]
    assert len(drawn) == number, "nobody looks at it"


def test_a_click_on_a_point_shows_its_row(bench: Any, panel: Any) -> None:
    point = panel.view.seen.points[0]
    at = panel.surface.point_of(point).toPoint()
    assert panel.surface.row_at(panel.surface.point_of(point)) == point
    QTest.mouseClick(panel.surface, Qt.MouseButton.LeftButton, pos=at)
    assert bench.views[-1] == ("show", "data")
    assert bench.space.data.is_row
    assert bench.space.data.batch.rows != []
    number = len(bench.views)
    corner = panel.surface.body.topLeft()
    assert panel.surface.row_at(corner.toPointF()) is None
    QTest.mouseClick(panel.surface, Qt.MouseButton.LeftButton, pos=corner)
    assert len(bench.views) == number


@pytest.mark.parametrize("look", [theme.DARK, theme.LIGHT])
def test_what_is_sure_is_more_coloured_than_what_is_not(look: theme.Theme) -> None:
    sure = np.array([255, 128, 128, 255], np.uint8).tobytes()
    surface = m.SurfaceDrawn(
        run=0, side=2, bounds=[0, 1, 0, 1], classes=bytes([0, 0, 1, 1]), sure=sure
    )
    image = surface_image(look, surface, 2)

    def far(x: int, y: int) -> int:
        color, ground = image.pixelColor(x, y), look.panel
        pairs = zip(color.getRgb(), ground.getRgb(), strict=True)
        return sum(abs(one - other) for one, other in pairs)

    assert far(0, 0) > 2 * far(1, 0)
    assert far(1, 1) > 2 * far(0, 1)
    assert image.pixelColor(0, 0) != image.pixelColor(1, 1)
    assert len({color.name() for color in class_colors(look, 10)}) == 10
