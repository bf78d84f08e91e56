"""Widgets on lines."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from gradstep.gui.panels.widgets.flow_layout import FlowLayout

GAP = 8


class Fixed(QWidget):
    def __init__(self, width: int, height: int) -> None:
        super().__init__()
        self._size = QSize(width, height)

    def sizeHint(self) -> QSize:
        return self._size

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._size.height())


@pytest.mark.parametrize(
    ("width", "tops"),
    [
        (200, (0, 4, 2)),  # all on one line, as high as the highest
        (100, (0, 4, 28)),  # the third by itself
        (50, (0, 28, 48)),
    ],
)
def test_what_is_lower_stands_in_the_middle_of_its_line(
    qtbot: Any, width: int, tops: tuple[int, ...]
) -> None:
    room = QWidget()
    qtbot.addWidget(room)
    flow = FlowLayout(room, GAP)
    widgets = [Fixed(40, 28), Fixed(40, 20), Fixed(40, 24)]
    hidden = Fixed(40, 90)
    for widget in (*widgets[:2], hidden, widgets[2]):
        flow.addWidget(widget)
    hidden.hide()
    room.resize(width, flow.heightForWidth(width))
    room.show()
    assert tuple(widget.y() for widget in widgets) == tops
    assert flow.heightForWidth(width) == tops[2] + (26 if width == 200 else 24)
    assert [widget.size() for widget in widgets] == [widget.sizeHint() for widget in widgets]
