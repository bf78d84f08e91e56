"""What an imported graph's operations are for: which ones a run needs."""

from __future__ import annotations

from gradstep.core.document.queue_threads import CLOSE, PUT
from gradstep.core.graph.model import Graph, predecessors
from gradstep.core.io.tensorflow.graphdef_initializers import is_initializing
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.invalid_operations import broken_operations

# Sinks that compute nothing by themselves.
_PASSIVE = frozenset(
    {
        "Variable",
        "VariableV2",
        "VarHandleOp",
        "Placeholder",
        "PlaceholderWithDefault",
        "Const",
        "VarIsInitializedOp",
    }
)
_BESIDE = frozenset({*PUT, *CLOSE})  # for threads


def run_targets(graph: Graph, init: str) -> tuple[str, ...]:
    """The operations that nothing consumes, that can run, and that are not there to initialise."""
    used = {name for op in graph for name in predecessors(op)}
    broken = broken_operations(graph, infer_declared(graph))
    return tuple(
        op.name
        for op in graph
        if op.name not in used
        and op.name not in broken
        and op.name != init
        and op.type not in _PASSIVE | _BESIDE
        and not is_initializing(op, graph)
    )
