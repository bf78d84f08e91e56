"""A session that takes over what it can from the one before an edit shows what a new one shows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph
from gradstep.core.ops.typing.inference import infer_declared
from tests.support.edited_graphs import edited
from tests.support.layouts import Case, bits
from tests.support.random_programs import programs


def program(case: Case, graph: Graph) -> Program:
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


@given(programs(), st.data())
@pytest.mark.slow
def test_every_frame_is_that_of_a_new_session(case: Case, data: st.DataObject) -> None:
    graph = case.graph
    session = DebugSession(program(case, graph))
    for _ in range(data.draw(st.integers(1, 3))):
        if session.plan.steps and data.draw(st.booleans()):
            session.continue_()
        graph = edited(graph, {ref.op for ref in case.feeds}, data.draw)
        try:
            anew = DebugSession(program(case, graph))
        except GradstepError:
            return  # a cycle, an initial value that does not fit any more
        session = DebugSession(program(case, graph), before=session)
    assert [str(s.op) for s in session.plan.steps] == [str(s.op) for s in anew.plan.steps]
    if session.plan.steps:
        assert set(session.plan.tensors) == set(anew.plan.tensors)
        assert shown(session) == shown(anew)
