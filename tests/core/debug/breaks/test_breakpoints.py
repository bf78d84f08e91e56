"""Breakpoints stop where they should, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.compiled_breakpoints import CompiledBreakpoints
from gradstep.core.debug.breaks.hit_counts import HitCounts
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import assign
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError


def stops(session: DebugSession, count: int) -> list[tuple[str, int, str]]:
    found = []
    for _ in range(count):
        stop = session.continue_()
        found.append((stop.reason, stop.run, stop.op))
    return found


def paused(program: Program, *breakpoints: Breakpoint) -> DebugSession:
    session = DebugSession(program)
    session.set_breakpoints(breakpoints)
    return session


def test_an_operation_stops_before_it_runs_in_every_run(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("e"))
    assert stops(session, 4) == [
        ("breakpoint", 0, "e"),
        ("end", 0, ""),
        ("breakpoint", 1, "e"),
        ("end", 1, ""),
    ]
    assert session.frame(1, session.plan.step_of["e"]).value("e") is None


def test_the_first_operation_stops_in_the_next_run(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("c"))
    assert stops(session, 3) == [("end", 0, ""), ("breakpoint", 1, "c"), ("end", 1, "")]


def test_a_gradient_stops_before_its_operations(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("e", BreakpointKind.GRADIENT))
    stop = session.continue_()
    assert (stop.reason, stop.phase, stop.node, stop.hit) == ("breakpoint", "backward", "e", "e")
    assert session.frame().gradient("a") is not None
    assert session.frame().gradient("k") is None


def test_a_type_stops_at_each_of_its_operations_but_the_exempt(tutorial: Program) -> None:
    everywhere = paused(tutorial, Breakpoint("Mul", BreakpointKind.TYPE))
    muls = [step.op.name for step in everywhere.plan.steps if step.op.type == "Mul"]
    assert [op for _, _, op in stops(everywhere, len(muls))] == muls
    but_one = Breakpoint("Mul", BreakpointKind.TYPE, exempt=frozenset({"a"}))
    found = stops(paused(tutorial, but_one), 10)
    names = [op for reason, run, op in found if reason == "breakpoint" and run == 0]
    assert "a" not in names
    assert not any(name.startswith("gradients/a_grad") for name in names)
    assert names


def test_a_scope_and_a_phase_stop_where_they_are_entered(countdown: Program) -> None:
    session = paused(countdown, Breakpoint("net", BreakpointKind.SCOPE))
    assert stops(session, 2) == [("breakpoint", 0, "net/log"), ("end", 0, "")]


def test_a_phase_stops_once_a_run(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("backward", BreakpointKind.PHASE))
    stop = session.continue_()
    assert (stop.reason, stop.phase) == ("breakpoint", "backward")
    assert session.continue_().reason == "end"


def test_a_condition_stops_when_the_value_is_there(countdown: Program) -> None:
    session = paused(countdown, Breakpoint("net/log", condition="isnan(value)"))
    found = [session.continue_() for _ in range(4)]
    assert [stop.reason for stop in found] == ["end", "end", "end", "breakpoint"]
    assert (found[-1].run, found[-1].hit) == (3, "net/log")
    value = session.frame().value("net/log")
    assert value is not None
    assert value != value


def test_the_first_nan_anywhere(countdown: Program) -> None:
    everywhere = Breakpoint("", BreakpointKind.SCOPE, condition="isinf(value) or isnan(value)")
    session = paused(countdown, everywhere)
    while (stop := session.continue_()).reason != "breakpoint":
        pass
    assert (stop.run, stop.hit) == (2, "net/log")


def test_a_condition_on_a_gradient(tutorial: Program) -> None:
    session = paused(
        tutorial, Breakpoint("a", BreakpointKind.GRADIENT, condition="max(grad) < 0.4845")
    )
    while (stop := session.continue_()).reason != "breakpoint":
        assert stop.run < 30
        assert session.frame().gradient("a").max() >= 0.4845
    assert session.frame().gradient("a").max() < 0.4845


def test_hits_are_counted_once_however_often_they_are_passed(countdown: Program) -> None:
    session = paused(countdown, Breakpoint("y", hits=3))
    assert [s.reason for s in (session.continue_(), session.continue_())] == ["end", "end"]
    session.run_to("0:0")
    found = [session.continue_() for _ in range(3)]
    assert [(s.reason, s.run) for s in found] == [("end", 0), ("end", 1), ("breakpoint", 2)]
    session.run_to("0:0")
    assert [session.continue_().reason for _ in range(3)] == ["end", "end", "breakpoint"]
    session.restart()
    assert session.continue_().reason == "end"


def test_after_a_restart_hits_are_counted_from_nothing(countdown: Program) -> None:
    """The values of the first time, changed by hand, are no hits of the second."""
    session = paused(countdown, Breakpoint("net/log", condition="value < 0.5", hits=2))
    assign([session], {"n": np.float32(1.5)})
    assert session.continue_().reason == "end"  # log(0.5): the first hit
    session.restart()
    found = [session.continue_() for _ in range(3)]  # log 2, log 1: the first hit, and log 0
    assert [(s.reason, s.run) for s in found] == [("end", 0), ("end", 1), ("breakpoint", 2)]


def test_a_region_that_a_run_begins_with_is_entered_at_its_first_step(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("forward", BreakpointKind.PHASE))
    session.run_to("0:3")
    found = [session.continue_() for _ in range(2)]
    assert [(s.reason, s.run, s.step) for s in found] == [
        ("end", 0, len(session.plan.steps)),
        ("breakpoint", 1, 0),
    ]


def test_at_an_end_only_conditions_stop(countdown: Program) -> None:
    """No step comes next there, so that nothing can stop before it."""
    session = DebugSession(countdown)
    last = session.plan.steps[-1].op.name
    after, before = Breakpoint(last, condition="value > -100"), Breakpoint(last)
    points = CompiledBreakpoints(session.plan, [after, before], HitCounts())
    length = len(session.plan.steps)
    assert points.positions == [length - 1, length]
    session.continue_()
    frame = session.frame()
    met = points.met((0,), length, lambda: frame, at_end=True)
    assert met is not None
    assert met.breakpoint is after
    assert points.met((0,), length - 1, lambda: frame, at_end=False) is not None
    assert points.met((0,), length - 1, lambda: frame, at_end=True) is None


def test_disabled_breakpoints_do_nothing(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("e", enabled=False))
    assert session.continue_().reason == "end"


def test_reverse_continue_stops_at_the_same_places(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("e"), Breakpoint("loss", condition="value > 0"))
    there = [session.continue_() for _ in range(5)]
    back = [session.reverse_continue() for _ in range(4)]
    positions = [(s.run, s.step) for s in there if s.reason == "breakpoint"]
    found = [(s.run, s.step) for s in back if s.reason == "breakpoint"]
    assert len(positions) == 4
    assert found == positions[-2::-1] or found == positions[::-1]


def test_reverse_continue_meets_a_breakpoint_at_the_start_of_a_run(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("c"))
    session.run_to("1:4")
    stop = session.reverse_continue()
    assert (stop.reason, stop.run, stop.step, stop.hit) == ("breakpoint", 1, 0, "c")


def test_reverse_continue_stops_one_step_back(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.run_to("0:5")
    session.set_breakpoints([Breakpoint(session.plan.steps[4].op.name)])
    stop = session.reverse_continue()
    assert (stop.reason, stop.step) == ("breakpoint", 4)


def test_step_stops_at_a_breakpoint_inside_a_group(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    inner = [s.op.name for s in session.plan.steps if s.op.origin == "loss"][1]
    session.set_breakpoints([Breakpoint(inner)])
    session.run_to("gradients/grad_ys_0")
    stop = session.step()
    assert (stop.reason, stop.op) == ("breakpoint", inner)


def test_run_to_an_operation_heeds_breakpoints_and_to_a_position_does_not(
    tutorial: Program,
) -> None:
    session = paused(tutorial, Breakpoint("e"))
    assert session.run_to("loss").op == "e"
    session.restart()
    assert session.run_to("2:5").reason == "goto"


def test_a_position_is_gone_to_past_all_breakpoints_and_no_hit_is_counted(
    tutorial: Program,
) -> None:
    session = paused(tutorial, Breakpoint("e"), Breakpoint("c", hits=2))
    stop = session.run_to(f"3:{session.plan.step_of['e']}")
    assert (stop.reason, stop.run, stop.hit) == ("goto", 3, "")
    session.set_breakpoints([Breakpoint("c", hits=2)])
    session.run_to("6:1")
    found = [session.continue_() for _ in range(4)]
    assert [(s.reason, s.run) for s in found] == [
        ("end", 6), ("end", 7), ("breakpoint", 8), ("end", 8),
    ]  # fmt: skip


def test_a_condition_that_cannot_be_read_is_refused(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    with pytest.raises(GradstepError, match="isnann") as caught:
        session.set_breakpoints([Breakpoint("e", condition="isnann(value)")])
    assert caught.value.kind == "ExpressionError"


def test_those_that_are_refused_leave_the_counts_of_the_others(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("e"))
    session.continue_()
    with pytest.raises(GradstepError, match="isnann"):
        session.set_breakpoints([Breakpoint("c"), Breakpoint("e", condition="isnann(value)")])
    assert session.hit_counts == (1,)


def test_a_condition_that_fails_stops_and_says_why(tutorial: Program) -> None:
    session = paused(tutorial, Breakpoint("e", condition="value[5] > 0"))
    stop = session.continue_()
    assert (stop.reason, stop.op) == ("breakpoint", "a")
    assert stop.error is not None
    assert stop.error.kind == "ExpressionError"
