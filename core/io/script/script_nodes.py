"""Operations that Gradstep only passes on, in a script for TensorFlow: made of their nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradstep.core.document.document import Document
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Operation
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.io.tensorflow.graphdef_attributes import write_attribute
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.ops.typing.inference import is_unknown

_HELPER = '''
from google.protobuf import text_format


def attributes(text):
    """The attributes of a GraphDef's node."""
    return dict(text_format.Parse(text, tf1.NodeDef()).attr)

'''


def is_passed_on(op: Operation) -> bool:
    """Whether Gradstep does not know `op` well enough to call its function of `tf.raw_ops`."""
    return is_unknown(op) or any(isinstance(value, Unread) for value in op.attrs.values())


def write_prelude(document: Document) -> Iterator[str]:
    """What comes before the operations: a helper, and the functions that they call."""
    if any(map(is_passed_on, within(document.graph))):
        yield _HELPER
    if document.functions:
        yield f"functions = {document.functions!r}"
        yield "library = tf1.GraphDef()"
        yield "library.library.ParseFromString(functions)"
        yield "tf1.import_graph_def(library, name='')"


def creation_call(op: Operation, inputs: Iterable[str]) -> str:
    """The call that makes `op`; inputs: in Python."""
    from google.protobuf import text_format

    node = message("NodeDef")()
    for key, value in op.attrs.items():
        node.attr[key].CopyFrom(write_attribute(value))
    text = text_format.MessageToString(node)
    return (
        f"graph.create_op({op.type!r}, [{', '.join(inputs)}], attrs=attributes({text!r}), "
        f"name={op.name!r})"
    )
