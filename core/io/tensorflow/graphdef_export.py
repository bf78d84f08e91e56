"""Exporting to TensorFlow GraphDefs: .pb and .pbtxt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import everywhere
from gradstep.core.graph.model import Constant, Graph, Operation
from gradstep.core.io.tensorflow.graphdef_attributes import write_attribute
from gradstep.core.io.tensorflow.graphdef_loops_export import with_frames
from gradstep.core.io.tensorflow.graphdef_lowering import (
    lower_document,
    with_initializers,
    with_private_shapes,
    with_requests,
)
from gradstep.core.io.tensorflow.graphdef_proto import message, parse
from gradstep.core.ops.declare.attribute_kinds import check_attributes
from gradstep.core.ops.declare.table import OpDef, find
from gradstep.core.ops.typing.inference import Inference, infer_declared

_PRODUCER = 1087  # GraphDef version of TensorFlow 2.9, whose op definitions the table follows


def to_pb(document: Document) -> bytes:
    """A binary GraphDef of the document; see `to_graphdef`."""
    data: bytes = to_graphdef(document).SerializeToString(deterministic=True)
    return data


def to_pbtxt(document: Document) -> bytes:
    """A GraphDef as text; see `to_graphdef`."""
    from google.protobuf import text_format

    text: str = text_format.MessageToString(to_graphdef(document))
    return text.encode()


@collector_paused()
def to_graphdef(
    document: Document,
    graph: Graph | None = None,
    initial: Mapping[str, Constant] | None = None,
) -> Any:
    """The GraphDef message of a document, as TensorFlow accepts it. Raises GradstepError.

    Initial values become `V/initial_value`, `V/Assign` and one `init`; overrides become
    `_gradient_op_type`; stopped wires become StopGradient operations. A GraphDef has no place for
    the request, the feeds and the document's Python.

    graph, initial: a graph derived from the document (with gradients and updates), and the
    initial values it needs, to be written instead of the document's own.
    """
    written = document.graph if graph is None else graph
    if graph is None:
        written = everywhere(written, lambda part: with_requests(part, document.request))
    written = everywhere(
        written, lambda part: with_private_shapes(lower_document(part, infer_declared(part)))
    )
    values = document.initial if initial is None else initial
    proto = write_graph(with_initializers(written, values, document.init))
    if document.functions:
        parse(proto.library, document.functions)
    return proto


def write_graph(graph: Graph) -> Any:
    """The GraphDef message of a graph as it is, but for attributes that follow from its types, and
    with a frame for every loop."""
    proto = message("GraphDef")()
    proto.versions.producer = _PRODUCER
    for op in with_frames(everywhere(graph, _typed)):
        _write_node(proto.node.add(), op)
    return proto


def _typed(graph: Graph) -> Graph:
    inference = infer_declared(graph)
    return Graph.of(_with_types(op, inference) for op in graph)


def _write_node(node: Any, op: Operation) -> None:
    definition = find(op.type)
    infer_declared: Mapping[str, Any] = {} if definition is None else definition.attrs
    node.name, node.op, node.device = op.name, op.type, op.device
    node.input.extend(_inputs(op))
    for key, value in op.attrs.items():
        node.attr[key].CopyFrom(write_attribute(value, infer_declared.get(key)))


def _inputs(op: Operation) -> Iterable[str]:
    for index, ref in enumerate(op.inputs):
        if ref is None:
            raise _unconnected(op, index)
        yield ref.short
    yield from (f"^{name}" for name in op.control_inputs)


def _with_types(op: Operation, inference: Inference) -> Operation:
    """`op` with the type attributes that NodeDef wants and Gradstep infers."""
    definition = find(op.type)
    if definition is None:
        return op
    check_attributes(definition, op)
    found = {
        key: _type_attr(op, definition, rule, inference)
        for key, rule in definition.type_attrs.items()
    }
    if op.type == "Const" and "dtype" not in op.attrs:
        found["dtype"] = DType.of(definition.attr(op, "value").array.dtype)
    if op.type == "VarHandleOp" and not op.attrs.get("shared_name"):
        found["shared_name"] = op.name  # without one, all handles are one variable there
    known = {key: value for key, value in found.items() if value is not None}
    return replace(op, attrs={**op.attrs, **known})


def _type_attr(op: Operation, definition: OpDef, rule: str, inference: Inference) -> Any:
    """The value that a rule of OpDef.type_attrs gives; None when a type is not known."""
    if rule.startswith("="):
        return definition.attr(op, rule[1:])
    form, _, name = rule.rpartition("(")
    places = _places(op, definition, name.removesuffix(")"))
    if form == "len":
        return len(places)
    refs = [ref for i in places if (ref := op.inputs[i]) is not None]
    types = [inference.types[ref].dtype for ref in refs if ref in inference.types]
    if form == "types":
        return tuple(types) if len(types) == len(places) else None
    return types[0] if types else None


def _places(op: Operation, definition: OpDef, name: str) -> list[int]:
    """Positions of the inputs that are called `name`, or `name[i]`."""
    names = definition.arity(len(op.inputs))
    return [i for i, n in enumerate(names) if n == name or n.startswith(f"{name}[")]


def _unconnected(op: Operation, index: int) -> GradstepError:
    return GradstepError(
        f"input {index} of '{op.name}' is not connected",
        kind="ValueError",
        node=op.name,
        hint="connect it before exporting",
    )
