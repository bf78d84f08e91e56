"""Breakpoints that are far from enough hits are gone past, and nobody can tell it from halting."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.hit_counts import HitCounts
from gradstep.core.debug.breaks.passed_places import PassedPlaces
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Stop
from tests.support.looping import branched, nested, position, power, session

MOVES = (
    *("step", "step_into", "step_out", "step_back", "continue_", "continue_", "continue_"),
    *("reverse_continue", "restart", "go_to"),
)
TYPES = ("Mul", "AddV2", "Less", "Merge", "While", "Switch")
BREAKPOINTS = st.lists(
    st.builds(
        Breakpoint,
        st.sampled_from(TYPES),
        st.just(BreakpointKind.TYPE),
        st.sampled_from(["", "", "", "sum(value) > 2"]),
        st.sampled_from([1, 2, 5, 9, 30, 1 << 40]),
    ),
    max_size=4,
)


def halting_everywhere() -> Any:
    return patch.object(PassedPlaces, "_sort", lambda self: None)


def moved(found: DebugSession, move: str, number: int) -> tuple[str, Stop]:
    if move == "go_to":
        found.run_to(f"{number % 6}:{number % (len(found.plan.steps) + 1)}")
    elif move in found.stop.legal:
        found.command(move)
    stop = found.stop
    return position(stop), stop


@example(
    nested,
    [
        Breakpoint("AddV2", BreakpointKind.TYPE, hits=5),
        Breakpoint("AddV2", BreakpointKind.TYPE, "sum(value) > 2"),
    ],
    [("continue_", 0, False)],
)  # which is hit, in one iteration, where the other may stop, and then where it is alone
@given(
    st.sampled_from([power, nested, branched]),
    BREAKPOINTS,
    st.lists(st.tuples(st.sampled_from(MOVES), st.integers(0, 100), st.booleans()), max_size=25),
)
@pytest.mark.slow
def test_stops_and_counts_are_those_of_halting_at_each(
    build: Any, breakpoints: list[Breakpoint], moves: list[tuple[str, int, bool]]
) -> None:
    """The boolean: whether somebody looks at the counts after the move."""
    passing, halting = session(build, 3), session(build, 3)
    for each in (passing, halting):
        each.set_breakpoints(breakpoints)
    for move, number, looks in moves:
        here, stop = moved(passing, move, number)
        with halting_everywhere():
            there, other = moved(halting, move, number)
        assert (here, stop.reason, stop.hit) == (there, other.reason, other.hit)
        if looks:
            assert passing.hit_counts == halting.hit_counts
    assert passing.hit_counts == halting.hit_counts


@pytest.mark.parametrize("build", [power, nested])
def test_the_last_iteration_comes_to_no_step_behind_the_condition(build: Any) -> None:
    found = session(build, 2)
    plan = found.plan.steps[found.plan.loops[0]].iteration.plan
    names = [step.op.name for step in plan.steps]
    found.set_breakpoints([Breakpoint(name, hits=1000) for name in names])
    found.continue_()
    assert found.hit_counts == (3, 3, *[2] * (len(names) - 2))


def halts(found: DebugSession) -> int:
    """At how many places a run looks around for breakpoints."""
    length = len(found.plan.steps)
    return len(found._cursor.points.halts(0, length, passing=True))


def test_a_run_halts_only_where_something_may_stop(tutorial: Program) -> None:
    found = DebugSession(tutorial)
    names = [step.op.name for step in found.plan.steps[1:5]]
    found.set_breakpoints([Breakpoint(name, hits=20) for name in names[:3]])
    assert halts(found) == 0
    asking = Breakpoint(names[2], condition="sum(value) > 0", hits=20)
    found.set_breakpoints([Breakpoint(names[0], hits=20), Breakpoint(names[1]), asking])
    assert halts(found) == 2


def test_it_stops_at_the_very_hit(tutorial: Program) -> None:
    found = DebugSession(tutorial)
    first, second = (step.op.name for step in found.plan.steps[2:4])
    found.set_breakpoints([Breakpoint(first, hits=30), Breakpoint(second, hits=27)])
    stops = []
    while len(stops) < 5:
        if found.continue_().reason == "breakpoint":
            stops.append((found.stop.run, found.stop.hit))
    assert stops == [(26, second), (27, second), (28, second), (29, first), (29, second)]


def test_counts_take_no_memory_until_somebody_looks(tutorial: Program) -> None:
    found = DebugSession(tutorial)
    found.set_breakpoints([Breakpoint(step.op.name, hits=1 << 40) for step in found.plan.steps[:4]])
    for _ in range(50):
        found.continue_()
    counts: HitCounts = found._cursor.hits
    assert len(counts._passages) <= 4
    assert set(found.hit_counts[1:]) == {50}
