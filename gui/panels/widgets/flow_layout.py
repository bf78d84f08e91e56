"""Widgets side by side, and on further lines where there is no room beside."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from gradstep.gui.look.theme import GRID
from gradstep.gui.panels.widgets.last_rooms import LastRooms


class FlowLayout(QLayout):
    """Each widget as wide as it wants to be, as far as the line goes. gap: pixels between two;
    line_gap: between two lines."""

    def __init__(self, parent: QWidget, gap: int = GRID, line_gap: int = 0) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap, self._line_gap = gap, line_gap
        self._known: LastRooms[list[QRect]] = LastRooms()  # places
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        if not 0 <= index < len(self._items):
            return None
        self.invalidate()
        return self._items.pop(index)

    def invalidate(self) -> None:
        """Something in it is of another size, or comes or goes."""
        self._known.clear()
        super().invalidate()

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        places = self._places(width - margins.left() - margins.right())
        below = max((rect.bottom() + 1 for rect in places), default=0)
        return below + margins.top() + margins.bottom()

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        room = rect.marginsRemoved(self.contentsMargins())
        for item, place in zip(self._items, self._places(room.width()), strict=True):
            if not item.isEmpty():
                item.setGeometry(place.translated(room.topLeft()))

    def sizeHint(self) -> QSize:
        """All on one line."""
        sizes = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(size.width() + self._gap for size in sizes) - self._gap
        high = max((size.height() for size in sizes), default=0)
        return QSize(max(width, 0), high).grownBy(self.contentsMargins())

    def minimumSize(self) -> QSize:
        sizes = [item.minimumSize() for item in self._items if not item.isEmpty()]
        return QSize(
            max((size.width() for size in sizes), default=0),
            max((size.height() for size in sizes), default=0),
        ).grownBy(self.contentsMargins())

    def _places(self, width: int) -> list[QRect]:
        """Of each item, within the margins, in the middle of its line; what is hidden takes no
        room."""
        if width not in self._known:
            self._known[width] = self._placed(width)
        return self._known[width]

    def _placed(self, width: int) -> list[QRect]:
        found = [QRect() for _ in self._items]
        line: list[QRect] = []
        across = below = 0
        for number, item in enumerate(self._items):
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if across and across + size.width() > width:
                below += _centred(line) + self._line_gap
                across, line = 0, []
            place = QRect(QPoint(across, below), QSize(min(size.width(), width), size.height()))
            found[number] = place
            line.append(place)
            across += size.width() + self._gap
        _centred(line)
        return found


def _centred(line: Sequence[QRect]) -> int:
    """Move the places of a line, which begin at one height, to the middle of it; how high it is."""
    high = max((place.height() for place in line), default=0)
    for place in line:
        place.translate(0, (high - place.height()) // 2)
    return high
