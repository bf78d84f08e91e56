"""State that is no array: what a queue, a tensor array or a stack holds.

Such a variable's value is one Python object that never changes: an op that updates it
(`writes=(0,)`) returns another one. So it is kept by reference, and every version of it stays
readable, as those of other variables do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SHOWN = 8  # elements of an array, and arrays, that are shown


class OpaqueState:
    """To be subclassed by frozen dataclasses. `str` of it is what people are shown. No ABC: every
    value that is read is asked whether it is one, which of an ABC takes Python five times as
    long."""

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """How much memory it keeps, roughly."""
        raise NotImplementedError

    def beyond(self, before: Any) -> int:
        """How much of that is not kept by `before`, what was there until then."""
        return self.nbytes

    def __str__(self) -> str:
        raise NotImplementedError

    def at(self, handle: np.ndarray) -> OpaqueState | None:
        """The part of it that a handle leads to, if it has parts that handles lead to."""
        return None

    def said(self) -> np.ndarray:
        """What a look at the handle shows, as a tensor of text."""
        return np.array(str(self), object)


def short(array: Any) -> str:
    """An array as people are shown it among others, with numbers as six digits say them; of a
    larger one the shape."""
    if array.size > SHOWN:
        return f"{array.dtype.name}{list(array.shape)}"
    return str(_rounded(array.tolist()))


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
