"""Text made safe for a terminal: what stands in a document cannot command or reorder it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from gradstep.core.visible_text import visible


@contextmanager
def visible_output() -> Iterator[None]:
    """Inside, all text that goes to standard output or error is visible; see
    gradstep.core.visible_text. The escapes mean the same in JSON. Bytes are written as they are."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_visible, before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _visible(stream: TextIO) -> Any:
    return stream if stream is None else _Visible(stream)  # a program without a terminal has none


class _Visible:
    """A text stream, but for what it writes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(visible(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def terminal_itself(stream: TextIO) -> Any:
    """What `stream` writes to, for who moves its cursor and shows nothing of a document."""
    return stream._stream if isinstance(stream, _Visible) else stream
