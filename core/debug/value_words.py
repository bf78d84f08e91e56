"""Values in a line of text: a number, a few, or the shape and the range of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.float_text import float_text, range_words
from gradstep.core.graph.number_kinds import kind_of, widened
from gradstep.core.graph.splat_array import element_of, is_splat
from gradstep.core.nested_brackets import in_brackets

_WRITTEN = 8  # elements; of more, their range


def value_text(value: Any) -> str:
    """In a line: a number, a few, or the shape and the range of many."""
    if isinstance(value, tuple):
        return str(tuple(int(n) for n in value)) if all(map(_is_whole, value)) else str(value)
    array = np.asarray(value)
    if array.size == 0:
        return f"{_shape(array)} empty"
    if array.size <= _WRITTEN:
        return in_brackets([_number(x) for x in widened(array).reshape(-1).tolist()], array.shape)
    return "  ".join([_shape(array), *_range(array)])


def _range(array: np.ndarray[Any, Any]) -> list[str]:
    """How much is not finite, and from the smallest to the largest of the rest; of complex numbers
    their moduli."""
    if kind_of(array.dtype) not in "biufc":
        return []
    count = array.size
    if is_splat(array):
        array = np.asarray(element_of(array)).reshape(1)
    numbers = widened(array)
    numbers = np.abs(numbers) if kind_of(numbers.dtype) == "c" else numbers
    finite, times = np.isfinite(numbers), count // array.size
    nans = int(np.isnan(numbers).sum()) * times
    infs = count - nans - int(finite.sum()) * times
    held = numbers[finite] if nans or infs else numbers
    wrong = " ".join(f"{n} {word}" for n, word in ((nans, "NaN"), (infs, "Inf")) if n)
    if not held.size:
        return [wrong]
    least, most = float(held.min()), float(held.max())
    low, high = (f"{end + 0.0:.4g}" for end in (least, most))  # 0.0, and not -0.0
    return [range_words(wrong, low, high, least == most)]


def _shape(array: np.ndarray[Any, Any]) -> str:
    """ "64×32"; of a vector "[64]"."""
    return f"[{array.size}]" if array.ndim == 1 else "×".join(map(str, array.shape))


def _is_whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _number(x: Any) -> str:
    """Whoever reads has no use for a zero's sign."""
    return float_text(x + 0.0) if isinstance(x, float) else str(x)
