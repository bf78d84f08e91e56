"""Events on their way out: at most twenty times a second, printed text cut to what can be read."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from gradstep.core.protocol.messages import Output

INTERVAL = 0.05  # seconds between two deliveries
MOST = 1 << 16  # characters of printed text in one delivery
Emit = Callable[[Any], None]


class Outlet:
    """Takes events on any thread and passes them on to `emit`: the first at once, those that come
    soon after together. Printed text becomes one message, of whose middle `most` characters are
    left; of other events the last of each kind counts, or what that one makes of both."""

    def __init__(self, emit: Emit, most: int = MOST) -> None:
        self._emit = emit
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._text = Excerpt(most)
        self._others: dict[type, Any] = {}
        self._waits = False  # for a timer that will flush
        self._next = 0.0

    def offer(self, event: Any) -> None:
        """Pass an event on, now or soon."""
        with self._lock:
            if isinstance(event, Output):
                self._text.add(event.text)
            else:
                earlier = self._others.get(type(event))
                self._others[type(event)] = event if earlier is None else event.behind(earlier)
            wait = self._next - time.monotonic()
            now = event.is_urgent or (wait <= 0 and not self._waits)
            later = not now and wait > 0 and not self._waits
            self._waits = self._waits or later
        if later:
            timer = threading.Timer(wait, self._flush_late)
            timer.daemon = True
            timer.start()
        elif now:
            self.flush()

    def flush(self) -> None:
        """Pass on all that there is, now."""
        with self._sending:
            with self._lock:
                text, others = self._text.take(), [*self._others.values()]
                self._others.clear()
                self._waits = False
                if text or others:
                    self._next = time.monotonic() + INTERVAL
            if text:
                self._emit(Output(text=text))
            for event in others:
                self._emit(event)

    def _flush_late(self) -> None:
        with suppress(OSError):  # nobody reads any more; the next reply will find out
            self.flush()


class Excerpt:
    """The beginning and the end of a long text, in bounded memory."""

    def __init__(self, most: int = MOST) -> None:
        self._half = most // 2
        self._clear()

    def add(self, text: str) -> None:
        """What comes next. Costs what is kept of it."""
        room = self._half - self._head_size
        if room > 0:
            head, text = text[:room], text[room:]
            self._head.append(head)
            self._head_size += len(head)
        if not text:
            return
        if len(text) > self._half:
            self._left_out += len(text) - self._half
            text = text[-self._half :]
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= self._half:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._left_out += gone

    def take(self) -> str:
        """What is kept, with a word about what is not; it is forgotten then."""
        head, tail, left_out = "".join(self._head), "".join(self._tail), self._left_out
        extra = len(tail) - self._half
        if extra > 0:
            tail, left_out = tail[extra:], left_out + extra
        self._clear()
        if not left_out:
            return head + tail
        begin = tail.find("\n", 0, -1) + 1  # at a whole line, where there is one
        return f"{head}\n… {size_words(left_out + begin)} not shown …\n{tail[begin:]}"

    def _clear(self) -> None:
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._head_size = self._tail_size = self._left_out = 0


def size_words(count: int) -> str:
    """Characters as the bytes that they mostly are: 12 MB."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if count >= size:
            return (
                f"{count / size:.0f} {unit}" if count >= 10 * size else f"{count / size:.1f} {unit}"
            )
    return f"{count} bytes"
