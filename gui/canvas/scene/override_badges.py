"""Which boxes show the name of a gradient that replaces the native one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gradstep.core.autodiff.reverse.gradient_request import (
    Override,
    OverrideKind,
    OverrideTable,
    native_name,
)
from gradstep.core.graph.model import GRADIENT_OP_TYPE, Graph, Operation


def find_badges(
    graph: Graph, box_of: Mapping[str, int], overrides: Sequence[Override]
) -> dict[int, str]:
    """Box -> that name. box_of: operation -> number of its box."""
    table = OverrideTable(overrides)
    shown = (op for op in _may_differ(graph, overrides) if op.name in box_of)
    named = ((op, table.gradient_name(op)) for op in shown)
    return {box_of[op.name]: name for op, name in named if name != native_name(op)}


def _may_differ(graph: Graph, overrides: Sequence[Override]) -> Iterator[Operation]:
    """The operations whose gradient an override, or they themselves, could replace."""
    enabled = [one for one in overrides if one.enabled]
    if any(one.kind is OverrideKind.SCOPE for one in enabled):
        yield from graph
        return
    names = {*graph.marked[GRADIENT_OP_TYPE]}
    names.update(one.target_name for one in enabled if one.kind is OverrideKind.OP)
    types = {one.target_name for one in enabled if one.kind is OverrideKind.TYPE}
    names.update(graph.of_types(types))
    found = filter(names.__contains__, graph.operations) if names else ()
    yield from map(graph.operations.__getitem__, found)
