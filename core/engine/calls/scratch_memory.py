"""Scratch memory for what a step makes on the way to its results.

Steps run one after another, so all have the same, which is then in the cache.
"""

from __future__ import annotations

import math
from copy import copy
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend


class Scratch:
    """Called with a shape and an element type, gives memory: for one step always other memory, for
    the next the same again."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._held: list[Any] = []
        # Of each of these: shape, type -> an array there, one for all steps that take the like.
        self._arrays: list[dict[tuple[tuple[int, ...], np.dtype], Any]] = []
        self._given = 0
        self._others: list[Scratch] = []

    def vacated(self) -> Scratch:
        """This room, for another step."""
        self._given = 0
        return self

    def share(self, number: int) -> Scratch:
        """Room for what one of several threads does of a step: of the first what is left of this,
        which has that again afterwards."""
        if number == 0:
            return copy(self)
        while len(self._others) < number:
            self._others.append(Scratch(self._backend))
        return self._others[number - 1].vacated()

    def __call__(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        number, size = self._given, math.prod(shape) * dtype.itemsize
        if number == len(self._held):
            self._held.append(self._backend.empty((size,), np.dtype(np.uint8)))
            self._arrays.append({})
        elif self._held[number].size < size:  # what was smaller, calls bound to it keep
            self._held[number] = self._backend.empty((size,), np.dtype(np.uint8))
            self._arrays[number] = {}
        self._given += 1
        arrays = self._arrays[number]
        if (shape, dtype) not in arrays:
            arrays[shape, dtype] = self._held[number][:size].view(dtype).reshape(shape)
        return arrays[shape, dtype]
