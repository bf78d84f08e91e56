"""What variables are called in a checkpoint that TensorFlow 2 saved, object by object.

There tensors are named by the way to them (`model/kernel/.ATTRIBUTES/VARIABLE_VALUE`); the graph of
objects, which is kept beside them, says what each variable calls itself (`dense/kernel`).
The messages are those of tensorflow/core/protobuf/trackable_object_graph.proto (Apache 2.0).
"""

from __future__ import annotations

from gradstep.core.io.tensorflow.slice_tables import SliceTables
from gradstep.core.io.tensorflow.tensor_bundle import TensorBundle
from gradstep.core.ops.formats.protobuf import every_field, length_fields

OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"
_NODES, _ATTRIBUTES, _FULL_NAME, _KEY = 1, 2, 2, 3


def object_names(bundle: TensorBundle | SliceTables) -> dict[str, str]:
    """The tensors' names by those of the variables; none where no objects were saved, or where that
    cannot be understood. Raises GradstepError for a file that is damaged."""
    if OBJECTS not in bundle.names:
        return {}
    graph = bundle.read(OBJECTS)
    if graph.dtype != object or graph.ndim:
        return {}
    try:
        return _names(bytes(graph.item()))
    except ValueError:
        return {}


def _names(graph: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in length_fields(graph, _NODES):
        for attribute in length_fields(node, _ATTRIBUTES):
            texts = {n: v.decode() for n, v in every_field(attribute) if isinstance(v, bytes)}
            if texts.get(_FULL_NAME) and texts.get(_KEY):
                found.setdefault(texts[_FULL_NAME], texts[_KEY])
    return found
