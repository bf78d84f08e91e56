"""The end of what a process writes on its standard error, however much that is."""

from __future__ import annotations

import threading
from collections import deque

_LINES = 40
_LONGEST = 4096  # characters of a line that are kept; the rest of it is not


class LastLines:
    """Takes bytes as they come. Costs what the last lines of each piece cost."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._open = ""  # a line whose end has not come

    @property
    def lines(self) -> list[str]:
        """The last ones; one without an end as far as it has come."""
        with self._lock:
            return [*self._lines, self._open.rstrip()] if self._open else [*self._lines]

    def add(self, data: bytes) -> None:
        """What came next."""
        *whole, rest = data.decode(errors="replace").rsplit("\n", _LINES + 1)
        with self._lock:
            for line in whole[-_LINES - 1 :]:
                self._lines.append(_cut(self._open + line).rstrip())
                self._open = ""
            self._open = _cut(self._open + rest)


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
