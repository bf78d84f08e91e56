"""Random numbers move on with every run, and come back when a run is replayed."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.interpret import Interpreter

RUNS = 6
SHAPE = np.array([3], np.int32)


@pytest.fixture
def graph() -> Graph:
    """`total` becomes the sum of all numbers drawn so far; `order` is never run with it."""
    b = GraphBuilder()
    total = b.variable("total", shape=(3,))
    x = b.one("RandomUniform", SHAPE, dtype=DType.FLOAT32, seed=1, seed2=2, name="x")
    b.one("AssignAdd", total, x, name="more")
    b.one("RandomStandardNormal", b.placeholder("shape", "int32"), dtype=DType.FLOAT32, name="n")
    return b.build()


@pytest.fixture
def program(graph: Graph) -> Program:
    return Program(
        graph=graph,
        forward=graph,
        fetches=(TensorRef("x"), TensorRef("n")),
        targets=("more",),
        feeds={TensorRef("shape"): SHAPE},
        initial={"total": np.zeros(3, np.float32)},
    )


def session_of(program: Program) -> Session:
    return Session(program.graph, initial=program.initial)


def numbers(program: Program) -> list[np.ndarray]:
    """`x` in the first runs of a session."""
    session = session_of(program)
    return [session.run(["x", "n"], {"shape": SHAPE})[0] for _ in range(RUNS)]


def test_runs_differ_and_sessions_agree(program: Program) -> None:
    first, again = numbers(program), numbers(program)
    np.testing.assert_array_equal(first, again)
    assert len({x.tobytes() for x in first}) == RUNS


def test_all_readers_of_one_run_see_the_same_numbers(graph: Graph) -> None:
    b = GraphBuilder(graph)
    b.one("Identity", b.get("x"), name="y")
    session = Session(b.build(), initial={"total": np.zeros(3, np.float32)})
    for _ in range(3):
        x, y, total = session.run(["x", "y", "more"])
        np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(total, np.sum(numbers_of(session, 3), axis=0), rtol=1e-6)


def numbers_of(session: Session, count: int) -> list[np.ndarray]:
    other = Session(session.graph, initial={"total": np.zeros(3, np.float32)})
    return [other.run(["x"])[0] for _ in range(count)]


def test_what_a_run_does_not_need_draws_nothing(program: Program) -> None:
    session = session_of(program)
    wanted = numbers(program)
    for number in range(RUNS):
        session.run(["n"], {"shape": SHAPE})
        np.testing.assert_array_equal(session.run(["x"])[0], wanted[number])


def test_shapes_may_be_known_only_while_running(program: Program) -> None:
    session = session_of(program)
    small = session.run(["n"], {"shape": [1]})[0]
    large = session.run(["n"], {"shape": [2, 5]})[0]
    assert (small.shape, large.shape) == ((1,), (2, 5))
    other = session_of(program)
    other.run(["n"], {"shape": [1]})
    np.testing.assert_array_equal(other.run(["n"], {"shape": [2, 5]})[0], large)


def test_it_is_what_the_simple_interpreter_draws(program: Program) -> None:
    plain = Interpreter(program.graph, program.initial)
    for wanted in numbers(program):
        np.testing.assert_array_equal(plain.run(["x"])[0], wanted)


def test_feeding_the_numbers_leaves_the_stream_where_it_is(program: Program) -> None:
    session = session_of(program)
    fed = session.run(["more"], {"x": [1, 2, 3]})[0]
    assert fed.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(session.run(["x"])[0], numbers(program)[0])


def test_the_counter_is_no_tensor_of_the_graph(program: Program) -> None:
    plan = compile_plan(program.graph, program.fetches, program.targets, [TensorRef("shape")])
    assert {ref.op for ref in plan.tensors} <= set(program.graph.operations)
    counters = [name for name, v in plan.variables.items() if v.counter]
    assert sorted(counters) == ["n:counter", "x:counter"]


@pytest.mark.parametrize("limit_bytes", [1 << 30, 0])
def test_replayed_runs_have_their_numbers(program: Program, limit_bytes: int) -> None:
    debugger = DebugSession(program, limit_bytes=limit_bytes)
    debugger.run_to(f"{RUNS - 1}:0")
    debugger.continue_()
    wanted = numbers(program)
    length = len(debugger.plan.steps)
    for run in (2, 0, RUNS - 1, 4, 1):
        value = debugger.frame(run, length).value("x")
        np.testing.assert_array_equal(value, wanted[run])
    totals = [debugger.frame(run, length).value("total") for run in range(RUNS)]
    np.testing.assert_array_equal(totals, np.cumsum(wanted, axis=0, dtype=np.float32))


def test_stepping_back_and_on_draws_nothing_new(program: Program) -> None:
    debugger = DebugSession(program)
    debugger.continue_()
    wanted = numbers(program)
    while (debugger.stop.run, debugger.stop.step) != (0, 0):
        debugger.step_back()
    assert debugger.frame().value("x") is None
    debugger.run_to("1:0")
    debugger.continue_()
    np.testing.assert_array_equal(debugger.frame().value("x"), wanted[1])
    np.testing.assert_array_equal(debugger.frame(0).value("x"), wanted[0])


def test_restart_begins_the_stream_again(program: Program) -> None:
    debugger = DebugSession(program)
    debugger.run_to("3:0")
    debugger.restart()
    debugger.continue_()
    np.testing.assert_array_equal(debugger.frame().value("x"), numbers(program)[0])


def test_reverse_continue_finds_the_run_that_drew_a_number(program: Program) -> None:
    wanted = numbers(program)
    debugger = DebugSession(program, limit_bytes=0)
    condition = f"value[0] == {float(wanted[2][0])!r}"
    debugger.set_breakpoints([Breakpoint("x", condition=condition)])
    debugger.run_to(f"{RUNS - 1}:0")
    while debugger.stop.hit != "x" and (debugger.stop.run, debugger.stop.step) != (0, 0):
        debugger.reverse_continue()
    assert debugger.stop.run == 2
    np.testing.assert_array_equal(debugger.frame().value("x"), wanted[2])
