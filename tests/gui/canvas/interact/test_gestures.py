"""What a drag does when something else happens meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from gradstep.core.graph.model import Edge, TensorRef
from gradstep.gui import commands
from gradstep.gui.canvas.scene.hit_test import Port, port_point


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


@pytest.mark.parametrize("start", ["box", "port", "input"])
def test_what_is_dragged_may_go_amid_the_drag(canvas: Any, qtbot: Any, start: str) -> None:
    canvas.open("tutorial")
    space, view = canvas.space, canvas.view
    port, left, none = view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier

    def drag_to(place: QPoint) -> None:
        at = QPointF(place), QPointF(port.mapToGlobal(place))
        event = QMouseEvent(QEvent.Type.MouseMove, *at, Qt.MouseButton.NoButton, left, none)
        QApplication.sendEvent(port, event)

    before, items = view.arrays, len(view.scene().items())
    commands.add_node(space, "Tanh", (300.0, 300.0))
    (name,) = space.selection
    commands.connect(space, TensorRef("a"), Edge(name, 0))
    box = view.arrays.visible.number[name]
    ends = {"port": Port(box, 0, is_output=True), "input": Port(box, 0, is_output=False)}
    if start == "box":
        at = canvas.middle(name)
    else:
        at = view.mapFromScene(QPointF(*port_point(view.arrays, ends[start])))
    qtbot.mousePress(port, left, pos=at)
    drag_to(at + QPoint(40, 30))
    view.grab()
    assert view.gestures.current is not None
    for _ in range(2):
        space.undo_stack.undo()
        view.grab()
    assert view.gestures.current is None
    drag_to(at + QPoint(80, 30))
    qtbot.mouseRelease(port, left, pos=at + QPoint(80, 30))
    assert np.array_equal(view.arrays.rects, before.rects)
    assert len(view.scene().items()) == items, "no wire is left over"
    assert space.undo_stack.index() == 0
    view.grab()


def test_a_press_brings_no_scene_of_before_back(canvas: Any, qtbot: Any) -> None:
    canvas.open("tutorial")
    space, view = canvas.space, canvas.view
    port, left, none = view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    at = canvas.middle("a")
    commands.rename(space, "e", "other")
    qtbot.mousePress(port, left, pos=at)
    space.undo_stack.undo()
    place = at + QPoint(40, 30)
    where = QPointF(place), QPointF(port.mapToGlobal(place))
    move = QMouseEvent(QEvent.Type.MouseMove, *where, Qt.MouseButton.NoButton, left, none)
    QApplication.sendEvent(port, move)
    assert "e" in view.arrays.visible.number, "no scene of before"
    qtbot.mouseRelease(port, left, pos=place)
    assert space.undo_stack.index() == 0
