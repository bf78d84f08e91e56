"""The values of the gradients that are asked for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import CodeKind
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.program.questions.first_run_values import held
from gradstep.core.program.questions.loaded_document import Loaded

Gradients = Mapping[TensorRef, "np.ndarray | None"]
Rows = Mapping[TensorRef, tuple[np.ndarray, np.ndarray]]  # values, indices of IndexedSlices


def derive_requested(loaded: Loaded, request: GradientRequest) -> Differentiation:
    """The gradients of a request of the document, as operations: its graph's own where it holds
    them. Raises GradstepError for what has no gradient function."""
    own = held(loaded.document, request)
    functions = loaded.of_kind(CodeKind.GRADIENT)
    return own or differentiate(_needed(loaded, request), request, functions)


def gradient_values(
    loaded: Loaded, request: GradientRequest, derived: Differentiation, session: Session
) -> tuple[Gradients, Rows]:
    """The gradients as whole tensors, None where there is none, and the rows of those that
    TensorFlow gives as rows. session: of the derived graph. Raises GradstepError."""
    there = [ref for ref in request.wrt if ref in derived.gradients]
    sparse = [ref for ref in there if ref in derived.slices]
    wanted = [derived.gradients[ref] for ref in there]
    wanted += [t for r in sparse for t in (derived.slices[r].values, derived.slices[r].indices)]
    feeds = {ref: v for ref, v in loaded.feeds().items() if ref.op in derived.graph}
    values = session.run(wanted, feeds)
    found = dict(zip(there, values, strict=False))
    parts = iter(values[len(there) :])
    return {r: found.get(r) for r in request.wrt}, {r: (next(parts), next(parts)) for r in sparse}


def _needed(loaded: Loaded, request: GradientRequest) -> Graph:
    """The part of the graph that the request and the initialisation are about: what is wrong
    elsewhere does not matter. What is fed is not run, and need not be known."""
    graph = with_placeholders(loaded.document).graph
    ends = [ref.op for ref in (*request.of, *request.wrt, *filter(None, request.grad_ys))]
    names = graph.ancestors([*ends, *filter(None, [loaded.document.init])])
    # Variables that only `initial` names must be there to be initialised.
    return Graph.of(op for op in graph if op.name in names or op.name in loaded.document.initial)
