"""A user of the real window: a mouse and a keyboard on what is seen, and eyes to read it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip

from gradstep.gui.canvas.interact import screen_reader
from gradstep.gui.canvas.scene import hit_test, polyline
from tests.support.controls import LEFT, NONE, Controls, in_window

PICTURES = "GRADSTEP_PICTURES"  # the folder that the stories' pictures go to, where it is set


class User(Controls):
    """Sees the canvas as it is painted, and points at its nodes, ports and wires."""

    # -- the canvas ------------------------------------------------------------------------------

    @property
    def canvas(self):
        return self.window.canvas

    def node(self, name: str) -> QPoint:
        """The middle of a node's title row, in pixels of the canvas."""
        x, y, width, _ = self.canvas.arrays.rects[self._number(name)].tolist()
        return self._pixel((x + width / 2, y + 10))

    def corner(self, name: str) -> QPoint:
        """A point on the left edge of a node's outline."""
        x, y, _, height = self.canvas.arrays.rects[self._number(name)].tolist()
        return self._pixel((x, y + height - 8))

    def output(self, name: str, index: int = 0) -> QPoint:
        return self._port(name, index, is_output=True)

    def input(self, name: str, index: int = 0) -> QPoint:
        return self._port(name, index, is_output=False)

    def wire(self, source: str, target: str) -> QPoint:
        """A point on the wire between two nodes that no other wire is nearer to."""
        arrays = self.canvas.arrays
        link = arrays.visible.ends.tolist().index([self._number(source), self._number(target)])
        scale = self.canvas.camera.scale
        (line,) = arrays.routes.lines(np.array([link]), 0.5)
        shares = sorted(np.linspace(0, 1, 25), key=lambda share: abs(share - 0.5))
        points = (tuple(polyline.at(line, share)[0]) for share in shares)
        return self._pixel(next(p for p in points if hit_test.at(arrays, p, scale).link == link))

    def point_at(self, at: QPoint) -> None:
        """Move the mouse to a point of the canvas."""
        window, offset = in_window(self.canvas.viewport())
        QTest.mouseMove(window, offset + at)

    def click_canvas(self, at: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        self.click_at(self.canvas.viewport(), at, modifiers)
        self.settle()

    def select(self, *names: str) -> None:
        """Click nodes, all but the first with Shift."""
        for number, name in enumerate(names):
            self.click_canvas(
                self.node(name), Qt.KeyboardModifier.ShiftModifier if number else NONE
            )

    def drag(self, start: QPoint, end: QPoint) -> None:
        self.drag_now(start, end)
        self.settle()

    def drag_now(self, start: QPoint, end: QPoint) -> None:
        """Press, move in small steps, release; and do not wait for the engine."""
        self.bring_forward(self.window)
        window, offset = in_window(self.canvas.viewport())
        QTest.mousePress(window, LEFT, NONE, offset + start)
        for share in (0.1, 0.4, 0.7, 0.95, 1.0):
            QTest.mouseMove(window, offset + start + (end - start) * share)
        QTest.mouseRelease(window, LEFT, NONE, offset + end)

    def search(self, text: str) -> None:
        """Type into the menu that finds an operation, and take what it finds."""
        field = self.find("search_menu_field")
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        self.settle()

    def says(self, name: str) -> str:
        """What a node shows, in one sentence: as a screen reader gets it."""
        return screen_reader.describe(self.canvas.stage, self._number(name))

    def shows_color(self, around: QPoint, color: QColor, reach: int = 6) -> bool:
        """Whether some pixel near a point has this colour, or nearly."""
        image = self.canvas.viewport().grab().toImage()
        wanted = np.array(color.getRgb()[:3])
        for x in range(-reach, reach + 1):
            for y in range(-reach, reach + 1):
                found = image.pixelColor(around + QPoint(x, y)).getRgb()[:3]
                if np.abs(np.array(found) - wanted).max() <= 12:
                    return True
        return False

    def _number(self, name: str) -> int:
        return self.canvas.arrays.visible.number[name]

    def _pixel(self, point: tuple[float, float]) -> QPoint:
        return self.canvas.mapFromScene(QPointF(*point))

    def _port(self, name: str, index: int, is_output: bool) -> QPoint:
        port = hit_test.Port(self._number(name), index, is_output)
        return self._pixel(hit_test.port_point(self.canvas.arrays, port))

    def tip(self) -> str:
        """What stands beside the pointer, if anything."""
        return QToolTip.text() if QToolTip.isVisible() else ""

    # -- what is known ---------------------------------------------------------------------------

    def value(self, ref: str) -> np.ndarray | None:
        """The whole value, or None while there is none."""
        return self._array(self.workspace.value(ref))

    def gradient(self, ref: str) -> np.ndarray | None:
        return self._array(self.workspace.gradient(ref))

    def _array(self, found) -> np.ndarray | None:
        return None if found is None or found.state != "known" else found.array

    # -- pictures --------------------------------------------------------------------------------

    def take_picture(self, name: str) -> None:
        """Keep what the window shows now, with its dialogs, where pictures are wanted."""
        if folder := os.environ.get(PICTURES):
            picture = self.window.grab()
            painter = QPainter(picture)
            for top in QApplication.topLevelWidgets():
                if top is not self.window and top.isVisible():
                    painter.drawPixmap(top.pos() - self.window.pos(), top.grab())
            painter.end()
            Path(folder).mkdir(parents=True, exist_ok=True)
            picture.save(str(Path(folder) / f"{name}.png"))
