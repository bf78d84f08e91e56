"""Whether the attributes of an operation are of the kinds that its op type declares."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import DType, Shape
from core.graph.model import Constant, Operation
from core.graph.unread import Unread
from core.ops.table import OpDef

# Declared kind -> what Python's values may be, and how users call it.
_KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    DType: ((DType,), "an element type"),
    Shape: ((Shape,), "a shape"),
    Constant: ((Constant,), "a tensor"),
    bool: ((bool, np.bool_), "true or false"),
    int: ((int, np.integer), "a whole number"),
    float: ((float, int, np.floating, np.integer), "a number"),
    str: ((str, bytes), "text"),
    tuple: ((tuple, list), "a list"),
}
_DTYPES = frozenset(kind.value for kind in DType)


def check_attributes(definition: OpDef, op: Operation) -> None:
    """Raise GradstepError (ValueError) for the first declared attribute of another kind. One that
    is missing is nobody's business until it is asked for."""
    for name, declared in definition.attrs.items():
        if name in op.attrs and not _fits(op.attrs[name], declared):
            kind = declared if isinstance(declared, type) else type(declared)
            raise GradstepError(
                f"attribute '{name}' must be {_KINDS[kind][1]}, not {op.attrs[name]!r}",
                kind="ValueError",
                node=op.name,
                hint="correct the attribute",
            )


def check_read(definition: OpDef, op: Operation) -> None:
    """Raise GradstepError (UnimplementedError) for a declared attribute that is only passed on."""
    for name in definition.attrs:
        if isinstance(value := op.attrs.get(name), Unread):
            raise GradstepError(
                f"attribute '{name}': {value.why}",
                kind="UnimplementedError",
                node=op.name,
                hint=value.hint,
            )


def _fits(value: Any, declared: Any) -> bool:
    kind = declared if isinstance(declared, type) else type(declared)
    if kind not in _KINDS or isinstance(value, Unread):
        return True
    if kind is DType and isinstance(value, str):
        return value in _DTYPES
    return isinstance(value, _KINDS[kind][0])
