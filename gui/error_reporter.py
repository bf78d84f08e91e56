"""Bugs go to the log in full, and to the user in one line; never a traceback in the face."""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal

LOG = "gradstep.log"
MAX_LOG = 1 << 20  # bytes; a longer one is started anew


class Reporter(QObject):
    """Installed as the hooks of all threads; `said` gets one line, on the main thread."""

    _happened = Signal(str)

    def __init__(self, said: Callable[[str], None], parent: QObject) -> None:
        super().__init__(parent)
        self._said = said
        self._happened.connect(self._say, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        sys.excepthook = self.report
        threading.excepthook = lambda args: self.report(
            args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback
        )

    def report(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Log an unexpected error and tell the user where to read about it."""
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        logging.getLogger("gradstep").error("unexpected error", exc_info=(kind, error, trace))
        self._happened.emit(
            "Something went wrong inside Gradstep. Your document is not affected; Help ▸ Open the "
            "log has the details."
        )

    def _say(self, text: str) -> None:
        self._said(text)


def start_log(folder: Path) -> None:
    """Write warnings, errors and crashes of this process to a file in `folder`, and to stderr."""
    handlers: list[logging.Handler] = []
    if not logging.getLogger().handlers:  # else GRADSTEP_LOG has one
        handlers.append(logging.StreamHandler())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / LOG
        fresh = path.exists() and path.stat().st_size > MAX_LOG
        mode = "w" if fresh else "a"
        handlers.append(logging.FileHandler(path, mode, encoding="utf-8", delay=True))
    except OSError:
        pass  # no place for a log; stderr is left
    for handler in handlers:
        handler.setLevel(logging.WARNING)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logging.getLogger().addHandler(handler)
    faulthandler.enable()
