"""A finished run, as it is kept when the next one begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gradstep.core.engine.device_transfer import size_of
from gradstep.core.engine.memory.arena import Arena

if TYPE_CHECKING:
    from gradstep.core.engine.run.recording import Recording

_NOTHING: Mapping[int, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class RunSnapshot:
    """A run as far as it was done: a copy of the arena, and the values kept by reference. absent:
    the versions of variables that turned out to have no value. begun_with: first versions of
    variables -> the arrays that they are like, which nobody writes to, where that is known."""

    recording: Recording
    arena: Arena
    others: Mapping[int, Any]
    instead: Mapping[int, int]
    absent: frozenset[int] = frozenset()
    begun_with: Mapping[int, Any] = field(default_factory=lambda: _NOTHING)

    def value(self, index: int) -> Any:
        """The array of value `index`; None for a variable that had no value."""
        if index in self.others:
            return self.others[index]
        place = self.recording.layout.places[self.instead.get(index, index)]
        return self.recording.value(index) if place is None else self.arena.view(place)

    @property
    def nbytes(self) -> int:
        """Bytes; what loops keep is not counted."""
        return self.arena.nbytes + size_of(self.others.values())
