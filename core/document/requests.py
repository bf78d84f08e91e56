"""What a document differentiates: its own request, and each further loss of its optimizers."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.variable import VARIABLES, is_trainable

_OP = itemgetter(0)  # of a TensorRef
_TRAINABLE = "trainable"  # kept with the graph,
_REQUESTS, _TRAINED = "requests", "trained"  # and with the document


def requests(document: Document) -> tuple[GradientRequest, ...]:
    """One for each thing that is differentiated, the document's own first; with respect to what
    it asks for and all that optimizers of the same loss train. Stops and overrides, which are
    drawn at wires and operations, hold for all of them."""
    if _REQUESTS not in document.__dict__:
        document.__dict__[_REQUESTS] = _requests(document)
    known: tuple[GradientRequest, ...] = document.__dict__[_REQUESTS]
    return known


def _requests(document: Document) -> tuple[GradientRequest, ...]:
    own = document.request
    wanted: dict[tuple[TensorRef, ...], list[TensorRef]] = {own.of: [*own.wrt]} if own.of else {}
    for optimizer in document.optimizers:
        of = loss_of(document, optimizer)
        if of:
            wanted.setdefault(of, []).extend(trained_variables(document, optimizer))
    return tuple(
        replace(own, of=of, wrt=tuple(dict.fromkeys(wrt)))
        if of == own.of
        else replace(own, of=of, wrt=tuple(dict.fromkeys(wrt)), grad_ys=())
        for of, wrt in wanted.items()
    )


def every_request(document: Document) -> tuple[GradientRequest, ...]:
    """`requests`, and what the graph itself has the gradients of, as it was imported."""
    asked = requests(document)
    known = {request.of for request in asked}
    held = [one.request for one in document.imported]
    return (*asked, *(request for request in held if request.of not in known))


def main_request(document: Document) -> GradientRequest:
    """The document's own as it stands; where that does not say enough, the first of them all."""
    own = document.request
    return own if own.of and own.wrt else next(iter(every_request(document)), own)


def whole_request(document: Document) -> GradientRequest:
    """All of them in one, for who only shows what is asked for; the document's own if that is
    all."""
    asked = every_request(document)
    if not asked or asked == (document.request,):
        return document.request
    of, wrt = ([ref for each in asked for ref in getattr(each, end)] for end in ("of", "wrt"))
    return replace(asked[0], of=tuple(dict.fromkeys(of)), wrt=tuple(dict.fromkeys(wrt)))


def loss_of(document: Document, optimizer: Optimizer) -> tuple[TensorRef, ...]:
    """What `optimizer` minimizes; () for nothing."""
    return optimizer.of or document.request.of


def minimized(document: Document) -> tuple[TensorRef, ...]:
    """What the optimizers minimize that are switched on, or else what is differentiated."""
    of = [ref for o in document.optimizers if o.enabled for ref in loss_of(document, o)]
    return tuple(dict.fromkeys(of)) or document.request.of


def trained_variables(document: Document, optimizer: Optimizer) -> tuple[TensorRef, ...]:
    """The variables of `optimizer`, whether or not they will have a gradient."""
    if optimizer.wrt:
        return optimizer.wrt
    if _TRAINED not in document.__dict__:
        document.__dict__[_TRAINED] = _asked_for(document) or trainable_variables(document.graph)
    known: tuple[TensorRef, ...] = document.__dict__[_TRAINED]
    return known


def _asked_for(document: Document) -> tuple[TensorRef, ...]:
    """The variables that gradients are asked for by."""
    wrt, by_type = document.request.wrt, document.graph.by_type
    variables = frozenset[str]().union(*(by_type.get(type, ()) for type in VARIABLES))
    if variables.issuperset(map(_OP, wrt)):
        return wrt  # nearly always so
    there = map(document.graph.operations.get, map(_OP, wrt))
    return tuple([r for r, op in zip(wrt, there, strict=True) if op and op.type in VARIABLES])


def trainable_variables(graph: Graph) -> tuple[TensorRef, ...]:
    """What an optimizer trains that is not told what."""
    if _TRAINABLE not in graph.__dict__:
        variables = map(graph.operations.__getitem__, graph.of_types(VARIABLES))
        found = tuple(op.output() for op in variables if is_trainable(op))
        graph.__dict__[_TRAINABLE] = found
    known: tuple[TensorRef, ...] = graph.__dict__[_TRAINABLE]
    return known
