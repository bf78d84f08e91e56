"""Which operations of a graph cannot run, and what is to blame."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.graph.loop import loops_around
from gradstep.core.graph.model import Graph, Operation, predecessors
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.typing.inference import Inference, is_faulty


def broken_operations(graph: Graph, inference: Inference) -> dict[str, Problem]:
    """Operations that cannot be typed -> the error, at them or upstream, that is to blame."""
    blame = dict(_faults(graph, inference))
    after = graph.descendants(*blame) if blame else frozenset[str]()
    operations = graph.operations
    if len(blame) == 1:
        return blame | dict.fromkeys(filter(after.__contains__, graph.order), *blame.values())
    for name in filter(after.__contains__, graph.order) if blame else ():
        if name not in blame:
            before = filter(blame.__contains__, predecessors(operations[name]))
            blame[name] = blame[next(before)]
    return blame


def without_types(graph: Graph) -> dict[str, Operation]:
    """Operations of unknown types or with open inputs, and those that take what these give -> the
    one to blame."""
    lost: dict[str, Operation] = {}
    if not any(map(is_faulty, graph)):
        return lost
    for name in graph.order:
        op = graph[name]
        refs = (ref.op for ref in op.inputs if ref is not None)
        before = op if is_faulty(op) else next((lost[r] for r in refs if r in lost), None)
        if before is not None:
            lost[name] = before
    return lost


def _faults(graph: Graph, inference: Inference) -> Iterator[tuple[str, Problem]]:
    for problem in inference.problems:
        if problem.severity != "error":
            continue
        if problem.node in graph:
            yield problem.node, problem
            continue
        for loop in loops_around(graph, problem.node)[:1]:
            if loop not in inference.types.of:  # else the loop goes round without it
                yield loop, problem
