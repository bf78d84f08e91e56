"""How long the window is deaf while a graph is opened, edited and stepped through.

    python -m tests.bench.reacting NODES REPEATS

prints one JSON object: what targets.CANVAS names -> seconds. The window is the program's own, with
its panels and its engine process. The event loop is deaf between two ticks of a timer that is
always due; a step is the CPU time of the window's process from the command until all is shown.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication

from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.io.export_document import write
from gradstep.gui import commands
from gradstep.gui.look import theme
from tests.bench.drawing import document, middle
from tests.bench.watched_window import Ticks, WatchedWindow

STEPS = 12  # for each repeat


class Reactions(WatchedWindow):
    """A window, and how deaf it gets."""

    def gap(self, change: Callable[[], object], happened: object = True) -> float:
        """Seconds that the event loop stood still, at most, until the change is shown. happened:
        what is true from when it is made."""
        with Ticks() as ticks:
            change()
            self._until_idle(happened)
        return ticks.longest

    def open(self, path: Path) -> float:
        """The file of a document, as a user opens it."""
        opened: list[None] = []
        return self.gap(lambda: self.space.open_path(path, lambda: opened.append(None)), opened)

    def edits(self) -> list[float]:
        """What a user does with a node in the middle: a wire, a new node, moved; each undone."""
        name = f"n{middle(self.nodes) | 1}"
        far = TensorRef("x")
        place = {**self.space.document.view.positions, name: (0.0, -400.0)}
        undo = self.space.undo_stack.undo
        return [
            self.gap(lambda: commands.connect(self.space, far, Edge(name, 1))),
            self.gap(undo),
            self.gap(lambda: commands.place(self.space, "Tanh", (0.0, -200.0))),
            self.gap(undo),
            self.gap(lambda: commands.move_nodes(self.space, place)),
            self.gap(undo),
        ]

    def steps(self) -> list[float]:
        """The debugger's, from some place in the middle on."""
        self.space.control("run_to", f"n{middle(self.nodes)}")
        self.driver.settle()
        found = []
        for _ in range(STEPS):
            start = time.process_time()
            self.space.control("step")
            self._until_idle()
            found.append(time.process_time() - start)
        return found

    def _until_idle(self, happened: object = True) -> None:
        """Without a rest between the rounds of the event loop, as the program runs it."""
        quiet = 0
        while quiet < 3:
            self.turn()
            quiet = quiet + 1 if self.space.is_idle and happened else 0
            if not quiet:
                time.sleep(0.0002)  # the engine's turn


def measure(nodes: int, repeats: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"open": [], "edit": [], "step": []}
    window = Reactions(nodes)
    window.space.open_document(document(60))  # fonts, caches, the engine's imports
    window.driver.settle()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"drawing{nodes}.gradstep")
        write(path, document(nodes))
        for _ in range(repeats):
            found["open"].append(window.open(path))
            window.driver.settle()
            found["edit"] += window.edits()
            window.driver.settle()
            found["step"] += window.steps()
    window.close()
    return found


if __name__ == "__main__":
    app = QApplication([])
    theme.apply(app, theme.DARK)
    answer = measure(int(sys.argv[1]), int(sys.argv[2]))
    json.dump(answer, sys.stdout)
