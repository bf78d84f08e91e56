"""The program's own window with its engine, as measurements open it, and how long it is deaf."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtWidgets import QApplication

from gradstep.core.errors import GradstepError
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.garbage_collection import Collector
from gradstep.gui.model.workspace import Workspace
from tests.bench import training_graph
from tests.support.deleting import end


class Ticks:
    """The longest time between two ticks while the `with` lasts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock

    def __enter__(self) -> Ticks:
        self.longest = 0.0
        self._last = self._clock()
        self._timer = QTimer(interval=0)
        self._timer.timeout.connect(self._tick)
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.stop()

    def _tick(self) -> None:
        now = self._clock()
        self.longest = max(self.longest, now - self._last)
        self._last = now


class WatchedWindow:
    """A window in which things are done. nodes: of the graph that is to be opened in it."""

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes
        self.space = Workspace()
        self._refusals: list[str] = []
        self.space.message.connect(self._hear)
        self.window = MainWindow(self.space, remember=False)
        self.window.resize(1600, 1000)
        Collector(self.window, lambda: self.space.is_idle)  # as the program does
        self.space.start()
        self.driver = Driver(self.window)
        self.driver.settle()

    def turn(self) -> None:
        """A round of the event loop, with what a loop that runs deletes by itself. Raises
        GradstepError for what the window says to be wrong, as what was asked for will not come
        then."""
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        if self._refusals:
            raise GradstepError(f"the window says: {self._refusals[0]}")

    def train(self) -> None:
        """Feed the training graph that is open, and ask for the gradients of all its variables."""
        commands.set_feed(self.space, "x:0", training_graph.FEED)
        wrt = training_graph.variables(self.nodes)
        commands.set_request(self.space, [training_graph.LOSS], wrt)

    def close(self) -> None:
        end(self.window)

    def _hear(self, level: str, text: str) -> None:
        if level == "error":
            self._refusals.append(text)
