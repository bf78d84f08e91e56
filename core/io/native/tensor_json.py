"""Tensors as JSON: {"dtype", "shape", "data"}, with NaN and infinities as strings."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.number_kinds import kind_of

_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json(array: np.ndarray) -> dict[str, Any]:
    """`array` as a JSON object: data in row-major nested lists, each float in the fewest digits
    that give it back; complex numbers as [re, im]; strings as text, or {"base64": …}."""
    array = np.asarray(array)
    dtype = DType.of(array.dtype)
    data = _nested(
        array.ravel().tolist() if kind_of(array.dtype) != "f" else list(array.ravel()),
        array.shape,
        _WRITERS.get(kind_of(array.dtype), lambda x: x),
    )
    return {"dtype": dtype.value, "shape": list(array.shape), "data": data}


def from_json(dtype: DType, shape: Sequence[int], data: Any) -> np.ndarray:
    """The array that `to_json` wrote. Raises GradstepError when data and shape disagree."""
    flat = list(_flat(data, tuple(shape)))
    read = _READERS.get(kind_of(dtype.numpy), lambda x: x)
    try:
        # Of floats, which nearly all are, there is nothing to read.
        plain = read is number_from_json and {float}.issuperset(map(type, flat))
        values = flat if plain else [read(x) for x in flat]
        if dtype is DType.STRING:
            return objects(values, shape)
        # A copy holds nothing but its elements; what is reshaped, the array that it was as well.
        return np.array(values, dtype=dtype.numpy).reshape(tuple(shape)).copy()
    except (TypeError, ValueError, OverflowError) as error:
        raise _bad(f"{error}") from None


def objects(values: Sequence[Any], shape: Sequence[int]) -> np.ndarray:
    """A string tensor: an object array of `values`, which NumPy must not look into."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(tuple(shape))


def number_to_json(value: float) -> float | str:
    """A float, or the name of a NaN or infinity, which JSON cannot write."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def number_from_json(value: object) -> float:
    """The inverse of `number_to_json`. Raises ValueError."""
    if isinstance(value, str) and value in _SPECIAL:
        return _SPECIAL[value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f'{value!r} is not a number, nor "NaN", "Infinity" or "-Infinity"')


def _nested(flat: list[Any], shape: tuple[int, ...], write: Callable[[Any], Any]) -> Any:
    if not shape:
        return write(flat[0])
    items: list[Any] = [write(x) for x in flat]
    for size in reversed(shape[1:]):
        count = len(items) // size if size else math.prod(shape[:-1])
        items = [items[i * size : (i + 1) * size] for i in range(count)]
    return items if math.prod(shape) else _empty(shape)


def _empty(shape: tuple[int, ...]) -> list[Any]:
    return [_empty(shape[1:]) for _ in range(shape[0])] if len(shape) > 1 else []


def _flat(data: Any, shape: tuple[int, ...]) -> Iterator[Any]:
    if not shape:
        yield data
        return
    if not isinstance(data, list) or len(data) != shape[0]:
        raise _bad(f"the data does not have the shape {list(shape)}")
    for part in data:
        yield from _flat(part, shape[1:])


def _write_float(value: Any) -> float | str:
    return number_to_json(float(str(value)))


def _write_complex(value: complex) -> list[float | str]:
    return [number_to_json(value.real), number_to_json(value.imag)]


def _write_text(value: str | bytes) -> str | dict[str, str]:
    if isinstance(value, str):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _read_complex(value: Any) -> complex:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError(f"{value!r} is not a complex number; write [re, im]")
    return complex(number_from_json(value[0]), number_from_json(value[1]))


def _read_text(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        return base64.b64decode(value["base64"], validate=True)
    raise ValueError(f"{value!r} is not a string")


def _read_int(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is not an integer")
    return value


def _read_bool(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"{value!r} is not true or false")
    return value


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError")


_WRITERS: dict[str, Callable[[Any], Any]] = {
    "f": _write_float,
    "c": _write_complex,
    "O": _write_text,
    "S": _write_text,
    "U": _write_text,
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "f": number_from_json,
    "c": _read_complex,
    "O": _read_text,
    "i": _read_int,
    "u": _read_int,
    "b": _read_bool,
}
