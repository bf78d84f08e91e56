"""Starts the program as `python main.py` does, and says when its window can be used.

    python -m tests.bench.first_paint START

START: the caller's time.monotonic() when it started this process. Prints one JSON object: the
seconds until the window was painted and took events, and the heavy modules loaded before that.
"""

from __future__ import annotations

import json
import sys
import time

HEAVY = ("pyqtgraph", "networkx", "scipy", "cupy", "onnx", "jedi")


def watch(start: float) -> None:
    """Make the application's event loop end, with the answer printed, once a window is painted
    and what was waiting then is done."""
    from PySide6.QtCore import QEvent, QObject, QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    class Watch(QObject):
        loaded: list[str] | None = None

        def eventFilter(self, seen: QObject, event: QEvent) -> bool:
            if self.loaded is None and event.type() == QEvent.Type.Paint:
                self.loaded = [name for name in HEAVY if name in sys.modules]
                QTimer.singleShot(0, self.usable)
            return False

        def usable(self) -> None:
            seconds = time.monotonic() - start
            sys.stdout.write(json.dumps({"seconds": seconds, "heavy": self.loaded}) + "\n")
            sys.stdout.flush()
            for window in QApplication.topLevelWidgets():
                if isinstance(window, QMainWindow):
                    window.discard()
            QApplication.quit()

    run = QApplication.exec

    def watched(*_: object) -> int:
        watch = Watch()
        app = QApplication.instance()
        app.installEventFilter(watch)
        return int(run())

    QApplication.exec = watched


if __name__ == "__main__":
    watch(float(sys.argv[1]))
    from core.cli.main import main
    from main import Gradstep

    sys.exit(main([], Gradstep()))
