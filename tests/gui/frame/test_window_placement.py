"""The first window fits its screen; later ones come back where it stood, if that is still there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from PySide6.QtCore import QByteArray, QRect, QSize, Qt
from PySide6.QtWidgets import QTabBar

from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame import window_placement
from gradstep.gui.frame.docks import BOTTOM, LEAST, LEFT, RIGHT, SIZES
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.frame.window_placement import TITLE, first_place
from gradstep.gui.model.settings import settings
from gradstep.gui.panels.timeline.timeline_panel import TimelinePanel
from gradstep.gui.panels.widgets.flat_table import ROW_HEIGHT

SCREENS = st.builds(
    QRect, st.integers(-3000, 3000), st.integers(0, 2000), st.integers(640, 7680),
    st.integers(480, 4320),
)  # fmt: skip


@given(SCREENS)
def test_a_first_window_is_all_on_its_screen(available: QRect) -> None:
    place, whole = first_place(available)
    assert available.contains(place.adjusted(0, -TITLE, 0, 0))
    assert whole or (place.width() >= 1280 and place.height() >= 800)
    assert place.width() <= 1600
    assert place.height() <= 1000


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [
        (1366, 768, None),  # None: maximized
        (1280, 720, None),  # 1080p at 150 %
        (1536, 864, None),  # 1080p at 125 %
        (1024, 680, None),
        (1920, 1040, (1600, 904)),
        (3840, 2160, (1600, 1000)),
    ],
)
def test_first_places(width: int, height: int, size: tuple[int, int] | None) -> None:
    place, whole = first_place(QRect(0, 0, width, height))
    assert whole == (size is None)
    assert size is None or place.size() == QSize(*size)


@given(SCREENS, st.integers(400, 9000), st.integers(300, 5000))
def test_a_window_beside_another_is_on_the_screen(
    available: QRect, width: int, height: int
) -> None:
    class Screen:
        def availableGeometry(self) -> QRect:
            return available

    class Window:
        place = QRect(available.topLeft(), QSize(width, height))

        def normalGeometry(self) -> QRect:
            return self.place

        def screen(self) -> Screen:
            return Screen()

        def setGeometry(self, place: QRect) -> None:
            self.place = place

    new: Any = Window()
    other: Any = Window()
    window_placement.place_beside(new, other)
    assert available.contains(new.place)


@pytest.fixture
def window(qtbot: Any) -> MainWindow:
    window = MainWindow()
    qtbot.addWidget(window)
    return window


def test_the_first_window_takes_a_small_screen_whole(qtbot: Any, window: MainWindow) -> None:
    """The tests' own screen has 800 by 800 pixels."""
    assert window.windowState() & Qt.WindowState.WindowMaximized
    window.show()
    qtbot.waitUntil(lambda: window.width() > 790 and window.height() > 760)
    assert window.screen().availableGeometry().contains(window.geometry())
    assert window.minimumSizeHint().width() <= 800


def test_a_place_on_another_screen_is_not_taken(qtbot: Any, window: MainWindow) -> None:
    """A geometry from a screen of 3840 pixels, far to the right and below."""
    wide = bytearray(bytes(window.saveGeometry()))
    frame = slice(8, 24)  # after magic number and version: frame rectangle, then the normal one
    for at in (frame, slice(24, 40)):
        left, top, right, bottom = 5000, 3000, 6500, 3900
        wide[at] = b"".join(n.to_bytes(4, "big", signed=True) for n in (left, top, right, bottom))
    settings().set_window("geometry", QByteArray(bytes(wide)))
    again = MainWindow()
    qtbot.addWidget(again)
    again.show()
    assert again.screen().availableGeometry().contains(again.geometry())


def test_a_damaged_place_is_none(qtbot: Any) -> None:
    settings().set_window("geometry", QByteArray(b"nonsense"))
    window = MainWindow()
    qtbot.addWidget(window)
    assert window.windowState() & Qt.WindowState.WindowMaximized


@pytest.mark.parametrize(
    ("width", "height"), [(1024, 650), (1280, 690), (1366, 738), (1600, 1000), (1920, 1050)]
)
@pytest.mark.slow
def test_most_of_the_window_is_canvas(
    driver: Driver, examples: Path, width: int, height: int
) -> None:
    driver.window.resize(width, height)
    driver.open(examples / "tutorial.gradstep")
    window = driver.window
    assert (window.width(), window.height()) == (width, height)
    canvas = window.canvas.size()
    assert canvas.width() * canvas.height() >= 0.32 * width * height
    shown = {id: window.docks.by_id[id].size() for id in ("outline", "inspector", "timeline")}
    assert LEAST[LEFT] <= shown["outline"].width() <= SIZES[LEFT][0]
    assert LEAST[RIGHT] <= shown["inspector"].width() <= SIZES[RIGHT][0]
    assert 110 <= shown["timeline"].height() <= SIZES[BOTTOM][1]
    seen = QRect(0, 0, width, height)
    assert seen.contains(QRect(window.status.pos(), window.status.size()))


@pytest.mark.parametrize(("width", "height", "bars"), [(1366, 738, 1), (1600, 1000, 3)])
@pytest.mark.slow
def test_steps_are_seen_beside_those_around_them(
    driver: Driver, examples: Path, width: int, height: int, bars: int
) -> None:
    """Also after several runs: the bars of others come where there is room for them."""
    driver.window.resize(width, height)
    driver.open(examples / "tutorial.gradstep")
    for _ in range(4):
        driver.key("F5")
    panel = driver.window.docks.by_id["timeline"].panel
    assert isinstance(panel, TimelinePanel)
    assert len(panel.bars._shown) == bars
    assert panel.table.viewport().height() >= 4 * ROW_HEIGHT
    driver.window.resize(width, height + 300)
    driver.window.resizeDocks(
        [driver.window.docks.by_id["timeline"]], [500], Qt.Orientation.Vertical
    )
    driver.settle()
    assert len(panel.bars._shown) == 3


@pytest.mark.parametrize("width", [1280, 1366, 1600])
@pytest.mark.slow
def test_tabs_have_room_for_what_they_count(driver: Driver, examples: Path, width: int) -> None:
    driver.window.resize(width, 738)
    driver.open(examples / "tutorial.gradstep")
    driver.window.docks.by_id["problems"].say("Problems 12")
    driver.settle()
    bars = [bar for bar in driver.window.findChildren(QTabBar) if bar.count() > 1]
    assert len(bars) == 3
    for bar in bars:
        assert bar.sizeHint().width() <= bar.width(), bar.tabText(0)
