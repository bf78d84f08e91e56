"""Which variables a program trains: its collection says it, or the objects that it saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradstep.core.graph.model import Graph, Operation
from gradstep.core.io.tensorflow.saved.meta_graph import MetaGraph
from gradstep.core.io.tensorflow.saved.saved_places import SavedPlace
from gradstep.core.io.tensorflow.wire_text import node_of
from gradstep.core.ops.build.variable import TRAINABLE, VARIABLES

_COLLECTION = "trainable_variables"
_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"  # behind the way to a variable, in a checkpoint of objects


def trained_as_said(graph: Graph, meta: MetaGraph, places: Mapping[str, SavedPlace]) -> Graph:
    """`graph`, its variables marked as the program has them. places: where they are in the
    checkpoint, which tells them from each other where their names do not."""
    if meta.has(_COLLECTION):
        defs = meta.messages_in(_COLLECTION, "VariableDef")
        named = {node_of(each.variable_name) for each in defs}
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
        number = number_of_object(nodes, places.get(name))
        if number is not None:
            found[name] = bool(nodes[number].variable.trainable)
        elif shared_name(graph[name]) in named:
            found[name] = bool(named[shared_name(graph[name])])
    return found


def number_of_object(nodes: Any, place: SavedPlace | None) -> int | None:
    """Which of the saved objects the variable is that is there in the checkpoint: its key is the
    way to it, from object to object. None where it is none of them."""
    if place is None or not place.key.endswith(_VALUE):
        return None
    number = 0
    for name in place.key.removesuffix(_VALUE).split("/"):
        children = nodes[number].children if number < len(nodes) else ()
        plain = name.replace(".S", "/").replace("..", ".")
        found = [each.node_id for each in children if each.local_name in (name, plain)]
        if not found:
            return None
        number = found[0]
    known = 0 <= number < len(nodes) and nodes[number].HasField("variable")
    return number if known else None


def shared_name(op: Operation) -> str:
    """What a variable is called in its program."""
    said = op.attrs.get("shared_name")
    return said if isinstance(said, str) and said else op.name
