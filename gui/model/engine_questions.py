"""Asking the engine for what is shown: one question at a time, and of each sort only the newest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import ErrorInfo, Failed, Message

Then = Callable[[Any, tuple[Buffer, ...]], None]
Wrong = Callable[[ErrorInfo], None]
Request = Callable[..., None]


class Questions:
    """However fast somebody scrolls, nothing piles up in the engine: while an answer is awaited the
    newest question of each sort waits here, and the ones before it are forgotten."""

    def __init__(self, request: Request, wrong: Wrong) -> None:
        self._request, self._wrong = request, wrong
        self._waiting: dict[str, tuple[Message, Then]] = {}
        self._is_asked, self._asked = False, 0
        self._life = 0  # answers to questions of an earlier life are dropped

    def ask(self, sort: str, message: Message, then: Then) -> None:
        """`then(reply, buffers)` unless that fails, or another tensor is looked at by then."""
        self._waiting.pop(sort, None)
        self._waiting[sort] = message, then
        if not self._is_asked:
            self._send()

    def forget(self) -> None:
        """What is on its way is not wanted any more."""
        self._life += 1
        self._waiting.clear()

    def give_up(self) -> None:
        """The engine is another: nothing that it was asked is answered any more."""
        self.forget()
        self._asked += 1
        self._is_asked = False

    def _send(self) -> None:
        if not self._waiting:
            return
        sort = next(iter(self._waiting))
        message, then = self._waiting.pop(sort)
        self._asked += 1
        self._is_asked, life, asked = True, self._life, self._asked

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if asked != self._asked:
                return  # it was given up
            self._is_asked = False
            if life == self._life:
                self._wrong(reply.error) if isinstance(reply, Failed) else then(reply, buffers)
            if not self._is_asked:
                self._send()

        self._request(message, (), answered, lambda: (life, asked) == (self._life, self._asked))
