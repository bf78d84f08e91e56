"""Adding a composite block to a document: its operations, where they stand, folded into one box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from core.graph.dtypes import TensorType
from core.graph.model import Graph, TensorRef
from core.io.document import Document
from core.io.value_edits import with_fresh_value
from core.layers.block import expand, find_block
from core.layout.boxes import Box
from core.layout.engines import layout

Point = tuple[float, float]
_SIZE = (172.0, 64.0)  # of a node on the canvas, scene units


def add_block(
    document: Document,
    name: str,
    at: Point,
    sources: Sequence[TensorRef] = (),
    types: Mapping[TensorRef, TensorType] = MappingProxyType({}),
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[Document, str]:
    """Add the block `name` around the point `at`, reading `sources` as far as they go; an input
    beyond them is a placeholder. Returns the document and the block's scope, which is folded.

    types: of the sources, as far as known. Raises GradstepError for a block that is not there and
    for sources that do not fit it.
    """
    made = expand(document.graph, find_block(name), sources, types, settings)
    positions = {**document.view.positions, **_places(made.graph, made.operations, at)}
    collapsed = document.view.collapsed | {made.scope}
    view = replace(document.view, positions=positions, collapsed=collapsed)
    document = replace(document, graph=made.graph, view=view)
    for operation in made.operations:
        document = with_fresh_value(document, operation)
    return document, made.scope


def _places(graph: Graph, names: Sequence[str], at: Point) -> dict[str, Point]:
    """Centres of the operations, laid out among themselves, amid `at`."""
    arrows = [(ref.op, name) for name in names for ref in graph[name].inputs if ref is not None]
    places = layout([Box(name, *_SIZE) for name in names], arrows)
    middle = np.mean(list(places.values()), axis=0)
    return {
        name: (float(x - middle[0] + at[0]), float(y - middle[1] + at[1]))
        for name, (x, y) in places.items()
    }
