"""A real window that recovers what there is, or opens an example, and edits until it is killed.

Each line of its log is one word and its arguments, written before what it tells of comes true:
`nothing` or `recovered DIGEST`, then `shown TIME DIGEST` for each document put in force.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QPushButton

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.native import gradstep_file
from gradstep.gui import app, commands
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.model import autosave
from gradstep.gui.model.autosave import Autosave
from gradstep.gui.model.workspace import Workspace

# What is kept of a document does not depend on its engine: this one never answers.
MUTE = (sys.executable, "-c", "import sys; sys.stdin.read()")
EXAMPLE = Path(__file__).parents[2] / "assets" / "examples" / "tutorial.gradstep"
TICK = 10  # milliseconds
SETTLE = 1.0  # seconds after which a window that offers nothing has nothing to offer
TYPES = ("Tanh", "Neg", "Exp", "VariableV2", "AddV2", "Const", "Mul")


class Editor(QObject):
    """Does something every now and then, from the event loop."""

    def __init__(self, log: Path, seed: int) -> None:
        super().__init__()
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._draw = random.Random(seed)
        self._window: MainWindow | None = None
        self._next: Callable[[], None] = self._find
        self._since = 0.0
        self._wait = 0
        self.longest = 0.0  # seconds that keeping an edit held this thread
        self._watch()
        self._timer = QTimer(self, interval=TICK)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def say(self, *words: object) -> None:
        os.write(self._log, (" ".join(map(str, words)) + "\n").encode())

    def _watch(self) -> None:
        """Tell of each document before it is in force, and time how it is kept."""
        show, keep = Workspace._show, Autosave._keep

        def showing(space: Workspace, document: Document, *others: Any) -> None:
            self.say("shown", time.monotonic(), digest(document), round(self.longest * 1000, 3))
            show(space, document, *others)

        def keeping(each: Autosave, *_: object) -> None:
            began = time.perf_counter()
            keep(each)
            self.longest = max(self.longest, time.perf_counter() - began)

        Workspace._show = showing
        Autosave._keep = keeping

    def _tick(self) -> None:
        self._next()

    def _find(self) -> None:
        found = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
        if found and found[0].is_furnished and found[0].isVisible():
            self._window, self._since = found[0], time.monotonic()
            self._next = self._look

    def _look(self) -> None:
        banner = self._window.banners.recovery
        if banner.isVisible():
            self._window.workspace.document_opened.connect(self._recovered)
            self._next = lambda: None
            banner.findChild(QPushButton, "banner.recovery.open").click()
        elif time.monotonic() - self._since > SETTLE and not autosave.left_behind():
            self.say("nothing")
            self._window.files.open(EXAMPLE)
            self._window.workspace.document_opened.connect(self._opened)
            self._next = lambda: None

    def _recovered(self) -> None:
        self.say("recovered", digest(self._window.workspace.document))
        self._next = self._edit

    def _opened(self) -> None:
        self.say("opened", digest(self._window.workspace.document))
        self._next = self._edit

    def _edit(self) -> None:
        if self._wait > 0:
            self._wait -= 1
            return
        self._wait = self._draw.choice((0, 0, 1, 3, 10, 40))
        with contextlib.suppress(GradstepError):  # an edit that is refused
            self._something(self._window.workspace)

    def _something(self, space: Workspace) -> None:
        draw = self._draw
        names = sorted(space.document.graph.operations)
        some = draw.choice(names) if names else ""
        kind = draw.choice("add add move move rename remove undo undo redo feed note wire".split())
        if kind == "undo":
            space.undo_stack.undo()
        elif kind == "redo":
            space.undo_stack.redo()
        elif kind == "add" or not some:
            place = (draw.uniform(-500, 500), draw.uniform(-500, 500))
            commands.add_node(space, draw.choice(TYPES), place, f"n{draw.randrange(10**9)}")
        elif kind == "move":
            commands.move_nodes(space, {some: (draw.uniform(-500, 500), 0.0)})
        elif kind == "rename":
            commands.rename(space, some, f"r{draw.randrange(10**9)}")
        elif kind == "remove" and len(names) > 8:
            commands.remove_nodes(space, [some])
        elif kind == "note":
            space.edit("Note", space.document.with_(note=f"note {draw.random()}"))
        elif kind == "wire":
            space.select([some])
            commands.duplicate_selection(space)
        elif kind == "feed":
            text = str(draw.random())
            space.edit("Title", space.document.with_(title=text))


def digest(document: Document) -> str:
    return hashlib.sha256(gradstep_file.to_bytes(document)).hexdigest()[:24]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever the campaign was started from
    app.application(windowless=True)
    editor = Editor(options.log, options.seed)
    status = app.run_window(engine=MUTE)
    editor.say("ended", status)
    return status


if __name__ == "__main__":
    sys.exit(main())
