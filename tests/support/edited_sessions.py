"""What a debug session shows of a program that was edited under it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.backend import Backend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph
from gradstep.core.ops.typing.inference import infer_declared
from tests.support.edited_graphs import edited
from tests.support.layouts import Case, bits


def assert_as_new(case: Case, data: st.DataObject, backend: Callable[[], Backend | None]) -> None:
    """A session that takes over what it can from the one before an edit shows what a new one
    shows. backend: makes the device that a session is on."""
    graph, there = case.graph, backend()
    session = DebugSession(_program(case, graph), there)
    for _ in range(data.draw(st.integers(1, 3))):
        if session.plan.steps and data.draw(st.booleans()):
            session.continue_()
        graph = edited(graph, {ref.op for ref in case.feeds}, data.draw)
        try:
            anew = DebugSession(_program(case, graph), backend())
        except GradstepError:
            return  # a cycle, an initial value that does not fit any more
        session = DebugSession(_program(case, graph), there, before=session)
    assert [str(s.op) for s in session.plan.steps] == [str(s.op) for s in anew.plan.steps]
    if session.plan.steps:
        assert set(session.plan.tensors) == set(anew.plan.tensors)
        assert shown(session) == shown(anew)


def shown(session: DebugSession) -> Any:
    """Every tensor at every step of two runs, forward, and of the first when gone back to."""
    seen = []
    while session.stop.run < 2 and session.stop.error is None and "step_into" in session.stop.legal:
        seen.append((session.stop.reason, session.stop.op, str(session.stop.error)))
        session.step_into()
    refs = sorted(session.plan.tensors, key=str)
    for run in range(session.timeline.runs):
        for step in range(session.timeline.length + 1):
            values = [session.frame(run, step).value(ref) for ref in refs[:: 1 + len(refs) // 8]]
            seen.append([None if x is None else bits(x) for x in values])
    return seen


def _program(case: Case, graph: Graph) -> Program:
    known = infer_declared(graph).types
    return Program(
        graph=graph,
        forward=graph,
        fetches=tuple(ref for ref in case.fetches if ref in known),
        targets=tuple(name for name in case.targets if name in graph),
        feeds=case.feeds,
        initial={name: x for name, x in case.initial.items() if name in graph},
        functions=case.functions,
    )
