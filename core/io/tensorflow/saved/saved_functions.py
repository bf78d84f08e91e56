"""Calls of the functions of a module that was saved without signatures: one for each of them.

Arguments become placeholders, and what a function has taken from outside is given to it: variables
and constants. A function that has taken anything else, as a table, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gradstep.core.io.tensorflow.functions.flat_nodes import is_handle
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.io.tensorflow.saved.meta_graph import MetaGraph
from gradstep.core.io.tensorflow.saved.saved_places import SavedPlace
from gradstep.core.io.tensorflow.saved.trained_variables import number_of_object


class SavedCalls(NamedTuple):
    """node: the NodeDefs of the graph, with calls; library: its functions. signatures: of the
    calls, as if they had been saved, by the names of the functions."""

    node: list[Any]
    library: Any
    signatures: dict[str, Any]


def saved_calls(meta: MetaGraph, places: Mapping[str, SavedPlace]) -> SavedCalls:
    """places: where the graph's variables are in the checkpoint."""
    nodes = [*meta.graph.node]
    taken, signatures = {node.name for node in nodes}, dict[str, Any]()
    for name, function, bound in _functions(meta, places):
        count = len(function.signature.input_arg) - len(bound)
        fed = function.signature.input_arg[: max(count, 0)]
        if count < 0 or name in taken or any(is_handle(each.type) for each in fed):
            continue
        inputs = [_placeholder(name, number, function) for number in range(count)]
        nodes += [*inputs, _call(name, function, [*(each.name for each in inputs), *bound])]
        taken.add(name)
        signatures[name] = _signature(name, function, inputs)
    return SavedCalls(nodes, meta.graph.library, signatures)


def _functions(
    meta: MetaGraph, places: Mapping[str, SavedPlace]
) -> Iterator[tuple[str, Any, list[str]]]:
    """Those of the module itself: a name, a FunctionDef, and the operations that it has taken."""
    objects = meta.about.object_graph_def
    held = {each.signature.name: each for each in meta.graph.library.function}
    operations = {
        number: each.constant.operation
        for number, each in enumerate(objects.nodes)
        if each.constant.operation
    }
    for variable, place in places.items():
        if (number := number_of_object(objects.nodes, place)) is not None:
            operations[number] = variable
    for child in objects.nodes[0].children if objects.nodes else ():
        known = 0 <= child.node_id < len(objects.nodes)
        concrete = objects.nodes[child.node_id].function.concrete_functions if known else ()
        for number, named in enumerate(concrete):
            bound = objects.concrete_functions[named].bound_inputs
            if named in held and all(each in operations for each in bound):
                name = child.local_name.strip("_") or "function"
                own = f"{name}_{number}" if number else name
                yield own, held[named], [operations[each] for each in bound]


def _placeholder(name: str, number: int, function: Any) -> Any:
    argument = function.signature.input_arg[number]
    made = message("NodeDef")(name=f"{name}_{argument.name}", op="Placeholder")
    made.attr["dtype"].type = argument.type
    shapes = function.arg_attr[number].attr["_output_shapes"].list.shape
    if shapes:
        made.attr["shape"].shape.CopyFrom(shapes[0])
    else:
        made.attr["shape"].shape.unknown_rank = True
    return made


def _call(name: str, function: Any, inputs: Sequence[str]) -> Any:
    made = message("NodeDef")(name=name, op="StatefulPartitionedCall", input=inputs)
    made.attr["f"].func.name = function.signature.name
    return made


def _signature(name: str, function: Any, inputs: Sequence[Any]) -> Any:
    made = message("SignatureDef")()
    for argument, node in zip(function.signature.input_arg, inputs, strict=False):
        info = made.inputs[argument.name]
        info.name, info.dtype = f"{node.name}:0", argument.type
        info.tensor_shape.CopyFrom(node.attr["shape"].shape)
    for number, given in enumerate(function.signature.output_arg):
        info = made.outputs[given.name]
        info.name, info.dtype = f"{name}:{number}", given.type
        info.tensor_shape.unknown_rank = True
    return made
