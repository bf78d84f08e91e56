"""Which operations of an imported training graph are gradients and updates, judged by name.

TensorFlow names what `tf.gradients` adds `gradients/X_grad/…`, and what an optimizer adds
`SCOPE/update_VARIABLE/ApplyRULE`; a GraphDef says no more about it than that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from core.graph.model import Graph, Operation, Phase

_GRADIENTS = re.compile(r"(?:^|/)gradients(?:_\d+)?/(?P<rest>.+)$")
_APPLY = re.compile(r"^(?P<scope>(?:.+?/)?)update_(?P<variable>.+)/(?:Resource|Sparse)*Apply\w+$")


def with_phases(graph: Graph) -> Graph:
    """`graph` with phase and origin filled in for gradient and update operations."""
    scopes = _update_scopes(graph)
    return Graph.of(_placed(op, graph, scopes) for op in graph)


def _placed(op: Operation, graph: Graph, scopes: dict[str, str]) -> Operation:
    if op.phase is not Phase.FORWARD:
        return op
    gradient = _GRADIENTS.search(op.name)
    if gradient:
        return replace(op, phase=Phase.BACKWARD, origin=_origin(gradient["rest"], graph))
    for scope, variable in scopes.items():
        if f"{op.name}/".startswith(scope):
            return replace(op, phase=Phase.UPDATE, origin=variable or _updated(op, graph))
    return op


def gradient_of(name: str, names: Collection[str]) -> str:
    """Which of `names` the loop `name` ("gradients/while") is the gradient of; "" if of none."""
    found = _GRADIENTS.search(name)
    return found["rest"] if found and found["rest"] in names else ""


def _origin(rest: str, graph: Graph) -> str:
    """The forward operation in `X_grad/…`; the longest X that there is."""
    ends = [match.start() for match in re.finditer(r"_grad(?=/|_\d+/)", rest)]
    return next((rest[:end] for end in reversed(ends) if rest[:end] in graph), "")


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
