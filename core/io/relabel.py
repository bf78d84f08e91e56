"""Carrying a renamed operation through everything in a document that mentions it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.autodiff.request import GradientRequest, OverrideKind
from core.graph.model import Edge, TensorRef
from core.io.document import Document, View


def relabelled(document: Document, name_of: Callable[[str], str]) -> Document:
    """Everything outside the graph, with operation names put through `name_of`."""
    request = document.request
    return replace(
        document,
        request=_relabelled_request(request, name_of),
        initial={name_of(k): v for k, v in document.initial.items()},
        feeds={str(_ref(TensorRef.parse(k), name_of)): v for k, v in document.feeds.items()},
        breakpoints=tuple(replace(b, target=name_of(b.target)) for b in document.breakpoints),
        init=name_of(document.init),
        fetches=tuple(_ref(r, name_of) for r in document.fetches),
        targets=tuple(name_of(t) for t in document.targets),
        view=View(
            {name_of(k): v for k, v in document.view.positions.items()}, document.view.collapsed
        ),
    )


def _relabelled_request(request: GradientRequest, name_of: Callable[[str], str]) -> GradientRequest:
    return replace(
        request,
        of=tuple(_ref(r, name_of) for r in request.of),
        wrt=tuple(_ref(r, name_of) for r in request.wrt),
        grad_ys=tuple(r and _ref(r, name_of) for r in request.grad_ys),
        stops=frozenset(_ref(r, name_of) for r in request.stops),
        stopped_edges=frozenset(Edge(name_of(e.op), e.index) for e in request.stopped_edges),
        overrides=tuple(
            replace(o, target=name_of(o.target)) if o.kind is OverrideKind.OP else o
            for o in request.overrides
        ),
    )


def _ref(ref: TensorRef, name_of: Callable[[str], str]) -> TensorRef:
    return TensorRef(name_of(ref.op), ref.index)
