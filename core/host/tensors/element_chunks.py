"""The elements of a view in row-major order, some at a time: no more memory for a large tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.graph.number_kinds import kind_of, widened

CHUNK = 1 << 20  # elements
Array = np.ndarray[Any, Any]


def chunks(view: Array) -> Iterator[Array]:
    """Flat pieces of at most CHUNK elements, of the first to the last. Each is to be done with
    before the next. Raises Cancelled between two."""
    if not view.size:
        return
    flags: Any = ["external_loop", "buffered", "ranged", "refs_ok"]
    with np.nditer(view, flags=flags, order="C", buffersize=CHUNK) as elements:
        for first in range(0, view.size, CHUNK):  # what needs no buffer would come as one piece
            check_cancelled()
            elements.iterrange = (first, min(first + CHUNK, view.size))  # type: ignore[misc]
            yield from elements


def real(values: Array) -> Array:
    """Numbers that can be ordered: moduli of complex ones, 0 and 1 of truth values, bfloat16 as
    float32."""
    values = widened(values)
    if kind_of(values.dtype) == "c":
        return np.abs(values)
    return values.view(np.uint8) if kind_of(values.dtype) == "b" else values


def is_numeric(view: Array) -> bool:
    return kind_of(view.dtype) in "biufc"
