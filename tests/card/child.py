"""A child process that is asked one thing after another, each in a given time."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.line_process import LineProcess


class Child(LineProcess):
    """log: what it writes to its standard error is added there."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        with log.open("ab") as errors:
            super().__init__(command, errors, environment)

    def ask(self, question: Any, seconds: float) -> dict[str, Any]:
        """Its answer; {"died": …} where the process did not live to tell."""
        timer = threading.Timer(seconds, self.kill)
        timer.start()
        try:
            found: dict[str, Any] | None = self.tell(question)
        finally:
            timer.cancel()
        return {"died": _status(self.end(), seconds)} if found is None else found


def _status(code: int, seconds: float) -> str:
    if code == -9:
        return f"it was ended after {seconds:.0f} s"
    return f"its process ended by signal {-code}" if code < 0 else f"its process ended with {code}"
