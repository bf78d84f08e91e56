"""A canvas on a workspace whose engine answers in this process, at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtWidgets import QApplication

from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.open_document import read
from gradstep.core.protocol import messages
from gradstep.gui.canvas.paint import front_buffer
from gradstep.gui.canvas.scene import hit_test, polyline
from gradstep.gui.canvas.view import GraphView
from gradstep.gui.look import theme
from gradstep.gui.look.theme import ASSETS
from gradstep.gui.model import workspace
from tests.support.deleting import delete


class EngineHere(QObject):
    """Stands in for the engine bridge: the engine itself, without the process."""

    state_changed = Signal(str)
    event_received = Signal(object)
    died = Signal(object)
    confined = False
    is_idle = True  # between two calls of `send`
    is_read = False
    machine = address = ""

    def __init__(self, argv: object = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = "ready"
        self._service = EngineService(CpuOnly())

    def send(
        self,
        message: messages.Message,
        buffers: Sequence[Any] = (),
        then: Callable[..., None] = lambda *_: None,
    ) -> None:
        then(*self._service.handle(message, [bytes(b) for b in buffers]))

    def lend(self, columns: Iterable[str]) -> None:
        """Its files are here."""

    def lend_typed(self, line: str) -> None:
        """The same of what a line names."""

    def close(self) -> None:
        pass


class Canvas:
    """The view, its workspace, and places on it in pixels."""

    def __init__(self, view: GraphView) -> None:
        self.view = view
        self.space = view.workspace
        self.said: list[tuple[str, str]] = []
        self.space.message.connect(lambda level, text: self.said.append((level, text)))

    def open(self, name: str) -> None:
        self.space.open_document(read(ASSETS / "examples" / f"{name}.gradstep"))
        self.space.debugger.flush()  # as the event loop does next
        if not self.space.trusted:
            self.space.trust()

    def step(self, count: int) -> None:
        for _ in range(count):
            self.space.control("step")

    def step_back_to(self, node: str) -> None:
        """Run forwards until the backward pass stands at `node`."""
        for _ in range(40):
            stop = self.space.stop
            assert stop is not None
            if stop.phase == "backward" and stop.node == node:
                return
            self.step(1)
        raise AssertionError(f"the backward pass never came to {node}")

    def number(self, name: str) -> int:
        return self.view.arrays.visible.number[name]

    def pixel(self, point: tuple[float, float]) -> QPoint:
        return self.view.mapFromScene(QPointF(*point))

    def middle(self, name: str) -> QPoint:
        return self.pixel(self.view.arrays.centre(self.number(name)))

    def output(self, name: str, index: int = 0) -> QPoint:
        return self._port(name, index, is_output=True)

    def input(self, name: str, index: int = 0) -> QPoint:
        return self._port(name, index, is_output=False)

    def link(self, source: str, target: str, share: float = 0.5) -> QPoint:
        """A point of the first link from one operation to another."""
        ends = [self.number(source), self.number(target)]
        index = self.view.arrays.visible.ends.tolist().index(ends)
        (line,) = self.view.arrays.routes.lines(np.array([index]), 0.5)
        return self.pixel(tuple(polyline.at(line, share)[0]))

    def point_at(self, place: QPoint) -> None:
        """Move the pointer to `place`. The event goes to the canvas itself: QTest.mouseMove gives
        it to whichever window the platform finds there, another test's left-over among them."""
        port = self.view.viewport()
        none, plain = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
        at = QPointF(place), QPointF(port.mapToGlobal(place))
        QApplication.sendEvent(port, QMouseEvent(QEvent.Type.MouseMove, *at, none, none, plain))

    def color(self, at: QPoint) -> QColor:
        return self.view.grab().toImage().pixelColor(at)

    def colors(self, around: QPoint, reach: int = 4) -> set[str]:
        """Names of the colours of a small square."""
        image = self.view.grab().toImage()
        places = range(-reach, reach + 1)
        return {
            image.pixelColor(around + QPoint(x, y)).name()
            for x in places
            for y in places
        }  # fmt: skip

    def _port(self, name: str, index: int, is_output: bool) -> QPoint:
        port = hit_test.Port(self.number(name), index, is_output)
        return self.pixel(hit_test.port_point(self.view.arrays, port))


@pytest.fixture
def canvas(qtbot: Any, qapp: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Canvas]:
    """An empty canvas of 1000 x 640 pixels."""
    monkeypatch.setattr(workspace, "EngineBridge", EngineHere)
    # On a busy machine pictures would be those of a zoom under way, scaled.
    monkeypatch.setattr(front_buffer, "BUDGET", math.inf)
    theme.apply(qapp, theme.DARK)
    view = GraphView(workspace.Workspace(theme=theme.DARK))
    qtbot.addWidget(view)
    view.resize(1000, 640)
    with qtbot.waitExposed(view):
        view.show()
    view.minimap.wanted = False
    yield Canvas(view)
    while (menu := QApplication.activePopupWidget()) is not None:
        menu.close()  # an open one would take the next test's mouse
    view.close()
    delete(view, view.workspace)
