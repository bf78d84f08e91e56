"""Answering Why: the reason for one gradient, from the values that it is really made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from core.autodiff.differentiate import Differentiation, differentiate
from core.autodiff.explain import explain
from core.autodiff.held import alive
from core.autodiff.iterations import first_broken
from core.errors import GradstepError
from core.graph.dtypes import DType
from core.graph.model import TensorRef
from core.host.evaluator import Evaluator
from core.host.messages import Explanation
from core.host.situation import Situation
from core.ops.infer import declared


def explanation(evaluate: Evaluator, here: Situation, of: str, wrt: str) -> Explanation:
    """Why d(of)/d(wrt) is as it is. Raises GradstepError for a wrong name, or a gradient that
    cannot be derived."""
    y, x = TensorRef.parse(of), TensorRef.parse(wrt)
    request = replace(here.request, of=(y,), wrt=(x,))
    graph = here.needed(request)
    derived = differentiate(graph, request, here.functions)
    values = _values(evaluate, here, derived, x)
    inside = partial(first_broken, evaluate, derived.graph, here.given)
    found = explain(graph, request, derived, y, x, values.get, inside)
    return Explanation(
        state=found.state,
        cause=found.cause,
        node=found.node,
        index=None if found.index is None else list(found.index),
        path=list(found.path),
        text=found.text,
    )


def _values(
    evaluate: Evaluator, here: Situation, derived: Differentiation, x: TensorRef
) -> Mapping[TensorRef, np.ndarray]:
    """Everything that the gradient is made of; empty when there is none, or the run fails."""
    if x not in derived.gradients:
        return {}
    names = derived.graph.ancestors([derived.gradients[x].op])
    types = declared(derived.graph).types
    refs = [r for r, kind in types.items() if r.op in names and kind.dtype is not DType.RESOURCE]
    try:
        return alive(evaluate, derived.graph, refs, here.given)
    except GradstepError:
        return {}
