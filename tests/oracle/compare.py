"""Is what Gradstep gives what TensorFlow recorded? The difference in words, or nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.support.rounding import Rounding

_NUMBERS = np.float32  # what recorded Python numbers mostly were


def is_tensor(recorded: Any) -> bool:
    return isinstance(recorded, dict) and {"dtype", "shape", "data"} <= set(recorded)


def is_outcome(recorded: Any) -> bool:
    """Whether the entry says what was raised, None included."""
    return isinstance(recorded, dict) and "raised" in recorded


def is_error(recorded: Any) -> bool:
    return is_outcome(recorded) and recorded["raised"] is not None


def as_array(recorded: Mapping[str, Any]) -> np.ndarray:
    """A recorded tensor; NaN and infinities are strings there."""
    kind = object if recorded["dtype"] == "string" else recorded["dtype"]
    return np.array(recorded["data"], object).astype(kind).reshape(recorded["shape"])


def difference(ours: Any, theirs: Any, rounding: Rounding | None = None) -> str:
    """What differs, "" when nothing does. rounding: how it was computed; None: one sum of a few
    terms, or one function."""
    if is_outcome(theirs):
        return difference(ours, theirs["value"], rounding) if "value" in theirs else ""
    if is_tensor(theirs):
        return _arrays(ours, as_array(theirs), rounding)
    if isinstance(theirs, dict):
        return _members(ours, theirs, rounding)
    if isinstance(theirs, list):
        return _items(ours, theirs, rounding)
    return _plain(ours, theirs, rounding)


def _arrays(ours: Any, theirs: np.ndarray, rounding: Rounding | None) -> str:
    if ours is None:
        return "None here, a tensor in TensorFlow"
    found = np.asarray(ours)
    if theirs.dtype == object:
        same = [_text(x) for x in found.ravel()] == [_text(x) for x in theirs.ravel()]
        return "" if same else f"{found.tolist()}, in TensorFlow {theirs.tolist()}"
    if found.dtype != theirs.dtype:
        return f"{found.dtype}, in TensorFlow {theirs.dtype}"
    if found.shape != theirs.shape:
        return f"shape {found.shape}, in TensorFlow {theirs.shape}"
    return _numbers(found, theirs, rounding)


def _numbers(found: np.ndarray, theirs: np.ndarray, rounding: Rounding | None) -> str:
    absolute = (rounding or Rounding()).slack(theirs)
    if np.allclose(found, theirs, rtol=0, atol=absolute, equal_nan=True):
        return ""
    with np.errstate(all="ignore"):
        apart = np.abs(np.asarray(found, complex) - np.asarray(theirs, complex))
    short = np.array2string(found, threshold=8, edgeitems=3, precision=9).replace("\n", "")
    other = np.array2string(theirs, threshold=8, edgeitems=3, precision=9).replace("\n", "")
    return f"{short}, in TensorFlow {other}: {np.nanmax(apart, initial=0.0):.2g} apart"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _members(ours: Any, theirs: Mapping[str, Any], rounding: Rounding | None) -> str:
    if not isinstance(ours, Mapping):
        return f"{ours!r}, in TensorFlow {sorted(theirs)}"
    if set(ours) != set(theirs):
        return f"{sorted(ours)}, in TensorFlow {sorted(theirs)}"
    parts = ((key, difference(ours[key], theirs[key], rounding)) for key in theirs)
    return "; ".join(f"{key}: {text}" for key, text in parts if text)


def _items(ours: Any, theirs: Sequence[Any], rounding: Rounding | None) -> str:
    if ours is None or isinstance(ours, str) or not hasattr(ours, "__len__"):
        return f"{ours!r}, in TensorFlow {len(theirs)} items"
    if len(ours) != len(theirs):
        return f"{len(ours)} items, in TensorFlow {len(theirs)}: {list(ours)!r}, {theirs!r}"
    parts = (difference(a, b, rounding) for a, b in zip(ours, theirs, strict=True))
    return "; ".join(f"[{i}]: {text}" for i, text in enumerate(parts) if text)


def _plain(ours: Any, theirs: Any, rounding: Rounding | None) -> str:
    value = ours.item() if hasattr(ours, "item") and getattr(ours, "size", 2) == 1 else ours
    number = isinstance(theirs, int | float) and not isinstance(theirs, bool)
    if number and isinstance(value, int | float):
        near = rounding or Rounding()
        slack = near.of(dtype=near.dtype or _NUMBERS).slack(float(theirs))
        same = value == theirs or abs(value - theirs) <= slack
    else:
        same = type(value) is type(theirs) and value == theirs
    return "" if same else f"{value!r}, in TensorFlow {theirs!r}"


def essential(message: str) -> str:
    """TensorFlow's words without the node, the NodeDef and the advice that it appends."""
    text = message.partition("\n")[0].partition(" for '{{node")[0]
    text = text.partition(". In general every operation")[0]
    text = re.sub(r"^\{\{function_node \S+\}\} | \[Op:\w+\].*$", "", text)  # an eager call's frame
    return text.strip('"').replace("operation'", "operation '")  # a blank is missing there
