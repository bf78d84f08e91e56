"""Edits of the values in a document: attributes, feeds, and what variables start with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.loop import anywhere
from gradstep.core.graph.model import Constant, Operation, TensorRef
from gradstep.core.ops.build.constant_cast import convert_constant, require_texts
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.ops.declare.table import OpDef
from gradstep.core.ops.typing.dependent_attributes import with_attribute
from gradstep.core.ops.typing.inference import infer_declared

LARGEST = 1 << 30  # bytes of a value that nobody wrote

# What a node that was just drawn starts with, by the kind of attribute it must be given.
_FRESH: Mapping[type, Any] = {
    DType: DType.FLOAT32,
    Shape: Shape.of(2),
    Constant: Constant(np.float32(1.0)),
    int: 1,
    float: 1.0,
    bool: False,
}


def lasts(definition: OpDef) -> bool:
    """Whether the document, or a session, keeps something for operations of this type."""
    return definition.type in (*VARIABLES, "Placeholder") or definition.state.first is not None


def fresh_attrs(definition: OpDef) -> dict[str, Any]:
    """Values for the attributes that have no default, so that a drawn node means something."""
    required = {n: kind for n, kind in definition.attrs.items() if isinstance(kind, type)}
    attrs = {name: _FRESH[kind] for name, kind in required.items() if kind in _FRESH}
    attrs |= {name: allowed[0] for name, allowed in definition.choices.items() if name in required}
    if definition.type == "Placeholder":  # its default, an unknown shape, would take any feed
        attrs["shape"] = _FRESH[Shape]
    return attrs


def with_fresh_value(document: Document, name: str) -> Document:
    """`document` with zeros for a new variable, ones for a new placeholder."""
    op = anywhere(document.graph, name)
    if op.type in VARIABLES:
        return set_initial(document, name, _filled(op, 0))
    if op.type == "Placeholder":
        return set_feed(document, f"{name}:0", _filled(op, 1))
    return document


def set_attr(document: Document, name: str, key: str, value: Any) -> Document:
    """Set an attribute (None: its default again) and with it what hangs on it: other attributes of
    the operation, the value of a variable or placeholder, of which stays what fits another shape.
    Raises GradstepError where they cannot agree."""
    op = with_attribute(anywhere(document.graph, name), key, value)
    document = replace(document, graph=edits.set_attrs(document.graph, name, op.attrs))
    if key not in ("shape", "dtype") or op.type not in (*VARIABLES, "Placeholder"):
        return document
    if op.type == "Placeholder":
        old = document.feeds.get(f"{name}:0")
        return set_feed(document, f"{name}:0", _refit(old, op, 1))
    return set_initial(document, name, _refit(document.initial.get(name), op, 0))


def take_any_rows(document: Document, placeholder: str) -> Document:
    """Let a placeholder take any number of rows. Raises GradstepError."""
    _, shape = _declared(anywhere(document.graph, placeholder))
    return set_attr(document, placeholder, "shape", shape.any_rows())


def set_initial(document: Document, variable: str, value: np.ndarray | Constant) -> Document:
    """Set the value that a variable has before the first run. Raises GradstepError on misfit."""
    op = document.graph[variable]
    dtype, shape = _declared(op)
    constant = _held(value)
    _check_fits(constant.array, shape, dtype, variable)
    return replace(document, initial={**document.initial, variable: constant})


def set_feed(document: Document, tensor: str, value: np.ndarray | Constant) -> Document:
    """Set the value fed to a tensor in every run. Raises GradstepError on misfit."""
    ref = TensorRef.parse(tensor)
    kind = infer_declared(document.graph).types.get(ref)
    shape, dtype = (UNKNOWN, None) if kind is None else (kind.shape, kind.dtype)
    constant = _held(value)
    _check_fits(constant.array, shape, dtype, ref.op)
    return replace(document, feeds={**document.feeds, str(ref): constant})


def _held(value: np.ndarray | Constant) -> Constant:
    return value if isinstance(value, Constant) else Constant(value)


def kept_of_value(before: Document, after: Document, name: str) -> str:
    """What an edit that gave a variable or placeholder another shape kept of its value, for the
    user; "" where that is all of it, or it was one number throughout."""
    old, new = (_value_of(document, name) for document in (before, after))
    if old is None or new is None or old.size == new.size or _is_one_number(old):
        return ""
    what = f"the value of {name}, of shape {Shape(old.shape)},"
    if old.ndim != new.ndim:
        return f"{what} cannot be {Shape(new.shape)} and was replaced: undo brings it back"
    if all(was <= now for was, now in zip(old.shape, new.shape, strict=True)):
        return f"{what} is kept, and the rest of {Shape(new.shape)} was filled in"
    return f"{what} was cut to {Shape(new.shape)}: undo brings it back"


def _value_of(document: Document, name: str) -> np.ndarray | None:
    held = document.feeds.get(f"{name}:0") or document.initial.get(name)
    return None if held is None else held.array


def _filled(op: Operation, fill: Any, like: tuple[int, ...] = ()) -> np.ndarray:
    """An array of the declared dtype and shape, unknown sizes as in the shape `like`, or taken for
    1. Raises GradstepError where that is too large to begin with."""
    dtype, shape = _declared(op)
    dims = shape.dims or ()
    known = like if len(like) == len(dims) else (1,) * len(dims)
    sizes = tuple(k if d is None else d for d, k in zip(dims, known, strict=True))
    if prod(sizes) * dtype.numpy.itemsize > LARGEST:
        raise GradstepError(
            f"a value of shape {shape} and type {dtype.value} would take "
            f"{prod(sizes) * dtype.numpy.itemsize / 2**30:.1f} GiB",
            kind="ResourceExhaustedError",
            node=op.name,
            hint=f"at most {LARGEST >> 30} GiB can be kept in the document",
        )
    if dtype is DType.STRING and not isinstance(fill, bytes):
        fill = b""
    return np.full(sizes, fill, dtype.numpy)


def _refit(old: Constant | None, op: Operation, fill: int) -> np.ndarray:
    """The old value in the declared dtype and shape: as it is, or the same elements otherwise, or
    the same number everywhere, or what of it lies in both shapes; else a fresh one."""
    dtype, shape = _declared(op)
    if old is None:
        return _filled(op, fill)
    try:
        value = convert_constant(old.array, dtype)
    except GradstepError as error:
        raise error.at(op.name) from None
    if shape.accepts(value.shape):
        return value
    made = _filled(op, value.flat[0] if _is_one_number(value) else fill, value.shape)
    if made.size == value.size:
        return value.reshape(made.shape)
    if made.ndim == value.ndim:
        both = tuple(map(slice, map(min, made.shape, value.shape)))
        made[both] = value[both]
    return made


def _is_one_number(array: np.ndarray) -> bool:
    return array.size > 0 and bool((array == array.flat[0]).all())


def _declared(op: Operation) -> tuple[DType, Shape]:
    return attribute(op, "dtype", DType), attribute(op, "shape", Shape, UNKNOWN)


def _check_fits(array: np.ndarray, shape: Shape, dtype: DType | None, node: str) -> None:
    if not shape.accepts(array.shape):
        raise GradstepError(
            f"a value of shape {Shape(array.shape)} does not fit '{node}', which is {shape}",
            kind="ValueError",
            node=node,
        )
    if dtype is not None and array.dtype != dtype.numpy:
        raise GradstepError(
            f"'{node}' holds {dtype.value}, not {array.dtype}", kind="ValueError", node=node
        )
    require_texts(array, node)
