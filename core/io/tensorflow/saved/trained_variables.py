"""Which variables a program trains: its collection says it, or the objects that it saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradstep.core.graph.model import Graph, Operation
from gradstep.core.io.tensorflow.saved.meta_graph import MetaGraph
from gradstep.core.io.tensorflow.saved.saved_places import SavedPlace
from gradstep.core.ops.build.variable import TRAINABLE, VARIABLES

_COLLECTION = "trainable_variables"
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"  # behind the way to a variable, in a checkpoint of objects


def trained_as_said(graph: Graph, meta: MetaGraph, places: Mapping[str, SavedPlace]) -> Graph:
    """`graph`, its variables marked as the program has them. places: where they are in the
    checkpoint, which tells them from each other where their names do not."""
    if meta.has(_COLLECTION):
        defs = meta.messages_in(_COLLECTION, "VariableDef")
        named = {each.variable_name.partition(":")[0] for each in defs}
        found = {name: name in named for name in graph.of_types(VARIABLES)}
    else:
        found = _by_objects(graph, meta.about.object_graph_def.nodes, places)
    return Graph.of(
        op.with_attrs(**{TRAINABLE: found[op.name]}) if op.name in found else op for op in graph
    )


def _by_objects(graph: Graph, nodes: Any, places: Mapping[str, SavedPlace]) -> dict[str, bool]:
    named = {each.variable.name: each.variable.trainable for each in nodes if each.variable.name}
    found = {}
    for name in graph.of_types(VARIABLES):
        way = places[name].key if name in places else ""
        variable = _at(nodes, way.removesuffix(_VALUE)) if way.endswith(_VALUE) else None
        if variable is not None:
            found[name] = bool(variable.trainable)
        elif shared_name(graph[name]) in named:
            found[name] = bool(named[shared_name(graph[name])])
    return found


def _at(nodes: Any, way: str) -> Any:
    """The variable at the end of a way from object to object; None where there is none."""
    number = 0
    for name in way.split("/"):
        children = nodes[number].children if number < len(nodes) else ()
        plain = name.replace(".S", "/").replace("..", ".")
        found = [each.node_id for each in children if each.local_name in (name, plain)]
        if not found:
            return None
        number = found[0]
    node = nodes[number] if 0 <= number < len(nodes) else None
    return node.variable if node is not None and node.HasField("variable") else None


def shared_name(op: Operation) -> str:
    """What a variable is called in its program."""
    said = op.attrs.get("shared_name")
    return said if isinstance(said, str) and said else op.name
