"""Scratch memory for what a step makes on the way to its results.

Steps run one after another, so all have the same, which is then in the cache.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend


class Scratch:
    """Called with a shape and an element type, gives memory: for one step always other memory, for
    the next the same again."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._held: dict[tuple[int, int], Any] = {}
        self._given = 0

    def vacated(self) -> Scratch:
        """This room, for another step."""
        self._given = 0
        return self

    def __call__(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        size = math.prod(shape) * dtype.itemsize
        key = self._given, size
        self._given += 1
        if key not in self._held:
            self._held[key] = self._backend.empty((size,), np.dtype(np.uint8))
        return self._held[key].view(dtype).reshape(shape)
