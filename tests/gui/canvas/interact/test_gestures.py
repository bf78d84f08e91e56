"""What a drag does when something else happens meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from gradstep.core.graph.model import Edge
from gradstep.gui import commands


@pytest.mark.parametrize("moved", [True, False])
@pytest.mark.parametrize("end", ["release", "escape"])
def test_what_is_undone_amid_a_drag_ends_it(canvas: Any, qtbot: Any, end: str, moved: bool) -> None:
    """moved: the box is on its way; it is only pressed else."""
    canvas.open("tutorial")
    space, view = canvas.space, canvas.view
    port, left = view.viewport(), Qt.MouseButton.LeftButton

    def drag_to(place: QPoint) -> None:
        at = QPointF(place), QPointF(port.mapToGlobal(place))
        kind, none = QEvent.Type.MouseMove, Qt.KeyboardModifier.NoModifier
        QApplication.sendEvent(port, QMouseEvent(kind, *at, Qt.MouseButton.NoButton, left, none))

    before = view.arrays
    commands.disconnect(space, Edge("a", 1))
    at = canvas.middle("a")
    qtbot.mousePress(port, left, pos=at)
    if moved:
        drag_to(at + QPoint(40, 30))
        assert view.arrays.base is not None
    space.undo_stack.undo()
    drag_to(at + QPoint(80, 30))
    if end == "escape":
        qtbot.keyClick(view, Qt.Key.Key_Escape)
    qtbot.mouseRelease(port, left, pos=at + QPoint(80, 30))
    assert view.arrays.visible is before.visible
    assert np.array_equal(view.arrays.rects, before.rects)
    view.grab()
