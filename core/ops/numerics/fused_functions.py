"""Functions of single elements that a device may compute by one kernel each.

Whoever computes an array at a time reads and writes memory at every operation; on a card each is a
launch besides. A namespace that can make one kernel of such a function has `fused`, and where it
writes that kernel, `loop`; NumPy has neither, and nothing changes for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import numpy as np

Function = Callable[..., Any]


def fused(function: Function) -> Function:
    """`function(xp, *arrays, **more)` as one kernel where `xp` can make one of it, and then with a
    place for its results where it is given `out`. Every element of a result must hang on those at
    its place alone, with broadcasting; `function` may use operators, NumPy's elementwise functions
    and `repeat`, and may ask nothing of an array but its type."""

    @wraps(function)
    def kernel(xp: Any, *arrays: Any, **more: Any) -> Any:
        make = None if xp is np else getattr(xp, "fused", None)
        if make is None:
            return function(xp, *arrays, **more)
        return make(function, *arrays, **more)

    return marked(kernel)


def marked(kernel: Function) -> Function:
    """`kernel`, of which is known that it takes `out` where the namespace has `fused`."""
    kernel.is_fused = True  # type: ignore[attr-defined]
    return kernel


def is_fusing(xp: Any) -> bool:
    """Whether the namespace makes one kernel of a function."""
    return xp is not np and getattr(xp, "fused", None) is not None


def repeat(
    xp: Any, body: Function, rows: Iterable[tuple[float, ...]], *state: Any
) -> tuple[Any, ...]:
    """What becomes of `state` by `state = body(*state, *row)` for each row of numbers in turn: a
    loop in a kernel, where these are numbers of float64. body: gives as many values as there are,
    of the types that they have."""
    loop = None if xp is np else getattr(xp, "loop", None)
    if loop is not None:
        found: tuple[Any, ...] = loop(body, rows, *state)
        return found
    for row in rows:
        state = body(*state, *row)
    return state
