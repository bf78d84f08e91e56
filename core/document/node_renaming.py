"""Carrying a renamed operation through everything in a document that mentions it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, TypeVar

from gradstep.core.autodiff.recognition.answered_request import ImportedGradients
from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    Override,
    OverrideKind,
)
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.expression_names import rename_operations
from gradstep.core.debug.breaks.log_text import map_expressions
from gradstep.core.debug.history.recorded_run import relabel_recorded
from gradstep.core.document.dataset import relabel_dataset
from gradstep.core.document.document import Document, Optimizer, View
from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.document.kept_branch import relabel_branch
from gradstep.core.document.node_positions import Positions, renamed
from gradstep.core.document.queue_threads import relabel_thread
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.graph.other_keys import with_other_keys

Names = Callable[[str], str]
_T = TypeVar("_T")
_OP = attrgetter("op")


def _same(name: str) -> str:
    return name


def rename_node(
    document: Document, name_of: Names, scope_of: Names = _same, names: Collection[str] = ()
) -> Document:
    """Everything outside the graph, with operation names put through `name_of`, and those of
    scopes through `scope_of`. names: the only ones that become others, if it is known."""
    request, view, breakpoints = document.request, document.view, document.breakpoints
    places = _replaced(view.positions, lambda k: _place_of(k, name_of, scope_of), names)
    collapsed = _kept(view.collapsed, frozenset(map(scope_of, view.collapsed)))
    made = dict[str, Any](
        request=_relabelled_request(request, name_of, scope_of, names),
        imported=tuple(_relabelled_imported(one, name_of, scope_of) for one in document.imported),
        optimizers=tuple(_relabelled_optimizer(o, name_of) for o in document.optimizers),
        initial=_rekeyed(document.initial, name_of, names),
        feeds={str(_ref(TensorRef.parse(k), name_of)): v for k, v in document.feeds.items()},
        data=document.data and relabel_dataset(document.data, name_of),
        breakpoints=tuple(_relabelled_breakpoint(b, name_of, scope_of) for b in breakpoints),
        watches=tuple(rename_operations(text, name_of) for text in document.watches),
        init=name_of(document.init),
        fetches=_renamed(document.fetches, name_of),
        targets=tuple(name_of(t) for t in document.targets),
        threads=tuple(relabel_thread(t, name_of) for t in document.threads),
        expectations=tuple(_relabelled_expectation(e, name_of) for e in document.expectations),
        recorded=relabel_recorded(document.recorded, name_of),
        branches=tuple(relabel_branch(branch, name_of) for branch in document.branches),
        view=view if places is view.positions and collapsed is view.collapsed
        else View(places, collapsed),
    )  # fmt: skip
    others = {name: part for name, part in made.items() if part != getattr(document, name)}
    return replace(document, **others) if others else document


def _kept(old: _T, new: _T) -> _T:
    """The very same where nobody can tell the two apart."""
    return old if new == old else new


def _rekeyed(mapping: Mapping[str, _T], key_of: Names, names: Collection[str]) -> Mapping[str, _T]:
    """By other keys; the very same where they are known to stay."""
    if not names:
        return {key_of(key): value for key, value in mapping.items()}
    if mapping.keys().isdisjoint(names):
        return mapping
    return with_other_keys(mapping, {name: key_of(name) for name in names if name in mapping})


def _replaced(positions: Positions, key_of: Names, names: Collection[str]) -> Positions:
    """The same of where nodes stand."""
    if not names or positions.keys().isdisjoint(names):
        return _rekeyed(positions, key_of, names)
    return renamed(positions, {name: key_of(name) for name in names if name in positions})


def _renamed(
    refs: tuple[TensorRef, ...], name_of: Names, names: Collection[str] = ()
) -> tuple[TensorRef, ...]:
    """The very same where none gets another name."""
    if names and not any(map(names.__contains__, map(_OP, refs))):
        return refs
    if all(name_of(ref.op) == ref.op for ref in refs):
        return refs
    return tuple([_ref(ref, name_of) for ref in refs])


def _place_of(key: str, name_of: Names, scope_of: Names) -> str:
    """Places are kept by the names of operations, and of scopes with a slash behind."""
    return f"{scope_of(key[:-1])}/" if key.endswith("/") else name_of(key)


def _relabelled_request(
    request: GradientRequest, name_of: Names, scope_of: Names, names: Collection[str]
) -> GradientRequest:
    change = {OverrideKind.OP: name_of, OverrideKind.SCOPE: scope_of}

    def target_of(one: Override) -> str:
        old = one.target_name
        new = change.get(one.kind, _same)(old)
        return one.target if new == old else new

    return replace(
        request,
        of=_renamed(request.of, name_of, names),
        wrt=_renamed(request.wrt, name_of, names),
        grad_ys=tuple(r and _ref(r, name_of) for r in request.grad_ys),
        stops=frozenset(_ref(r, name_of) for r in request.stops),
        stopped_edges=frozenset(Edge(name_of(e.op), e.index) for e in request.stopped_edges),
        overrides=tuple(replace(o, target=target_of(o)) for o in request.overrides),
    )


def _relabelled_imported(
    one: ImportedGradients, name_of: Names, scope_of: Names
) -> ImportedGradients:
    of, wrt = (tuple(_ref(r, name_of) for r in refs) for refs in (one.of, one.wrt))
    starts = tuple(r and _ref(r, name_of) for r in one.grad_ys)
    return replace(one, scope=scope_of(one.scope), of=of, wrt=wrt, grad_ys=starts)


def _relabelled_optimizer(optimizer: Optimizer, name_of: Names) -> Optimizer:
    return replace(
        optimizer,
        of=tuple(_ref(r, name_of) for r in optimizer.of),
        wrt=tuple(_ref(r, name_of) for r in optimizer.wrt),
        scales={name_of(name): scale for name, scale in optimizer.scales.items()},
    )


def _relabelled_breakpoint(b: Breakpoint, name_of: Names, scope_of: Names) -> Breakpoint:
    kind = BreakpointKind
    named = dict.fromkeys((kind.OP, kind.GRADIENT, kind.WRITE), name_of)
    change = {**named, kind.SCOPE: scope_of}.get(b.kind, _same)
    return replace(
        b,
        target=change(b.target),
        condition=rename_operations(b.condition, name_of),
        exempt=frozenset(map(name_of, b.exempt)),
        log=map_expressions(b.log, lambda text: rename_operations(text, name_of)),
    )


def _relabelled_expectation(e: Expectation, name_of: Names) -> Expectation:
    names_node = e.kind is ExpectationKind.FAILS
    return replace(
        e,
        what=name_of(e.what) if names_node else rename_operations(e.what, name_of),
        other=rename_operations(e.other, name_of),
        when=_relabelled_variation(e.when, name_of),
    )


def _relabelled_variation(v: Variation, name_of: Names) -> Variation:
    return replace(
        v,
        feeds={str(_ref(TensorRef.parse(k), name_of)): value for k, value in v.feeds.items()},
        initial={name_of(k): value for k, value in v.initial.items()},
        of=tuple(_ref(r, name_of) for r in v.of),
        wrt=tuple(_ref(r, name_of) for r in v.wrt),
        fetches=tuple(_ref(r, name_of) for r in v.fetches),
        targets=tuple(name_of(t) for t in v.targets),
    )


def _ref(ref: TensorRef, name_of: Names) -> TensorRef:
    return TensorRef(name_of(ref.op), ref.index)
