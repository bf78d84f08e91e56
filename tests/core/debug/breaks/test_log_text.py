"""What logpoints write, and when: on the way forward, without stopping, in loops too."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.log_text import log_expressions, map_expressions, parse_log
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.errors import GradstepError
from gradstep.core.ops.state.print_output import printing_to
from tests.support.looping import power, session


def lines(made: DebugSession, *moves: str) -> list[str]:
    """What is written on the way."""
    said: list[str] = []
    with printing_to(said.append):
        for move in moves:
            made.command(*move.split("@"))
    return "".join(said).splitlines()


def test_it_writes_and_does_not_stop(tutorial: Program) -> None:
    made = DebugSession(tutorial)
    made.set_breakpoints([Breakpoint("loss", log='run {run}: {x["loss"]} {{so}}')])
    assert lines(made, "continue_", "continue_") == [
        "run 0: 0.663694 {so}",
        "run 1: 0.663078 {so}",
    ]
    assert made.stop.reason is Reason.END
    assert made.hit_counts == (2,)


def test_it_writes_behind_its_step_and_never_on_the_way_back(tutorial: Program) -> None:
    made = DebugSession(tutorial)
    made.set_breakpoints([Breakpoint("loss", log="{value}")])
    step = made.plan.step_of["loss"]
    assert lines(made, f"run_to@0:{step}", "step") == ["0.663694"]
    assert lines(made, "continue_", "reverse_continue") == []
    assert lines(made, "continue_") == ["0.663694"]  # it is come by again
    assert made.hit_counts == (1,)  # at one place


def test_conditions_hits_and_exemptions_hold_for_it(tutorial: Program) -> None:
    made = DebugSession(tutorial)
    kind = BreakpointKind.TYPE
    every = Breakpoint("AddV2", kind, log="{run} {value}")
    made.set_breakpoints([every])
    assert len(lines(made, "continue_")) == 2  # d and e
    made.restart()
    made.set_breakpoints([Breakpoint("AddV2", kind, exempt=frozenset({"e"}), log="at {value}")])
    assert lines(made, "continue_") == ["at [1.06 1.96]"]
    made.restart()
    made.set_breakpoints([Breakpoint("loss", condition="run > 0", hits=2, log="{run}")])
    assert lines(made, *["continue_"] * 4) == ["2", "3"]


def test_one_that_stops_at_the_same_place_stops_once_it_is_written(tutorial: Program) -> None:
    made = DebugSession(tutorial)
    stops = Breakpoint("loss", condition="value > 0")
    made.set_breakpoints([stops, Breakpoint("loss", log="here")])
    assert lines(made, "continue_") == ["here"]
    assert made.stop.reason is Reason.BREAKPOINT


def test_a_variable_that_is_written_stops_it_behind_the_step(tutorial: Program) -> None:
    made = DebugSession(tutorial)
    made.set_breakpoints([Breakpoint("c", BreakpointKind.WRITE)])
    made.continue_()
    assert made.stop.reason is Reason.BREAKPOINT
    done = made.plan.steps[made.stop.step - 1].op
    assert (done.type, done.name) == ("ApplyAdam", "train/update_c/ApplyAdam")
    assert made.frame().written(made.plan.graph["c"].output())
    made.continue_()
    assert made.stop.reason is Reason.END


def test_iterations_of_a_loop_write(tutorial: Program) -> None:
    made = session(power, 3)
    made.set_breakpoints([Breakpoint("while/times", log="{iteration}: {value}")])
    assert lines(made, "continue_") == ["0: 2", "1: 4", "2: 8"]


def test_what_is_not_there_and_what_does_not_fit_is_said_in_its_place(tutorial: Program) -> None:
    made = DebugSession(tutorial)
    made.set_breakpoints([Breakpoint("d", log='{x["loss"]} {x["d"][9]}')])
    [line] = lines(made, "continue_")
    assert line.startswith("(not computed) (cannot evaluate")


@pytest.mark.parametrize("text", ["{x[}", "{import os}", "a } b", "{ {value}", "{}"])
def test_a_text_that_cannot_be_read_is_refused(tutorial: Program, text: str) -> None:
    with pytest.raises(GradstepError):
        DebugSession(tutorial).set_breakpoints([Breakpoint("d", log=text)])


def test_the_expressions_of_a_text() -> None:
    text = 'a {x["b"]} {{not}} {value}'
    assert log_expressions(text) == ['x["b"]', "value"]
    assert map_expressions(text, str.upper) == 'a {X["B"]} {{not}} {VALUE}'
    assert [p if isinstance(p, str) else p.text for p in parse_log(text).parts] == [
        "a ",
        'x["b"]',
        " ",
        "{",
        "not",
        "}",
        " ",
        "value",
    ]


@pytest.mark.parametrize("move", ["step", "step_into", "step_out"])
def test_single_steps_write_as_well(tutorial: Program, move: str) -> None:
    made: Any = DebugSession(tutorial)
    made.set_breakpoints([Breakpoint("d", log="d is there")])
    assert lines(made, f"run_to@0:{made.plan.step_of['d']}", move) == ["d is there"]
