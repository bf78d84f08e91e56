"""A rectangle as the four numbers that arrays are compared with."""

from __future__ import annotations

from PySide6.QtCore import QRectF

from gradstep.gui.canvas.scene.link_routing import Sides


def sides_of(rect: QRectF) -> Sides:
    """As `getCoords`, of whose result PySide's stubs say only that it is an object."""
    return rect.left(), rect.top(), rect.right(), rect.bottom()
