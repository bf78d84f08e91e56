"""Numbers as text: scalars, elements, and whole tensors in a given room."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradstep.core.float_text import float_text, not_finite, range_words
from gradstep.core.graph.number_kinds import kind_of, widened
from gradstep.core.nested_brackets import in_brackets
from gradstep.core.protocol.messages import Stats
from gradstep.gui.model.value_cache import TensorValue, Words

Array = np.ndarray[Any, Any]
DECIMALS = 3
SMALLEST, LARGEST = 1e-3, 1e5  # outside, elements are written with an exponent


def scalar(value: Any) -> str:
    """One number by itself, to six significant digits: "0.663694", "1", "NaN", "-Inf". Whoever
    reads has no use for a zero's sign."""
    if isinstance(value, float | np.floating):
        return exact(value + 0.0)  # -0.0 + 0.0 is 0.0
    if isinstance(value, complex | np.complexfloating):
        return f"{scalar(value.real)}{'+' if value.imag >= 0 else ''}{scalar(value.imag)}j"
    return exact(value)


def exact(value: Any) -> str:
    """As `scalar`, with the sign of a zero, by which 1/0 and 1/-0 differ."""
    if isinstance(value, Words):
        return str(value)
    if isinstance(value, bytes | str):
        return quote_text(value)
    if isinstance(value, bool | np.bool_):
        return "True" if value else "False"
    if isinstance(value, complex | np.complexfloating):
        return f"{exact(value.real)}{'+' if value.imag >= 0 else ''}{exact(value.imag)}j"
    special = not_finite(value)
    return float_text(value) if isinstance(value, float | np.floating) else special or str(value)


def quote_text(value: Any) -> str:
    """Text as Python writes it: what cannot be seen, and bytes that are none, as escapes."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    seen = (c if c.isprintable() else repr(c)[1:-1] for c in text)
    return f'"{"".join(seen)}"'


def elements(values: Array, decimals: int = DECIMALS) -> list[str]:
    """The elements of a flat array, written alike: the same decimals, right-aligned."""
    texts = _written(values, decimals)
    width = max((len(text) for text in texts), default=0)
    return [text.rjust(width) for text in texts]


def _written(values: Array, decimals: int) -> list[str]:
    values = widened(values)
    if kind_of(values.dtype) not in "f":
        return [scalar(v) for v in values.tolist()]
    values = np.where(values == 0, values.dtype.type(0), values)  # without the sign of zeros
    finite = np.abs(values[np.isfinite(values)].astype(np.float64))
    if len(finite) and np.all(finite == np.round(finite)) and finite.max() < LARGEST:
        return [not_finite(v) or f"{v:.0f}." for v in values.tolist()]
    largest = finite.max() if len(finite) else 0.0
    style = "f" if not largest or SMALLEST <= largest < LARGEST else "e"
    return [not_finite(v) or _element(v, decimals, style) for v in values.tolist()]


def _element(value: float, decimals: int, style: str) -> str:
    """What is not 0 is not written as 0."""
    text = f"{value:.{decimals}{style}}"
    return short(value) if value and not float(text) else _trim(text)


def short(number: float) -> str:
    """Three significant digits, narrow: "0.0123", "1.2e-5", of 48200 "4.82e4"; "NaN", "Inf"."""
    return not_finite(number) or _trim(f"{number or 0.0:.3g}")


def exponent(number: float, digits: int = 2) -> int:
    """The decimal exponent of a positive number that is rounded to so many digits: of 0.0009999 it
    is -3."""
    return int(f"{number:.{digits - 1}e}".partition("e")[2])


def _trim(text: str) -> str:
    """1.200e-05 as 1.200e-5."""
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


def brief(value: TensorValue, room: int = 20) -> str:
    """A known value in at most about `room` characters: all its elements when they fit, row by row,
    with fewer decimals if that helps; else the shape and the range."""
    if not value.shape:
        return scalar(value.head.item()) if value.head.size else ""
    if value.size == 0:
        return f"{_shape(value)} empty"
    return whole(value, room) or summary(value)


def whole(value: TensorValue, room: int) -> str:
    """All elements of a known tensor that is no scalar in `room` characters; nothing where they do
    not fit, or where there are none."""
    if not value.shape or value.size != value.head.size or not 0 < value.size <= room // 2:
        return ""
    texts = (elements(value.head, d) for d in (DECIMALS, 2))
    if len(value.shape) == 1:
        forms = (f"[ {' '.join(each)} ]" for each in texts)
    else:
        forms = (in_brackets([text.strip() for text in each], value.shape) for each in texts)
    return next((text for text in forms if len(text) <= room), "")


def dims(shape: tuple[int, ...]) -> str:
    """A shape as people write it: "64×32"; a scalar's is "scalar"."""
    return "×".join(map(str, shape)) if shape else "scalar"


def _shape(value: TensorValue) -> str:
    """Also of a vector told from a number."""
    return dims(value.shape) if len(value.shape) != 1 else f"[{value.shape[0]}]"


def summary(value: TensorValue) -> str:
    """Shape, what is wrong, and range: "64×32  2 NaN, else -1.2 to 3.4"."""
    return "  ".join(filter(None, (_shape(value), _range(value.stats))))


def _range(stats: Stats | None) -> str:
    """What is wrong, and the range of what is not; "" where nothing is known."""
    bad = " ".join(wrong(stats))
    if stats is None or stats.minimum is None or stats.maximum is None:
        return bad
    low, high = stats.minimum, stats.maximum
    return range_words(bad, short(low), short(high), low == high)


def wrong(stats: Stats | None) -> list[str]:
    """Counts of elements that are not numbers, in words."""
    if stats is None:
        return []
    named = ((stats.nans, "NaN"), (stats.infs, "Inf"))
    return [f"{count} {name}" for count, name in named if count]


def is_wrong(value: TensorValue) -> bool:
    """Whether a NaN or an infinity is in it."""
    if value.stats is not None:
        return bool(value.stats.nans or value.stats.infs)
    return kind_of(value.head.dtype) in "fc" and not bool(np.isfinite(value.head).all())


def time_unit(largest: float) -> tuple[str, float]:
    """The unit in which durations up to `largest` seconds are best read, and how many of it a
    second is; with three decimals the least ones are still told apart."""
    return ("µs", 1e6) if largest < 1e-3 else ("ms", 1e3) if largest < 1 else ("s", 1.0)


def duration(seconds: float) -> str:
    """Three significant digits and a unit: "18.3 ms", "4.21 µs", "0 µs"."""
    unit, scale = time_unit(seconds)
    number = seconds * scale
    decimals = max(0, 2 - math.floor(math.log10(number))) if number > 0 else 0
    return f"{number:.{min(decimals, 3)}f} {unit}"


def byte_size(count: int) -> str:
    """Bytes in the unit that keeps the number short: "512 B", "3.1 KB"."""
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
