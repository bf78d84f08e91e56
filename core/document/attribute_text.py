"""Attributes and small tensors as text that people edit, and back."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Constant

EDITABLE = 64  # elements; larger tensors are not edited as text


def attr_text(value: Any) -> str:
    """An attribute's value as `read_attr` reads it."""
    if isinstance(value, Constant):
        return array_text(value.array)
    if isinstance(value, Shape):
        return "?" if value.dims is None else str(value)
    if isinstance(value, DType):
        return value.value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, tuple):
        return f"[{', '.join(attr_text(item) for item in value)}]"
    return str(value)


def read_attr(text: str, like: Any) -> Any:
    """The text as a value of the same kind as `like` (a value, or its Python type). Raises
    GradstepError that says what is expected."""
    kind = like if isinstance(like, type) else type(like)
    text = text.strip()
    try:
        if kind is Shape:
            return read_shape(text)
        if kind is DType:
            return DType(text)
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        if kind is Constant:
            return Constant(_read_elements(text, like))
        if kind is tuple:
            return _read_tuple(text, like if isinstance(like, tuple) else ())
        return text.encode() if kind is bytes else kind(text)
    except (ValueError, SyntaxError, TypeError, KeyError, OverflowError):
        raise _expected(text, kind) from None


def _read_elements(text: str, like: Any) -> np.ndarray[Any, Any]:
    """Numbers in nested lists, of the type that `like` has. Raises ValueError."""
    dtype = like.array.dtype if isinstance(like, Constant) else np.dtype(np.float32)
    named = re.sub(r"[-+]?\b(nan|inf)\b", r"'\g<0>'", text)
    named = re.sub(r"\b(true|false)\b", lambda word: word[0].title(), named)
    return np.array(ast.literal_eval(named), dtype)


def read_shape(text: str) -> Shape:
    """`[?, 784]`, `[]`, or `?` for an unknown rank. Raises ValueError."""
    if text in ("?", "<unknown>", ""):
        return UNKNOWN
    inner = text.strip("[]() ")
    sizes = [part.strip() for part in inner.split(",") if part.strip()]
    dims = tuple(None if size in ("?", "None", "-1") else int(size) for size in sizes)
    if any(size is not None and size < 0 for size in dims):
        raise ValueError("negative size")
    return Shape(dims)


def array_text(array: np.ndarray[Any, Any]) -> str:
    """`[[1, 2], [3, 4]]`; a dtype and shape alone for a tensor that is too large to edit."""
    if array.size > EDITABLE:
        return f"{array.dtype}{list(array.shape)}"
    return _nested(array) if array.ndim else _element(array[()])


def _nested(array: np.ndarray[Any, Any]) -> str:
    if array.ndim == 0:
        return _element(array[()])
    return f"[{', '.join(_nested(np.asarray(item)) for item in array)}]"


def _element(value: Any) -> str:
    """The fewest digits that give the element back."""
    if isinstance(value, np.floating):
        text = np.format_float_positional(value, unique=True, trim="-")
        # Without a point it is read as a whole number, and has to be that exactly.
        is_another = text.lstrip("-").isdigit() and int(text) != float(value)
        if len(text) < 14 and not is_another:
            return text
        return np.format_float_scientific(value, unique=True, trim="-")
    return repr(value.item() if isinstance(value, np.generic) else value)


def _read_tuple(text: str, like: tuple[Any, ...]) -> tuple[Any, ...]:
    inner = re.sub(r"^[\[(]|[\])]$", "", text)
    parts = [part.strip() for part in inner.split(",") if part.strip()]
    if any(isinstance(item, Shape) for item in like):
        return tuple(read_shape(part) for part in re.findall(r"\[[^\]]*\]|\?", inner))
    if any(isinstance(item, DType) for item in like):
        return tuple(DType(part) for part in parts)
    return tuple(ast.literal_eval(part) for part in parts)


def _expected(text: str, kind: type) -> GradstepError:
    examples = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        Shape: "a shape such as [?, 784]",
        DType: "an element type such as float32",
        tuple: "a list such as [0, 1]",
        Constant: "numbers of its element type, such as [1, 2]",
        bytes: "text",
    }
    wanted = examples.get(kind, kind.__name__)
    return GradstepError(f"'{text}' is not {wanted}", kind="ValueError")
