"""The moves of the debugger, one by one, on the tutorial network."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.move_table import MOVES
from gradstep.core.debug.motion.stepping import Stepper
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder


def test_it_starts_before_the_first_step(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    stop = session.stop
    assert (stop.reason, stop.run, stop.step, stop.runs) == ("entry", 0, 0, 1)
    assert (stop.phase, stop.node, stop.op) == ("forward", "c", "c")
    frame = session.frame()
    assert frame.value("d") is None
    np.testing.assert_array_equal(frame.value("c"), np.array([0.06, -0.04], np.float32))
    np.testing.assert_array_equal(frame.value("data:0"), [1, 2])
    np.testing.assert_array_equal(frame.value("c/Adam"), [0, 0])


def test_steps_go_over_forward_operations_then_their_gradients_then_variables(
    tutorial: Program,
) -> None:
    session = DebugSession(tutorial)
    seen = []
    while session.stop.reason != "end":
        seen.append((session.stop.phase, session.stop.node))
        session.step()
    forward = [("forward", name) for name in ("c", "k", "d", "e", "a", "loss")]
    assert seen[:6] == forward
    assert seen[6:11] == [("backward", name) for name in ("loss", "a", "e", "d", "c")]
    assert seen[11:] == [("update", name) for name in ("c", "k", "beta1_power")]


def test_values_and_gradients_appear_when_their_step_is_done(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.run_to("a")
    assert session.stop.reason == "goto"
    assert session.frame().value("a") is None
    session.step()
    np.testing.assert_allclose(session.frame().value("a"), [0.1166, 0.1764], rtol=1e-6)
    assert session.frame().gradient("a") is None
    session.continue_()
    gradient = session.frame().gradient("c")
    np.testing.assert_allclose(gradient, [0.56751364, -0.99436176], rtol=1e-6)
    assert session.frame().gradient("data") is None


def test_variables_and_slots_change_at_their_update(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.continue_()
    run = session.plan.step_of
    before, after = (session.frame(0, run["train/update_c/ApplyAdam"] + i) for i in (0, 1))
    for name in ("c", "c/Adam", "c/Adam_1"):
        assert not np.array_equal(before.value(name), after.value(name))
        assert np.array_equal(before.value("k"), after.value("k"))
    np.testing.assert_array_equal(before.value("c"), np.array([0.06, -0.04], np.float32))


def test_an_alias_of_a_variable_is_known_when_its_operation_has_run(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.run_to("beta1_power/read")
    assert session.frame().value("beta1_power") == np.float32(0.9)
    assert session.frame().value("beta1_power/read") is None
    session.step_into()
    assert session.frame().value("beta1_power/read") == np.float32(0.9)
    session.continue_()  # it stands for the variable, so it has the newest value
    assert session.frame().value("beta1_power/read") == np.float32(0.9) * np.float32(0.9)


def test_step_into_goes_over_single_operations(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    for done in range(1, len(session.plan.steps)):
        assert session.step_into().step == done
    assert session.step_into().reason == "end"


def test_step_out_ends_the_group_and_then_the_phase(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.step()
    assert session.step_out().phase == "backward"
    session.step_into()
    assert session.stop.node == "loss"
    assert session.step_out().node == "a"
    assert session.step_out().phase == "update"
    assert session.step_out().reason == "end"


def test_step_out_ends_a_scope() -> None:
    b = GraphBuilder()
    x = b.constant(1.0, name="x")
    with b.scope("net"):
        for _ in range(3):
            x = b.one("Neg", x, name="n")
    b.one("Neg", x, name="after")
    program = Program(graph=b.build(), forward=b.build(), fetches=(TensorRef("after"),))
    session = DebugSession(program)
    session.run_to("net/n_1")
    assert session.step_out().op == "after"


def test_the_next_run_starts_with_the_variables_of_the_last(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.continue_()
    last = session.frame()
    assert session.step().reason == "entry"
    assert (session.stop.run, session.stop.step, session.stop.runs) == (1, 0, 2)
    for name in ("c", "k", "c/Adam", "beta1_power"):
        assert np.array_equal(session.frame().value(name), last.value(name))
    assert session.frame().value("loss") is None
    assert session.frame(0).value("loss") is None  # as of step 0 of run 0
    np.testing.assert_allclose(session.frame(0, last.step).value("loss"), 0.66369414)


def test_stepping_back_runs_nothing_again(tutorial: Program) -> None:
    calls: list[int] = []
    b = GraphBuilder()
    kind = (DType.FLOAT32,)
    b.one("PyFunc", b.constant(1.0), name="y", token="count", Tin=kind, Tout=kind)
    program = Program(
        graph=b.build(),
        forward=b.build(),
        fetches=(TensorRef("y"),),
        functions={"count": lambda x: (calls.append(1), x)[1]},
    )
    session = DebugSession(program)
    session.continue_()
    session.step_back()
    assert session.frame().value("y") is None
    session.step()
    assert session.frame().value("y") == 1
    assert len(calls) == 1


def test_step_back_crosses_runs(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.continue_()
    session.step()
    assert session.step_back().reason == "end"
    assert (session.stop.run, session.stop.runs) == (0, 2)


def test_continue_ends_each_run_and_reverse_continue_starts_it(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    assert [session.continue_().run for _ in range(3)] == [0, 1, 2]
    stops = [session.reverse_continue() for _ in range(3)]
    assert [(s.run, s.step) for s in stops] == [(2, 0), (1, 0), (0, 0)]
    assert stops[-1].runs == 3


def test_run_to_a_position_goes_both_ways(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    ahead = session.run_to("4:3")
    assert (ahead.run, ahead.step, ahead.runs, ahead.reason) == (4, 3, 5, "goto")
    back = session.run_to("1:7")
    assert (back.run, back.step, back.runs) == (1, 7, 5)
    with pytest.raises(GradstepError, match="has 35 steps"):
        session.run_to("0:999")
    assert (session.stop.run, session.stop.step) == (1, 7)


def test_run_to_an_operation_that_has_run_goes_to_the_next_run(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    assert session.run_to("e").run == 0
    assert session.run_to("e").run == 1
    session.run_to("0:4")
    stop = session.run_to("d")
    assert (stop.run, stop.op) == (1, "d")
    assert session.run_to("c").run == 2


def test_run_to_something_that_never_runs(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    with pytest.raises(GradstepError, match="not executed") as caught:
        session.run_to("data")
    assert caught.value.node == "data"


def test_restart_forgets(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    for _ in range(3):
        session.continue_()
    stop = session.restart()
    assert (stop.reason, stop.run, stop.step, stop.runs) == ("entry", 0, 0, 1)
    np.testing.assert_array_equal(session.frame().value("c"), np.array([0.06, -0.04], np.float32))
    session.continue_()
    np.testing.assert_allclose(session.frame().value("loss"), 0.66369414)


def test_illegal_moves_are_refused_and_change_nothing(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    for command in ("step_back", "reverse_continue"):
        assert command not in session.stop.legal
        before = session.stop
        with pytest.raises(GradstepError) as caught:
            session.command(command)
        assert caught.value.kind == "IllegalMoveError"
        assert session.stop is before
    session.continue_()
    with pytest.raises(GradstepError, match="end of a run"):
        session.step_out()
    with pytest.raises(GradstepError, match="no command"):
        session.command("pause")


def test_a_program_without_steps_can_only_be_restarted() -> None:
    session = DebugSession(Program(graph=GraphBuilder().build(), forward=GraphBuilder().build()))
    assert session.stop.legal == ("restart",)
    assert session.restart().reason == "entry"
    with pytest.raises(GradstepError):
        session.step()


def test_every_move_has_a_method_that_makes_it() -> None:
    for name, command in MOVES.items():
        assert callable(getattr(Stepper, name))
        assert command.legal_in


def test_no_two_moves_share_a_name_a_key_or_a_place() -> None:
    moves = MOVES.values()
    words = [word for c in moves for word in {c.name, c.word, *c.aliases}]
    rows = [c.menu for c in moves if c.menu is not None]
    keys = [key for row in rows for key in row.keys]
    places = [(row.section, row.place) for row in rows]
    for many in (words, keys, places):
        assert len({*many}) == len(many)


def test_a_failing_step_stops_there_each_time(gather: Program) -> None:
    session = DebugSession(gather)
    stop = session.continue_()
    assert (stop.reason, stop.op, stop.step) == ("exception", "b", session.plan.step_of["b"])
    assert stop.error is not None
    assert stop.error.message == "indices[2] = 6 is not in [0, 5)"
    assert (stop.error.node, stop.error.index) == ("b", (2,))
    np.testing.assert_array_equal(session.frame().value("before"), [-1, -2, -3, -4, -5])
    assert session.frame().value("b") is None
    back = session.step_back()
    assert (back.reason, back.error) == ("step", None)
    for move in (session.continue_, session.step, session.step_into):
        assert move().reason == "exception"
        assert session.stop.op == "b"
    assert session.run_to("0:3").reason == "exception"


def test_an_unfed_placeholder_fails_when_it_is_reached(tutorial: Program) -> None:
    feeds = {ref: array for ref, array in tutorial.feeds.items() if ref.op != "labels"}
    session = DebugSession(replace(tutorial, feeds=feeds))
    stop = session.continue_()
    assert (stop.reason, stop.op) == ("exception", "labels")
    assert "You must feed" in str(stop.error)
    assert session.frame().value("labels") is None  # and not what lay in memory


def test_init_runs_once_before_the_first_run() -> None:
    b = GraphBuilder()
    n = b.variable("n", shape=())
    m = b.variable("m", shape=())
    b.one("Assign", n, 5.0, name="set_n")
    b.one("Assign", m, 6.0, name="set_m")
    b.op("NoOp", name="init", control_inputs=("set_n", "set_m"))
    b.one("AssignAdd", n, m, name="count")
    program = Program(
        graph=b.build(),
        forward=b.build(),
        fetches=(TensorRef("count"),),
        init="init",
        initial={"m": np.float32(10)},
    )
    session = DebugSession(program)
    for expected in (15, 25):
        session.continue_()
        assert session.frame().value("count") == expected
    session.restart()
    assert session.frame().value("n") == 5


def test_pause_stops_a_long_command(chain: Callable[[int], Program]) -> None:
    program = chain(2000)
    b = GraphBuilder(program.graph)
    kind = (DType.FLOAT32,)
    slow = b.one("PyFunc", b.get("n0"), name="slow", token="wait", Tin=kind, Tout=kind)
    started = threading.Event()

    def wait(x: np.ndarray) -> np.ndarray:
        started.set()
        time.sleep(0.05)
        return x

    program = replace(
        program, graph=b.build(), fetches=(slow.ref, *program.fetches), functions={"wait": wait}
    )
    session = DebugSession(program)
    thread = threading.Thread(target=lambda: session.run_to("1000000:0"))
    thread.start()
    started.wait()
    session.pause()
    thread.join(30)
    assert not thread.is_alive()
    assert session.stop.reason == "pause"
    assert session.continue_().reason == "end"


def test_values_of_another_backend_come_home_as_numpy(dynamic: Program) -> None:
    session = DebugSession(dynamic)
    session.continue_()
    value = session.frame().value("e0")
    assert isinstance(value, np.ndarray)
    value[:] = 7  # a copy: history cannot be changed through it
    assert not np.array_equal(session.frame().value("e0"), value)
