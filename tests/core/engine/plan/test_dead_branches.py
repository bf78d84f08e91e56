"""What a cond does not take is dead: it does not run and has no value; nothing else pays for it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.liveness_conditions import (
    ALWAYS,
    NEVER,
    Condition,
    all_of,
    any_of,
    holds,
    requirement,
)
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from gradstep.core.ops.state.print_output import printing_to

both_layouts = pytest.mark.parametrize("fast", [False, True], ids=["record", "fast"])


class Flow:
    """A builder in use, with a predicate to be fed."""

    def __init__(self) -> None:
        self.build = GraphBuilder()
        self.pred = self.build.placeholder("p", "bool", ())

    def cond(self, yes: object, no: object) -> Tensor:
        with self.build.as_default():
            return tf.cond(self.pred, yes, no)

    def session(self, fast: bool, **initial: float) -> Session:
        arrays = {name: np.array(value, np.float32) for name, value in initial.items()}
        return Session(self.build.build(), None, {}, arrays, fast=fast)


@both_layouts
def test_a_dead_operation_does_nothing(fast: bool) -> None:
    """No update, no random number, no print, and no failure: of an unfed placeholder, of a check,
    of what waits for a dead operation outside."""
    flow = Flow()
    build = flow.build
    v, shape = build.variable("v"), np.array([2], np.int32)

    def effects() -> Tensor:
        update = call("AssignAdd", v, 1.0)
        drawn = call("RandomUniform", shape, dtype=DType.FLOAT32, seed=3, seed2=4)
        return call("Sum", drawn, np.array([0], np.int32)) + update

    def failing() -> Tensor:
        asked = build.placeholder("asked", shape=())
        return call("CheckNumerics", call("Log", asked), message="odd") + 1.0

    y = flow.cond(effects, lambda: call("Print", build.constant(0.5), message="said"))
    z = flow.cond(failing, lambda: build.constant(2.0))
    with build.control_dependencies(["cond/AssignAdd"]):
        build.op("AssignAdd", build.variable("n"), build.constant(1.0), name="outside")
    session, printed = flow.session(fast, v=10, n=0), []
    with printing_to(printed.append):
        taken = [
            session.run([y.ref], {"p": p, "cond_1/asked": 1.0}, ["outside"])[0] for p in (1, 1)
        ]
        left = [session.run([y.ref, z.ref], {"p": False}, ["outside"]) for _ in range(2)]
        again = session.run([y.ref], {"p": True}, ["outside"])[0]
    assert left == [[0.5, 2.0]] * 2
    assert len(printed) == 2
    assert (float(session.store["v"]), float(session.store["n"])) == (13, 3)
    other = flow.session(fast, v=10, n=0)  # as if there had been no runs between
    assert [*taken, again] == [other.run([y.ref], {"p": True})[0] for _ in range(3)]
    with pytest.raises(
        GradstepError, match="You must feed a value for placeholder tensor 'cond_1/"
    ):
        session.run([z.ref], {"p": True})


@both_layouts
def test_fetching_what_is_dead(fast: bool) -> None:
    """Fails in TensorFlow's words; what else was asked for is done."""
    flow = Flow()
    v = flow.build.variable("v")
    y = flow.cond(lambda: call("AssignAdd", v, 1.0), lambda: call("Neg", v, name="negative"))
    session = flow.session(fast, v=1)
    with pytest.raises(GradstepError, match=r"^Retval\[1\] does not have value$") as failure:
        session.run([y.ref, "cond/negative"], {"p": True})
    assert failure.value.hint.startswith(
        "cond/negative is dead: branch not taken because p is True"
    )
    assert float(session.store["v"]) == 2
    session.run([], {"p": True}, ["cond/negative"])  # as a target it is left out


def test_a_variable_without_a_value_stays_without() -> None:
    flow = Flow()
    v = flow.build.variable("v")
    y = flow.cond(lambda: call("Assign", v, 3.0), lambda: flow.build.constant(7.0))
    with flow.build.control_dependencies([y.ref.op]):
        later = call("Identity", v) * 2.0
    session = flow.session(False)
    assert session.run([y.ref], {"p": False}) == [7.0]
    assert "v" not in session.store
    with pytest.raises(GradstepError, match="Attempting to use uninitialized value v"):
        session.run([later.ref], {"p": False})
    assert session.run([later.ref], {"p": True}) == [6.0]
    assert session.run([later.ref], {"p": False}) == [6.0]


def test_only_what_is_in_a_branch_has_a_guard() -> None:
    """Neither what comes before it nor what comes behind its Merge."""
    flow = Flow()
    x = flow.build.placeholder("x", shape=())
    y = flow.cond(lambda: call("Sin", x * 2.0), lambda: x)
    z = call("Exp", flow.cond(lambda: y + x, lambda: y * y))
    plan = compile_plan(flow.build.build(), [z.ref], fed=[x.ref, flow.pred.ref])
    guarded = {step.op.name for step in plan.steps if step.guard and step.guard.may_skip}
    assert guarded == {
        *("cond/switch_t", "cond/Const", "cond/Mul", "cond/Sin"),
        *("cond_1/AddV2", "cond_1/Mul"),
    }


def test_the_debugger_shows_it_as_dead() -> None:
    """And not a number of another run; a breakpoint there does not stop."""
    flow = Flow()
    n = flow.build.variable("n")
    pred = call("Less", call("AssignAdd", n, 1.0), 2.5, name="early")
    with flow.build.as_default():
        y = tf.cond(pred, lambda: call("Neg", n, name="in"), lambda: call("Abs", n, name="out"))
    graph = flow.build.build()
    first = {"n": np.array(0, np.float32)}
    program = Program(graph=graph, forward=graph, fetches=(y.ref,), initial=first)
    debugger = DebugSession(program)
    debugger.set_breakpoints([Breakpoint("cond/in"), Breakpoint("cond/out")])
    stops = [debugger.continue_() for _ in range(7)]
    assert [stop.op for stop in stops] == ["cond/in", "", "cond/in", "", "cond/out", "", "cond/out"]
    for run in range(3):
        frame = debugger.frame(run, debugger.timeline.length - 1)
        there, dead = ("cond/in", "cond/out") if run < 2 else ("cond/out", "cond/in")
        assert abs(frame.value(there)) == run + 1  # type: ignore[arg-type]
        assert frame.dead(there) is None
        assert frame.value(dead) is None
        assert frame.dead(dead).text == f"dead: branch not taken because early is {run < 2}"  # type: ignore[union-attr]
        assert debugger.frame(run, 0).dead(dead) is None  # not yet


def test_in_a_loop_each_iteration_has_its_own_branch() -> None:
    build = GraphBuilder()
    end = build.placeholder("end", shape=())

    def body(i: Tensor, total: Tensor) -> list[Tensor]:
        early = call("Less", i, 1.0, name="early")
        twice, less = (lambda: call("Mul", total, 2.0, name="twice")), (lambda: total - 100.0)
        return [i + 1.0, tf.cond(early, twice, less)]

    with build.as_default():
        start = [tf.constant(0.0), tf.constant(1.0)]
        _, total = tf.while_loop(lambda i, _: call("Less", i, end), body, start)
    graph = build.build()
    feeds = {end.ref: np.array(3, np.float32)}
    program = Program(graph=graph, forward=graph, fetches=(total.ref,), feeds=feeds)
    debugger = DebugSession(program)
    debugger.set_breakpoints([Breakpoint("while/cond/twice"), Breakpoint("while/cond/Sub")])
    stops = [debugger.continue_().op for _ in range(2)]
    assert stops == ["while/cond/twice", "while/cond/Sub"]
    dead = debugger.frame().dead("while/cond/twice")
    assert dead is not None
    assert dead.text.endswith("because while/early is False")
    assert debugger.frame().value("while/cond/twice") is None
    assert [debugger.continue_().op for _ in range(2)] == ["while/cond/Sub", ""]
    assert debugger.frame().value(total.ref) == -198


CONDITIONS = st.recursive(
    st.builds(requirement, st.integers(0, 3), st.booleans()),
    lambda inner: st.lists(inner, min_size=1, max_size=3).flatmap(
        lambda parts: st.sampled_from([("all", parts), ("any", parts)])
    ),
    max_leaves=8,
)


def _built(tree: object) -> Condition:
    if isinstance(tree, frozenset):
        return tree
    kind, parts = tree  # type: ignore[misc]
    return (all_of if kind == "all" else any_of)([_built(part) for part in parts])


def _truth(tree: object, values: tuple[bool, ...]) -> bool:
    if isinstance(tree, frozenset):
        return holds(tree, values.__getitem__)
    kind, parts = tree  # type: ignore[misc]
    return (all if kind == "all" else any)(_truth(part, values) for part in parts)


@given(CONDITIONS)
def test_conditions_mean_what_they_are_made_of(tree: object) -> None:
    condition = _built(tree)
    truths = [_truth(tree, values) for values in product((False, True), repeat=4)]
    assert [holds(condition, v.__getitem__) for v in product((False, True), repeat=4)] == truths
    assert (condition == NEVER) == (not any(truths))
    assert (condition == ALWAYS) == all(truths)


def test_conditions_have_a_limit() -> None:
    pairs = [any_of([requirement(2 * i, True), requirement(2 * i + 1, True)]) for i in range(7)]
    with pytest.raises(GradstepError, match="more than 64 combinations"):
        all_of(pairs)


def test_a_tensor_that_is_fed_is_alive() -> None:
    flow = Flow()
    x = flow.build.placeholder("x", shape=())
    y = flow.cond(lambda: x + 1.0, lambda: call("Neg", x, name="other") * 2.0)
    session = flow.session(False)
    assert session.run([y.ref], {"p": False, "x": 1.0, "cond/other": 5.0}) == [10.0]
    assert session.run([TensorRef("cond/other")], {"p": True, "cond/other": 5.0}) == [5.0]
