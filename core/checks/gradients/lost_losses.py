"""A loss that is NaN or infinite, of which nothing can be checked, and what made it so first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.autodiff.check.frozen_values import evaluate_alive
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import LostLoss


def lost_losses(evaluate: Evaluator, here: Situation) -> list[LostLoss]:
    """Of what is differentiated, each tensor with an element that is no finite number."""
    graph = here.needed(here.request)
    of = list(dict.fromkeys(here.request.of))
    values = evaluate_alive(evaluate, graph, of, here.given)
    kinds = {ref: _kind(value) for ref, value in values.items()}
    return [_lost(evaluate, here, graph, ref, kind) for ref, kind in kinds.items() if kind]


def _lost(
    evaluate: Evaluator, here: Situation, graph: Graph, loss: TensorRef, kind: str
) -> LostLoss:
    """From the loss back, along what is of its kind, to what makes it of what is not."""
    needed = graph.ancestors([loss.op])
    before = Graph.of(op for op in graph if op.name in needed)
    refs = [
        ref for ref, type_ in infer_declared(before).types.items()
        if type_.dtype.is_floating and not type_.ref
    ]  # fmt: skip
    values = evaluate_alive(evaluate, before, refs, here.given)
    first = loss
    while (worse := _bad_input(before, first, values, kind)) is not None:
        first = worse
    op = before[first.op]
    wrt = [ref.short for ref in here.request.wrt]
    return LostLoss(name=loss.short, kind=kind, node=op.name, type=op.type, wrt=wrt)


def _bad_input(
    graph: Graph, ref: TensorRef, values: Mapping[TensorRef, np.ndarray], kind: str
) -> TensorRef | None:
    there = (x for x in graph[ref.op].inputs if x is not None and x in values)
    return next((x for x in there if _is_bad(values[x], kind)), None)


def _kind(value: np.ndarray) -> str:
    """ "" for what is finite."""
    return next((kind for kind in ("NaN", "infinite") if _is_bad(value, kind)), "")


def _is_bad(value: np.ndarray, kind: str) -> bool:
    if kind_of(value.dtype) not in "fc":
        return False
    return bool((np.isnan(value) if kind == "NaN" else np.isinf(value)).any())
