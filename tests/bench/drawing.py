"""How long the canvas takes to draw a graph: at first, and for every frame of what the mouse does.

    python -m tests.bench.drawing NODES FRAMES

prints one JSON object: what targets.CANVAS names -> CPU seconds, or MiB. The canvas is the
program's own, 1280 by 800 pixels; a frame is a forced repaint of it.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from gradstep.core.document.document import Document, View
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.gui.canvas.scene.camera import NOTCH
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.gui.canvas.view import GraphView
from gradstep.gui.look import theme
from gradstep.gui.model.workspace import Workspace
from tests.support.deleting import delete

SIZE = 1280, 800
HUB = 10  # wires at the node that is dragged
ACROSS, DOWN = 240.0, 90.0  # from a node to the next


def document(nodes: int) -> Document:
    """A graph that runs, of `nodes` operations and half as many wires again, arranged: sums of two
    and functions of one, each of what stands before it."""
    random = np.random.default_rng(nodes)
    column = round((nodes * ACROSS * SIZE[1] / (DOWN * SIZE[0])) ** 0.5)  # as the canvas is
    ops = [Operation("x", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(8)})]
    for i in range(1, nodes):
        before = TensorRef(f"n{i - 1}" if i > 1 else "x")
        far = TensorRef(_name(_farther(nodes, i, column, random)))
        inputs = (before, far) if i % 2 else (before,)
        ops.append(Operation(_name(i), "Sub" if i % 2 else "Tanh", inputs))
    places = {op.name: (ACROSS * (i // column), DOWN * (i % column)) for i, op in enumerate(ops)}
    last = TensorRef(ops[-1].name)
    return Document(
        graph=Graph.of(ops),
        feeds={"x:0": Constant(np.linspace(-1, 1, 8, dtype=np.float32))},
        fetches=(last,),
        view=View(positions=places),
    )


def _name(number: int) -> str:
    return f"n{number}" if number else "x"


def _farther(nodes: int, number: int, column: int, random: np.random.Generator) -> int:
    """A node at most three columns before `number`; for some, the one that is dragged."""
    hub = middle(nodes)
    if hub < number < hub + 2 * HUB:
        return hub
    return int(random.integers(max(0, number - 3 * column), number))


def middle(nodes: int) -> int:
    """The node with more wires than others."""
    return nodes // 2


class Easel:
    """A canvas, and how long what is done to it takes."""

    def __init__(self) -> None:
        self.workspace = Workspace()
        self.view = GraphView(self.workspace)
        self.view.resize(*SIZE)
        self.view.show()
        QApplication.processEvents()

    def close(self) -> None:
        self.view.close()
        self.workspace.close()
        delete(self.view, self.workspace)

    def frame(self, change: Callable[[], object] = lambda: None) -> float:
        """CPU seconds of a change, and of the frame after it."""
        start = time.process_time()
        change()
        self.view.viewport().repaint()
        return time.process_time() - start

    def first(self, shown: Document) -> float:
        """From the document and its types to its first frame."""
        self.workspace.open_document(shown)
        stage = self.view.stage
        start = time.process_time()
        visible = VisibleGraph.of(shown.graph, self.workspace.inference, shown.request, {})
        stage.show(SceneArrays.of(visible, dict(shown.view.positions)))
        self.view.first_look()
        self.view.viewport().repaint()
        return time.process_time() - start

    def wholly(self) -> None:
        self.view.fit()
        self._rest()

    def closely(self) -> None:
        """At scale 1, in the middle of the graph."""
        self.view.camera.zoom_to(1.0)
        self.view.camera.look_at(self.view.box_rect(len(self.view.arrays) // 2).center())
        self._rest()

    def pans(self, frames: int) -> list[float]:
        """A drag of the whole graph, at both scales."""
        found = []
        for look in (self.wholly, self.closely):
            look()
            self.frame()
            for i in range(frames):
                by = QPoint(9, 4) if i < frames // 2 else QPoint(-9, -4)
                found.append(self.frame(lambda by=by: self.view.camera.pan(by)))
        return found

    def zooms(self, frames: int) -> list[float]:
        """Notches of the wheel, in and out again, at both scales."""
        found = []
        at = self.view.viewport().rect().center()
        for look in (self.wholly, self.closely):
            look()
            self.frame()
            for i in range(frames):
                notch = NOTCH if i // 5 % 2 == 0 else 1 / NOTCH
                found.append(self.frame(lambda notch=notch: self.view.camera.zoom(notch, at)))
        return found

    def crisp(self, repeats: int) -> list[float]:
        """The frame that is drawn in full once the wheel rests, with the whole graph in view."""
        found = []
        for i in range(repeats):
            self.wholly()
            self.view.camera.zoom(NOTCH if i % 2 else 1 / NOTCH)
            self.view.viewport().repaint()
            self._rest()
            found.append(self.frame())
        return found

    def drags(self, frames: int) -> list[float]:
        """A node with many wires, moved by the mouse."""
        self.closely()
        box = self.view.arrays.visible.number[f"n{middle(len(self.view.arrays))}"]
        x, y, width, _ = self.view.arrays.rects[box].tolist()
        start = self.view.mapFromScene(QPointF(x + width / 2, y + 10))
        self._mouse(QEvent.Type.MouseButtonPress, start)
        found = []
        for i in range(frames):
            at = start + QPoint(20 + 3 * (i % 40), 2 * (i % 40))
            found.append(self.frame(lambda at=at: self._mouse(QEvent.Type.MouseMove, at)))
        self.view.escape()
        return found

    def _mouse(self, kind: QEvent.Type, at: QPoint) -> None:
        left = Qt.MouseButton.LeftButton
        where = QPointF(at), QPointF(self.view.viewport().mapToGlobal(at))
        event = QMouseEvent(kind, *where, left, left, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(self.view.viewport(), event)

    def _rest(self) -> None:
        """Until the picture is crisp, but for the frame to come."""
        self.view.setUpdatesEnabled(False)
        while self.view.camera.zooming:
            QApplication.processEvents()
            time.sleep(0.01)
        self.view.setUpdatesEnabled(True)


def memory() -> float:
    """MiB of this process that were in memory, at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(nodes: int, frames: int) -> dict[str, list[float]]:
    warm, easel = document(60), Easel()
    easel.first(warm)  # fonts, caches
    easel.pans(4)
    before = memory()
    shown = document(nodes)
    gc.collect()
    gc.freeze()
    found = {"first": [easel.first(shown)]}
    easel.workspace.open_document(shown)  # one scene, as the program has: timing made another
    found["pan"] = easel.pans(frames)
    halves = found["pan"][:frames], found["pan"][frames:]
    found["pan_slow"] = [float(np.percentile(half, 95)) for half in halves]
    found["zoom"] = easel.zooms(frames)
    found["crisp"] = easel.crisp(max(3, frames // 8))
    found["drag"] = easel.drags(frames)
    found["memory"] = [memory() - before]
    easel.close()
    return found


if __name__ == "__main__":
    app = QApplication([])
    theme.apply(app, theme.DARK)
    json.dump(measure(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
