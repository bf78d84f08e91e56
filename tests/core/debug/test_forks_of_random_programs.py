"""Doing again what hangs on a value that is given shows what computing all of it anew shows: in
programs with conds, loops, random numbers, Python functions, steps that fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from tests.core.debug.test_loop_memory import random_program
from tests.core.debug.test_state_machine import same
from tests.support.drawn_share import share
from tests.support.layouts import Case
from tests.support.random_loops import SEEDS
from tests.support.random_programs import programs

RUNS = 3


def _run(session: DebugSession) -> None:
    """To the end of the last run, or to where a step fails."""
    while session.stop.run + 1 < RUNS or session.stop.step < session.timeline.length:
        if session.continue_().reason is Reason.EXCEPTION:
            break


def _given(session: DebugSession, data: st.DataObject) -> str:
    """Something that has a value where the session stands gets another one."""
    frame, plan = session.frame(), session.plan
    refs = [ref for op in plan.step_of for ref in (TensorRef(op), TensorRef(op, 1))]
    held = {ref: frame.value(ref) for ref in refs if ref in plan.tensors}
    there = [ref for ref, value in held.items() if value is not None and value.size]
    assume(there)
    ref = data.draw(st.sampled_from(there))
    value = np.array(held[ref])
    if value.dtype.hasobject:
        value = value[::-1] if value.ndim else value
    else:
        with np.errstate(all="ignore"):
            other = np.ones_like(value) if data.draw(st.booleans()) else value + value
        value = other.astype(value.dtype)
    refused: GradstepError | None = None
    try:
        session.inject({ref.short: value})
    except GradstepError as error:
        refused = error
    assert refused is None or refused.hint  # what cannot be given says what can be done
    assume(refused is None)
    return ref.short


def _seen(session: DebugSession) -> list[tuple[int, int, dict[TensorRef, Any]]]:
    """Every tensor, in the middle and at the end of each run."""
    found = []
    timeline, refs = session.timeline, [TensorRef(op) for op in session.program.graph.operations]
    for run in range(timeline.first, timeline.runs):
        for step in {timeline.done(run) // 2, timeline.done(run)}:
            frame = session.frame(run, step)
            found.append((run, step, {ref: frame.value(ref) for ref in refs}))
    return found


def _hold_to_fresh(program: Program, data: st.DataObject) -> None:
    session = DebugSession(program)
    assume(session.plan.steps)
    _run(session)
    run = data.draw(st.integers(0, session.stop.run))
    session.run_to(f"{run}:{data.draw(st.integers(0, session.timeline.done(run)))}")
    before = _seen(session)
    given = _given(session, data)
    _run(session)
    branch = _seen(session)
    session.switch_branch("main")
    assert _differing(before, _seen(session)) == []
    session.timeline.parked.by_name.clear()  # of b1 nothing is known but what was given
    session.switch_branch("b1")
    assert session.timeline.runs == max(run for run, _, _ in branch) + 1
    _run(session)
    assert _differing(branch, _seen(session)) == [], given


def _differing(left: Any, right: Any) -> list[tuple[int, int, str]]:
    assert [row[:2] for row in left] == [row[:2] for row in right]
    return [
        (run, step, ref.short)
        for (run, step, one), (_, _, other) in zip(left, right, strict=True)
        for ref in one
        if not same(one[ref], other[ref])
    ]


@given(programs(), st.data())
@settings(max_examples=share(25), deadline=None)
@pytest.mark.slow
def test_random_programs(case: Case, data: st.DataObject) -> None:
    _hold_to_fresh(case.program, data)


@pytest.mark.parametrize("seed", SEEDS[:6])
@given(st.data())
@settings(max_examples=share(4), deadline=None)
@pytest.mark.slow
def test_random_loops(seed: int, data: st.DataObject) -> None:
    _hold_to_fresh(random_program(seed), data)
