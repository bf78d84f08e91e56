"""Running derived graphs beside the debug session: for gradient checks and explanations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gradstep.core.engine.calls.op_evaluation import Functions
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.state.print_output import nowhere, printing_to


class Evaluator:
    """`evaluate` as gradstep.core.autodiff.check.finite_differences wants it: graph, fetches and
    values in, values out.

    A value given for a variable is what it holds when the run starts, so that graphs which
    update variables mean the same here; every other value is fed. `before` is called before
    each run, to count it.
    """

    def __init__(self, functions: Functions, before: Callable[[], None] = lambda: None) -> None:
        self._functions = functions
        self._before = before
        self._graph: Graph | None = None
        self._session: Session | None = None

    def __call__(
        self, graph: Graph, fetches: Sequence[TensorRef], given: Mapping[TensorRef, np.ndarray]
    ) -> list[np.ndarray | None]:
        self._before()
        session = self._session_of(graph)
        feeds: dict[TensorRef, np.ndarray] = {}
        for ref, value in given.items():
            if ref.op not in graph:
                continue
            op = graph[ref.op]
            if op.type in VARIABLES:
                session.store.set(storage_name(op), session.backend.put(value))
            else:
                feeds[ref] = value
        with printing_to(nowhere):  # a check runs the graph hundreds of times
            return session.values(fetches, feeds)

    def _session_of(self, graph: Graph) -> Session:
        """Numeric gradients run one graph many times: the last one stays compiled."""
        if self._session is None or self._graph is not graph:
            self._graph, self._session = graph, Session(graph, functions=self._functions)
        return self._session
