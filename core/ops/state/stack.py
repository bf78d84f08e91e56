"""A stack, to which a training loop gives what its gradient needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.ops.state.opaque_state import SHOWN, OpaqueState, short


@dataclass(frozen=True, slots=True, eq=False)
class Stack(OpaqueState):
    """top: the value pushed last, and the stack below it; None where there is none."""

    size: int = 0
    top: tuple[Any, Stack] | None = None

    @staticmethod
    def noun() -> str:
        return "stack"

    def pushed(self, value: Any) -> Stack:
        return Stack(self.size + 1, (value, self))

    def popped(self, handle: str) -> tuple[Any, Stack]:
        """The value on top, and what is below it. Raises GradstepError, in which the stack is
        called `handle`."""
        if self.top is None:
            raise GradstepError(
                f"Stack[{handle}] is empty when calling Pop().",
                hint="the loop that pops ran more often than the one that pushes",
            )
        return self.top

    @property
    def nbytes(self) -> int:
        return sum(int(value.nbytes) for value in self._values())

    def __str__(self) -> str:
        shown = ", ".join(short(value) for value in islice(self._values(), SHOWN))
        more = ", …" if self.size > SHOWN else ""
        return f"a stack of {self.size}" + (f", from the top: {shown}{more}" if shown else "")

    def _values(self) -> Iterator[Any]:
        """From the top."""
        top = self.top
        while top is not None:
            value, below = top
            yield value
            top = below.top
