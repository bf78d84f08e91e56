"""Iterators of tf.data without their datasets, which nobody runs: what they give is fed.

What fills an iterator, and all that is only there for that, is left out; an iterator that comes
from a string is one like the others.
"""

from __future__ import annotations

from dataclasses import replace

from gradstep.core.graph.model import Graph, Operation, predecessors
from gradstep.core.graph.topological_order import successors

_FILLS = frozenset({"MakeIterator", "IteratorToStringHandle"})
_FROM_TEXT = frozenset({"IteratorFromStringHandleV2", "IteratorFromStringHandle", "Iterator"})
_NEXT = frozenset({"IteratorGetNextSync"})
_ITERATORS = frozenset({"IteratorV2", "OneShotIterator", *_FROM_TEXT})


def with_fed_iterators(graph: Graph) -> Graph:
    """`graph` with iterators that have nothing behind them. Who waited for one to be filled waits
    no longer."""
    if not graph.of_types(["MakeIterator", *_FROM_TEXT, *_NEXT]):
        return graph
    gone = _for_filling(graph)
    return Graph.of(_without(_plain(op), gone) for op in graph if op.name not in gone)


def _for_filling(graph: Graph) -> set[str]:
    readers = successors(graph.operations)
    gone = {*graph.of_types(_FILLS)}
    texts = (graph[name].inputs[0] for name in graph.of_types(_FROM_TEXT) if graph[name].inputs)
    waiting = [*gone, *(ref.op for ref in texts if ref is not None)]
    while waiting:
        name = waiting.pop()
        left = {other for other in readers[name] - gone if graph[other].type not in _FROM_TEXT}
        if name not in gone and (left or graph[name].type in _ITERATORS):
            continue
        gone.add(name)
        waiting += [other for other in predecessors(graph[name]) if other not in gone]
    return gone


def _plain(op: Operation) -> Operation:
    if op.type in _FROM_TEXT:
        return replace(op, type="IteratorV2", inputs=())
    return replace(op, type="IteratorGetNext") if op.type in _NEXT else op


def _without(op: Operation, gone: set[str]) -> Operation:
    waits = tuple(name for name in op.control_inputs if name not in gone)
    return op if waits == op.control_inputs else replace(op, control_inputs=waits)
