"""Edits of a document's data: from which rows its placeholders are fed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document
from gradstep.core.document.document_edits import add_operation
from gradstep.core.document.packed_rows import used_rows
from gradstep.core.document.value_edits import take_any_rows
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.graph.model import Constant, TensorRef

Point = tuple[float, float]
_BELOW = 120.0  # scene units, between placeholders that are made


def set_data(document: Document, data: Dataset | None) -> Document:
    """Feed placeholders from these rows, or from none. One that takes a fixed number of rows takes
    any from here on, so that every batch fits. Packed rows that none takes are gone."""
    before = document.columns
    if data is None or not data.columns:
        return replace(document, data=None, packed={})
    for name in data.columns:
        ref = TensorRef.parse(name)
        op = document.graph.operations.get(ref.op)
        shape = None if op is None else op.attrs.get("shape")
        fixed = isinstance(shape, Shape) and shape.dims and shape.dims[0] is not None
        if name not in before and op is not None and op.type == "Placeholder" and fixed:
            document = take_any_rows(document, ref.op)
    return replace(document, data=data, packed=used_rows(data, document.packed))


def set_column(document: Document, tensor: str, text: str) -> Document:
    """Feed one placeholder from other rows; "" for none: from the value that it has."""
    data = document.data or Dataset({})
    columns = {**data.columns, tensor: text}
    if not text:
        del columns[tensor]
    return set_data(document, replace(data, columns=columns))


def add_placeholders(
    document: Document, kinds: Mapping[str, TensorType], at: Point
) -> tuple[Document, dict[str, TensorRef]]:
    """Placeholders of these names and types, one below the other. Returns name -> what it came to
    be."""
    made: dict[str, TensorRef] = {}
    for name, kind in kinds.items():
        attrs = {"dtype": kind.dtype, "shape": kind.shape}
        place = at[0], at[1] + _BELOW * len(made)
        document, chosen = add_operation(document, "Placeholder", place, name, attrs)
        made[name] = TensorRef(chosen)
    return document, made


def fed_alone(document: Document, feeds: Mapping[TensorRef, np.ndarray]) -> Document:
    """The document without its data, fed what they gave in one run."""
    if document.data is None:
        return document
    fed = {str(ref): Constant(array) for ref, array in feeds.items()}
    return document.with_(data=None, packed={}, feeds={**document.feeds, **fed})
