"""Where gradients are looked at: the graph, the question, and the values there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.autodiff.request import GradientRequest
from core.autodiff.rules import GradientFunction
from core.graph.model import Graph, TensorRef


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
