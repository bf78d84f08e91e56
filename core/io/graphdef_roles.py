"""What an imported graph's operations are for: which one initialises, which ones a run needs."""

from __future__ import annotations

from core.graph.model import Graph, Operation, predecessors

_ASSIGN = frozenset({"Assign", "AssignVariableOp"})
_VARIABLE = frozenset({"Variable", "VariableV2", "VarHandleOp"})
# Sinks that compute nothing by themselves.
_PASSIVE = _VARIABLE | {"Placeholder", "PlaceholderWithDefault", "Const", "VarIsInitializedOp"}
_BESIDE = frozenset({"QueueEnqueueV2", "QueueEnqueueManyV2", "QueueCloseV2"})  # for threads


def initializer(graph: Graph) -> str:
    """The NoOp that groups the variables' initial assignments; "" when there is none.

    Of several, one named like `init`, then the one that covers the most variables.
    """
    groups = [op for op in graph if op.type == "NoOp" and _initializes(op, graph)]
    best = max(groups, key=lambda op: (_named_init(op), len(op.control_inputs)), default=None)
    return "" if best is None else best.name


def run_targets(graph: Graph, init: str) -> tuple[str, ...]:
    """The operations that nothing consumes and that are not there to initialise."""
    used = {name for op in graph for name in predecessors(op)}
    return tuple(
        op.name
        for op in graph
        if op.name not in used
        and op.name != init
        and op.type not in _PASSIVE | _BESIDE
        and not _assigns_initially(op, graph)
        and not (op.type == "NoOp" and _initializes(op, graph))
    )


def _initializes(op: Operation, graph: Graph) -> bool:
    if not op.control_inputs:
        return False
    needed = [graph[name] for name in op.control_inputs]
    return all(
        _initializes(n, graph) if n.type == "NoOp" else _assigns_initially(n, graph) for n in needed
    )


def _assigns_initially(op: Operation, graph: Graph) -> bool:
    """Whether `op` gives a variable a value that depends on no variable and on nothing fed."""
    if op.type not in _ASSIGN or len(op.inputs) != 2 or op.inputs[1] is None:
        return False
    types = {graph[name].type for name in graph.ancestors([op.inputs[1].op])}
    return not types & (_VARIABLE | {"Placeholder"})


def _named_init(op: Operation) -> bool:
    return op.name.rpartition("/")[2].startswith("init")
