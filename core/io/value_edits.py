"""Edits of the values in a document: attributes, feeds, and what variables start with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph import edits
from core.graph.dtypes import DType, Shape
from core.graph.loop import anywhere
from core.graph.model import Constant, TensorRef
from core.io.document import Document
from core.ops.infer import infer
from core.ops.table import OpDef
from core.ops.variable import VARIABLES

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
    return definition.type in (*VARIABLES, "Placeholder") or definition.first is not None


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
        return set_initial(document, name, _filled(op.attrs, 0))
    if op.type == "Placeholder":
        return set_feed(document, f"{name}:0", _filled(op.attrs, 1))
    return document


def set_attr(document: Document, name: str, key: str, value: Any) -> Document:
    """Set an attribute; a variable's or placeholder's value follows a new shape or dtype."""
    document = replace(document, graph=edits.set_attr(document.graph, name, key, value))
    op = anywhere(document.graph, name)
    if key not in ("shape", "dtype") or op.type not in (*VARIABLES, "Placeholder"):
        return document
    if op.type == "Placeholder":
        old = document.feeds.get(f"{name}:0")
        return set_feed(document, f"{name}:0", _refit(old, _filled(op.attrs, 1)))
    return set_initial(document, name, _refit(document.initial.get(name), _filled(op.attrs, 0)))


def set_initial(document: Document, variable: str, array: np.ndarray) -> Document:
    """Set the value that a variable has before the first run. Raises GradstepError on misfit."""
    op = document.graph[variable]
    _check_fits(array, op.attrs.get("shape", Shape(None)), op.attrs.get("dtype"), variable)
    return replace(document, initial={**document.initial, variable: Constant(array)})


def set_feed(document: Document, tensor: str, array: np.ndarray) -> Document:
    """Set the value fed to a tensor in every run. Raises GradstepError on misfit."""
    ref = TensorRef.parse(tensor)
    kind = infer(document.graph).types.get(ref)
    if kind is not None:
        _check_fits(array, kind.shape, kind.dtype, ref.op)
    return replace(document, feeds={**document.feeds, str(ref): Constant(array)})


def _filled(attrs: Mapping[str, Any], fill: int) -> np.ndarray:
    """An array of the declared dtype and shape, unknown sizes taken for 1."""
    shape = tuple(1 if d is None else d for d in (attrs["shape"].dims or ()))
    return np.full(shape, fill, attrs["dtype"].numpy)


def _refit(old: Constant | None, fresh: np.ndarray) -> np.ndarray:
    """The old value in `fresh`'s dtype if it has its shape, else `fresh`."""
    if old is not None and old.array.shape == fresh.shape:
        return old.array.astype(fresh.dtype)
    return fresh


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
