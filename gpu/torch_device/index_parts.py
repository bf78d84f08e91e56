"""A subscript as NumPy reads it, in the words of a library that knows no negative steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Parts = tuple[Any, ...]


def parts(
    index: Any, shape: Sequence[int], opened: Callable[[Any], Any]
) -> tuple[Parts, tuple[int, ...]]:
    """The subscript with slices that go forwards alone, and the axes of the result to turn round
    then. opened: gives a tensor for an array, and anything else as it is. Raises TypeError for
    a backward slice beside an array."""
    given = [opened(x) for x in (index if isinstance(index, tuple) else (index,))]
    given = _without_ellipsis(given, len(shape))
    made: list[Any] = []
    turned: list[int] = []
    axis = place = 0  # in the array, in the result
    simple = all(isinstance(x, slice | int | np.integer | None) for x in given)
    for part in given:
        if isinstance(part, slice) and part.step is not None and part.step < 0:
            if not simple:
                raise TypeError("a backward slice beside an array of indices")
            made.append(_forwards(part, shape[axis]))
            turned.append(place)
        else:
            made.append(int(part) if isinstance(part, np.integer) else part)
        axis += 0 if part is None else _axes_of(part)
        place += not isinstance(part, int | np.integer)
    return tuple(made), tuple(turned)


def _without_ellipsis(given: list[Any], rank: int) -> list[Any]:
    at = next((i for i, x in enumerate(given) if x is Ellipsis), None)
    if at is None:
        return given
    used = sum(_axes_of(x) for x in given if x is not None and x is not Ellipsis)
    return [*given[:at], *[slice(None)] * (rank - used), *given[at + 1 :]]


def _axes_of(part: Any) -> int:
    """How many axes a part takes up: a mask as many as it has."""
    is_mask = "bool" in str(getattr(part, "dtype", ""))
    return int(part.ndim) if is_mask else 1


def _forwards(part: slice, size: int) -> slice:
    """The same elements in the other order."""
    places = range(*part.indices(size))
    if not places:
        return slice(0, 0)
    return slice(places[-1], places[0] + 1, -places.step)
