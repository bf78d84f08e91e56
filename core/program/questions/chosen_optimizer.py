"""Training a document by one optimizer that is named beside it, in the place of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.request_edits import set_optimizers
from gradstep.core.document.requests import main_request
from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.optimizer_table import UPDATES
from gradstep.core.program.questions.gradient_query import named_tensor
from gradstep.core.train.optimizer_text import require_hyper


def train_by(
    document: Document, type: str, hyper: Mapping[str, Any], of: Sequence[str] = ()
) -> Document:
    """The document with this optimizer and no other. of: what it minimizes; () for what the
    document differentiates. Raises GradstepError for an optimizer, a hyper-parameter or a tensor
    that there is not, where there is nothing to minimize, and where the graph itself holds updates
    that every run makes besides."""
    numbers = require_hyper(type, hyper)
    own = _own_update(document)
    if own is not None:
        raise GradstepError(
            f"the graph updates its variables itself, by '{own}' in every run",
            kind="ValueError",
            node=own,
            hint="leave the optimizer away, or take what runs it out of what the document runs",
        )
    minimized = tuple(named_tensor(document.graph, name) for name in of)
    if not minimized and not document.request.of:
        minimized = main_request(document).of
    if not minimized and not document.request.of:
        raise GradstepError(
            "the document does not say what is minimized",
            kind="ValueError",
            hint="name the loss, by --of or of=",
        )
    return set_optimizers(document, [Optimizer(type, numbers, of=minimized)])


def _own_update(document: Document) -> str | None:
    """An operation of the graph that trains, and that every run does; None for none."""
    graph = document.graph
    run = [*document.targets, *(ref.op for ref in document.fetches)]
    there = graph.ancestors(name for name in run if name in graph)
    return next((n for n in graph.order if n in there and graph[n].type.startswith(UPDATES)), None)
