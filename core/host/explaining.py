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
from core.autodiff.walking import forward_path
from core.errors import GradstepError
from core.graph.dtypes import DType
from core.graph.loop import loops_around
from core.graph.model import Graph, TensorRef
from core.graph.problems import Problem
from core.host.evaluator import Evaluator
from core.host.messages import Explanation
from core.host.situation import Situation
from core.ops.broken import broken_operations
from core.ops.infer import declared


def explanation(evaluate: Evaluator, here: Situation, of: str, wrt: str) -> Explanation:
    """Why d(of)/d(wrt) is as it is. Raises GradstepError for a wrong name, and for an operation
    whose gradient cannot be derived."""
    y, x = TensorRef.parse(of), TensorRef.parse(wrt)
    request = replace(here.request, of=(y,), wrt=(x,))
    graph = here.needed(request)
    broken = broken_operations(graph, declared(graph))
    if problem := broken.get(y.op) or broken.get(x.op):
        return _not_derived(graph, y, x, problem)
    derived = _held(here, y, x) or differentiate(graph, request, here.functions)
    try:
        values, failed = _values(evaluate, here, derived, x), ""
    except GradstepError as error:
        values, failed = {}, _said(error)
    inside = partial(first_broken, evaluate, derived.graph, here.given)
    found = explain(graph, request, derived, y, x, values.get, inside)
    return Explanation(
        state=found.state,
        cause=found.cause,
        node=found.node,
        index=None if found.index is None else list(found.index),
        path=list(found.path),
        text=found.text + failed,
    )


def _held(here: Situation, y: TensorRef, x: TensorRef) -> Differentiation | None:
    """What the graph has itself for d(y)/d(x): the gradient, or that there is none."""
    held = here.imported
    known = held is not None and held.of == (y,) and (x in held.gradients or x in held.request.wrt)
    return held if known else None


def _said(error: GradstepError) -> str:
    """Why there are no values to look at."""
    place = f" (at {error.node})" if error.node and error.node not in error.message else ""
    way = f"; {error.hint}" if error.hint else ""
    return f" That fails: {error.message}{place}{way}."


def _not_derived(graph: Graph, y: TensorRef, x: TensorRef, problem: Problem) -> Explanation:
    """There is no gradient as long as an operation on the way cannot run."""
    at = next(iter(loops_around(graph, problem.node)), problem.node)
    text = f"d {y.short} / d {x.short} cannot be derived because of {problem.node}: {problem.text}"
    return Explanation(
        state="none",
        cause="broken",
        node=problem.node,
        index=None,
        path=list(forward_path(graph, at, y.op)),
        text=f"{text}. To go on, {problem.fix}." if problem.fix else f"{text}.",
    )


def _values(
    evaluate: Evaluator, here: Situation, derived: Differentiation, x: TensorRef
) -> Mapping[TensorRef, np.ndarray]:
    """Everything that the gradient is made of; empty when there is none. Raises GradstepError where
    the run fails."""
    if x not in derived.gradients:
        return {}
    names = derived.graph.ancestors([derived.gradients[x].op])
    types = declared(derived.graph).types
    refs = [r for r, kind in types.items() if r.op in names and kind.dtype is not DType.RESOURCE]
    return alive(evaluate, derived.graph, refs, here.given)
