"""Attributes as texts: read as what stands there now, or is declared."""

from __future__ import annotations

from typing import Any

from gradstep.core.data.literal_values import read_literal
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape


def read_attribute(text: str, like: object) -> Any:
    """The value that `text` says. like: the present value, or the kind that is declared. Raises
    GradstepError."""
    kind = like if isinstance(like, type) else type(like)
    if issubclass(kind, DType):
        return _dtype(text)
    if issubclass(kind, str):
        return text.strip("'\"")
    try:
        value = read_literal(text)
    except ValueError:
        raise _misfit(text, kind) from None
    return _fitted(value, kind, text)


def _fitted(value: Any, kind: type, text: str) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if issubclass(kind, bool) and (isinstance(value, bool) or value in (0, 1)):
        return bool(value)
    if issubclass(kind, bool):
        raise _misfit(text, kind)
    if issubclass(kind, int) and whole:
        return value
    if issubclass(kind, float) and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if issubclass(kind, Shape) and isinstance(value, list):
        return Shape(tuple(None if n == -1 else int(n) for n in value))
    if issubclass(kind, tuple | list) and isinstance(value, list):
        return tuple(value)
    raise _misfit(text, kind)


def _dtype(text: str) -> DType:
    try:
        return DType(text)
    except ValueError:
        raise _misfit(text, DType) from None


_WORDS = {bool: "true or false", int: "a whole number", float: "a number", Shape: "a shape",
          DType: "an element type such as float32", tuple: "a list", list: "a list"}  # fmt: skip


def _misfit(text: str, kind: type) -> GradstepError:
    what = next((words for of, words in _WORDS.items() if issubclass(kind, of)), "such a value")
    return GradstepError(f"'{text:.40}' is not {what}", kind="ValueError", hint=f"write {what}")
