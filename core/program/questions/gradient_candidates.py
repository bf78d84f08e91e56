"""What could be differentiated, and with respect to what, where nobody has said it."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.core.graph.suggestions import list_more
from gradstep.core.ops.build.variable import VARIABLES, is_trainable, variable_read_by
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import infer_declared

_GIVEN = frozenset({"Placeholder", "PlaceholderWithDefault"}) | VARIABLES


def to_differentiate(graph: Graph) -> str:
    """`there is loss`: what is computed forward and not read there again."""
    ends = [op for op in graph if _ends(graph, op) and _is_float(graph, op)]
    return list_more(op.name for op in ends if _computes(graph, op))


def to_differentiate_by(graph: Graph, of: Sequence[TensorRef]) -> str:
    """`there are c, k`: the variables that `of` is computed from, or else the placeholders."""
    around = graph.ancestors([ref.op for ref in of])
    inside = [op for op in graph if op.name in around]
    variables = [op.name for op in inside if is_trainable(op)]
    fed = [op.name for op in inside if op.type == "Placeholder" and _is_float(graph, op)]
    return list_more(variables or fed)


def missing_end(graph: Graph, request: GradientRequest) -> tuple[str, str] | None:
    """`("wrt", "there are c, k")`: which end of a request nobody has said, and what it could be;
    None where both are said."""
    if not request.of:
        return "of", to_differentiate(graph)
    return None if request.wrt else ("wrt", to_differentiate_by(graph, request.of))


def _ends(graph: Graph, op: Operation) -> bool:
    read = any(graph[edge.op].phase is Phase.FORWARD for edge in graph.consumers[op.name])
    return op.phase is Phase.FORWARD and not read


def _computes(graph: Graph, op: Operation) -> bool:
    """Whether it is computed from what is given, and more than that itself or a change of it."""
    definition = find(op.type)
    reads = variable_read_by(graph, op.name)
    if op.type in _GIVEN or reads or definition is None or definition.state.writes:
        return False
    return any(graph[name].type in _GIVEN for name in graph.ancestors([op.name]))


def _is_float(graph: Graph, op: Operation) -> bool:
    kind = infer_declared(graph).types.get(op.output())
    return kind is not None and kind.dtype.is_floating
