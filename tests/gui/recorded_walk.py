"""A walk through the window that is kept as a recording: `QT_QPA_PLATFORM=offscreen python -m
tests.gui.recorded_walk` makes it anew, which is wanted when messages change."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, Qt

from gradstep.core.graph.model import Edge
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.frame.window_placement import WANTED
from gradstep.gui.look import theme
from gradstep.gui.model.workspace import Workspace

RECORDING = Path(__file__).parents[1] / "data" / "recordings" / "tutorial.rec"
TUTORIAL = Path(__file__).parents[2] / "assets" / "examples" / "tutorial.gradstep"


def open_window(engine: Sequence[str] | None) -> Driver:
    """A window of always the same look and size. engine: the command that starts it."""
    theme.apply(_application(), theme.DARK)
    space = Workspace(engine)
    window = MainWindow(space)
    window.setWindowState(Qt.WindowState.WindowNoState)
    window.setGeometry(QRect(QPoint(), WANTED))
    space.setParent(window)
    space.start()
    return Driver(window)


def walk(driver: Driver) -> None:
    """Open the tutorial, make steps, stop at a breakpoint, look back, let no gradient pass d, and
    go through the backward pass."""
    driver.open(TUTORIAL)
    for keys in ("F10", "F10", "F10"):
        driver.key(keys)
    driver.workspace.select(["loss"])
    driver.key("F9")
    driver.key("F5")
    driver.key("Shift+F10")
    commands.toggle_stop(driver.workspace, Edge("a", 0))
    driver.settle()
    driver.key("F5")
    driver.key("F5")
    driver.workspace.select(["d"])
    driver.settle()


def _application() -> object:
    from gradstep.gui.app import application

    return application(windowless=True)


def main() -> None:
    import tests.conftest  # noqa: F401 - a home of its own, without anybody's settings

    RECORDING.unlink(missing_ok=True)
    os.environ["GRADSTEP_RECORD"] = str(RECORDING)
    driver = open_window(None)
    walk(driver)
    driver.window.discard()


if __name__ == "__main__":
    main()
