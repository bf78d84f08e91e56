"""A run beside the debug session, for a question that the session's own runs do not answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import Functions
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.state.print_output import nowhere, printing_to


def scratch_session(
    graph: Graph,
    fetches: Iterable[TensorRef],
    given: Mapping[TensorRef, np.ndarray],
    functions: Functions,
    backend: Backend,
    start: Mapping[str, Any] = MappingProxyType({}),
) -> DebugSession:
    """A session of `graph` before its first run. given: what variables hold then, and what is fed;
    start: what is kept under the names of storages, on the backend: over that, and what counters of
    random draws stand at."""
    there = {ref: value for ref, value in given.items() if ref.op in graph}
    held = {ref for ref in there if graph[ref.op].type in VARIABLES}
    program = Program(
        graph,
        graph,
        fetches=tuple(fetches),
        feeds={ref: value for ref, value in there.items() if ref not in held},
        initial={graph[ref.op].name: there[ref] for ref in held},
        functions=functions,
    )
    session = DebugSession(program, backend)
    known = {n: x for n, x in start.items() if n in session.plan.versions and x is not None}
    if known:
        for name, array in known.items():
            session.timeline.start.set(name, array)
        session.restart()
    return session


def run_to_end(session: DebugSession) -> None:
    """Run it once. Raises GradstepError where the run fails, Cancelled where that is asked for."""
    with printing_to(nowhere):
        stop = session.go_on(session.timeline.length)
    if stop.error is not None:
        raise stop.error
