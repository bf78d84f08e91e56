"""An op type that is dragged from the palette becomes a node where it is dropped."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from gradstep.gui.panels.palette_panel import MIME_TYPE


def mime(kind: str, content: bytes) -> QMimeData:
    data = QMimeData()
    data.setData(kind, content)
    return data


def offered(canvas: Any, data: QMimeData) -> bool:
    """Whether the canvas takes the drag at all."""
    event = QDragEnterEvent(
        QPointF(300, 200).toPoint(),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    event.ignore()
    QApplication.sendEvent(canvas.view.viewport(), event)
    return event.isAccepted()


def test_a_dropped_type_becomes_a_node(canvas: Any) -> None:
    canvas.open("tutorial")
    data = mime(MIME_TYPE, b"Tanh")
    assert offered(canvas, data)
    place = QPointF(300, 200)
    drop = QDropEvent(
        place,
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    canvas.view.clearFocus()
    QApplication.sendEvent(canvas.view.viewport(), drop)
    assert canvas.view.focusWidget() is canvas.view, "keys are the canvas's now"
    (name,) = canvas.space.selection
    assert canvas.space.document.graph[name].type == "Tanh"
    wanted = canvas.view.pointer.on_grid(place.toPoint())
    assert canvas.space.document.view.positions[name] == wanted


def test_other_things_are_not_taken(canvas: Any) -> None:
    canvas.open("tutorial")
    assert not offered(canvas, mime("text/plain", b"Tanh"))
