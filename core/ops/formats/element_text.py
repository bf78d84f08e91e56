"""Some elements of an array as text, as TensorFlow's printing ops write them.

The first ones as Print and Assert do, or those at both ends of each dimension as tf.print does.

Source: TensorFlow's tensor.cc (SummarizeValue) and numbers.cc.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradstep.core.graph.number_kinds import kind_of

_LINE = "\n"
_ESCAPES = str.maketrans({c: f"\\{e}" for c, e in zip("\n\r\t\"'\\", "nrt\"'\\", strict=True)})


def summary(array: Any, entries: int) -> str:
    """The first `entries` elements (negative: all) in brackets by dimension, without the
    outermost pair; `...` where something is left out."""
    values = np.asarray(array)
    limit = values.size if entries < 0 else min(entries, values.size)
    texts = iter([element(x) for x in values.reshape(-1)[:limit]])
    shown = "".join(_parts(values.shape, texts, _Left(limit))) if values.ndim else " ".join(texts)
    return shown + ("..." if values.size > limit else "")


def ends(array: Any, entries: int) -> str:
    """`entries` elements (negative: all) from the start and from the end of each dimension.
    TensorFlow has no text for complex numbers here."""
    values = np.asarray(array)
    count = values.size if entries < 0 else min(entries, values.size)
    if kind_of(values.dtype) != "c":
        return _ends(values, count, 0)
    more = "..." if values.size > count else ""
    shown = " ".join("?" * count) + more
    return f"[{shown}]" if values.ndim else shown


def _ends(values: np.ndarray, count: int, depth: int) -> str:
    """values: a part of the array, `depth` dimensions inside it."""
    if not values.ndim:
        x: Any = values[()]
        return f'"{element(x)}"' if isinstance(x, str | bytes) else element(x)
    size, inner = len(values), values.ndim - 1
    shown = [*range(min(count, size)), *range(max(count, size - count), size)]
    parts = [_ends(values[i, ...], count, depth + 1) for i in shown]
    if size > 2 * count:
        parts.insert(count, "...")
    if size and not count:
        parts.insert(0, "")
    return f"[{(_LINE * inner + ' ' * (depth + 1) if inner else ' ').join(parts)}]"


class _Left:
    """How many elements may still be shown."""

    def __init__(self, count: int) -> None:
        self.count = count


def _parts(shape: tuple[int, ...], texts: Iterator[str], left: _Left, depth: int = 0) -> list[str]:
    """What is shown of one part of the array, whose sizes are `shape`."""
    if len(shape) == 1:
        shown = min(shape[0], left.count)
        left.count -= shown
        row = " ".join(next(texts) for _ in range(shown))
        return [row, "..." if shown < shape[0] and depth and shown else ""]
    found: list[str] = []
    for _ in range(shape[0]):
        if not left.count:
            break
        found += ["[", *_parts(shape[1:], texts, left, depth + 1), "]"]
    return found


def element(x: Any) -> str:
    """One element, with as few digits as tell its value, or two or three more."""
    if isinstance(x, bool | np.bool_):
        return str(int(x))
    if isinstance(x, np.complexfloating):
        return f"({element(x.real)},{element(x.imag)})"
    if isinstance(x, np.floating):
        short, long = (15, 17) if x.dtype == np.float64 else (6, 9)
        wide = np.float32(x) if x.dtype == np.float16 else x
        text = f"{wide:.{short}g}"
        return text if type(wide)(text) == wide or np.isnan(wide) else f"{wide:.{long}g}"
    text = x.decode("utf-8", "backslashreplace") if isinstance(x, bytes) else str(x)
    return text.translate(_ESCAPES)
