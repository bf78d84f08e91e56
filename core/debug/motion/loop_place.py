"""A position in a loop, as the debugger says it."""

from __future__ import annotations

from dataclasses import dataclass


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
        """For people, who count iterations from 1."""
        if self.iteration == self.iterations:
            noun = "iteration" if self.iterations == 1 else "iterations"
            return f"{self.loop}, after its {self.iterations} {noun}"
        of = "" if self.iterations is None else f" of {self.iterations}"
        return f"{self.loop}, iteration {self.iteration + 1}{of}"
