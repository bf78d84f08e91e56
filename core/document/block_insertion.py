"""Adding a composite block to a document: its operations, where they stand, folded into one box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.document.value_edits import with_fresh_value
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.graph.scopes import parents
from gradstep.core.layers.block_expansion import expand
from gradstep.core.layers.block_table import find_block
from gradstep.core.layout.box_diagram import Box
from gradstep.core.layout.layout_engines import layout

Point = tuple[float, float]
_SIZE = (172.0, 64.0)  # of a node on the canvas, scene units


def add_block(
    document: Document,
    name: str,
    at: Point,
    sources: Sequence[TensorRef] = (),
    types: Mapping[TensorRef, TensorType] = MappingProxyType({}),
    settings: Mapping[str, Any] = MappingProxyType({}),
    reuse: str = "",
    run_updates: bool = True,
) -> tuple[Document, str]:
    """Add the block `name` at the point `at`, reading `sources` as far as they go; an input
    beyond them is a placeholder. Its variables start as it says. Returns the document and the
    block's scope, which is folded.

    types, settings, reuse: see `expand`. run_updates: whether every run makes the block's updates
    (moving averages), or forgets them. Raises GradstepError for a block that is not there and for
    sources, settings and shared variables that do not fit it.
    """
    made = expand(document.graph, find_block(name), sources, types, settings, reuse)
    places = _places(made.graph, made.operations, at)
    positions = {**document.view.positions, **places, f"{made.scope}/": at}
    collapsed = document.view.collapsed | {made.scope}
    initial = {name: Constant(value) for name, value in made.initial.items()}
    targets = made.updates if run_updates else ()
    document = replace(
        document,
        graph=made.graph,
        initial={**document.initial, **initial},
        targets=(*document.targets, *targets),
        view=replace(document.view, positions=positions, collapsed=collapsed),
    )
    for operation in made.operations:
        if operation not in initial:
            document = with_fresh_value(document, operation)
    return document, made.scope


def shareable(graph: Graph) -> list[str]:
    """Scopes with variables that a block could share, the outermost first."""
    variables = [op.name for op in graph if op.type == "VariableV2"]
    return list(dict.fromkeys(scope for name in variables for scope in parents(name)))


def _places(graph: Graph, names: Sequence[str], at: Point) -> dict[str, Point]:
    """Centres of the operations, laid out among themselves, from `at` to the right: what the block
    reads stands left of it."""
    arrows = [(ref.op, name) for name in names for ref in graph[name].inputs if ref is not None]
    boxes = [Box(name, *_SIZE, near=graph[name].type == "Const") for name in names]
    places = layout(boxes, arrows)
    xs, ys = np.array(list(places.values())).T
    return {
        name: (float(x - xs.min() + at[0]), float(y - ys.mean() + at[1]))
        for name, (x, y) in places.items()
    }
