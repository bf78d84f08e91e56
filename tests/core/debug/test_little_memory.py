"""However little recorded runs may keep, a legal move is made, and all is seen where it ends.

What cannot be seen any more is refused in words, and the debugger stands where it stood.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import assign
from gradstep.core.engine.loops import iteration_trace
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.session_restore import course_of, follow
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from tests.support.looping import branched, nested, position, power
from tests.support.queueing import FEEDERS, queue_document

FORWARD = ("step", "step_into", "step_out", "continue_")
MOVES = (*FORWARD, "step_back", "reverse_continue")
WIDTH = 64  # floats of the variable that is changed from outside

BREAKPOINTS = [
    Breakpoint("Mul", BreakpointKind.TYPE),
    Breakpoint("AddV2", BreakpointKind.TYPE, condition="value > 1"),
    Breakpoint("Merge", BreakpointKind.TYPE, hits=2),
    Breakpoint("Less", BreakpointKind.TYPE, condition="not value"),
]


def looping(build: Any) -> Program:
    """A program with loops, and a variable that somebody else may write to between two steps."""
    b = GraphBuilder()
    with b.as_default():
        fetch = build(b).ref
    b.one("AssignAdd", b.variable("w", shape=(WIDTH,)), np.ones(WIDTH, np.float32), name="up")
    graph = b.build()
    initial = {"w": np.zeros(WIDTH, np.float32), "runs": np.float32(0)}
    initial = {name: value for name, value in initial.items() if name in graph}
    feeds = {TensorRef("x"): np.float32(2), TensorRef("n"): np.int32(3)}
    return Program(graph, graph, fetches=(fetch,), targets=("up",), feeds=feeds, initial=initial)


def threaded() -> Program:
    return derive(queue_document(1, 2))


places = st.tuples(
    st.integers(0, 6), st.floats(0, 1), st.lists(st.integers(0, 3), max_size=2), st.booleans()
)
deeds = st.one_of(
    st.sampled_from(MOVES),
    st.sampled_from(("main", *FEEDERS)).map(lambda name: f"thread {name}"),
    st.just("change"),
    places,
)


@given(
    st.sampled_from([threaded, *(lambda b=b: looping(b) for b in (power, nested, branched))]),
    st.sampled_from((0, 1, 300, 1000, 5000)),
    st.sampled_from((0, 200, 1 << 26)),
    st.lists(st.sampled_from(BREAKPOINTS), max_size=2, unique=True),
    st.lists(deeds, min_size=20, max_size=60),
)
@pytest.mark.slow
def test_a_legal_move_is_made_and_everything_is_seen_there(
    program: Any, limit: int, of_loops: int, breakpoints: list[Breakpoint], deeds: list[Any]
) -> None:
    """limit, of_loops: bytes that runs, and the iterations of a loop, may keep."""
    with patch.object(iteration_trace, "MOST_BYTES", of_loops):
        threads = Scheduler(program(), limit_bytes=limit)
        threads.set_breakpoints(breakpoints)
        for deed in deeds:
            do(threads, deed)
            see(threads)


def do(threads: Scheduler, deed: Any) -> None:
    if isinstance(deed, tuple):
        go(threads, *deed)
    elif deed == "change":
        change(threads)
    elif deed.startswith("thread "):
        if len(threads.states) > 1:
            threads.switch(deed.removeprefix("thread "))
    elif deed == "step_into" and stands_before_what_is_forgotten(threads):
        with pytest.raises(GradstepError, match="are not kept any more"):
            threads.command(deed)
    elif deed in threads.stop.legal:
        threads.command(deed)
    else:
        with pytest.raises(GradstepError, match="is not possible here"):
            threads.command(deed)


def stands_before_what_is_forgotten(threads: Scheduler) -> bool:
    """Whether the next step is a loop in an iteration that is over and was not kept."""
    cursor = threads.session._cursor
    if not cursor.is_inside or not cursor.at_loop:
        return False
    try:
        cursor.level.track.enter(cursor.level.number, cursor.level.step)
    except GradstepError:
        return True
    return False


def change(threads: Scheduler) -> None:
    """By hand, where nothing has been executed yet that follows."""
    session, timeline = threads.session, threads.session.timeline
    newest = (timeline.runs - 1, timeline.done(timeline.runs - 1))
    here = (session.stop.run, session.stop.step)
    if "w" in threads.program.graph and here == newest and not session.stop.inside:
        assign([session], {"w": np.full(WIDTH, session.stop.run, np.float32)})


def go(
    threads: Scheduler, run: int, fraction: float, iterations: list[int], before_loop: bool
) -> None:
    """To a place that there is, or was: the way there is found, or nothing moves.

    fraction: of the way through the run, or through the last of `iterations`, unless that place is
    to be before the loop in it."""
    stop, timeline = threads.session.stop, threads.session.timeline
    run, plan, target = min(run, timeline.runs - 1), timeline.plan, ""
    for number in iterations if plan.loops else ():
        target += f"{plan.loops[0]}/{number}:"
        plan = plan.steps[plan.loops[0]].iteration.plan
        if not plan.loops:
            break
    step = plan.loops[0] if before_loop and plan.loops else int(fraction * len(plan.steps))
    refused = refusal(threads, f"{run}:{target}{step}")
    assert bool(refused) or run >= timeline.first
    if refused:
        assert "not kept any more" in refused
        assert run < timeline.first or target.count("/") > 1
        assert threads.session.stop is stop


def refusal(threads: Scheduler, place: str) -> str:
    """Why there is no way to a place; "" where it was gone."""
    try:
        threads.command("run_to", place)
    except GradstepError as error:
        return error.message
    return ""


def see(threads: Scheduler) -> None:
    """All values, and all threads, where the current one stands."""
    session = threads.session
    frame = session.frame()
    for ref in session.plan.tensors:
        frame.value(ref)
    assert (frame.run, frame.step) == (session.stop.run, session.stop.step)
    assert session.stop.op == ("" if session.next_op is None else session.next_op.name)
    assert session.timeline.first <= session.stop.run
    assert [s.run for s in threads.states if s.current] == [session.stop.run]


def test_an_edit_in_a_run_that_the_new_session_let_go_of_leads_to_the_first_that_it_has() -> None:
    """For what was changed by hand on the way there may be less memory."""
    before = Scheduler(looping(power), limit_bytes=1 << 20)
    for _ in range(4):
        before.command("continue_")
        change(before)
    before.command("run_to", "1:2")
    after = Scheduler(before.program, limit_bytes=300)
    follow(after, course_of(before))
    first = after.session.timeline.first
    assert first > 1
    assert position(after.stop) == f"{first}:2"
    assert after.session.frame().value("w") is not None
