"""Which tensors the words of a step are about, asked of the engine for the steps looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Message, Notate, Notated
from gradstep.gui.model.value_cache import Request


class OperandNames:
    """Of one program. `arrived` is called after each reply."""

    def __init__(self, request: Request, arrived: Callable[[], None]) -> None:
        self._request = request
        self._arrived = arrived
        self._known: dict[str, Mapping[str, str]] = {}
        self._program = 0  # replies about an earlier one are dropped

    def of(self, op: str) -> Mapping[str, str] | None:
        """What stands for a tensor in the text of the step -> that tensor; None while it is on its
        way: asking is enough."""
        if op not in self._known:
            self._known[op] = {}
            self._ask(op)
        return self._known[op] or None

    def clear(self) -> None:
        """It is another program now."""
        self._known, self._program = {}, self._program + 1

    def _ask(self, op: str) -> None:
        program = self._program

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if program == self._program and isinstance(reply, Notated):
                self._known[op] = reply.operands
                self._arrived()

        self._request(Notate(op=op), (), answered)
