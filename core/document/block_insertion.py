"""Adding a composite block to a document: its operations, folded into one box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from gradstep.core.document.document import Document
from gradstep.core.document.value_edits import with_fresh_value
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.graph.scopes import parents
from gradstep.core.layers.block_expansion import expand
from gradstep.core.layers.block_table import find_block

Point = tuple[float, float]


def add_block(
    document: Document,
    name: str,
    at: Point | None,
    sources: Sequence[TensorRef] = (),
    types: Mapping[TensorRef, TensorType] = MappingProxyType({}),
    settings: Mapping[str, Any] = MappingProxyType({}),
    reuse: str = "",
    run_updates: bool = True,
) -> tuple[Document, str]:
    """Add the block `name` as one box at the point `at`, reading `sources` as far as they go; an
    input beyond them is a placeholder. Its variables start as it says. Returns the document and the
    block's scope, which is folded. What is in it, and without a point the box itself, gets a free
    place from whoever shows it.

    types, settings, reuse: see `expand`. run_updates: whether every run makes the block's updates
    (moving averages), or forgets them. Raises GradstepError for a block that is not there and for
    sources, settings and shared variables that do not fit it.
    """
    made = expand(document.graph, find_block(name), sources, types, settings, reuse)
    place = {} if at is None else {f"{made.scope}/": at}
    positions = {**document.view.positions, **place}
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
