"""Attributes and tensors as text that a user can edit, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import typed_value
from gradstep.core.document import attribute_text
from gradstep.core.document.attribute_text import EDITABLE, array_text, attr_text, read_shape
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Constant
from gradstep.core.ops.declare.attribute_kinds import items_of

__all__ = [
    "EDITABLE",
    "array_text",
    "attr_text",
    "items_like",
    "read_array",
    "read_attr",
    "read_shape",
]


def read_attr(text: str, like: Any) -> Any:
    """The text as a value of the same kind as `like`, tensors in any way that values are written.
    Raises GradstepError that says what is expected."""
    kind = like if isinstance(like, type) else type(like)
    if kind is not Constant:
        return attribute_text.read_attr(text, like)
    dtype = DType.of(like.array.dtype) if isinstance(like, Constant) else DType.FLOAT32
    return Constant(read_array(text.strip(), TensorType(dtype)))


def items_like(name: str) -> tuple[Any, ...]:
    """A list of the kind that an attribute of that name is, for `read_attr`; empty where nobody
    knows."""
    examples = {DType: DType.FLOAT32, Shape: UNKNOWN, int: 0, float: 0.0, str: ""}
    kind = items_of(name)
    return () if kind is None else (examples[kind],)


def read_array(text: str, kind: TensorType) -> np.ndarray[Any, Any]:
    """Nested lists of numbers, `nan` and `inf` included, as an array. Raises GradstepError."""
    return typed_value(text, kind, "", Reading())
