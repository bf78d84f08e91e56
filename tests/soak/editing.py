"""The commands that change documents, without a window: each gives the document after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gradstep.core.autodiff.reverse.gradient_request import Override
from gradstep.core.document import block_insertion, clipboard, document_edits, wire_completion
from gradstep.core.document.document import CodeItem, Document
from gradstep.core.graph.loop import anywhere, tensor_carried
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.typing.flatten_loops import original_edge

Point = tuple[float, float]


def edited(document: Document, name: str, arguments: tuple[Any, ...]) -> Document:
    """`document` after the command `name`. Raises GradstepError where it cannot be done."""
    return EDITS[name](document, *arguments)


def _rewire(document: Document, old: Edge, new: Edge) -> Document:
    old = original_edge(document.graph, old)
    source = tensor_carried(document.graph, old)
    if source is None:
        return document
    return document_edits.disconnect(document_edits.connect(document, source, new), old)


def _add_node(
    document: Document,
    type: str,
    at: Point,
    name: str = "",
    attrs: Mapping[str, Any] | None = None,
    source: TensorRef | None = None,
) -> Document:
    if source is None:
        return document_edits.add_operation(document, type, at, name, attrs)[0]
    return wire_completion.add_reader(document, type, at, source, name, attrs)[0]


def _add_block(
    document: Document, name: str, at: Point, source: TensorRef | None = None
) -> Document:
    return block_insertion.add_block(document, name, at, [] if source is None else [source])[0]


def _insert(document: Document, type: str, at: Point, edge: Edge) -> Document:
    edge = original_edge(document.graph, edge)
    source = tensor_carried(document.graph, edge)
    if source is None:
        made, chosen = document_edits.add_operation(document, type, at, beside=edge.op)
    else:
        made, chosen = wire_completion.add_reader(document, type, at, source, beside=edge.op)
    return document_edits.connect(made, TensorRef(chosen), edge)


def _paste(document: Document, names: Iterable[str]) -> Document:
    part = gradstep_file.from_bytes(gradstep_file.to_bytes(clipboard.piece(document, [*names])))
    return clipboard.paste(document, part)[0]


def _rename(document: Document, old: str, new: str) -> Document:
    if old.endswith("/"):
        return document_edits.rename_scope(document, old.rstrip("/"), new)
    return document_edits.rename_operation(document, old, new)


def _override_by_code(document: Document, item: CodeItem, override: Override) -> Document:
    return document_edits.set_override(document_edits.set_code(document, item), override)


def _native(document: Document, name: str) -> Document:
    op = anywhere(document.graph, name)
    for index, override in enumerate(document.request.overrides):
        if override.enabled and override.matches(op):
            document = document_edits.toggle_override(document, index)
    return document


# Command of gradstep.gui.commands -> the edit that it makes.
EDITS: Mapping[str, Callable[..., Document]] = {
    "connect": document_edits.connect,
    "disconnect": document_edits.disconnect,
    "rewire": _rewire,
    "connect_through_cast": lambda document, *args: wire_completion.add_cast(document, *args)[0],
    "add_control": document_edits.add_control,
    "remove_control": document_edits.remove_control,
    "add_node": _add_node,
    "add_block": _add_block,
    "add_source": lambda document, *args: wire_completion.add_source(document, *args)[0],
    "insert_node": _insert,
    "remove_nodes": document_edits.remove_operations,
    "duplicate": lambda document, names: document_edits.duplicate_operations(document, names)[0],
    "paste": _paste,
    "rename": _rename,
    "move_nodes": document_edits.move,
    "set_attr": document_edits.set_attr,
    "set_feed": document_edits.set_feed,
    "set_initial": document_edits.set_initial,
    "toggle_stop": document_edits.toggle_stop,
    "set_override": document_edits.set_override,
    "override_by_code": _override_by_code,
    "clear_override": document_edits.clear_override,
    "toggle_override": document_edits.toggle_override,
    "use_native_gradient": _native,
    "set_request": document_edits.set_request,
    "set_optimizers": document_edits.set_optimizers,
    "set_code": document_edits.set_code,
    "to_pyfunc": document_edits.to_pyfunc,
    "toggle_breakpoint": document_edits.toggle_breakpoint,
    "set_breakpoints": document_edits.set_breakpoints,
    "set_threads": lambda document, threads: document.with_(threads=threads),
    "set_note": document_edits.set_note,
}
