"""Which operation of an imported graph initialises it: programs say so, a GraphDef does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradstep.core.graph.free_names import unique_name
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.invalid_operations import broken_operations

_TABLES = frozenset(
    {"InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2"}
)
_ASSIGN = frozenset({"Assign", "AssignVariableOp", *_TABLES})
_FROM_ELSEWHERE = frozenset({"Variable", "VariableV2", "VarHandleOp", "Placeholder"})


def with_initializer(graph: Graph) -> tuple[Graph, str]:
    """`graph`, and the NoOp in it that groups the initial assignments; "" when there is none.

    Of several, one that covers all variables and tables that any does, then one named like `init`,
    then the one that covers the most. Where others cover more (local variables, tables), there is
    one more NoOp that runs them all.
    """
    groups = _groups(graph)
    if not groups:
        return graph, ""
    every = set().union(*groups.values())
    complete = [name for name in groups if groups[name] == every] or groups
    best = max(complete, key=lambda name: (_named_init(name), len(groups[name])))
    chosen, covered = [best], set(groups[best])
    for name in sorted(groups, key=lambda name: -len(groups[name])):
        if not groups[name] <= covered and all(_made_with(op) for op in _assigning(graph, name)):
            chosen.append(name)
            covered |= groups[name]
    if len(chosen) == 1:
        return graph, best
    name = unique_name(graph, "init_all")
    return Graph({**graph.operations, name: Operation(name, "NoOp", (), tuple(chosen))}), name


def is_initializing(op: Operation, graph: Graph) -> bool:
    """Whether `op` assigns first values, or groups operations that do."""
    if op.type != "NoOp":
        return assigns_initially(op, graph)
    return bool(op.control_inputs) and all(
        is_initializing(graph[name], graph) for name in op.control_inputs
    )


def _groups(graph: Graph) -> Mapping[str, set[str]]:
    """NoOps that initialise -> what they give a value."""
    broken = broken_operations(graph, infer_declared(graph))
    found = (op for op in graph if op.type == "NoOp" and op.name not in broken)
    return {
        op.name: {ref.op for each in _assigning(graph, op.name) if (ref := each.inputs[0])}
        for op in found
        if is_initializing(op, graph)
    }


def _assigning(graph: Graph, group: str) -> Iterator[Operation]:
    for name in graph[group].control_inputs:
        if graph[name].type == "NoOp":
            yield from _assigning(graph, name)
        else:
            yield graph[name]


def assigns_initially(op: Operation, graph: Graph) -> bool:
    """Whether `op` was made with its variable, or gives a variable or table what depends on no
    variable and on nothing fed."""
    if op.type not in _ASSIGN or len(op.inputs) < 2 or None in op.inputs:
        return False
    if _made_with(op):
        return True
    values = graph.ancestors(ref.op for ref in op.inputs[1:] if ref is not None)
    return not {graph[name].type for name in values} & _FROM_ELSEWHERE


def _made_with(op: Operation) -> bool:
    """Whether it is what TensorFlow makes beside a variable, or for a table."""
    target = op.inputs[0]
    return op.type in _TABLES or (target is not None and op.name == f"{target.op}/Assign")


def _named_init(name: str) -> bool:
    return name.rpartition("/")[2].startswith("init")
