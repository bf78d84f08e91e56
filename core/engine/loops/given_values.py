"""What values of a loop's iterations are given by hand, as the loop is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class GivenValues(Protocol):
    """Values are numbered as in the iteration's plan; iterations count from 0."""

    def steps(self, run: int) -> Mapping[int, Mapping[int, Any]]:
        """What is given in iteration `run`: after how many steps, and which values."""
        ...

    def inside(self, run: int) -> Mapping[int, GivenValues]:
        """What is given in the loops of iteration `run`, by their steps."""
        ...

    def at(self, run: int, index: int, done: int, otherwise: Any) -> Any:
        """What value `index` was once `done` steps of iteration `run` were done; `otherwise` where
        it was not given."""
        ...


Inside = Mapping[int, GivenValues]  # of the loops of a plan, by their steps
NOTHING_GIVEN: Inside = {}
