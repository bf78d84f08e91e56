"""Values that a script gives for good: to feeds and to variables, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.data.value_text import fit_value
from gradstep.core.document.document import Document
from gradstep.core.document.value_edits import set_initial
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.suggestions import instead
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.attribute_kinds import attribute


def as_given(values: Any, named: Mapping[str, Any]) -> dict[Any, Any]:
    """A mapping, and keywords over it. Raises GradstepError (TypeError) for what is no mapping."""
    if values is None:
        return dict(named)
    if not isinstance(values, Mapping):
        raise GradstepError(
            f"{values!r:.60} is no mapping from names to values",
            kind="TypeError",
            hint='give {"name": value}, or name=value',
        )
    return {**values, **named}


def with_variables(
    document: Document, values: Mapping[Any, Any]
) -> tuple[Document, dict[str, np.ndarray]]:
    """The document in which variables start with `values` (by name; a number alone is that for
    every element), and the arrays that they become. Raises GradstepError for what is no variable,
    and for a value that does not fit it."""
    arrays: dict[str, np.ndarray] = {}
    for key, value in values.items():
        name = _variable(document, key)
        op = document.graph[name]
        kind = TensorType(attribute(op, "dtype", DType), attribute(op, "shape", Shape, UNKNOWN))
        try:
            arrays[name] = fit_value(value, kind)
        except GradstepError as error:
            raise error.at(name) from None
        document = set_initial(document, name, arrays[name])
    return document, arrays


def _variable(document: Document, key: Any) -> str:
    known = [op.name for op in document.graph if op.type in VARIABLES]
    name = TensorRef.parse(key).op if isinstance(key, str) else repr(key)
    if name in known:
        return name
    raise GradstepError(
        f"there is no variable '{name:.60}'", kind="KeyError", hint=instead(name, known)
    )


def in_place_of(held: np.ndarray | None, value: Any) -> np.ndarray:
    """`value` as an array of the dtype of what it takes the place of. Raises GradstepError for what
    cannot be that."""
    dtype = None if held is None else held.dtype
    try:
        return np.asarray(value, dtype)
    except (TypeError, ValueError, OverflowError):
        kind = "an array" if dtype is None else f"a value of dtype {dtype}"
        raise GradstepError(
            f"{value!r:.60} cannot be {kind}",
            kind="ValueError",
            hint="give a number, a list of rows of one length, or an array",
        ) from None
