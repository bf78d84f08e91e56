"""A tensor's values in another element type, where that type has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.number_kinds import kind_of

_HINT = "write other values first, or keep the element type and put a Cast behind it"


def convert_constant(array: np.ndarray, dtype: DType) -> np.ndarray:
    """The same numbers in element type `dtype`: floating-point numbers to the nearest there is, all
    others exactly; numbers as text and back. Raises GradstepError that names the first that
    `dtype` does not have."""
    if dtype in (DType.RESOURCE, DType.VARIANT):
        raise GradstepError(
            f"nobody can write down a value of element type {dtype.value}",
            kind="ValueError",
            hint="choose the element type of what it holds",
        )
    have = DType.of(array.dtype)
    if have is dtype:
        return array
    if dtype is DType.STRING:
        return _texts(array)
    source = _numbers(array, dtype) if have is DType.STRING else array
    if kind_of(source.dtype) == "c" and not dtype.is_complex:
        _require(source, source.imag == 0, dtype)
        source = source.real
    with np.errstate(all="ignore"):
        found = source.astype(dtype.numpy)
        _require(source, _same(source, found), dtype)
    return found


def convert_given(array: np.ndarray, dtype: DType) -> np.ndarray:
    """The numbers that somebody gives a tensor of element type `dtype`, as a new array: the nearest
    floating-point numbers that there are, all others exactly. Raises GradstepError that names the
    first that `dtype` does not have; nothing is cut off, wrapped round or made infinite."""
    source, target = array.dtype, dtype.numpy
    rounds = kind_of(target) in "fc" and kind_of(source) in "biufc"
    if kind_of(target) != "O" and np.can_cast(source, target, "same_kind" if rounds else "safe"):
        try:
            with np.errstate(over="raise", invalid="ignore"):
                return array.astype(target)
        except FloatingPointError:
            pass  # which number it is, is found below
    found = convert_constant(array, dtype)
    return found.copy() if found is array else found


def require_texts(array: np.ndarray, node: str | None = None) -> None:
    """Raise GradstepError where an array of Python objects holds anything but texts."""
    for element in array.flat if array.dtype.hasobject else ():
        if not isinstance(element, bytes | str):
            raise GradstepError(
                f"{element!r:.60} is a Python {type(element).__name__}, and no value of a tensor",
                kind="ValueError",
                node=node,
                hint="an array of objects holds texts: bytes or str",
            )


def _require(source: np.ndarray, kept: Any, dtype: DType) -> None:
    """Raise GradstepError for the first element that is not kept."""
    if not np.all(kept):
        raise _refused(source, ~np.asarray(kept), dtype)


def _same(source: np.ndarray, found: np.ndarray) -> Any:
    """Where `found` is what `source` is, or the nearest there is; NaN is NaN."""
    if kind_of(source.dtype) in "fc" and kind_of(found.dtype) in "fc":
        return np.isfinite(found) | ~np.isfinite(source)
    back = (found if kind_of(source.dtype) == "c" else found.real).astype(source.dtype)
    same = (back == source) & (back.astype(found.dtype) == found)
    if kind_of(source.dtype) in "iu" and kind_of(found.dtype) in "iu":
        same &= (source < 0) == (found < 0)
    elif kind_of(source.dtype) in "iu":
        same &= np.isfinite(found)  # to come back from infinity gives just any integer
    return same | ((source != source) & (found != found))


def _texts(array: np.ndarray) -> np.ndarray:
    texts = np.empty(array.shape, object)
    for place in np.ndindex(array.shape):
        texts[place] = str(array[place]).encode()
    return texts


def _numbers(texts: Any, dtype: DType) -> np.ndarray:
    """Texts that are numbers, as wide as there are. Raises GradstepError for another one."""
    wide: Any = np.complex128 if dtype.is_complex else np.float64
    if dtype.is_integer:
        wide = int
    found = np.empty(texts.shape, object)
    for place in np.ndindex(texts.shape):
        text = (
            texts[place] if isinstance(texts[place], str) else texts[place].decode(errors="replace")
        )
        try:
            found[place] = wide(text)
        except (ValueError, OverflowError):
            raise _error(repr(text), place, f"is no number that {dtype.value} has") from None
    if dtype.is_integer:
        return _whole(found, dtype)
    return found.astype(wide)


def _whole(found: np.ndarray, dtype: DType) -> np.ndarray:
    limits = np.iinfo(dtype.numpy)
    for place in np.ndindex(found.shape):
        if not limits.min <= found[place] <= limits.max:
            raise _error(str(found[place]), place, f"is out of range for {dtype.value}")
    return found.astype(dtype.numpy)


def _refused(source: np.ndarray, lost: np.ndarray, dtype: DType) -> GradstepError:
    place = tuple(int(i) for i in np.argwhere(lost)[0]) if source.ndim else ()
    value = source[place]
    return _error(str(value), place, _reason(kind_of(source.dtype), value, dtype))


def _reason(kind: str, value: Any, dtype: DType) -> str:
    if kind == "c":
        return f"has an imaginary part, and {dtype.value} has none"
    if dtype is DType.BOOL:
        return "is neither 0 nor 1, which stand for bool's false and true"
    if dtype.is_integer and kind == "f" and value != np.rint(value):
        return f"is not a whole number, and {dtype.value} has no others"
    if dtype.is_integer or kind == "f":
        return f"is out of range for {dtype.value}"
    return f"is no number that {dtype.value} has"


def _error(value: str, place: tuple[int, ...], why: str) -> GradstepError:
    where = f" at index {list(place)}" if place else ""
    return GradstepError(f"{value}{where} {why}", kind="ValueError", hint=_HINT)
