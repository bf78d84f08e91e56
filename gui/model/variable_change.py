"""What an update did to a variable, in numbers: before, after and Δ, with the digits it needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.float_text import not_finite
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.memory_release import memo_of_document
from gradstep.core.nested_brackets import in_brackets
from gradstep.gui.model import number_text
from gradstep.gui.model.value_cache import TensorValue, Update

Array = np.ndarray[Any, Any]
_SIGNIFICANT = 2  # digits of the largest change that are seen at least
_DIGITS = {"float16": 5, "bfloat16": 4, "float32": 9}  # that tell all numbers of a dtype apart
_LONGEST = 6  # decimals of a change; smaller ones are written with an exponent


@dataclass(frozen=True)
class Change:
    """An element's text in each list, all of them written alike; empty where nothing is known.
    size: the change as a whole, in words; short: the same for a small room."""

    before: list[str]
    after: list[str]
    delta: list[str]
    size: str
    short: str = ""


@memo_of_document(256)  # every view that shows a variable asks, and asks again with every paint
def of(value: TensorValue | None) -> Change | None:
    """What the last update of a known variable changed in it; None for whatever was not updated."""
    if value is None or value.state != "known" or value.update is None:
        return None
    update = value.update
    before, after = update.before, value.head
    if before is None or not update.changed:
        text = "first value" if before is None else "unchanged"
        return Change([], [], [], text, text)
    if kind_of(before.dtype) not in "iuf":
        return Change(_as_it_is(before), _as_it_is(after), [], *_sizes(value, update))
    delta = after.astype(np.float64) - before.astype(np.float64)
    decimals = decimals_for(value)
    texts = number_text.elements(np.concatenate([before, after]), decimals)
    return Change(
        [t.strip() for t in texts[: len(before)]],
        [t.strip() for t in texts[len(before) :]],
        [_signed(x, _places(update), whole=kind_of(after.dtype) != "f") for x in delta.tolist()],
        *_sizes(value, update),
    )


def decimals_for(value: TensorValue) -> int:
    """Decimals with which the elements of an updated variable show what the update changed: two
    digits of its largest difference, as far as the dtype has them."""
    update = value.update
    if update is None or update.before is None:
        return number_text.DECIMALS
    places, high = _places(update), max(map(_magnitude, (value.head, update.before)))
    changed = _magnitude_of_changed(value.head, update.before)
    digits = _DIGITS.get(value.dtype, 17) - 1 - (number_text.exponent(changed) if changed else 0)
    places = max(number_text.DECIMALS, min(places, digits))
    if not high or number_text.SMALLEST <= high < number_text.LARGEST:
        return places
    return max(
        number_text.DECIMALS, places + number_text.exponent(high)
    )  # behind that of the mantissa


def row(texts: list[str], value: TensorValue, room: int) -> str:
    """The elements as a node's row has them, in `room` characters: aligned, or else without the
    space for that; nothing where not even so all of them fit."""
    if not texts or value.size != value.head.size:
        return ""
    close = in_brackets(texts, value.shape)
    width = max(map(len, texts))
    aligned = f"[ {' '.join(t.rjust(width) for t in texts)} ]"
    forms = (aligned, close) if len(value.shape) == 1 else (close,)
    return next((text for text in forms if len(text) <= room), "")


def inline(texts: list[str], value: TensorValue, room: int) -> str:
    """The elements within a sentence, or nothing where they have no room."""
    if not texts or value.size != value.head.size:
        return ""
    text = in_brackets(texts, value.shape)
    return text if len(text) <= room else ""


def brief(value: TensorValue, room: int) -> str:
    """As number_text.brief; an updated variable with the digits in which it changed, where there is
    room for them."""
    changed = of(value)
    told = "" if changed is None else inline(changed.after, value, room)
    return told or number_text.brief(value, room)


def _sizes(value: TensorValue, update: Update) -> tuple[str, str]:
    """`‖Δ‖ 0.00141, 1.96 % of the norm` and `‖Δ‖ 0.0014  2 %`; of what has no norm, how many
    elements differ."""
    count = f"{update.changed} of {value.size}"
    if update.delta is None or update.delta.norm is None:
        return f"{count} elements changed", f"{count} changed"
    norm, whole = update.delta.norm, value.stats.norm if value.stats is not None else None
    whole = whole if whole is not None and math.isfinite(whole) and math.isfinite(norm) else None
    size, short = f"‖Δ‖ {_brief(norm, 3)}", f"‖Δ‖ {_brief(norm, 2)}"
    if whole:
        size += f", {_brief(100 * norm / whole, 3)} % of the norm"
        short += f"  {_brief(100 * norm / whole, 2)} %"
    return size + (f", {count} elements" if update.changed < value.size else ""), short


def _brief(number: float, digits: int) -> str:
    return number_text.scalar(float(f"{number:.{digits}g}"))


def _places(update: Update) -> int:
    """Decimals that show two digits of the largest difference."""
    largest = _largest(update)
    places = _SIGNIFICANT - 1 - number_text.exponent(largest) if largest else 0
    return max(number_text.DECIMALS, places)


def _largest(update: Update) -> float:
    stats = update.delta
    if stats is None or stats.minimum is None or stats.maximum is None:
        return 0.0
    return max(abs(stats.minimum), abs(stats.maximum))


def _magnitude(array: Array) -> float:
    """The largest finite magnitude; 0 where there is none."""
    if kind_of(array.dtype) not in "iuf" or not array.size:
        return 0.0
    wide = np.abs(array.astype(np.float64))
    return float(wide[np.isfinite(wide)].max(initial=0.0))


def _magnitude_of_changed(after: Array, before: Array) -> float:
    """Of the element that changed most, before or after: the larger."""
    if kind_of(after.dtype) not in "iuf" or not after.size:
        return 0.0
    pairs = np.stack([after, before]).astype(np.float64)
    delta = np.abs(pairs[0] - pairs[1])
    if not np.isfinite(delta).any():
        return 0.0
    return _magnitude(pairs[:, int(np.nanargmax(np.where(np.isfinite(delta), delta, -1)))])


def _signed(number: float, decimals: int, whole: bool) -> str:
    """A difference with its sign: "-0.0010", "+3", "+2.5e-7", "0"."""
    special = not_finite(number)
    if special or number == 0:
        return special or "0"
    if whole:
        return f"{number:+.0f}"
    text = f"{number:+.{decimals}f}"
    if decimals <= _LONGEST and abs(number) < number_text.LARGEST and float(text):
        return text
    mantissa, _, exponent = f"{number:+.{_SIGNIFICANT - 1}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def _as_it_is(array: Array) -> list[str]:
    return [number_text.scalar(x) for x in array.tolist()]
