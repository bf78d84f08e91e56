"""Edits of a document: the graph's, with requests, values, breakpoints and view kept in step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from gradstep.core.autodiff.recognition.answered_request import ImportedGradients
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, OverrideKind
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.document.convert_to_py_func import to_pyfunc
from gradstep.core.document.dataset import dataset_without
from gradstep.core.document.declared_types import declared_types
from gradstep.core.document.document import CodeItem, Document, Optimizer, View
from gradstep.core.document.node_positions import moved
from gradstep.core.document.node_renaming import rename_node
from gradstep.core.document.packed_rows import used_rows
from gradstep.core.document.queue_threads import threads_without
from gradstep.core.document.request_edits import (
    asking,
    clear_override,
    set_optimizers,
    set_override,
    set_request,
    toggle_override,
    toggle_stop,
    use_native,
)
from gradstep.core.document.value_edits import (
    fresh_attrs,
    kept_of_value,
    lasts,
    set_attr,
    set_feed,
    set_initial,
    take_any_rows,
    with_fresh_value,
)
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.free_names import scopes_of_copies
from gradstep.core.graph.loop import anywhere, loop_of, loops_around, tensor_carried, way_to, within
from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.graph.scopes import is_inside, move_name
from gradstep.core.ops.build.loop_captures import capture_tensor
from gradstep.core.ops.declare.table import find, lookup
from gradstep.core.ops.typing.dependent_attributes import with_attribute
from gradstep.core.ops.typing.flatten_loops import original_edge
from gradstep.core.ops.typing.input_fit import why_not

Point = tuple[float, float]


def add_operation(
    document: Document,
    type: str,
    at: Point | None,
    name: str = "",
    attrs: Mapping[str, Any] | None = None,
    beside: str = "",
) -> tuple[Document, str]:
    """Add a node of `type` at a point, its inputs open, its attributes at sensible values. Without
    a point whoever shows the document finds a free place for it, beside what it is wired to.

    beside: an operation of the loop that it goes into, and into whose name scope; what keeps
    something from run to run stays outside of loops nevertheless."""
    definition = lookup(type)
    around = way_to(document.graph, beside) if beside and not lasts(definition) else ()
    inputs = [None for spec in definition.inputs for _ in range(2 if spec.variadic else 1)]
    fresh = Operation(name or type, type, attrs=fresh_attrs(definition))
    given = reduce(lambda op, item: with_attribute(op, *item), (attrs or {}).items(), fresh).attrs
    if around and not name:
        name = f"{around[-1].scope}/{type}".lstrip("/")
    graph, chosen = edits.add(document.graph, type, name, inputs, given, beside if around else "")
    places = {} if at is None else {chosen: at}
    document = _with_positions(replace(document, graph=graph), places)
    return with_fresh_value(document, chosen), chosen


def remove_operations(document: Document, names: Collection[str]) -> Document:
    """Remove nodes and everything in the document that speaks of them, or of what is in them."""
    graph = edits.remove(document.graph, names)
    gone = {op.name for op in within(anywhere(document.graph, name) for name in names)}
    request, data = document.request, dataset_without(document.data, gone)
    return replace(
        document,
        graph=graph,
        request=replace(
            request,
            of=_kept(request.of, gone),
            grad_ys=_grad_ys_without(request, gone),
            wrt=_kept(request.wrt, gone),
            stops=frozenset(_kept(request.stops, gone)),
            stopped_edges=frozenset(
                _left_at(edge, document, gone)
                for edge in request.stopped_edges
                if _still(edge, document, gone)
            ),
            overrides=tuple(
                o
                for o in request.overrides
                if o.kind is not OverrideKind.OP or o.target not in gone
            ),
        ),
        imported=_imported_without(document.imported, gone),
        initial={k: v for k, v in document.initial.items() if k not in gone},
        feeds={k: v for k, v in document.feeds.items() if TensorRef.parse(k).op not in gone},
        data=data,
        packed=used_rows(data, document.packed),
        optimizers=tuple(_optimizer_without(o, gone) for o in document.optimizers),
        breakpoints=tuple(b for b in document.breakpoints if b.target not in gone),
        init="" if document.init in gone else document.init,
        fetches=_kept(document.fetches, gone),
        targets=tuple(t for t in document.targets if t not in gone),
        threads=threads_without(document.threads, gone),
        view=replace(
            document.view,
            positions={k: v for k, v in document.view.positions.items() if k not in gone},
        ),
    )


def connect(document: Document, source: TensorRef, edge: Edge) -> Document:
    """Wire `source` into `edge`, into a loop perhaps. Raises GradstepError on a cycle, for a wire
    out of a loop, and where element type or rank cannot fit."""
    edge = original_edge(document.graph, edge)
    types = declared_types(document)
    graph, inner = capture_tensor(document.graph, source, edge.op)
    connected = edits.connect(graph, inner, edge)
    misfit = why_not(document.graph, types, source, edge)
    if misfit is not None:
        raise misfit
    return replace(document, graph=connected)


def disconnect(document: Document, edge: Edge) -> Document:
    """Open the input at `edge`; a further input of a variadic op goes away altogether."""
    edge = original_edge(document.graph, edge)
    op = anywhere(document.graph, edge.op)
    definition = find(op.type)
    spare = definition is not None and definition.lists == 1 and len(op.inputs) > 1
    spare = spare and loop_of(op) is None  # each of whose inputs is one of its arguments
    change = edits.drop_input if spare else edits.disconnect
    stopped = document.request.stopped_edges - {edge}
    if spare:
        stopped = frozenset(_moved_up(each, edge) for each in stopped)
    return replace(
        document,
        graph=change(document.graph, edge),
        request=replace(document.request, stopped_edges=stopped),
    )


def _moved_up(edge: Edge, dropped: Edge) -> Edge:
    """The same wire once the input at `dropped` is gone."""
    is_later = edge.op == dropped.op and edge.index > dropped.index
    return Edge(edge.op, edge.index - 1) if is_later else edge


def add_control(document: Document, name: str, first: str) -> Document:
    """Let operation `name` run after `first`. Raises GradstepError on a cycle, and where one is in
    a loop and the other not."""
    graph = document.graph
    anywhere(graph, first)
    if loops_around(graph, first) != loops_around(graph, name):
        raise GradstepError(
            f"'{name}' cannot wait for '{first}': only one of them is in its loop",
            kind="ValueError",
            node=name,
            hint="let the loop as a whole wait, or something in the same loop",
        )
    return replace(document, graph=edits.add_control(graph, name, first))


def remove_control(document: Document, name: str, first: str) -> Document:
    """Let operation `name` no longer wait for `first`."""
    return replace(document, graph=edits.remove_control(document.graph, name, first))


def rename_operation(document: Document, old: str, new: str) -> Document:
    """Rename a node wherever the document mentions it. Raises GradstepError."""
    graph = edits.rename(document.graph, old, new)
    renamed = replace(document, graph=graph)
    return rename_node(renamed, lambda n: new if n == old else n, names=(old,))


def rename_scope(document: Document, old: str, new: str) -> Document:
    """Rename a scope, and with it all that is in it, wherever the document mentions them. Raises
    GradstepError."""
    if new == old:
        return document
    graph = edits.rename_scope(document.graph, old, new)
    return rename_node(
        replace(document, graph=graph),
        lambda name: move_name(name, old, new),
        lambda scope: new if scope == old else move_name(scope, old, new),
    )


def duplicate_operations(
    document: Document, names: Iterable[str], offset: Point = (32.0, 32.0)
) -> tuple[Document, dict[str, str]]:
    """Copy nodes, with their values, beside themselves. Returns old name -> new name."""
    graph, copies = edits.duplicate(document.graph, names)
    feeds = {f"{copies[TensorRef.parse(k).op]}:{TensorRef.parse(k).index}": v
             for k, v in document.feeds.items() if TensorRef.parse(k).op in copies}  # fmt: skip
    initial = {copies[k]: v for k, v in document.initial.items() if k in copies}
    places = document.view.positions
    scopes = scopes_of_copies(copies)
    boxes = {**copies, **{f"{old}/": f"{new}/" for old, new in scopes.items()}}
    beside = {
        new: (places[old][0] + offset[0], places[old][1] + offset[1])
        for old, new in boxes.items()
        if old in places
    }
    collapsed = {scopes[scope] for scope in document.view.collapsed if scope in scopes}
    document = replace(
        document,
        graph=graph,
        feeds={**document.feeds, **feeds},
        initial={**document.initial, **initial},
        view=View(moved(places, beside), document.view.collapsed | collapsed),
    )
    return document, copies


def move(document: Document, positions: Mapping[str, Point]) -> Document:
    """Put nodes at new places."""
    return _with_positions(document, positions)


def set_code(document: Document, item: CodeItem) -> Document:
    """Add a piece of custom Python, or replace the one of the same name."""
    return replace(document, code={**document.code, item.name: item})


def remove_code(document: Document, name: str) -> Document:
    return replace(document, code={k: v for k, v in document.code.items() if k != name})


def toggle_breakpoint(document: Document, name: str) -> Document:
    """Set, or take away, the breakpoints before a node and before its gradient; of a scope, whose
    name ends in "/", the one before anything in it."""
    kind, target = BreakpointKind, name.rstrip("/")
    kinds = (kind.SCOPE,) if name.endswith("/") else (kind.OP, kind.GRADIENT)
    return _toggled(document, target, kinds)


def toggle_line_breakpoint(document: Document, line: str) -> Document:
    """Set, or take away, the breakpoint before what a line of the traced program asked for."""
    return _toggled(document, line, (BreakpointKind.LINE,))


def _toggled(document: Document, target: str, kinds: tuple[BreakpointKind, ...]) -> Document:
    mine = [b for b in document.breakpoints if b.target == target and b.kind in kinds]
    kept = tuple(b for b in document.breakpoints if b not in mine)
    added = () if mine else tuple(Breakpoint(target, kind) for kind in kinds)
    return replace(document, breakpoints=(*kept, *added))


def set_breakpoints(document: Document, breakpoints: Iterable[Breakpoint]) -> Document:
    return replace(document, breakpoints=tuple(breakpoints))


def set_note(document: Document, title: str, note: str, claim: str, truth: str) -> Document:
    """Write the document's words for people."""
    return replace(document, title=title, note=note, claim=claim, truth=truth)


def _with_positions(document: Document, positions: Mapping[str, Point]) -> Document:
    places = moved(document.view.positions, positions)
    return replace(document, view=replace(document.view, positions=places))


def _grad_ys_without(
    request: GradientRequest, gone: Collection[str]
) -> tuple[TensorRef | None, ...]:
    """Those of the tensors that stay in `of`; ones in place of a tensor that goes."""
    return tuple(
        None if start is None or start.op in gone else start
        for of, start in zip(request.of, request.grad_ys, strict=False)
        if of.op not in gone
    )


def _imported_without(
    imported: Iterable[ImportedGradients], gone: Collection[str]
) -> tuple[ImportedGradients, ...]:
    """Those that are whole still: neither what they are of nor an operation of theirs is gone."""
    return tuple(
        replace(one, wrt=_kept(one.wrt, {*gone}))
        for one in imported
        if not any(ref is not None and ref.op in gone for ref in (*one.of, *one.grad_ys))
        and not any(is_inside(name, one.scope) for name in gone)
    )


def _optimizer_without(optimizer: Optimizer, gone: set[str]) -> Optimizer:
    scales = {name: scale for name, scale in optimizer.scales.items() if name not in gone}
    of, wrt = _kept(optimizer.of, gone), _kept(optimizer.wrt, gone)
    return replace(optimizer, of=of, wrt=wrt, scales=scales)


def _kept(refs: Iterable[TensorRef], gone: set[str]) -> tuple[TensorRef, ...]:
    return tuple(ref for ref in refs if ref.op not in gone)


def _still(edge: Edge, document: Document, gone: set[str]) -> bool:
    source = tensor_carried(document.graph, edge)
    if edge.op in gone or source is None or source.op in gone:
        return False
    loop = loop_of(anywhere(document.graph, edge.op))
    return loop is None or loop.arguments[edge.index] not in gone


def _left_at(edge: Edge, document: Document, gone: set[str]) -> Edge:
    """Where a wire is that stays: an input of a loop moves up where captures before it go."""
    loop = loop_of(anywhere(document.graph, edge.op))
    if loop is None:
        return edge
    before = sum(name in gone for name in loop.arguments[: edge.index])
    return Edge(edge.op, edge.index - before)


__all__ = [
    "add_control",
    "add_operation",
    "asking",
    "clear_override",
    "connect",
    "disconnect",
    "duplicate_operations",
    "kept_of_value",
    "move",
    "remove_code",
    "remove_control",
    "remove_operations",
    "rename_operation",
    "rename_scope",
    "set_attr",
    "set_breakpoints",
    "set_code",
    "set_feed",
    "set_initial",
    "set_note",
    "set_optimizers",
    "set_override",
    "set_request",
    "take_any_rows",
    "to_pyfunc",
    "toggle_breakpoint",
    "toggle_override",
    "toggle_stop",
    "use_native",
]
