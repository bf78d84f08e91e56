"""Having Qt lay out once what changes in many places."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QLayout, QWidget


@contextmanager
def at_rest(widget: QWidget, *inside: QWidget) -> Iterator[None]:
    """Lays out neither `widget`, nor what is around it, nor what is `inside` it meanwhile: Qt would
    with each part that is shown or hidden. It does soon."""
    layouts = [layout for part in inside if (layout := part.layout()) is not None]
    around: QWidget | None = widget
    while around is not None and (layout := around.layout()) is not None:
        layouts.append(layout)
        around = around.parentWidget()
    resting: list[QLayout] = [layout for layout in layouts if layout.isEnabled()]
    for layout in resting:
        layout.setEnabled(False)
    try:
        yield
    finally:
        for layout in resting:
            layout.setEnabled(True)
            if (parent := layout.parentWidget()) is not None:
                # What asked for it meanwhile was not heard, and asks no more.
                QCoreApplication.postEvent(parent, QEvent(QEvent.Type.LayoutRequest))
