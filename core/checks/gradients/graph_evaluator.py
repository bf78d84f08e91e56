"""Running derived graphs beside the debug session: for gradient checks and explanations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradstep.core.engine.calls.op_evaluation import Functions
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
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
        self._known: dict[Hashable, _Run] = {}  # of this graph
        self._held: dict[str, tuple[np.ndarray, Any]] = {}  # as it was given, and in the store

    def __call__(
        self, graph: Graph, fetches: Sequence[TensorRef], given: Mapping[TensorRef, np.ndarray]
    ) -> list[np.ndarray | None]:
        self._before()
        session, asked = self._session_of(graph), (tuple(fetches), tuple(given))
        run = self._known.get(asked)
        if run is None:
            run = self._known[asked] = _run_of(session, *asked)
        for ref, name in run.variables:
            self._hold(session.store, name, given[ref])
        with printing_to(nowhere):  # a check runs the graph hundreds of times
            return run.fed(map(given.__getitem__, run.feeds))

    def _hold(self, store: VariableStore, name: str, value: np.ndarray) -> None:
        """Let a run start with that. From one to the next a check moves one of many, and a store
        keeps another array for each that it is given, by the check or by the run."""
        given, kept = self._held.get(name, (None, None))
        if given is not value or store.get(name) is not kept:
            store.set(name, value)
            self._held[name] = value, store[name]

    def _session_of(self, graph: Graph) -> Session:
        """Numeric gradients run one graph many times: the last one stays compiled, and what is
        asked of it looked up."""
        if self._session is None or self._graph is not graph:
            self._graph, self._session = graph, Session(graph, functions=self._functions)
            self._known.clear()
            self._held.clear()
        return self._session


class _Run(NamedTuple):
    """What is asked for again and again. variables: of what is given, with their names in the
    store; feeds: the others that are in the graph; fed: gives the fetches for their values."""

    variables: Sequence[tuple[TensorRef, str]]
    feeds: Sequence[TensorRef]
    fed: Callable[[Iterable[np.ndarray]], list[np.ndarray | None]]


def _run_of(session: Session, fetches: Sequence[TensorRef], given: Sequence[TensorRef]) -> _Run:
    there = [(ref, session.graph[ref.op]) for ref in given if ref.op in session.graph]
    variables = [(ref, storage_name(op)) for ref, op in there if op.type in VARIABLES]
    feeds = [ref for ref, op in there if op.type not in VARIABLES]
    return _Run(variables, feeds, session.make_fed(fetches, feeds))
