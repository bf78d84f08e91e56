"""A document with bfloat16 wherever it has float32: the same program, of fewer digits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import everywhere
from gradstep.core.graph.model import Constant, Graph
from gradstep.core.graph.number_kinds import BFLOAT16


def shortened(document: Document) -> Document:
    """Expectations are left out: they are of float32's digits."""
    graph = everywhere(document.graph, _graph)
    return replace(
        document,
        graph=graph,
        initial={name: _short(value) for name, value in document.initial.items()},
        feeds={name: _short(value) for name, value in document.feeds.items()},
        expectations=(),
    )


def _graph(graph: Graph) -> Graph:
    return Graph.of(
        replace(op, attrs={name: _short(value) for name, value in op.attrs.items()}) for op in graph
    )


def _short(value: Any) -> Any:
    if value is DType.FLOAT32:
        return DType.BFLOAT16
    if isinstance(value, Constant) and value.array.dtype == np.float32:
        return Constant(value.array.astype(BFLOAT16))
    return tuple(map(_short, value)) if type(value) is tuple else value
