"""What a user waits for on a training graph that came as a .pb, all its scopes open.

    python -m tests.bench.training NODES REPEATS

prints one JSON object: what targets.CANVAS names -> seconds. The window is the program's own, with
its panels, its engine and its layout process. Of each action: the CPU time of the window's process
until all is answered and shown, and how long the event loop stood still at most. The view stands
at the scale of 1 where what all layers read, and what waits for all of them, passes by.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication

from gradstep.gui import commands
from gradstep.gui.look import theme
from tests.bench import training_graph
from tests.bench.watched_window import Ticks, WatchedWindow

REST = 0.002  # seconds between rounds of the event loop, so that waiting takes no time itself
QUIET = 0.25  # seconds in which nothing may happen any more: as long as timers put work off


class Sitting(WatchedWindow):
    """A window, a file of a training graph, and what each action on it took."""

    def __init__(self, nodes: int) -> None:
        super().__init__(nodes)
        self.found: dict[str, list[float]] = {}

    def furnish(self) -> None:
        """Until what the window makes when nothing else is to do is there: not of an opening."""
        docks = self.window.docks.by_id.values()
        self._until(lambda: all(dock.is_made for dock in docks))

    def open(self, path: Path) -> None:
        """The file, with its scopes folded, and then every operation in its own box."""
        opened: list[None] = []
        self._timed("open", lambda: self.space.open_path(path, lambda: opened.append(None)), opened)
        self.train()
        self._until(lambda: True)
        self._timed("expand", self.window.canvas.stage.open_scopes)

    def settle_down(self) -> None:
        """All places the document's, and a close look."""
        view = self.window.canvas
        view.stage.move([self._number(training_graph.INIT)], 8.0, 0.0)
        view.camera.zoom_to(1.0)
        view.camera.look_at(
            view.box_rect(self._number(training_graph.wire(self.nodes).op)).center()
        )
        self._until(lambda: not view.camera.zooming)

    def work(self) -> None:
        """A full repaint, a node moved, a stop set; each edit undone."""
        view, wire = self.window.canvas, training_graph.wire(self.nodes)
        self._timed("repaint", self._repaint)
        self._timed("move", lambda: view.stage.move([self._number(wire.op)], 48.0, 16.0))
        self._timed("move undone", self.space.undo_stack.undo)
        self._timed("stop", lambda: commands.toggle_stop(self.space, wire))
        self._timed("stop undone", self.space.undo_stack.undo)

    # -- inside --------------------------------------------------------------------------------

    def _number(self, name: str) -> int:
        return self.window.canvas.arrays.visible.number[name]

    def _repaint(self) -> None:
        self.window.canvas.layers.refresh()
        self.window.canvas.viewport().repaint()

    def _timed(self, key: str, action: Callable[[], object], until: object = True) -> None:
        """An action, until it has had its effect and all of that is shown."""
        start = time.process_time()
        with Ticks() as ticks:
            action()
            self._until(lambda: bool(until))
        self.found.setdefault(f"training {key}", []).append(time.process_time() - start)
        self.found.setdefault(f"training {key} deaf", []).append(ticks.longest)

    def _until(self, happened: Callable[[], bool]) -> None:
        quiet = 0.0
        while quiet < QUIET:
            start = time.monotonic()
            self.turn()
            time.sleep(REST)
            idle = self.space.is_idle and not self.window.canvas.stage.laying_out
            quiet = quiet + time.monotonic() - start if idle and happened() else 0.0


def measure(nodes: int, repeats: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        warm, path = (training_graph.save(n, Path(folder)) for n in (60, nodes))
        sitting = Sitting(nodes)
        sitting.driver.open(warm)  # fonts, caches, the engine's imports
        sitting.furnish()
        sitting.open(path)
        sitting.settle_down()
        for _ in range(repeats):
            sitting.work()
        sitting.close()
    return sitting.found


if __name__ == "__main__":
    app = QApplication([])
    theme.apply(app, theme.DARK)
    answer = measure(int(sys.argv[1]), int(sys.argv[2]))
    json.dump(answer, sys.stdout)
