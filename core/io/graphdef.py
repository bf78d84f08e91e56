"""Importing TensorFlow GraphDefs: .pb and .pbtxt."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from core.errors import GradstepError
from core.graph.model import Graph, Operation, TensorRef, predecessors
from core.io.document import Document
from core.io.failures import inside
from core.io.graphdef_attributes import read_attribute
from core.io.graphdef_loops import with_loops
from core.io.graphdef_messages import message
from core.io.graphdef_phases import with_phases
from core.io.graphdef_roles import initializer, run_targets
from core.io.threads import enqueuers

MAX_TEXT = 16 << 20  # bytes; reading text takes a hundred times its size in memory
_HINT = "save it again with tf.io.write_graph, as a graph without functions"


def from_pb(data: bytes, name: str = "", allow_unknown: bool = False) -> Document:
    """The document in a binary GraphDef; `name` is the file's, for messages and the title.

    allow_unknown: keep operations of types that the op table lacks, instead of refusing them.
    Raises GradstepError (FileError, UnknownOpError).
    """
    from google.protobuf.message import DecodeError

    proto = message("GraphDef")()
    try:
        proto.ParseFromString(data)
    except (DecodeError, RecursionError):
        raise _bad(name, "is cut off, or not a GraphDef", "use another copy of the file") from None
    return to_document(proto, name, allow_unknown)


def from_pbtxt(data: bytes, name: str = "", allow_unknown: bool = False) -> Document:
    """The document in a GraphDef written as text; otherwise like `from_pb`."""
    from google.protobuf import text_format

    if len(data) > MAX_TEXT:
        what = f"is {len(data) >> 20} MiB of text; the limit is {MAX_TEXT >> 20} MiB"
        raise _bad(name, what, "save the graph as a binary GraphDef (.pb)")
    proto = message("GraphDef")()
    try:
        text_format.Parse(data.decode(), proto)
    except UnicodeDecodeError:
        raise _bad(name, "is not text", "a binary GraphDef is named .pb") from None
    except (text_format.ParseError, RecursionError) as error:
        if _text_has_functions(data):
            raise _functions(name) from None
        reason = str(error).partition("\n")[0]
        raise _bad(name, f"is not a GraphDef as text: {reason}", "correct that line") from None
    return to_document(proto, name, allow_unknown)


def to_document(proto: Any, name: str = "", allow_unknown: bool = False) -> Document:
    """The document of a GraphDef message; see `from_pb`."""
    if proto.library.function:
        raise _functions(name)
    graph = to_graph(proto, name)
    if not allow_unknown:
        _refuse_unknown(graph, name)
    graph = _with_loops(with_phases(graph), name)
    if not allow_unknown:
        _refuse_cycle(graph, name)
    init = initializer(graph)
    return Document(
        graph=graph,
        init=init,
        targets=run_targets(graph, init),
        threads=enqueuers(graph),
        title=PurePath(name).name,
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


def _refuse_unknown(graph: Graph, file: str) -> None:
    from core.ops.table import find

    unknown: dict[str, list[str]] = {}
    for op in graph:
        if find(op.type) is None:
            unknown.setdefault(op.type, []).append(op.name)
    if unknown:
        said = [_used(type, names) for type, names in list(unknown.items())[:3]]
        more = f"; and {len(unknown) - 3} more op types" if len(unknown) > 3 else ""
        raise GradstepError(
            f"{file or 'the file'}: {'; '.join(said)}{more}",
            kind="UnknownOpError",
            node=next(iter(unknown.values()))[0],
            hint="remove them from the graph; docs/adding-an-op.md shows how to add an op type",
        )


def _used(type: str, names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"op type '{type}' is not available (used by {_quoted(names[:3])}{more})"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _text_has_functions(data: bytes) -> bool:
    return b"\nlibrary {" in b"\n" + data.replace(b"library{", b"library {")


def _functions(file: str) -> GradstepError:
    return _bad(file, "holds a library of functions, which Gradstep does not read", _HINT)


def _bad(file: str, what: str, hint: str) -> GradstepError:
    return GradstepError(f"{file or 'the file'} {what}", kind="FileError", hint=hint)
