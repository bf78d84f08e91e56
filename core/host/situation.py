"""Where gradients are looked at: the graph, the question, and the values there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.autodiff.request import GradientRequest
from core.autodiff.rules import GradientFunction
from core.debug.session import DebugSession
from core.graph.model import Graph, TensorRef
from core.ops.variable import VARIABLES


@dataclass(frozen=True, eq=False)
class Situation:
    """Where gradients are looked at: the forward graph, what is asked of it, and the values of
    its variables and feeds there. functions: custom gradients by name."""

    graph: Graph
    request: GradientRequest
    functions: Mapping[str, GradientFunction]
    given: Mapping[TensorRef, np.ndarray]

    def needed(self, request: GradientRequest) -> Graph:
        """The part of the graph that `request` is about. Raises GradstepError for a wrong name."""
        ends = [self.graph[ref.op].name for ref in (*request.of, *request.wrt)]
        names = self.graph.ancestors(ends)
        return Graph.of(op for op in self.graph if op.name in names)


def situation_of(session: DebugSession, functions: Mapping[str, GradientFunction]) -> Situation:
    """As of the session's current run: at the variables that it started with. functions: custom
    gradients by name."""
    program, start = session.program, session.frame(session.stop.run, 0)
    variables = [op.output() for op in program.forward if op.type in VARIABLES]
    values = {ref: value for ref in variables if (value := start.value(ref)) is not None}
    return Situation(program.forward, program.request, functions, {**program.feeds, **values})
