"""The values at which gradients are looked at without a debugger: the first run's, or given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradstep.core.autodiff.recognition.recognised_gradients import answer_request
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.document.requests import every_request, main_request, requests
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.device_transfer import get
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.program.gradient_context import Situation
from gradstep.core.program.questions.loaded_document import Loaded, start


def situation(loaded: Loaded, backend: Backend) -> Situation:
    """The document's main request at its feeds and its variables' first values. Raises
    GradstepError."""
    graph = with_placeholders(loaded.document).graph
    return situation_at(loaded, start(loaded, graph, backend, loaded.initial()).store)


def situation_at(loaded: Loaded, store: VariableStore) -> Situation:
    """The document's main request at its feeds and the values of variables in `store`."""
    document = with_placeholders(loaded.document)
    values = variable_values(document.graph, store)
    given = {**loaded.feeds(), **{TensorRef(name): value for name, value in values.items()}}
    here = Situation(document.graph, GradientRequest(), loaded.of_kind(CodeKind.GRADIENT), given)
    return with_request(here, document, main_request(document))


def variable_values(graph: Graph, store: VariableStore) -> dict[str, np.ndarray]:
    """The values of the graph's variables by name, on the host; of those that have one."""
    held = {op.name: store.get(storage_name(op)) for op in graph if op.type in VARIABLES}
    return {name: get(store.backend, value) for name, value in held.items() if value is not None}


def situations(here: Situation, document: Document) -> list[Situation]:
    """The same for everything that the document differentiates, the main request first."""
    others = [each for each in every_request(document) if each != here.request]
    return [here, *(with_request(here, document, request) for request in others)]


def with_request(here: Situation, document: Document, request: GradientRequest) -> Situation:
    """The same for another request of the document."""
    return replace(here, request=request, imported=held(document, request))


def held(document: Document, request: GradientRequest) -> Differentiation | None:
    """The graph's own answer to a request; None where Gradstep is to give it. Raises
    GradstepError."""
    if any(request.of == each.of for each in requests(document)):
        return None
    one = next((one for one in document.imported if one.request == request), None)
    return None if one is None else answer_request(document.graph, one)
