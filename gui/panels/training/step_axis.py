"""Steps as people write them on an axis: 201, 20k, 1.5M; and which of them to write."""

from __future__ import annotations

import math
from collections.abc import Iterator


def step_text(step: float) -> str:
    """The first step is 1; "" for what is no step."""
    if step < 1 or step != round(step):
        return ""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if step >= 10 * size or (step >= size and step % (size // 10) == 0):
            return f"{step / size:g}{unit}"
    return f"{step:.0f}"


def step_ticks(start: float, stop: float, most: int) -> Iterator[int]:
    """Round numbers of steps, counted from 1, of those from `start` to `stop`, which are counted
    from 0; about `most` of them."""
    rough = max((stop - start) / max(most, 1), 1.0)
    size = 10 ** math.floor(math.log10(rough))
    spacing = next(int(size * times) for times in (1, 2, 5, 10) if size * times >= rough)
    first = max(math.ceil((start + 1) / spacing) * spacing, spacing)
    yield from range(first, math.floor(stop) + 1, spacing)
