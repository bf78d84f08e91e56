"""Where the values of a fast run lie: memory is used again once nobody needs what is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from core.engine.layout import Layout, Place, has_place, place_of
from core.engine.memory import Storage, allocate, internal, keeps_bytes, last_uses, share
from core.ops.ufunc import BLOCK


@dataclass(frozen=True, eq=False)
class Compact(Layout):
    """See Layout. Only what is fetched and what variables hold is still there after a run."""

    @cached_property
    def storages(self) -> Mapping[int, Storage]:
        return share(self.plan, self._size)

    @cached_property
    def size(self) -> int:
        return allocate(self.storages)

    @cached_property
    def places(self) -> tuple[Place | None, ...]:
        """Offsets in the arena, or in the variable's own memory for values in `held`."""
        _ = self.size  # settles the offsets
        return tuple(
            self._place(i, max(self.storages[i].offset, 0)) if i in self.storages else None
            for i in range(len(self.plan.values))
        )

    @cached_property
    def held(self) -> Mapping[int, str]:
        """Values that lie in the memory of a variable -> that variable."""
        return {i: s.variable for i, s in self.storages.items() if s.variable}

    @cached_property
    def idle(self) -> frozenset[int]:
        """Steps with nothing to do: their result is where their input is."""
        return frozenset(
            step.index
            for step in self.plan.steps
            if keeps_bytes(step)
            and step.writes[0] in self.storages
            and self.storages.get(step.reads[0]) is self.storages[step.writes[0]]
        )

    @cached_property
    def moved(self) -> tuple[tuple[int, int], ...]:
        """Pairs of a variable's last version and its first, where the last lies elsewhere and has
        to be put in the variable's memory after a run."""
        return tuple(
            (versions[-1], versions[0])
            for versions in self.plan.versions.values()
            if self.storages.get(versions[-1]) is not self.storages.get(versions[0])
        )

    @cached_property
    def partial(self) -> frozenset[int]:
        """Values of which there is only one block at a time."""
        last = last_uses(self.plan)
        return frozenset(v for run in self.plan.blocked for v in internal(self.plan, run, last))

    def _size(self, index: int) -> int | None:
        value = self.plan.values[index]
        if index in self.constants or (value.step < 0 and value.ref is not None):
            return None
        return self._place(index, 0).size if has_place(value) else None

    def _place(self, index: int, offset: int) -> Place:
        whole = place_of(self.plan.values[index], offset)
        if index not in self.partial:
            return whole
        return Place(offset, BLOCK * whole.dtype.itemsize, (BLOCK,), whole.dtype)
