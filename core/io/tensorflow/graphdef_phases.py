"""Which operations of an imported training graph are gradients and updates, judged by name.

TensorFlow names what `tf.gradients` adds `gradients/X_grad/…`, and what an optimizer adds
`SCOPE/update_VARIABLE/ApplyRULE`; a GraphDef says no more about it than that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradstep.core.autodiff.recognition.gradient_names import find_place_in
from gradstep.core.graph.model import Graph, Operation, Phase

_APPLY = re.compile(r"^(?P<scope>(?:.+?/)?)update_(?P<variable>.+)/(?:Resource|Sparse)*Apply\w+$")


def with_phases(graph: Graph, scopes: Sequence[str]) -> Graph:
    """`graph` with phase and origin filled in for gradient and update operations. scopes: those of
    gradients."""
    updates = _update_scopes(graph)
    return Graph.of(_placed(op, graph, scopes, updates) for op in graph)


def _placed(
    op: Operation, graph: Graph, scopes: Sequence[str], updates: dict[str, str]
) -> Operation:
    if op.phase is not Phase.FORWARD:
        return op
    place = find_place_in(op.name, scopes, graph.operations.keys())
    if place is not None:
        return replace(op, phase=Phase.BACKWARD, origin=place.of)
    for scope, variable in updates.items():
        if f"{op.name}/".startswith(scope):
            return replace(op, phase=Phase.UPDATE, origin=variable or _updated(op, graph))
    return op


def _update_scopes(graph: Graph) -> dict[str, str]:
    """Name prefixes of update operations -> the variable they update, particular ones first;
    "" stands for the optimizer's own scope, where a variable has to be looked up."""
    particular: dict[str, str] = {}
    general: dict[str, str] = {}
    for op in graph:
        if (match := _APPLY.match(op.name)) and op.inputs and op.inputs[0] is not None:
            particular[op.name.rpartition("/")[0] + "/"] = op.inputs[0].op
            if match["scope"]:
                general[match["scope"]] = ""
    return {**particular, **general}


def _updated(op: Operation, graph: Graph) -> str:
    """The variable that `op` of an optimizer's scope updates, directly or through a consumer."""
    for candidate in (op, *_consumers(op, graph)):
        if candidate.type.startswith("Assign") and candidate.inputs and candidate.inputs[0]:
            return candidate.inputs[0].op
    return ""


def _consumers(op: Operation, graph: Graph) -> Iterator[Operation]:
    return (graph[edge.op] for edge in graph.consumers[op.name])
