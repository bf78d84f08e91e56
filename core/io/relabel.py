"""Carrying a renamed operation through everything in a document that mentions it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.autodiff.recognition.imported import ImportedGradients
from core.autodiff.request import GradientRequest, OverrideKind
from core.debug.breakpoints import Breakpoint
from core.debug.mentions import renamed
from core.graph.model import Edge, TensorRef
from core.io.document import Document, Optimizer, View
from core.io.expectation import Expectation, ExpectationKind, Variation
from core.io.threads import relabelled_thread


def relabelled(document: Document, name_of: Callable[[str], str]) -> Document:
    """Everything outside the graph, with operation names put through `name_of`."""
    request = document.request
    return replace(
        document,
        request=_relabelled_request(request, name_of),
        imported=tuple(_relabelled_imported(one, name_of) for one in document.imported),
        optimizers=tuple(_relabelled_optimizer(o, name_of) for o in document.optimizers),
        initial={name_of(k): v for k, v in document.initial.items()},
        feeds={str(_ref(TensorRef.parse(k), name_of)): v for k, v in document.feeds.items()},
        breakpoints=tuple(_relabelled_breakpoint(b, name_of) for b in document.breakpoints),
        init=name_of(document.init),
        fetches=tuple(_ref(r, name_of) for r in document.fetches),
        targets=tuple(name_of(t) for t in document.targets),
        threads=tuple(relabelled_thread(t, name_of) for t in document.threads),
        expectations=tuple(_relabelled_expectation(e, name_of) for e in document.expectations),
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


def _relabelled_imported(
    one: ImportedGradients, name_of: Callable[[str], str]
) -> ImportedGradients:
    of, wrt = (tuple(_ref(r, name_of) for r in refs) for refs in (one.of, one.wrt))
    return replace(one, of=of, wrt=wrt, grad_ys=tuple(r and _ref(r, name_of) for r in one.grad_ys))


def _relabelled_optimizer(optimizer: Optimizer, name_of: Callable[[str], str]) -> Optimizer:
    return replace(
        optimizer,
        of=tuple(_ref(r, name_of) for r in optimizer.of),
        wrt=tuple(_ref(r, name_of) for r in optimizer.wrt),
        scales={name_of(name): scale for name, scale in optimizer.scales.items()},
    )


def _relabelled_breakpoint(b: Breakpoint, name_of: Callable[[str], str]) -> Breakpoint:
    return replace(b, target=name_of(b.target), condition=renamed(b.condition, name_of))


def _relabelled_expectation(e: Expectation, name_of: Callable[[str], str]) -> Expectation:
    names_node = e.kind is ExpectationKind.FAILS
    return replace(
        e,
        what=name_of(e.what) if names_node else renamed(e.what, name_of),
        other=renamed(e.other, name_of),
        when=_relabelled_variation(e.when, name_of),
    )


def _relabelled_variation(v: Variation, name_of: Callable[[str], str]) -> Variation:
    return replace(
        v,
        feeds={str(_ref(TensorRef.parse(k), name_of)): value for k, value in v.feeds.items()},
        initial={name_of(k): value for k, value in v.initial.items()},
        of=tuple(_ref(r, name_of) for r in v.of),
        wrt=tuple(_ref(r, name_of) for r in v.wrt),
        fetches=tuple(_ref(r, name_of) for r in v.fetches),
        targets=tuple(name_of(t) for t in v.targets),
    )


def _ref(ref: TensorRef, name_of: Callable[[str], str]) -> TensorRef:
    return TensorRef(name_of(ref.op), ref.index)
