"""Work beside the main thread whose result comes back to it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from gradstep.core.errors import GradstepError
from gradstep.gui.model.thread_calls import ThreadCalls, call_soon

_numbers = itertools.count()
_work: dict[int, Callable[[], Any]] = {}  # under way; see thread_calls for why it is kept here


class Background(QObject):
    """Runs functions that touch no Qt object, one thread each, and hands over what they return."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._calls = ThreadCalls(self)

    def run(
        self,
        work: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[GradstepError], None],
    ) -> None:
        """`then(work())` on the main thread, or `failed(error)` for a GradstepError."""

        def finish(result: Any, error: GradstepError | None) -> None:
            then(result) if error is None else failed(error)

        number = next(_numbers)
        _work[number] = work
        done = self._calls.keep(finish, once=True)
        threading.Thread(target=_do, args=(number, done), daemon=True).start()


def is_under_way() -> bool:
    """Whether a result of anybody's is still to come."""
    return bool(_work)


def _do(number: int, done: Callable[..., None]) -> None:
    result, failure = None, None
    try:
        result = _work[number]()
    except GradstepError as error:
        failure = error
    except Exception as error:  # a bug: said in one line here, in full in the log
        import logging

        logging.getLogger(__name__).exception("background work failed")
        failure = GradstepError(f"{type(error).__name__}: {error}", kind="InternalError")
    done(result, failure)
    call_soon(_forget, number)


def _forget(number: int) -> None:
    del _work[number]
