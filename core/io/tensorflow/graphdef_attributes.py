"""AttrValue to and from attribute values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.io.tensorflow.graphdef_proto import TYPE_NUMBERS, message, parse
from gradstep.core.io.tensorflow.graphdef_tensors import (
    read_shape,
    read_tensor,
    read_type,
    write_shape,
    write_tensor,
)


def read_attribute(proto: Any) -> Any:
    """The attribute value of an AttrValue; Unread for functions, and for element types that
    Gradstep lacks. Raises GradstepError for a damaged one."""
    try:
        return _read(proto)
    except GradstepError as error:
        if error.kind != "UnimplementedError":
            raise
        data = proto.SerializeToString(deterministic=True)
        return Unread(data, error.message, error.hint)


def _read(proto: Any) -> Any:
    kind = proto.WhichOneof("value")
    if kind == "list":
        return _read_list(proto.list)
    if kind not in _READERS:
        raise _not_read(_UNREAD.get(kind, "a value of no type"))
    return _READERS[kind](getattr(proto, kind))


def write_attribute(value: Any, like: Any = None) -> Any:
    """The AttrValue of `value`; `like` is a value of the type that the op declares for it.
    Raises GradstepError."""
    proto = message("AttrValue")()
    if isinstance(value, Unread):
        parse(proto, value.data)
        return proto
    if isinstance(value, tuple | list):
        proto.list.SetInParent()  # an empty list is a list, too
        _write_list(proto.list, value)
        return proto
    field, written = _written(float(value) if _wants_float(value, like) else value)
    _assign(proto, field, written)
    return proto


def _not_read(what: str) -> GradstepError:
    return GradstepError(
        f"{what} is not something that Gradstep runs",
        kind="UnimplementedError",
        hint="make the graph without functions: tf.compat.v1.disable_v2_behavior()",
    )


def _read_list(proto: Any) -> tuple[Any, ...]:
    if proto.func:
        raise _not_read("a list of functions")
    for kind, read in _READERS.items():
        if values := getattr(proto, kind):
            return tuple(read(value) for value in values)
    return ()


def _write_list(proto: Any, values: Any) -> None:
    for value in values:
        field, written = _written(value)
        target = getattr(proto, field)
        if field in ("shape", "tensor"):
            target.add().CopyFrom(written)
        else:
            target.append(written)


def _assign(proto: Any, field: str, written: Any) -> None:
    if field in ("shape", "tensor"):
        getattr(proto, field).CopyFrom(written)
    else:
        setattr(proto, field, written)


def _written(value: Any) -> tuple[str, Any]:
    for kind, field, write in _WRITERS:
        if isinstance(value, kind):
            return field, write(value)
    raise GradstepError(
        f"an attribute of type {type(value).__name__} cannot be exported", kind="FileError"
    )


def _wants_float(value: Any, like: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and isinstance(like, float)


def _read_text(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


_UNREAD = {"func": "a function", "placeholder": "a function's own attribute"}
_READERS: dict[str, Callable[[Any], Any]] = {
    "s": _read_text,
    "i": int,
    "f": float,
    "b": bool,
    "type": read_type,
    "shape": read_shape,
    "tensor": lambda proto: Constant.taking(read_tensor(proto)),
}
# In this order: a DType is a str, and a bool is an int.
_WRITERS: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (DType, "type", TYPE_NUMBERS.__getitem__),
    (bool | np.bool_, "b", bool),
    (int | np.integer, "i", int),
    (float | np.floating, "f", float),
    (str, "s", str.encode),
    (bytes, "s", bytes),
    (Shape, "shape", write_shape),
    (Constant, "tensor", lambda value: write_tensor(value.array)),
)
