"""Work beside the main thread whose result comes back to it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from gradstep.core.errors import GradstepError


class Background(QObject):
    """Runs functions that touch no Qt object, one thread each, and hands over what they return."""

    _finished = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._finished.connect(self._call, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        work: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[GradstepError], None],
    ) -> None:
        """`then(work())` on the main thread, or `failed(error)` for a GradstepError."""

        def body() -> None:
            try:
                self._post(then, work())
            except GradstepError as error:
                self._post(failed, error)
            except Exception as error:  # a bug: said in one line here, in full in the log
                import logging

                logging.getLogger(__name__).exception("background work failed")
                text = f"{type(error).__name__}: {error}"
                self._post(failed, GradstepError(text, kind="InternalError"))

        threading.Thread(target=body, daemon=True).start()

    def _post(self, call: Callable[[Any], None], result: object) -> None:
        with contextlib.suppress(RuntimeError):  # the window is gone
            self._finished.emit(call, result)

    def _call(self, call: Callable[[Any], None], result: object) -> None:
        call(result)
