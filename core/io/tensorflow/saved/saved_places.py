"""Where a graph's variables are in a checkpoint: its own operations that restore them say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef, predecessors
from gradstep.core.graph.topological_order import successors
from gradstep.core.ops.build.variable import VARIABLES

RESTORES = ("RestoreV2", "RestoreSlice", "Restore")
SAVES = ("SaveV2", "SaveSlices", "Save", "MergeV2Checkpoints", "ShardedFilename")
KEPT = frozenset({*VARIABLES, "HashTableV2", "HashTable"})  # whoever saves it
_ASSIGNS = ("Assign", "AssignVariableOp")


class SavedPlace(NamedTuple):
    """key: a tensor in the checkpoint; slice: the part of it, as TensorFlow writes that: sizes of
    the whole, then where the part begins and how long it is; "" for all of it."""

    key: str
    slice: str


def saved_places(graph: Graph) -> dict[str, SavedPlace]:
    """By variable; those that nothing restores are not there."""
    found: dict[str, SavedPlace] = {}
    for name in graph.of_types(RESTORES):
        keys, slices = (_texts(graph, graph[name], index) for index in (1, 2))
        for index, key in enumerate(keys):
            part = slices[index] if index < len(slices) else ""
            for variable in _given(graph, TensorRef(name, index)):
                found.setdefault(variable, SavedPlace(key, part))
    return found


def without_saving(graph: Graph) -> Graph:
    """`graph` without what saves and restores variables, and what is only there for that."""
    readers = successors(graph.operations)
    gone = _behind(readers, graph.of_types([*RESTORES, *SAVES]))
    waiting = [*gone]
    while waiting:
        for name in {*predecessors(graph[waiting.pop()])} - gone:
            if readers[name] <= gone and graph[name].type not in KEPT:
                gone.add(name)
                waiting.append(name)
    return Graph.of(op for op in graph if op.name not in gone) if gone else graph


def _behind(readers: Mapping[str, set[str]], names: Iterable[str]) -> set[str]:
    """These and all that need them."""
    waiting = [*names]
    found = {*waiting}
    while waiting:
        new = readers[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _texts(graph: Graph, op: Operation, index: int) -> list[str]:
    ref = op.inputs[index] if index < len(op.inputs) else None
    value = None if ref is None else graph[ref.op].attrs.get("value")
    if not isinstance(value, Constant) or value.array.dtype != object:
        return []
    texts = np.ravel(value.array).tolist()
    return [t.decode("utf-8", "replace") if isinstance(t, bytes) else str(t) for t in texts]


def _given(graph: Graph, ref: TensorRef) -> Iterator[str]:
    """The variables that are given that tensor."""
    for edge in graph.consumers[ref.op]:
        op = graph[edge.op]
        if op.inputs[edge.index] != ref:
            continue
        if op.type == "Identity":
            yield from _given(graph, op.output())
        elif op.type in _ASSIGNS and edge.index == 1 and op.inputs[0] is not None:
            yield op.inputs[0].op
