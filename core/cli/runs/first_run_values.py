"""Where gradients are looked at from the command line: at the document's first run."""

from __future__ import annotations

from dataclasses import replace

from gradstep.core.autodiff.recognition.recognised_gradients import answer_request
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.cli.arguments.document_session import Loaded, start
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.requests import every_request, main_request, requests
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.program.gradient_context import Situation


def situation(loaded: Loaded, backend: Backend) -> Situation:
    """The document's main request at its feeds and its variables' first values. Raises
    GradstepError."""
    document = loaded.document
    store = start(loaded, document.graph, backend, loaded.initial()).store
    given = dict(loaded.feeds())
    for op in document.graph:
        value = store.get(storage_name(op)) if op.type in VARIABLES else None
        if value is not None:
            given[op.output()] = backend.get(value)
    here = Situation(document.graph, GradientRequest(), loaded.of_kind(CodeKind.GRADIENT), given)
    return asking(here, document, main_request(document))


def situations(here: Situation, document: Document) -> list[Situation]:
    """The same for everything that the document differentiates, the main request first."""
    others = [each for each in every_request(document) if each != here.request]
    return [here, *(asking(here, document, request) for request in others)]


def asking(here: Situation, document: Document, request: GradientRequest) -> Situation:
    """The same for another request of the document."""
    return replace(here, request=request, imported=held(document, request))


def held(document: Document, request: GradientRequest) -> Differentiation | None:
    """The graph's own answer to a request; None where Gradstep is to give it. Raises
    GradstepError."""
    if any(request.of == each.of for each in requests(document)):
        return None
    one = next((one for one in document.imported if one.request == request), None)
    return None if one is None else answer_request(document.graph, one)
