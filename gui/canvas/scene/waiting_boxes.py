"""What boxes wait for, looked up when it is asked for: behind one open wire waits half a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradstep.core.ops.typing.missing_inputs import Waiting
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph


class WaitingBoxes(Mapping[int, Waiting]):
    """Number of a box -> what it waits for: of a scope, what the last that waits in it does."""

    def __init__(self, visible: VisibleGraph, waits: Mapping[str, Waiting]) -> None:
        """waits: operation -> what it waits for."""
        self._boxes, self._box_of, self._waits = visible.boxes, visible.box_of, waits
        self._asked: dict[int, Waiting | None] = {}

    def __getitem__(self, box: int) -> Waiting:
        if box not in self._asked:
            members = reversed(self._boxes[box].members) if self._waits else ()
            self._asked[box] = next(filter(None, map(self._waits.get, members)), None)
        found = self._asked[box]
        if found is None:
            raise KeyError(box)
        return found

    def __iter__(self) -> Iterator[int]:
        return iter({self._box_of[name]: None for name in self._waits if name in self._box_of})

    def __len__(self) -> int:
        return sum(1 for _ in self)
