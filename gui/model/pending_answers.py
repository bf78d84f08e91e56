"""Answers of the engine that somebody still waits for, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Message, Request
from gradstep.gui.model.debugger import always

if TYPE_CHECKING:
    from gradstep.gui.model.engine_bridge import Answer
    from gradstep.gui.model.workspace import Workspace


class PendingAnswers:
    """What is asked here is answered unless `forget` comes first: then it is dropped, and not asked
    again where it gave way to a command."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._round = 0  # of what was asked before the last `forget` nobody waits for an answer
        self._count = 0

    @property
    def is_awaited(self) -> bool:
        """Whether an answer is on its way."""
        return self._count > 0

    def ask(
        self, message: Request, then: Answer, still_wanted: Callable[[], bool] = always
    ) -> None:
        """still_wanted: as `wanted` of Debugger.request."""
        this = self._round
        self._count += 1

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if this == self._round:
                self._count -= 1
                then(reply, buffers)

        self._workspace.request(
            message, (), answered, lambda: this == self._round and still_wanted()
        )

    def ask_alone(
        self, message: Request, then: Answer, still_wanted: Callable[[], bool] = always
    ) -> None:
        """In place of all that was asked before."""
        self.forget()
        self.ask(message, then, still_wanted)

    def forget(self) -> None:
        """Nobody waits any more."""
        self._round += 1
        self._count = 0
