"""Importing TensorFlow GraphDefs: .pb and .pbtxt."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import PurePath
from typing import Any, NamedTuple

from gradstep.core.autodiff.recognition.gradient_names import find_gradient_scopes
from gradstep.core.document.document import Document
from gradstep.core.document.queue_threads import enqueuers
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.model import Graph, Operation, TensorRef, predecessors
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError, in_words
from gradstep.core.io.file_errors import inside
from gradstep.core.io.sniff.file_sample import Sample
from gradstep.core.io.sniff.file_signatures import is_graphdef
from gradstep.core.io.tensorflow.fed_iterators import with_fed_iterators
from gradstep.core.io.tensorflow.functions.captured_variables import with_captured_variables
from gradstep.core.io.tensorflow.functions.custom_gradients import CustomGradients
from gradstep.core.io.tensorflow.functions.dense_lists import said_of_lists, with_dense_lists
from gradstep.core.io.tensorflow.functions.function_library import FunctionLibrary
from gradstep.core.io.tensorflow.functions.gradient_code import GradientCode, gradient_code
from gradstep.core.io.tensorflow.functions.inlined_functions import inlined
from gradstep.core.io.tensorflow.graphdef_attributes import read_attribute
from gradstep.core.io.tensorflow.graphdef_initializers import with_initializer
from gradstep.core.io.tensorflow.graphdef_loops import with_loops
from gradstep.core.io.tensorflow.graphdef_phases import with_phases
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.io.tensorflow.graphdef_run_targets import run_targets
from gradstep.core.io.tensorflow.graphdef_stream import GraphDefParts
from gradstep.core.io.tensorflow.graphdef_training_phases import with_training
from gradstep.core.io.tensorflow.lowered_cases import with_plain_switches
from gradstep.core.io.tensorflow.reader_versions import GRAPH, require_readable


class FlatGraphDef(NamedTuple):
    """NodeDefs that call no functions."""

    node: Collection[Any]


TEXT = 100  # bytes that reading a graph as text takes, for each of its own
_HINT = "save it again with tf.io.write_graph"


def from_pb(data: bytes, name: str = "", budget: Budget | None = None) -> Document:
    """The document in a binary GraphDef; `name` is the file's, for messages and the title. What
    Gradstep cannot run of it is kept, and a problem at its node. Raises GradstepError (FileError),
    or OverBudgetError where it takes more memory than `budget` allows.
    """
    try:
        found = GraphDefParts(data, budget or Budget())
    except OverBudgetError as error:
        raise error.inside(name or "the file") from None
    except GradstepError as error:
        what = _what_it_is(data, name)
        raise _bad(name, f"{what} ({error.message})", error.hint) from None
    try:
        require_readable(found.versions, GRAPH, "is a GraphDef that")
    except GradstepError as error:
        raise _bad(name, error.message, error.hint) from None
    if not found.node:
        raise _bad(name, _what_it_is(data, name), _HINT)
    return to_document(found, name, budget)


def _what_it_is(data: bytes, name: str) -> str:
    if is_graphdef(Sample.of_bytes(data, name)):
        return "is a GraphDef that is cut off or damaged"
    return "is not a GraphDef" if data else "is not a GraphDef: it is empty"


def from_pbtxt(data: bytes, name: str = "", budget: Budget | None = None) -> Document:
    """The document in a GraphDef written as text; otherwise like `from_pb`."""
    from google.protobuf import text_format

    proto = message("GraphDef")()
    try:
        (budget or Budget()).take(TEXT * len(data), f"a graph as {in_words(len(data))} of text")
        text_format.Parse(data.decode(), proto)
    except OverBudgetError as error:
        error.hint = f"save the graph as a binary GraphDef (.pb), or {error.hint}"
        raise error.inside(name or "the file") from None
    except UnicodeDecodeError:
        raise _bad(name, "is not text", "a binary GraphDef is named .pb") from None
    except (text_format.ParseError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise _bad(name, f"is not a GraphDef as text: {reason}", "correct that line") from None
    return from_pb(proto.SerializeToString(), name, budget)


@collector_paused()
def to_document(proto: Any, name: str = "", budget: Budget | None = None) -> Document:
    """The document of a GraphDef message; see `from_pb`."""
    gradients = CustomGradients(proto.library)
    graph = flat_graph(proto, name, budget, (), gradients)
    document = document_of(graph, name, functions_for(graph, proto.library))
    own = gradients_written(document.graph, gradients, name, budget)
    notes = [*own.notes(), *said_of_lists(graph)]
    return document.with_(code=own.items, note="\n\n".join(notes))


def gradients_written(
    graph: Graph, gradients: CustomGradients, name: str, budget: Budget | None
) -> GradientCode:
    """The gradients that `graph` asks for and that came with it as functions."""
    return gradient_code(graph, gradients, lambda proto: flat_graph(proto, name, budget))


def flat_graph(
    proto: Any,
    name: str = "",
    budget: Budget | None = None,
    ops: Iterable[Any] = (),
    gradients: CustomGradients | None = None,
) -> Graph:
    """The graph of a GraphDef message with its functions inlined. ops: OpDefs that came with it;
    gradients: which of its functions are gradients. Raises GradstepError."""
    library = FunctionLibrary(proto.library, ops, gradients)
    try:
        nodes = inlined(proto.node, library, budget)
    except GradstepError as error:
        raise inside(name or "the file", error) from None
    graph = with_plain_switches(with_fed_iterators(to_graph(FlatGraphDef(nodes), name)))
    return with_captured_variables(with_dense_lists(graph))


def functions_for(graph: Graph, library: Any) -> bytes:
    """The library, serialised, if operations are left that ask for functions; else nothing."""
    asks = any(isinstance(value, Unread) for op in graph for value in op.attrs.values())
    return bytes(library.SerializeToString(deterministic=True)) if asks else b""


def document_of(graph: Graph, name: str = "", functions: bytes = b"") -> Document:
    """The document of a graph without calls of functions. functions: a FunctionDefLibrary,
    serialised, for operations that Gradstep does not run."""
    scopes = find_gradient_scopes(graph.operations.keys())
    graph = _with_loops(with_phases(graph, scopes), name)
    _refuse_cycle(graph, name)
    graph, imported = with_training(graph, scopes)
    graph, init = with_initializer(graph)
    return Document(
        graph=graph,
        init=init,
        targets=run_targets(graph, init),
        threads=enqueuers(graph),
        imported=imported,
        title=PurePath(name).name,
        functions=functions,
    )


def to_graph(proto: Any, name: str = "") -> Graph:
    """The graph of a GraphDef message, whatever op types it holds. Raises GradstepError."""
    if not proto.node:
        raise _bad(name, "holds no nodes, so it is not a GraphDef (or an empty one)", _HINT)
    operations: dict[str, Operation] = {}
    for node in proto.node:
        if not node.name or not node.op:
            raise _bad(name, "has a node without a name or type, so it is not a GraphDef", _HINT)
        if node.name in operations:
            raise _bad(name, f"has two nodes named '{node.name}'", _HINT)
        operations[node.name] = _operation(node, name)
    graph = Graph(operations)
    _refuse_dangling(graph, name)
    return graph


def _operation(node: Any, file: str) -> Operation:
    try:
        attrs = {key: read_attribute(node.attr[key]) for key in sorted(node.attr)}
    except GradstepError as error:
        place = f"{file or 'the file'}: node '{node.name}'"
        raise inside(place, error.at(node.name)) from None
    return Operation(
        name=node.name,
        type=node.op,
        inputs=tuple(TensorRef.parse(text) for text in node.input if text[:1] != "^"),
        control_inputs=tuple(text[1:] for text in node.input if text[:1] == "^"),
        attrs=attrs,
        device=node.device,
    )


def _refuse_dangling(graph: Graph, file: str) -> None:
    for op in graph:
        for needed in predecessors(op):
            if needed not in graph:
                raise GradstepError(
                    f"{file}: node '{op.name}' takes '{needed}', which is not in the file",
                    kind="FileError",
                    node=op.name,
                    hint="the file is damaged, or only a part of a graph",
                )


def _with_loops(graph: Graph, file: str) -> Graph:
    try:
        return with_loops(graph)
    except GradstepError as error:
        raise inside(file or "the file", error) from None


def _refuse_cycle(graph: Graph, file: str) -> None:
    try:
        graph.order  # noqa: B018 - found on the first look
    except GradstepError as error:
        raise inside(file or "the file", error) from None


def _bad(file: str, what: str, hint: str) -> GradstepError:
    return GradstepError(f"{file or 'the file'} {what}", kind="FileError", hint=hint)
