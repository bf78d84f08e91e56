"""What was found for the rooms that were asked for last, by how wide they are."""

from __future__ import annotations

from typing import TypeVar

_MOST = 8  # Qt asks for a few, and whoever drags a dock for hundreds
Found = TypeVar("Found")


class LastRooms(dict[int, Found]):
    """A dictionary of a few: the room that came first goes when there is one more."""

    def __setitem__(self, room: int, found: Found) -> None:
        super().__setitem__(room, found)
        if len(self) > _MOST:
            del self[next(iter(self))]
