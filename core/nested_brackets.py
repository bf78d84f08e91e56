"""The elements of a tensor as text in brackets, a pair for each row: `[[1 -2][3 4]]`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod


def in_brackets(texts: Sequence[str], shape: Sequence[int]) -> str:
    """texts: of all elements, row-major. A scalar's stands alone: `7`, of a vector `[1 2]`."""
    if not shape:
        return texts[0]
    if len(shape) == 1:
        return f"[{' '.join(texts)}]"
    size = prod(shape[1:])
    rows = (texts[i * size : (i + 1) * size] for i in range(shape[0]))
    return f"[{''.join(in_brackets(row, shape[1:]) for row in rows)}]"
