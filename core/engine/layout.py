"""Where the values of a recorded run lie: every one at its own aligned place, none reused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from core.engine.backend import Backend
from core.engine.plan import Plan, Value
from core.errors import GradstepError

ALIGNMENT = 64  # bytes; NumPy multiplies 1.5 times as fast as on its usual 16


@dataclass(frozen=True, slots=True)
class Place:
    """`size` bytes from `offset` of the arena, holding an array of this shape and dtype."""

    offset: int
    size: int
    shape: tuple[int, ...]
    dtype: np.dtype

    def view(self, arena: Any) -> Any:
        return arena[self.offset : self.offset + self.size].view(self.dtype).reshape(self.shape)


@dataclass(frozen=True, eq=False)
class Layout:
    """places: value -> its place, or None for values kept by reference: those of a shape known
    only while running, strings, feeds, constants."""

    plan: Plan

    @cached_property
    def constants(self) -> frozenset[int]:
        """Values that every run makes the same, from nothing."""
        return frozenset(
            i
            for step in self.plan.steps
            if step.computes and not step.op.inputs and step.definition and step.definition.is_pure
            for i in step.writes
        )

    @cached_property
    def feeds(self) -> tuple[int, ...]:
        return tuple(i for i, v in enumerate(self.plan.values) if v.step < 0 and v.ref is not None)

    @cached_property
    def places(self) -> tuple[Place | None, ...]:
        outside = self.constants | set(self.feeds)
        places: list[Place | None] = []
        end = 0
        for index, value in enumerate(self.plan.values):
            if index in outside or not has_place(value):
                places.append(None)
                continue
            places.append(place := place_of(value, end))
            end += -(-place.size // ALIGNMENT) * ALIGNMENT
        return tuple(places)

    @cached_property
    def held(self) -> Mapping[int, str]:
        """Values that lie in a variable's own memory -> that variable: none, where every value is
        kept."""
        return {}

    @cached_property
    def size(self) -> int:
        """Bytes of the arena."""
        return max((p.offset + p.size for p in self.places if p is not None), default=0)

    @cached_property
    def by_reference(self) -> tuple[int, ...]:
        """Values that each run leaves outside the arena."""
        outside = self.constants | set(self.feeds)
        return tuple(i for i, place in enumerate(self.places) if place is None and i not in outside)


def place_of(value: Value, offset: int) -> Place:
    """The place of `value`, which has one, at that offset."""
    shape, dtype = value.type.shape.static(), value.type.dtype.numpy
    return Place(offset, int(np.prod(shape, dtype=object)) * dtype.itemsize, shape, dtype)


def has_place(value: Value) -> bool:
    """Whether it is known before running how many bytes it takes."""
    return value.type.shape.is_static and not value.type.dtype.numpy.hasobject


def arena_of(layout: Layout, backend: Backend) -> Any:
    """New memory for `layout`. Raises GradstepError when there is not enough."""
    try:
        return backend.empty((layout.size,), np.dtype(np.uint8))
    except (MemoryError, ValueError) as error:
        raise GradstepError(
            f"recording one run takes {layout.size / 2**20:.0f} MiB, more than there is",
            kind="ResourceExhaustedError",
            hint="use smaller tensors or a smaller batch",
        ) from error
