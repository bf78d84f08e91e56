"""A position in a loop, as the debugger says it."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.iteration_text import iteration_text


@dataclass(frozen=True, slots=True)
class Place:
    """After `step` of the `length` steps of iteration number `iteration` of the loop that operation
    `loop` runs. iterations: how many take place; None while that is not known."""

    loop: str
    iteration: int
    step: int
    length: int
    iterations: int | None = None

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.loop}, {iteration_text(self.iteration, self.iterations)}"
