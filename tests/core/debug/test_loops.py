"""Stepping into loops: positions in iterations, forward and back, and what is to be seen there."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.history.manual_assignments import assign
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.looping import branched, nested, places, power, seen, session


def entered(build: Any = power, n: int = 3) -> DebugSession:
    found = session(build, n)
    found.run_to("while/While" if build is power else "out/While")
    found.step_into()
    return found


def test_step_into_goes_into_the_first_iteration_and_out_past_the_loop() -> None:
    found = entered()
    assert places(found.stop) == [(0, 0)]
    assert found.stop.op == "while/Less"
    assert found.stop.inside[0].iterations is None
    assert seen(found, "while/Merge_1", "while/times", "x") == [1, None, 2]
    stop = found.step_out()
    assert not stop.inside
    assert stop.op == "while/Exit_1"
    found.continue_()
    assert seen(found, "y") == [8]


def test_an_iteration_after_the_other_and_what_each_computed() -> None:
    found = entered()
    products = []
    while found.stop.inside:
        if not found.stop.op:  # the end of an iteration
            products.append(seen(found, "while/times")[0])
        found.step()
    assert products == [2, 4, 8, None]  # the last one only finds that it does not take place
    assert found.stop.op == "while/Exit_1"


def test_out_of_a_loop_by_a_restart_and_to_an_operation() -> None:
    found = entered()
    found.step()
    stop = found.run_to("y")
    assert (stop.op, stop.inside) == ("y", ())
    assert found.next_op is not None
    assert found.next_op.name == "y"
    found = entered()
    found.step()
    stop = found.restart()
    assert (stop.reason, stop.step, stop.inside) == ("entry", 0, ())
    assert found.step_into().step == 1


@pytest.mark.parametrize("before", [0, 1, 2])
def test_back_into_a_loop_before_what_lies_before_it(before: int) -> None:
    """before: how many steps before the loop, or at it, there is another breakpoint."""
    found = session(power, 3)
    found.continue_()
    loop = found.plan.step_of["while/While"]
    other = found.plan.steps[loop - before].op.name
    found.set_breakpoints([Breakpoint("while/times"), Breakpoint(other)])
    numbers = []
    while (stop := found.reverse_continue()).inside:
        numbers.append(stop.inside[0].iteration)
        assert (stop.reason, stop.hit) == ("breakpoint", "while/times")
    assert numbers == [2, 1, 0]
    assert (stop.reason, stop.hit, stop.step) == ("breakpoint", other, loop - before)


def test_back_from_the_start_of_an_iteration_is_the_end_of_the_one_before() -> None:
    found = entered()
    found.run_to("0:4/1:0")
    assert seen(found, "while/Merge_1", "while/times") == [2, None]
    found.step_back()
    assert places(found.stop)[0][0] == 0
    assert seen(found, "while/Merge_1", "while/times") == [1, 2]
    while found.stop.inside:
        found.step_back()
    assert (found.stop.op, found.stop.step) == ("while/While", 4)


def test_a_loop_that_has_run_is_looked_at_again() -> None:
    found = session()
    found.continue_()
    found.run_to("0:4/2:0")
    assert found.stop.inside[0].iterations == 3
    assert seen(found, "while/Merge_1") == [4]


@pytest.mark.parametrize(("operation", "times"), [("while/times", 3), ("while/Less", 4)])
def test_breakpoints_in_loops_stop_in_every_iteration(operation: str, times: int) -> None:
    found = session()
    found.set_breakpoints([Breakpoint(operation)])
    stops = [found.continue_() for _ in range(times + 1)]
    assert [stop.hit for stop in stops] == [operation] * times + [""]
    assert [places(stop)[0][0] for stop in stops[:-1]] == list(range(times))
    assert stops[-1].reason == "end"


def test_a_step_in_a_loop_stops_at_breakpoints_as_one_around_it_does() -> None:
    """In the loop inside that it goes over, at the one that it comes to, and not twice."""
    found = entered(nested)
    found.run_to("out/in/While")
    found.set_breakpoints([Breakpoint("out/in/plus")])
    found.run_to("out/in/While")
    outer = found.stop.inside[0].iteration
    stop = found.step()
    assert (stop.reason, stop.hit, len(stop.inside)) == ("breakpoint", "out/in/plus", 2)
    assert stop.inside[0].iteration == outer == 1
    found.step_back()
    assert found.step_into().reason == "breakpoint"
    assert found.step_out().reason == "step"
    assert places(found.stop)[0][0] == 1


def test_a_condition_on_a_value_in_a_loop() -> None:
    found = session()
    found.set_breakpoints([Breakpoint("while/times", BreakpointKind.OP, 'x["while/times"] > 3')])
    stop = found.continue_()
    assert places(stop)[0][0] == 1
    assert seen(found, "while/times") == [4]


def test_hits_in_iterations_are_counted_once() -> None:
    found = session()
    found.set_breakpoints([Breakpoint("while/times", hits=3)])
    assert places(found.continue_())[0][0] == 2


@pytest.mark.parametrize("build", [power, nested])
def test_after_a_pause_one_steps_into_the_loop_where_it_stands(build: Any) -> None:
    found = session(build, 1_000_000_000)
    threading.Timer(0.05, found.pause).start()
    stop = found.continue_()
    assert (stop.reason, stop.inside) == ("pause", ())
    place = found.step_into().inside[0]
    assert place.iteration > 0
    breakpoint = "while/times" if build is power else "out/in/plus"
    found.set_breakpoints([Breakpoint(breakpoint)])
    stop = found.continue_()
    assert stop.hit == breakpoint
    assert stop.inside[0].iteration in (place.iteration, place.iteration + 1)


def test_after_a_pause_a_new_breakpoint_stops_in_an_iteration_to_come() -> None:
    found = session(power, 1_000_000_000)
    threading.Timer(0.05, found.pause).start()
    found.continue_()
    found.set_breakpoints([Breakpoint("while/times")])
    assert places(found.continue_())[0][0] > 0
    assert places(found.run_to("0:4/0:1")) == [(0, 1)]


def test_run_to_an_operation_in_a_loop() -> None:
    found = session()
    stop = found.run_to("while/times")
    assert (stop.reason, stop.op, places(stop)[0][0]) == ("goto", "while/times", 0)
    with pytest.raises(GradstepError, match="not executed"):
        found.run_to("while/divided")


def test_a_failure_stops_in_its_iteration() -> None:
    def checked(builder: GraphBuilder) -> Tensor:
        x, n = builder.placeholder("x", shape=()), builder.placeholder("n", "int32", ())

        def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            large = y * 1e25 * x
            return i + 1, builder.one("CheckNumerics", large, message="no", name="check")

        return tf.identity(tf.while_loop(lambda i, y: i < n, body, [0, 1.0])[1], name="y")

    found = session(checked)
    found.set_breakpoints([Breakpoint("while/check")])
    found.continue_()
    found.continue_()
    stop = found.step()
    assert (stop.reason, stop.op, places(stop)[0][0]) == ("exception", "while/check", 1)
    assert stop.error is not None
    assert "in iteration 2" in stop.error.message


def test_a_loop_in_a_branch_that_is_not_taken_is_one_dead_step() -> None:
    found = session(branched)
    found.set_breakpoints([Breakpoint("cond/while/cond/times")])
    stops = [found.continue_() for _ in range(4)]
    reasons = [(stop.reason, stop.run) for stop in stops]
    assert reasons == [("end", 0), ("breakpoint", 1), ("breakpoint", 1), ("end", 1)]
    (loop,) = found.plan.loops
    found.run_to(f"0:{loop}")
    assert found.step_into().inside == ()
    assert found.stop.step == loop + 1
    assert found.run_to(f"0:{loop}/1:0").inside == ()
    assert found.stop.step == loop


def test_only_loops_have_iterations_to_go_to() -> None:
    found = session()
    for target in ("0:1/0:0", "0:99/0:0", "0:4/0:0/0:0"):
        with pytest.raises(GradstepError) as caught:
            found.run_to(target)
        assert caught.value.kind == "ValueError"
        assert found.stop.reason == "entry"


def test_hits_are_counted_on_the_way_to_an_operation_of_a_loop_too() -> None:
    found = session()
    found.set_breakpoints([Breakpoint("while/times", hits=3)])
    found.run_to("while/times")
    found.run_to("while/Less")
    assert places(found.continue_())[0][0] == 2


def test_a_variable_is_not_given_a_value_in_the_middle_of_a_loop() -> None:
    found = session(branched)
    (loop,) = found.plan.loops
    found.run_to(f"1:{loop}/1:2")
    with pytest.raises(GradstepError, match="the session stands in a loop") as caught:
        assign([found], {"runs": np.float32(7)})
    assert caught.value.hint


def test_back_to_a_condition_that_was_met_in_a_loop() -> None:
    found = session(nested)
    found.continue_()
    found.set_breakpoints([Breakpoint("out/in/plus", condition="value > 1")])
    stops = [found.reverse_continue() for _ in range(4)]
    iterations = [[number for number, _ in places(stop)] for stop in stops]
    assert iterations == [[2, 1], [2, 0], [1, 0], []]
    assert [stop.reason for stop in stops] == ["breakpoint", "breakpoint", "breakpoint", "entry"]
    assert seen(found, "out/in/plus") == [None]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place("w", 0, 3, 5), "w, iteration 1"),
        (Place("w", 1, 3, 5, 4), "w, iteration 2 of 4"),
        (Place("w", 4, 0, 5, 4), "w, after its 4 iterations"),
        (Place("w", 1, 0, 5, 1), "w, after its 1 iteration"),
    ],
)
def test_places_in_words(place: Place, text: str) -> None:
    assert place.text == text
