"""Nodes and wires: add, delete, connect, rename, move, select."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from gradstep.core.document import (
    block_insertion,
    clipboard,
    document_edits,
    loss_insertion,
    retyping,
    wire_completion,
)
from gradstep.core.document.document import Document
from gradstep.core.document.loss_insertion import LossChoice
from gradstep.core.document.reconnection import remove_and_reconnect
from gradstep.core.graph.loop import anywhere, loops_around, tensor_carried
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.graph.scopes import is_inside, move_name, parents
from gradstep.core.layers.block_table import find_block
from gradstep.core.layers.network_reuse import ends
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.flatten_loops import original_edge
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.workspace import Workspace

Point = tuple[float, float]
NOWHERE: Mapping[str, Point] = MappingProxyType({})


@says_why
def add_node(
    workspace: Workspace,
    type: str,
    at: Point,
    name: str = "",
    attrs: Mapping[str, Any] | None = None,
    source: TensorRef | None = None,
) -> str:
    """Add a node at a point and select it; with a `source`, wired to that through the first input
    that takes it. It goes into the loop that `source` is in, or else what is selected. Returns its
    name."""
    if source is None:
        beside = _selected_loop(workspace)
        document, chosen = document_edits.add_operation(
            workspace.document, type, at, name, attrs, beside
        )
    else:
        document, chosen = wire_completion.add_reader(
            workspace.document, type, at, source, name, attrs
        )
    workspace.edit(f"Add {type}", document)
    workspace.select([chosen])
    return chosen


def edit_and_show(workspace: Workspace, label: str, document: Document) -> None:
    """Make an edit; what it adds is selected, and brought into view from where it found room."""
    before = workspace.shown
    workspace.edit(label, document)
    added = [name for name in workspace.shown.operations if name not in before]
    if added:
        workspace.select(added)
        workspace.ask_window("show_selected")


def _selected_loop(workspace: Workspace) -> str:
    """A selected operation, if all that are selected are in one loop, else ""."""
    graph = workspace.document.graph
    found = {loops_around(graph, name) for name in workspace.selection}
    return workspace.selection[0] if len(found) == 1 and all(found) else ""


@says_why
def add_loss(workspace: Workspace, choice: LossChoice) -> None:
    """Add a loss, and ask for the gradients of all that is trained."""
    types = workspace.inference.types
    document, _ = loss_insertion.add_loss(workspace.document, choice, types)
    edit_and_show(workspace, f"Add {choice.words}", document)


@says_why
def add_block(
    workspace: Workspace,
    /,
    name: str,
    at: Point,
    source: TensorRef | None = None,
    *,
    sources: Sequence[TensorRef] | None = None,
    **how: Any,
) -> str:
    """Add a composite block around a point, reading `source` or else the selected nodes, as far
    as it has inputs, and select it. how: settings, reuse and run_updates of
    gradstep.core.document.block_insertion. Returns its scope."""
    read = block_sources(workspace, source) if sources is None else sources
    types = workspace.inference.types
    document, scope = block_insertion.add_block(workspace.document, name, at, read, types, **how)
    workspace.edit(f"Add {name}", document)
    workspace.select([op.name for op in document.graph if is_inside(op.name, scope)])
    return scope


def block_sources(workspace: Workspace, source: TensorRef | None = None) -> list[TensorRef]:
    """What a block reads that is added now: `source`, or else the selected nodes; of a box that
    is selected, what it gives."""
    if source is not None:
        return [source]
    graph = workspace.document.graph
    chosen = [graph[name] for name in workspace.selection if name in graph]
    boxes = {op.name: _selected_box(graph, op.name, workspace.selection) for op in chosen}
    given = {ref.op for box in {*boxes.values()} - {""} for ref in _given(graph, box)}
    return [op.output() for op in chosen if not boxes[op.name] or op.name in given]


def _selected_box(graph: Graph, name: str, selection: Sequence[str]) -> str:
    """The outermost scope around `name` of which everything is selected, else ""."""
    chosen = {*selection}
    for scope in parents(name):
        if all(other in chosen for other in graph.operations if is_inside(other, scope)):
            return scope
    return ""


def _given(graph: Graph, scope: str) -> list[TensorRef]:
    return list(ends(graph, [op for op in graph if is_inside(op.name, scope)]))


def begin_block(
    workspace: Workspace, name: str, at: Point, source: TensorRef | None = None
) -> None:
    """Add a composite block; first ask for its settings, where it has any."""
    found = find_block(name)
    if found.settings or found.has_weights:
        workspace.block_requested.emit(found, at, source)
    else:
        add_block(workspace, name, at, source)


def place(workspace: Workspace, name: str, at: Point, source: TensorRef | None = None) -> None:
    """Add what the palette calls `name`: an op type, or else a block."""
    if find(name) is None:
        begin_block(workspace, name, at, source)
    else:
        add_node(workspace, name, at, source=source)


@says_why
def add_source(workspace: Workspace, type: str, at: Point, edge: Edge) -> str:
    """Add a node at a point with its first output wired into `edge`, of a type and value that fit
    there, and select it; if it has a value, that is what is typed next. Returns its name."""
    document, chosen = wire_completion.add_source(workspace.document, type, at, edge)
    workspace.edit(f"Add {type}", document)
    workspace.select([chosen])
    workspace.ask_window("edit_value", chosen)
    return chosen


@says_why
def insert_node(workspace: Workspace, type: str, at: Point, edge: Edge) -> str:
    """Put a node at a point into the wire at `edge`, through the first input that takes what it
    carries and the first output, and select it. Returns its name."""
    edge = original_edge(workspace.document.graph, edge)
    source = tensor_carried(workspace.document.graph, edge)
    if source is None:
        document, chosen = document_edits.add_operation(
            workspace.document, type, at, beside=edge.op
        )
    else:
        document, chosen = wire_completion.add_reader(
            workspace.document, type, at, source, beside=edge.op
        )
    document = document_edits.connect(document, TensorRef(chosen), edge)
    workspace.edit(f"Insert {type}", document)
    workspace.select([chosen])
    return chosen


@says_why
def remove_nodes(workspace: Workspace, names: Iterable[str]) -> None:
    gone = _own(workspace, names)
    if gone:
        label = f"Delete {gone[0]}" if len(gone) == 1 else f"Delete {len(gone)} nodes"
        workspace.edit(label, document_edits.remove_operations(workspace.document, gone))


@says_why
def delete_and_reconnect(workspace: Workspace) -> None:
    """Delete the selected nodes, and wire what read them to what they read; say which inputs are
    left open."""
    gone = _own(workspace, workspace.selection)
    if not gone:
        return
    what = gone[0] if len(gone) == 1 else f"{len(gone)} nodes"
    document, left_open = remove_and_reconnect(workspace.document, gone)
    workspace.edit(f"Delete {what} and reconnect", document)
    if left_open:
        readers = [*dict.fromkeys(edge.op for edge in left_open)]
        more = f" and {len(readers) - 1} more" if readers[1:] else ""
        workspace.say(
            f"An input of {readers[0]}{more} is open now: nothing behind {what} fits there"
        )


def _own(workspace: Workspace, names: Iterable[str]) -> list[str]:
    """Those of the nodes that are the document's, in a loop perhaps. Raises GradstepError when
    none of them is."""
    names = [*names]
    found = [name for name in names if name in workspace.shown]
    if names and not found:
        anywhere(workspace.document.graph, names[0])
    return found


def delete_selection(workspace: Workspace) -> None:
    """Delete the selected wire, or the selected nodes."""
    if workspace.selected_edge is not None:
        disconnect(workspace, workspace.selected_edge)
    else:
        remove_nodes(workspace, workspace.selection)


@says_why
def duplicate_selection(
    workspace: Workspace, places: Mapping[str, Point] = NOWHERE, apart: bool = True
) -> list[str]:
    """Copy the selected nodes, and select the copies. Returns their names.

    places: where everything is shown, which becomes the document's. apart: the copies go beside,
    to where they cover nothing; else they lie over what they are copies of.
    """
    chosen = _own(workspace, workspace.selection)
    if not chosen:
        return []
    document = document_edits.move(workspace.document, places)
    taken = document.view.positions
    offset = clipboard.away([taken[n] for n in chosen if n in taken], [*taken.values()])
    document, copies = document_edits.duplicate_operations(
        document, chosen, offset if apart else (0.0, 0.0)
    )
    workspace.edit("Duplicate", document)
    names = [copies[name] for name in chosen if name in copies]
    workspace.select(names)
    return names


@says_why
def connect(workspace: Workspace, source: TensorRef, edge: Edge) -> None:
    document = document_edits.connect(workspace.document, source, edge)
    workspace.edit(f"Connect {source.short} to {edge.op}", document)


@says_why
def connect_through_cast(
    workspace: Workspace, source: TensorRef, edge: Edge, taken: Edge | None = None
) -> None:
    """Wire `source` into `edge` with a Cast between them to an element type that fits there, and
    select that. taken: a wire to be taken off."""
    document = workspace.document
    if taken is not None:
        document = document_edits.disconnect(document, taken)
    document, _ = wire_completion.add_cast(document, source, edge)
    edit_and_show(workspace, f"Connect {source.short} to {edge.op}", document)


@says_why
def disconnect(workspace: Workspace, *wires: Edge) -> None:
    """Open the inputs that some wires lead to."""
    document = workspace.document
    for edge in wires:
        document = document_edits.disconnect(document, edge)
    names = {edge.op for edge in wires}
    what = wires[0].op if len(names) == 1 else f"{len(wires)} wires"
    workspace.edit(f"Disconnect {what}", document)


@says_why
def add_control(workspace: Workspace, name: str, first: str) -> None:
    """Let a node run after another one that it takes nothing from."""
    document = document_edits.add_control(workspace.document, name, first)
    workspace.edit(f"Run {name} after {first}", document)


@says_why
def remove_control(workspace: Workspace, name: str, first: str) -> None:
    document = document_edits.remove_control(workspace.document, name, first)
    workspace.edit(f"Do not run {name} after {first}", document)


@says_why
def rewire(workspace: Workspace, old: Edge, new: Edge) -> None:
    """Take the wire at `old` off its input and put it into `new`."""
    old = original_edge(workspace.document.graph, old)
    source = tensor_carried(workspace.document.graph, old)
    if source is not None:
        document = document_edits.connect(workspace.document, source, new)
        workspace.edit(
            f"Connect {source.short} to {new.op}", document_edits.disconnect(document, old)
        )


def set_note(workspace: Workspace, title: str, note: str, claim: str, truth: str) -> None:
    """Write the document's title and note, and a claim with the truth beside it."""
    old = workspace.document
    if (title, note, claim, truth) != (old.title, old.note, old.claim, old.truth):
        workspace.edit("Note", document_edits.set_note(old, title, note, claim, truth))


def change_name(workspace: Workspace, old: str, new: str) -> None:
    """Rename a node; or a scope, whose name ends in "/", with all that is in it. Raises
    GradstepError."""
    if new == old.rstrip("/"):
        return
    if old.endswith("/"):
        scope = old.rstrip("/")
        document = document_edits.rename_scope(workspace.document, scope, new)
        inside = [name for name in workspace.shown.operations if is_inside(name, scope)]
        renamed = {name: move_name(name, scope, new) for name in inside}
    else:
        document = document_edits.rename_operation(workspace.document, old, new)
        renamed = {old: new}
    workspace.edit(f"Rename {old} to {new}", document, renamed=renamed)
    if old in renamed and not workspace.selection and workspace.selected_edge is None:
        workspace.select([new])


rename = says_why(change_name)


@says_why
def set_attr(workspace: Workspace, name: str, key: str, value: Any) -> None:
    """Set an attribute; None puts its default back."""
    document = document_edits.set_attr(workspace.document, name, key, value)
    kept = document_edits.kept_of_value(workspace.document, document, name)
    workspace.edit(f"Set {name}.{key}", document, f"attr:{name}:{key}")
    if kept:
        workspace.say(kept[:1].upper() + kept[1:], "note")


@says_why
def move_nodes(workspace: Workspace, positions: Mapping[str, Point]) -> None:
    workspace.edit("Move", document_edits.move(workspace.document, positions))


def put_down(workspace: Workspace, positions: Mapping[str, Point]) -> None:
    """Put nodes where they were carried to, as a part of the edit that added them."""
    workspace.amend(document_edits.move(workspace.document, positions))


@says_why
def to_pyfunc(workspace: Workspace, name: str, extra: Sequence[TensorRef] = ()) -> None:
    """Replace a node by a Python function that computes the same."""
    document = document_edits.to_pyfunc(workspace.document, name, extra)
    workspace.edit(f"Make {name} a Python function", document)


@says_why
def change_type(workspace: Workspace, name: str, type: str) -> None:
    """Put another op type in the place of a node, whose wires stay."""
    document = retyping.change_type(workspace.document, name, type)
    workspace.edit(f"Make {name} a {type}", document)


@says_why
def exchange_inputs(workspace: Workspace) -> None:
    """Let two inputs of the selected node change places."""
    (name,) = workspace.selection
    workspace.edit(f"Swap inputs of {name}", retyping.exchange_inputs(workspace.document, name))


def select_all(workspace: Workspace) -> None:
    workspace.select(workspace.shown.operations)


def select_inputs(workspace: Workspace) -> None:
    """Add to the selection what its nodes are computed from."""
    graph = workspace.shown
    chosen = [name for name in workspace.selection if name in graph]
    workspace.select(sorted(graph.ancestors(chosen)))


def select_scope(workspace: Workspace, scope: str) -> None:
    workspace.select(n for n in workspace.shown.operations if is_inside(n, scope))
