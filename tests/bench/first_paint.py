"""Starts the program as `gradstep` does, and says when its window is seen and can be used.

    python -m tests.bench.first_paint START

START: the caller's time.monotonic() when it started this process. Prints one JSON object. painted:
seconds until the window was painted; seconds: until it can do everything; deaf: the longest time
in which it did not answer from the first paint until its panels were made ahead; heavy: the modules
among HEAVY that were loaded when it was painted.
"""

from __future__ import annotations

import json
import sys
import time

HEAVY = ("numpy", "pyqtgraph", "networkx", "scipy", "cupy", "onnx", "jedi")
BEAT = 5  # milliseconds


def watch(start: float) -> None:
    """Make the application's event loop end, with the answer printed, once the window is ready."""
    from PySide6.QtCore import QEvent, QObject, QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    class Watch(QObject):
        def __init__(self) -> None:
            super().__init__()
            self.found: dict[str, object] = {}
            self.window: QMainWindow | None = None
            self.deaf, self.last = 0.0, 0.0
            self.timer = QTimer(self, interval=BEAT)
            self.timer.timeout.connect(self.beat)

        def eventFilter(self, seen: QObject, event: QEvent) -> bool:
            painted = event.type() == QEvent.Type.Paint and isinstance(seen, QMainWindow)
            if self.window is None and painted:
                self.window, self.last = seen, time.monotonic()
                heavy = [name for name in HEAVY if name in sys.modules]
                self.found = {"painted": self.last - start, "heavy": heavy}
                self.timer.start()
            return False

        def beat(self) -> None:
            now = time.monotonic()
            self.deaf, self.last = max(self.deaf, now - self.last), now
            if not self.window.is_furnished:
                return
            self.found.setdefault("seconds", now - start)
            if all(dock.is_made for dock in self.window.docks.by_id.values()):
                self.found["deaf"] = self.deaf - BEAT / 1000
                sys.stdout.write(json.dumps(self.found) + "\n")
                sys.stdout.flush()
                self.window.discard()
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
    from gradstep.core.cli.command_line import main
    from gradstep.main import Gradstep

    sys.exit(main([], Gradstep()))
