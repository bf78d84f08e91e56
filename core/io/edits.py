"""Edits of a document: the graph's, with requests, values, breakpoints and view kept in step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.autodiff.request import GradientRequest, Override, OverrideKind
from core.debug.breakpoints import Breakpoint, BreakpointKind
from core.errors import GradstepError
from core.graph import edits
from core.graph.loop import carried_by, within
from core.graph.model import Edge, TensorRef
from core.io.document import CodeItem, Document, Optimizer
from core.io.pyfunc import to_pyfunc
from core.io.relabel import relabelled
from core.io.threads import threads_without
from core.io.value_edits import fresh_attrs, set_attr, set_feed, set_initial, with_fresh_value
from core.ops.opened import closed
from core.ops.table import find, lookup

Point = tuple[float, float]


def add_operation(
    document: Document,
    type: str,
    at: Point,
    name: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> tuple[Document, str]:
    """Add a node of `type` at a point, its inputs open, its attributes at sensible values."""
    definition = lookup(type)
    inputs = [None for spec in definition.inputs for _ in range(2 if spec.variadic else 1)]
    given = {**fresh_attrs(definition), **(attrs or {})}
    graph, chosen = edits.add(document.graph, type, name, inputs, given)
    document = _with_positions(replace(document, graph=graph), {chosen: at})
    return with_fresh_value(document, chosen), chosen


def remove_operations(document: Document, names: Collection[str]) -> Document:
    """Remove nodes and everything in the document that speaks of them, or of what is in them."""
    graph = edits.remove(document.graph, names)
    gone = {op.name for op in within(document.graph[name] for name in names)}
    request = document.request
    return replace(
        document,
        graph=graph,
        request=replace(
            request,
            of=_kept(request.of, gone),
            grad_ys=_grad_ys_without(request, gone),
            wrt=_kept(request.wrt, gone),
            stops=frozenset(_kept(request.stops, gone)),
            stopped_edges=frozenset(e for e in request.stopped_edges if _still(e, document, gone)),
            overrides=tuple(
                o
                for o in request.overrides
                if o.kind is not OverrideKind.OP or o.target not in gone
            ),
        ),
        initial={k: v for k, v in document.initial.items() if k not in gone},
        feeds={k: v for k, v in document.feeds.items() if TensorRef.parse(k).op not in gone},
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
    """Wire `source` into `edge`. Raises GradstepError on a cycle."""
    return replace(document, graph=edits.connect(document.graph, source, edge))


def disconnect(document: Document, edge: Edge) -> Document:
    """Open the input at `edge`; a further input of a variadic op goes away altogether."""
    op = edits.editable(document.graph, edge.op)
    definition = find(op.type)
    spare = definition is not None and definition.lists == 1 and len(op.inputs) > 1
    change = edits.drop_input if spare else edits.disconnect
    request = document.request
    return replace(
        document,
        graph=change(document.graph, edge),
        request=replace(request, stopped_edges=request.stopped_edges - {edge}),
    )


def rename_operation(document: Document, old: str, new: str) -> Document:
    """Rename a node wherever the document mentions it. Raises GradstepError."""
    graph = edits.rename(document.graph, old, new)
    return relabelled(replace(document, graph=graph), lambda n: new if n == old else n)


def duplicate_operations(
    document: Document, names: Iterable[str], offset: Point = (32.0, 32.0)
) -> tuple[Document, dict[str, str]]:
    """Copy nodes, with their values, beside themselves. Returns old name -> new name."""
    graph, copies = edits.duplicate(document.graph, names)
    feeds = {f"{copies[TensorRef.parse(k).op]}:{TensorRef.parse(k).index}": v
             for k, v in document.feeds.items() if TensorRef.parse(k).op in copies}  # fmt: skip
    initial = {copies[k]: v for k, v in document.initial.items() if k in copies}
    places = document.view.positions
    moved = {
        new: (places[old][0] + offset[0], places[old][1] + offset[1])
        for old, new in copies.items()
        if old in places
    }
    document = replace(
        document,
        graph=graph,
        feeds={**document.feeds, **feeds},
        initial={**document.initial, **initial},
    )
    return _with_positions(document, moved), copies


def move(document: Document, positions: Mapping[str, Point]) -> Document:
    """Put nodes at new places."""
    return _with_positions(document, positions)


def set_request(
    document: Document,
    of: Sequence[str],
    wrt: Sequence[str],
    grad_ys: Sequence[str | None] | None = None,
    unconnected_zero: bool | None = None,
    gate: bool | None = None,
) -> Document:
    """Ask for other gradients; stops and overrides stay, and so does what is not given.

    grad_ys: the gradient to start with, one tensor for each of `of` (None: ones), or none at all.
    Raises GradstepError for a name that is not there, and for `grad_ys` of another number than
    `of`."""
    starts = [None if n is None else _there(document, n) for n in grad_ys or ()]
    if starts and len(starts) != len(of):
        raise GradstepError(
            f"Length mismatch. Passed {len(starts)} grad_ys for {len(of)} ys",
            kind="ValueError",
            hint="give one for each tensor that is differentiated, or none",
        )
    old = document.request
    request = replace(
        old,
        of=tuple(_there(document, n) for n in of),
        wrt=tuple(_there(document, n) for n in wrt),
        unconnected_zero=old.unconnected_zero if unconnected_zero is None else unconnected_zero,
        gate=old.gate if gate is None else gate,
    )
    if grad_ys is not None or len(request.grad_ys) != len(request.of):
        request = replace(request, grad_ys=tuple(starts))
    return replace(document, request=request)


def _there(document: Document, name: str) -> TensorRef:
    ref = TensorRef.parse(name)
    document.graph[ref.op]
    return ref


def set_optimizers(document: Document, optimizers: Iterable[Optimizer]) -> Document:
    """Train by these and no others. Raises GradstepError for a tensor that is not there."""
    optimizers = tuple(optimizers)
    for optimizer in optimizers:
        for name in (*(ref.op for ref in (*optimizer.of, *optimizer.wrt)), *optimizer.scales):
            document.graph[name]
    return replace(document, optimizers=optimizers)


def toggle_stop(document: Document, edge: Edge) -> Document:
    """Stop, or let through again, the gradient on one wire, inside a loop perhaps."""
    edge = closed(document.graph, edge)
    if carried_by(document.graph, edge) is None:
        raise GradstepError("this input carries no wire", kind="ValueError", node=edge.op)
    request = document.request
    return replace(document, request=replace(request, stopped_edges=request.stopped_edges ^ {edge}))


def set_override(document: Document, override: Override) -> Document:
    """Override a gradient; an override of the same target is replaced."""
    others = [o for o in document.request.overrides if _target(o) != _target(override)]
    return _with_overrides(document, (*others, override))


def clear_override(document: Document, kind: OverrideKind, target: str) -> Document:
    """Take the override of this target away."""
    return _with_overrides(
        document, tuple(o for o in document.request.overrides if _target(o) != (kind, target))
    )


def toggle_override(document: Document, index: int) -> Document:
    """Switch override number `index` off, or on again."""
    overrides = list(document.request.overrides)
    overrides[index] = replace(overrides[index], enabled=not overrides[index].enabled)
    return _with_overrides(document, tuple(overrides))


def set_code(document: Document, item: CodeItem) -> Document:
    """Add a piece of custom Python, or replace the one of the same name."""
    return replace(document, code={**document.code, item.name: item})


def remove_code(document: Document, name: str) -> Document:
    return replace(document, code={k: v for k, v in document.code.items() if k != name})


def toggle_breakpoint(document: Document, name: str) -> Document:
    """Set, or take away, the breakpoints before a node and before its gradient."""
    kinds = (BreakpointKind.OP, BreakpointKind.GRADIENT)
    mine = [b for b in document.breakpoints if b.target == name and b.kind in kinds]
    kept = tuple(b for b in document.breakpoints if b not in mine)
    added = () if mine else tuple(Breakpoint(name, kind) for kind in kinds)
    return replace(document, breakpoints=(*kept, *added))


def set_breakpoints(document: Document, breakpoints: Iterable[Breakpoint]) -> Document:
    return replace(document, breakpoints=tuple(breakpoints))


def set_note(document: Document, title: str, note: str, claim: str, truth: str) -> Document:
    """Write the document's words for people."""
    return replace(document, title=title, note=note, claim=claim, truth=truth)


def _target(override: Override) -> tuple[OverrideKind, str]:
    return override.kind, override.target


def _with_overrides(document: Document, overrides: tuple[Override, ...]) -> Document:
    return replace(document, request=replace(document.request, overrides=overrides))


def _with_positions(document: Document, positions: Mapping[str, Point]) -> Document:
    places = {**document.view.positions, **positions}
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


def _optimizer_without(optimizer: Optimizer, gone: set[str]) -> Optimizer:
    scales = {name: scale for name, scale in optimizer.scales.items() if name not in gone}
    of, wrt = _kept(optimizer.of, gone), _kept(optimizer.wrt, gone)
    return replace(optimizer, of=of, wrt=wrt, scales=scales)


def _kept(refs: Iterable[TensorRef], gone: set[str]) -> tuple[TensorRef, ...]:
    return tuple(ref for ref in refs if ref.op not in gone)


def _still(edge: Edge, document: Document, gone: set[str]) -> bool:
    source = carried_by(document.graph, edge)
    return edge.op not in gone and source is not None and source.op not in gone


__all__ = [
    "add_operation",
    "clear_override",
    "connect",
    "disconnect",
    "duplicate_operations",
    "move",
    "remove_code",
    "remove_operations",
    "rename_operation",
    "set_attr",
    "set_breakpoints",
    "set_code",
    "set_feed",
    "set_initial",
    "set_note",
    "set_optimizers",
    "set_override",
    "set_request",
    "to_pyfunc",
    "toggle_breakpoint",
    "toggle_override",
    "toggle_stop",
]
