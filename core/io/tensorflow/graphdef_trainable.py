"""Which variables of an imported graph are not trained.

TensorFlow's Python knew its trainable variables; a GraphDef has forgotten them. What an optimizer
keeps for itself (slots, powers of beta), counters and statistics are variables like any others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from gradstep.core.autodiff.recognition.imported_request import find_written_variables
from gradstep.core.graph.model import Graph, Phase, predecessors
from gradstep.core.io.tensorflow.graphdef_initializers import assigns_initially
from gradstep.core.ops.build.variable import READS, TRAINABLE, VARIABLES

# What looks at a variable without computing anything with it.
PASSIVE = frozenset(
    {"SaveV2", "Save", "SaveSlices", "IsVariableInitialized", "VarIsInitializedOp", "VariableShape"}
)
_COUNTING = ("AssignAdd", "AssignSub", "Scatter")


def with_resting_variables(graph: Graph, updated: Collection[str]) -> Graph:
    """`graph`, with a mark on its variables that nobody trains: those that nothing is computed with
    on the way forward, and those that a run itself gives values. updated: variables that are given
    values made from gradients."""
    variables = {op.name for op in graph if op.type in VARIABLES}
    resting = {name for name in variables if not _is_computed_with(graph, name)}
    resting |= {*_statistics(graph)} - {*updated}
    if not resting:
        return graph
    mark = {TRAINABLE: False}
    return Graph.of(op.with_attrs(**mark) if op.name in resting else op for op in graph)


def _is_computed_with(graph: Graph, variable: str) -> bool:
    """Whether a forward operation computes something from the value of a variable, or of a read of
    one."""
    for edge in graph.consumers[variable]:
        op = graph[edge.op]
        if op.type in READS:
            if _is_computed_with(graph, op.name):
                return True
        elif (
            op.phase is Phase.FORWARD
            and op.type not in PASSIVE
            and not find_written_variables(op, graph)
        ):
            return True
    return False


def _statistics(graph: Graph) -> Iterator[str]:
    """Variables that a run gives a value which it computes from variables: moving averages,
    counters, copies of other variables."""
    behind: set[str] = set()  # variables, and what is computed from them
    for name in graph.order:
        op = graph[name]
        if op.type in VARIABLES or any(before in behind for before in predecessors(op)):
            behind.add(name)
        for variable in find_written_variables(op, graph)[:1]:
            given = {ref.op for ref in op.inputs[1:] if ref is not None}
            computed = op.type.startswith(_COUNTING) or not given.isdisjoint(behind)
            if computed and not assigns_initially(op, graph):
                yield variable
