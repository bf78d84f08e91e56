"""The application and its window on the screen."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

os.environ.setdefault("QT_API", "pyside6")
os.environ.setdefault("PYQTGRAPH_QT_LIB", "PySide6")

from PySide6.QtWidgets import QApplication

from gradstep.core.errors import GradstepError
from gradstep.core.host.remote_engine import HERE, EngineChoice, read_address
from gradstep.core.installation import is_checkout
from gradstep.gui.error_reporter import Reporter, start_log
from gradstep.gui.frame import open_windows
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.frame.startup import Start, furnish
from gradstep.gui.frame.system_shutdown import Ending
from gradstep.gui.garbage_collection import Collector
from gradstep.gui.look import theme
from gradstep.gui.model.settings import settings, state_folder

# Seconds that the window waits for another thread's Python, each time; by default 0.005.
SWITCH = 0.001


def application(windowless: bool = False) -> QApplication:
    """The QApplication, made now if there is none.

    windowless: draw in memory where there is no display. Raises GradstepError when a window is
    wanted and there is none.
    """
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        _choose_platform(windowless)
        app = QApplication(sys.argv[:1])
        sys.setswitchinterval(SWITCH)
        app.setApplicationName("gradstep")
        app.setApplicationDisplayName("Gradstep")
        app.setDesktopFileName("gradstep")
    return app


def _choose_platform(windowless: bool) -> None:
    named = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    if not sys.platform.startswith("linux") or any(os.environ.get(name) for name in named):
        return
    if not windowless:
        virtual = "./dev run starts a virtual one; " if is_checkout() else ""
        raise GradstepError(
            "there is no display to show a window on",
            kind="DisplayError",
            hint=f"{virtual}`gradstep tour`, `gradstep shot` and the other commands need none",
        )
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")  # it has no size hints


def engine_at(address: str) -> EngineChoice:
    """What starts the engine there. Raises GradstepError; what is in the settings and no address
    means this machine."""
    if address:
        return None if address == HERE else read_address(address)
    with suppress(GradstepError):
        return read_address(settings().engine)
    return None


def new_window(
    look: theme.Theme | None = None,
    engine: EngineChoice = None,
    remember: bool = True,
) -> MainWindow:
    """A dressed window with its engine process started.

    engine: what starts it. remember: keep size and layout from one start to the next.
    """
    app = application()
    chosen = look or theme.theme_for(settings().theme)
    theme.apply(app, chosen)
    window = MainWindow(None, remember, chosen)
    furnish(window, engine)
    return window


def run_window(path: str | Path | None = None, engine: str | EngineChoice = "") -> int:
    """Show the window until it is closed; the exit status. engine: where it runs, ssh://host or
    `here`, or what starts it; "": as the settings say. Raises GradstepError for what is no such
    address."""
    where = engine_at(engine) if isinstance(engine, str) else engine
    start_log(state_folder())
    app = application()
    look = theme.theme_for(settings().theme)
    theme.apply(app, look)
    window = MainWindow(look=look)
    Collector(window, lambda: not window.is_furnished or window.workspace.is_idle)
    Reporter(window.report, window).install()
    ending = Ending(app)
    start = Start(window, where, None if path is None else Path(path))
    start.begin()
    status = app.exec()
    if ending.is_asked:
        open_windows.end_all()
    ending.remove()
    if start.error is not None:
        raise start.error
    return status
