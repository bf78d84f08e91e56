"""Memory of a recording: one block, and a further one whenever an edit asks for more."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.memory.value_places import Slot
from gradstep.core.errors import GradstepError
from gradstep.core.native_extension import copy_aside


class Arena:
    """Bytes from 0 to `nbytes`. A place lies in one block, and its view stays valid as blocks are
    added. One is kept for each iteration of a loop: it holds nothing that Python's garbage
    collector has to look through."""

    __slots__ = ("__weakref__", "_blocks", "_starts", "nbytes")

    def __init__(self) -> None:
        self.nbytes = 0
        self._starts: tuple[int, ...] = ()
        self._blocks: tuple[Any, ...] = ()

    def grow(self, nbytes: int, backend: Backend) -> None:
        """To that many bytes at least. Raises GradstepError when there is not enough memory."""
        if self._blocks and nbytes <= self.nbytes:
            return
        try:
            block = backend.empty((nbytes - self.nbytes,), np.dtype(np.uint8))
        except (MemoryError, ValueError) as error:
            raise GradstepError(
                f"recording one run takes {nbytes / 2**20:.0f} MiB, more than there is",
                kind="ResourceExhaustedError",
                hint="use smaller tensors or a smaller batch",
            ) from error
        self._starts = *self._starts, self.nbytes
        self._blocks = *self._blocks, block
        self.nbytes = nbytes

    def view(self, place: Slot) -> Any:
        """The array at `place`."""
        number = bisect_right(self._starts, place.offset) - 1
        block, start = self._blocks[number], place.offset - self._starts[number]
        if type(block) is np.ndarray:  # a third of the time of the general way
            return np.ndarray(place.shape, place.dtype, block, start)
        return block[start : start + place.size].view(place.dtype).reshape(place.shape)

    def fill(self, other: Arena) -> bool:
        """Copy the bytes to `other`, if that is laid out alike; whether it is."""
        if not self._is_like(other):
            return False
        for there, block in zip(other._blocks, self._blocks, strict=True):
            there[...] = block
        return True

    def copy(self, into: Arena | None = None) -> Arena:
        """The same bytes elsewhere: in `into` if that is laid out alike, whose memory costs less
        than new memory. It is to be kept, and not looked at now."""
        if into is not None and self._is_like(into):
            for there, block in zip(into._blocks, self._blocks, strict=True):
                copy_aside(there, block)
            return into
        other = Arena()
        other.nbytes, other._starts = self.nbytes, self._starts
        other._blocks = tuple([block.copy() for block in self._blocks])
        return other

    def _is_like(self, other: Arena) -> bool:
        return other._starts == self._starts and other.nbytes == self.nbytes
