"""Placeholders in the place of fed operations that cannot run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.document.dataset import dataset_without
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.ops.declare.attribute_kinds import hinted_items
from gradstep.core.ops.typing.inference import is_unknown


def fed_outputs(op: Operation) -> range:
    """The outputs of `op` that have to be fed, as a placeholder's has: Gradstep does not run it."""
    if op.type == "IteratorGetNext":
        return range(len(hinted_items(op, "output_types")))
    return range(1 if is_unknown(op) else 0)


def with_placeholders(document: Document) -> Document:
    """`document` with a placeholder for each operation of an unknown type whose (first) output is
    fed: what comes after it has types then, and gradients."""
    graph, made = document.graph, dict[str, Operation]()
    for name, value in document.feeds.items():
        op = graph.operations.get(name.removesuffix(":0"))
        if op is not None and is_unknown(op):
            kind = {"dtype": DType.of(value.array.dtype), "shape": Shape(value.array.shape)}
            made[op.name] = Operation(op.name, "Placeholder", attrs=kind, phase=op.phase)
    if not made:
        return document
    return document.with_(graph=Graph({**graph.operations, **made}))


def with_feeds(document: Document, arrays: Mapping[TensorRef, np.ndarray]) -> Document:
    """`document` with these feeds over its own and its data, and the placeholders that they make;
    "x" and "x:0" are the same tensor."""
    feeds = {str(TensorRef.parse(name)): value for name, value in document.feeds.items()}
    feeds |= {str(ref): Constant(array) for ref, array in arrays.items()}
    data = dataset_without(document.data, {ref.op for ref in arrays})
    return with_placeholders(document.with_(feeds=feeds, data=data))
