"""The context of a question about gradients: the graph, what was asked, and the values there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.variable import VARIABLES


@dataclass(frozen=True, eq=False)
class Situation:
    """Where gradients are looked at: the forward graph, what is asked of it, and the values of
    its variables and feeds there. functions: custom gradients by name. imported: the answer that
    the graph has itself, where it is asked for no other."""

    graph: Graph
    request: GradientRequest
    functions: Mapping[str, GradientFunction]
    given: Mapping[TensorRef, np.ndarray]
    imported: Differentiation | None = None

    def needed(self, request: GradientRequest) -> Graph:
        """The part of the graph that `request` is about. Raises GradstepError for a wrong name."""
        starts = filter(None, request.grad_ys)
        ends = [self.graph[ref.op].name for ref in (*request.of, *request.wrt, *starts)]
        return _around(self.graph, ends)

    def each(self, derived: Iterable[Differentiation]) -> Iterator[Situation]:
        """The same for everything that was differentiated, once: what the graph has answered itself
        only where it is not derived anew."""
        asked: set[tuple[TensorRef, ...]] = set()
        for one in derived:
            if one.of not in asked:
                asked.add(one.of)
                yield replace(self, request=one.request, imported=one if one.imported else None)

    def held(self, y: TensorRef, x: TensorRef) -> Differentiation | None:
        """What the graph has itself for d(y)/d(x): the gradient, or that there is none."""
        own = self.imported
        known = own is not None and own.of == (y,) and (x in own.gradients or x in own.request.wrt)
        return own if known else None

    @property
    def differentiated(self) -> Graph:
        """The part of the graph with its own answer, too. Raises GradstepError for a wrong name."""
        if self.imported is None:
            return self.needed(self.request)
        held = {ref.op for ref in self.imported.gradients.values()}
        held |= {ref.op for ref in self.imported.edges.values()}
        graph = self.imported.graph
        ends = (*self.request.of, *self.request.wrt)
        return _around(graph, [*(ref.op for ref in ends), *(n for n in held if n in graph)])


def situation_of(session: DebugSession, functions: Mapping[str, GradientFunction]) -> Situation:
    """As of the session's current run: at the variables that it started with. functions: custom
    gradients by name."""
    program, run = session.program, session.stop.run
    start, feeds = session.frame(run, 0), session.timeline.feeds_at(run)
    variables = [op.output() for op in program.forward if op.type in VARIABLES]
    given: dict[TensorRef, np.ndarray] = {**feeds}
    for ref in variables:
        check_cancelled()  # there may be tens of thousands
        value = start.value(ref)
        if value is not None:
            given[ref] = value
    return Situation(program.forward, program.request, functions, given)


def situation_about(
    session: DebugSession, functions: Mapping[str, GradientFunction], of: str
) -> Situation:
    """The same, with the answer that the graph itself has about `of`."""
    here, loss = situation_of(session, functions), (TensorRef.parse(of),)
    derived = session.program.derived
    asked = (one.imported for one in here.each(derived) if one.request.of == loss)
    return replace(here, imported=next(asked, None))


def _around(graph: Graph, ends: Iterable[str]) -> Graph:
    names = graph.ancestors(ends)
    return Graph.of(op for op in graph if op.name in names)
