"""Edits of what a document asks for: gradients, overrides, stops, optimizers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    Override,
    OverrideKind,
    native_name,
)
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.requests import requests
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import anywhere, tensor_carried
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.ops.typing.flatten_loops import original_edge


def set_request(
    document: Document,
    of: Sequence[str],
    wrt: Sequence[str],
    grad_ys: Sequence[str | None] | None = None,
    unconnected_zero: bool | None = None,
    gate: bool | None = None,
) -> Document:
    """Ask for other gradients; stops and overrides stay, and so does what is not given. What is
    named twice in `wrt` is asked for once.

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
        wrt=tuple(dict.fromkeys(_there(document, n) for n in wrt)),
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
    edge = original_edge(document.graph, edge)
    if tensor_carried(document.graph, edge) is None:
        raise GradstepError("this input carries no wire", kind="ValueError", node=edge.op)
    request = asking(document)
    return replace(document, request=replace(request, stopped_edges=request.stopped_edges ^ {edge}))


def asking(document: Document) -> GradientRequest:
    """The document's request, with something to bend: where nothing is asked for, but the graph has
    gradients of its own, these are derived anew. In the graph they are as they are."""
    if requests(document) or not document.imported:
        return document.request
    held = document.imported[0]
    return replace(document.request, of=held.of, wrt=held.wrt, grad_ys=held.grad_ys)


def set_override(document: Document, override: Override) -> Document:
    """Override a gradient; an override of the same target is replaced."""
    others = [o for o in document.request.overrides if _target(o) != _target(override)]
    bent = replace(document, request=asking(document))
    return _with_overrides(bent, (*others, override))


def use_native(document: Document, name: str) -> Document:
    """Give an operation the gradient of its type: overrides of it are off, and what its graph asks
    for besides (`_gradient_op_type`) is overridden."""
    op, request = anywhere(document.graph, name), document.request
    overrides = (
        replace(one, enabled=one.enabled and not one.matches(op)) for one in request.overrides
    )
    plain = _with_overrides(document, tuple(overrides))
    if op.gradient_op_type in (None, native_name(op)):
        return plain
    return set_override(plain, Override(native_name(op), name, OverrideKind.OP))


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


def _target(override: Override) -> tuple[OverrideKind, str]:
    return override.kind, override.target


def _with_overrides(document: Document, overrides: tuple[Override, ...]) -> Document:
    return replace(document, request=replace(document.request, overrides=overrides))
