"""Every panel: names for tests and screen readers, keyboard focus, both themes, no clipping."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from statistics import median
from typing import Any

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from gradstep.gui.frame.docks import PANELS
from gradstep.gui.look import theme
from gradstep.gui.model.workspace import Workspace
from tests.gui.panels.conftest import made_bench
from tests.support.deleting import delete
from tests.support.named_widgets import require_names


@pytest.fixture(scope="module")
def stepped(qapp: Any) -> Iterator[Workspace]:
    """An overridden network that was checked, and stepped into its backward pass. All panels are
    made on this one; they only look at it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        bench = made_bench(monkeypatch)
        bench.open("override_add")
        bench.space.trust()
        bench.space.debugger.ask_devices()
        bench.space.debugger.check()
        while bench.space.stop.phase != "backward":
            bench.run("step")
        bench.space.select(["e"])
        yield bench.space
    delete(bench.space)


@pytest.fixture(scope="module", params=PANELS, ids=lambda place: place.id)
def panel(request: Any, qapp: Any, stepped: Workspace) -> Iterator[Any]:
    """One for all that is tested of it."""
    theme.apply(qapp, theme.DARK)
    stepped.set_theme(theme.DARK)
    place = request.param
    panel = getattr(import_module(place.module), place.panel)(stepped)
    panel.resize(320, 400)
    panel.show()
    yield panel
    delete(panel)


def test_every_control_has_a_name_and_takes_the_focus(panel: QWidget) -> None:
    require_names(panel)


def test_nothing_needs_more_width_than_the_dock_has(panel: QWidget) -> None:
    assert panel.minimumSizeHint().width() <= 320
    panel.resize(220, 300)
    assert panel.width() <= 320
    assert not panel.grab().isNull()


def test_the_theme_is_followed(panel: Any, qapp: Any) -> None:
    dark = panel.grab().toImage()
    theme.apply(qapp, theme.LIGHT)
    panel.workspace.set_theme(theme.LIGHT)
    light = panel.grab().toImage()
    assert _ground(light) > 200
    assert _ground(dark) < 60


def _ground(image: QImage) -> float:
    """Lightness of what texts stand on, along the lower edge."""
    row = range(0, image.width(), 3)
    return median(image.pixelColor(x, image.height() - 2).lightness() for x in row)
