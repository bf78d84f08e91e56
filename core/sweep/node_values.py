"""The value that a node has in a document: of a constant, a variable, a placeholder."""

from __future__ import annotations

import numpy as np

from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import fit_value, read_value
from gradstep.core.document.document import Document
from gradstep.core.document.value_edits import set_attr, set_feed, set_initial
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Constant, Operation
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.attribute_kinds import attribute


def has_value(op: Operation) -> bool:
    """Whether there is one to be set."""
    return op.type in (*VARIABLES, "Const", "Placeholder")


def set_value(document: Document, name: str, text: str) -> Document:
    """The document with another one: numbers, a generator, a file (docs/values.md). A value of
    another shape changes what is declared. Raises GradstepError."""
    op = document.graph[name]
    if op.type == "Const":
        held = attribute(op, "value", Constant).array
        kind = TensorType(DType.of(held.dtype), Shape(held.shape))
        return set_attr(document, name, "value", Constant(_read(text, kind, name)))
    shape = attribute(op, "shape", Shape, UNKNOWN)
    array = _read(text, TensorType(attribute(op, "dtype", DType), shape), name)
    if not shape.accepts(array.shape):
        document = set_attr(document, name, "shape", Shape(array.shape))
    if op.type == "Placeholder":
        return set_feed(document, f"{name}:0", array)
    return set_initial(document, name, array)


def _read(text: str, kind: TensorType, name: str) -> np.ndarray:
    """As `kind`, or of a shape that `text` says."""
    value = read_value(text, kind, name, Reading())
    try:
        return fit_value(value, kind)
    except GradstepError:
        return fit_value(value, TensorType(kind.dtype, UNKNOWN))
