"""Where a window stands on its screen at first.

Where it stood when it was closed, Qt restores, as far as the screens are still the same.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QWidget

WANTED = QSize(1600, 1000)  # pixels; more is left to other windows
SHARE = 0.9  # of the screen, at most
ENOUGH = QSize(1280, 800)  # pixels; a screen on which that share is less is used whole
TITLE = 32  # pixels that a title bar may take above the window


def place_first(window: QWidget) -> None:
    """In the middle of the screen, or all over it."""
    place, whole = first_place(window.screen().availableGeometry())
    window.setGeometry(place)
    if whole:
        window.setWindowState(Qt.WindowState.WindowMaximized)


def first_place(available: QRect) -> tuple[QRect, bool]:
    """What a window takes of a screen, its title bar not counted, and whether it is to be maximized
    beyond that."""
    room = QSize(round(SHARE * available.width()), round(SHARE * available.height()) - TITLE)
    size = WANTED.boundedTo(room)
    place = QRect(available.topLeft(), size)
    place.moveCenter(available.center())
    place.moveTop(max(place.top(), available.top() + TITLE))
    return place, size.width() < ENOUGH.width() or size.height() < ENOUGH.height()


def place_beside(window: QWidget, other: QWidget, step: int = 32) -> None:
    """As large as another window, a little down and to the right of it, as far as there is room."""
    place = other.normalGeometry().translated(step, step)
    room = other.screen().availableGeometry()
    place.setSize(place.size().boundedTo(room.size() - QSize(0, TITLE)))
    place.moveRight(min(place.right(), room.right()))
    place.moveBottom(min(place.bottom(), room.bottom()))
    place.moveLeft(max(place.left(), room.left()))
    place.moveTop(max(place.top(), room.top() + TITLE))
    window.setGeometry(place)
