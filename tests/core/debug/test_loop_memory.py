"""What loops keep of their iterations stays within the limit for recorded runs: what there is no
room for is computed again, and is the same; what cannot be is refused, before memory is taken."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.loop_iterations import LoopIterations, kept_iterations
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.engine.loops import iteration_checkpoints, iteration_trace, trace_budget
from gradstep.core.engine.loops.iteration_trace import LoopTrace
from gradstep.core.engine.loops.trace_budget import Spare
from gradstep.core.engine.plan.loop_body import trace_of
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive
from tests.support.random_loops import RandomLoops

SIZE = 5_000  # floats: 20 kB
COUNT = 100  # iterations
MIB = 1 << 20


def recurrent(
    cell: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda h, w, x: tf.tanh(h * w + x),
    count: int = COUNT,
    gradient: bool = True,
) -> Document:
    """h = cell(h, w, x), again and again, and the gradient of its sum with respect to w."""
    build = GraphBuilder()
    x, w = build.placeholder("x", shape=(SIZE,)), build.variable("w", shape=(SIZE,))
    with build.as_default():
        _, h = tf.while_loop(lambda i, h: i < count, lambda i, h: (i + 1, cell(h, w, x)), [0, x])
        loss = tf.reduce_sum(h, name="loss")
    values = np.linspace(0.1, 0.9, SIZE, dtype=np.float32)
    return Document(
        graph=build.build(),
        request=GradientRequest((loss.ref,), (TensorRef("w"),) if gradient else ()),
        feeds={"x:0": Constant(values)},
        initial={"w": Constant(values[::-1])},
    )


@contextmanager
def little(least: int = MIB // 4) -> Iterator[None]:
    """Memory for loops is what the limit leaves, and that much at least."""
    with patch.object(trace_budget, "LEAST_BYTES", least):
        yield


def gradients(document: Document, limit: int, runs: int = 2) -> list[np.ndarray]:
    """Of `w`, after each run of a debugger with that limit."""
    with little():
        session, found = DebugSession(derive(document), limit_bytes=limit), []
        for _ in range(runs):
            stop = session.continue_()
            assert stop.reason is Reason.END, stop.error
            found.append(session.frame().gradient("w"))
        return found


# -- the same ------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [8 * MIB, 4 * MIB])
def test_gradients_are_the_same_with_less_memory(limit: int) -> None:
    for there, wanted in zip(
        gradients(recurrent(), limit), gradients(recurrent(), 1 << 30), strict=True
    ):
        np.testing.assert_array_equal(there, wanted)


def levels(session: DebugSession) -> Iterator[LoopIterations]:
    """Every loop of the last run, those inside others for each of their iterations."""
    timeline, plan = session.timeline, session.plan

    def within(step: Step, kept: Any) -> Iterator[LoopIterations]:
        inside = kept_iterations(step, kept)
        yield inside
        for number in range(kept.iterations):
            for index in inside.plan.loops:
                inner = inside.plan.steps[index]
                if inner.guard is None:
                    yield from within(inner, kept.held(trace_of(inner), number))

    for index in plan.loops:
        step = plan.steps[index]
        kept = timeline.held(session.stop.run, trace_of(step), len(plan.steps))
        yield from within(step, kept)


def seen(session: DebugSession) -> list[bytes]:
    """All that every iteration computed."""
    found = []
    for inside in levels(session):
        assert inside.count is not None
        for number in range(inside.count + 1):
            length = inside.length_of(number)
            for ref in inside.plan.tensors:
                value = inside.value(ref, number, length)
                if isinstance(value, np.ndarray):
                    found.append(value.tobytes())
    return found


def random_program(seed: int) -> Program:
    build = GraphBuilder()
    with build.as_default():
        made = RandomLoops(tf, seed, build.placeholder)
    of = tuple(y.ref for y in made.ys)
    feeds = {f"{name}:0": Constant(value) for name, value in made.feeds.items()}
    request = GradientRequest(of, tuple(x.ref for x in made.xs))
    return derive(Document(graph=build.build(), request=request, feeds=feeds))


@contextmanager
def forgetful() -> Iterator[None]:
    """Loops let go of all that they can as soon as they are over, and have short segments."""
    end = LoopTrace.end

    def forget(self: LoopTrace, *given: Any) -> None:
        end(self, *given)
        self.last = None
        for what in Spare:
            while self.shrink(what):
                pass

    with patch.object(LoopTrace, "end", forget), patch.object(iteration_checkpoints, "_LONGER", 1):
        yield


@pytest.mark.parametrize("seed", range(12))
def test_what_is_computed_again_is_the_same(seed: int) -> None:
    """Loops in loops, conds in them, trip counts that depend on the data."""
    program = random_program(seed)
    plain, other = DebugSession(program), DebugSession(program)
    for _ in range(2):
        plain.continue_()
        with forgetful():
            other.continue_()
        for ref in program.fetches:
            there, wanted = other.frame().value(ref), plain.frame().value(ref)
            np.testing.assert_array_equal(there, wanted)
        assert seen(other) == seen(plain)


@pytest.mark.slow
def test_random_numbers_and_variables_are_the_same_when_done_again() -> None:
    """What a loop draws follows from how often it has drawn, and a variable that it writes from
    what it held: an iteration that is done again starts with both, and leaves neither."""
    build = GraphBuilder()
    v, x = build.variable("v"), build.placeholder("x", shape=())
    with build.as_default():

        def body(i: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
            noise = tf.random_uniform([], seed=3)
            with build.control_dependencies([build.one("AssignAdd", v, 1.0).ref.op]):
                return i + 1, tf.tanh(h * x + noise) * tf.identity(v)

        _, h = tf.while_loop(lambda i, h: i < 50, body, [0, 1.0])
        tf.identity(h, name="y")
    request = GradientRequest.to("y", "x")
    document = Document(
        graph=build.build(),
        request=request,
        feeds={"x:0": Constant(np.float32(0.3))},
        initial={"v": Constant(np.float32(0))},
    )
    program = derive(document)
    plain, other = DebugSession(program), DebugSession(program)
    for _ in range(3):
        plain.continue_()
        with forgetful():
            other.continue_()
        assert seen(other) == seen(plain)
        for name in ("y", "v"):
            assert other.frame().value(name) == plain.frame().value(name)
        assert other.frame().gradient("x") == plain.frame().gradient("x")


def test_an_iteration_that_was_let_go_of_is_computed_when_it_is_looked_at() -> None:
    """Far back in a loop, and in a run before this one."""
    document, names = recurrent(gradient=False), ("while/Tanh", "while/Merge_1")
    wanted, found = [], []
    for limit, into in ((1 << 30, wanted), (2 * MIB, found)):
        with little():
            session = DebugSession(derive(document), limit_bytes=limit)
            session.continue_()
            session.continue_()
            (loop,) = session.plan.loops
            end = len(session.plan.steps[loop].iteration.plan.steps)
            for run, number in ((1, 3), (1, 90), (0, 50), (1, 4)):
                session.run_to(f"{run}:{loop}/{number}:{end}")
                into += [session.frame().value(name) for name in names]
    for there, same in zip(found, wanted, strict=True):
        assert there is not None
        np.testing.assert_array_equal(there, same)


def test_what_an_edit_asks_for_is_kept_from_then_on() -> None:
    """A loop that ran without a gradient, and is taken over into the plan of one with it."""
    with patch.object(iteration_trace, "MOST_BYTES", 1):
        first = DebugSession(derive(recurrent(gradient=False)))
        first.continue_()
        edited = derive(recurrent(), previous=first.program)
        session = DebugSession(edited, before=first)
        assert session.continue_().reason is Reason.END
    (wanted,) = gradients(recurrent(), 1 << 30, runs=1)
    np.testing.assert_array_equal(session.frame().gradient("w"), wanted)


# -- within the limit ------------------------------------------------------------------------------


def sizes(document: Document, limit: int, runs: int = 3) -> list[int]:
    """Bytes that all recorded runs hold, after each iteration of every loop."""
    found: list[int] = []
    with little():
        session = DebugSession(derive(document), limit_bytes=limit)
        add = LoopTrace.add

        def noted(self: LoopTrace, *given: Any) -> None:
            add(self, *given)
            found.append(session.timeline.nbytes)

        with patch.object(LoopTrace, "add", noted):
            for _ in range(runs):
                stop = session.continue_()
                assert stop.reason is Reason.END, stop.error
    return found


ONE = 20 * SIZE * 4  # bytes of an iteration, there or back, at most


@pytest.mark.parametrize("limit", [16 * MIB, 6 * MIB, 3 * MIB])
def test_all_that_is_held_stays_within_the_limit(limit: int) -> None:
    """At any time: the runs that are kept, the one that goes on, and its loops."""
    assert max(sizes(recurrent(), 1 << 30)) > 3 * limit / 2
    assert max(sizes(recurrent(), limit)) <= limit + ONE


def test_the_memory_that_is_taken_is_what_is_counted() -> None:
    document, limit = recurrent(), 6 * MIB
    with little():
        session = DebugSession(derive(document), limit_bytes=limit)
        tracemalloc.start()
        try:
            for _ in range(3):
                session.continue_()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak <= limit + 2 * ONE


@pytest.mark.slow
def test_loops_in_loops_and_one_after_the_other_share_the_memory() -> None:
    build = GraphBuilder()
    x, w = build.placeholder("x", shape=(SIZE,)), build.variable("w", shape=(SIZE,))

    def inner(h: Tensor) -> Tensor:
        return tf.while_loop(lambda j, h: j < 8, lambda j, h: (j + 1, tf.tanh(h * w)), [0, h])[1]

    with build.as_default():
        h = x
        for _ in range(2):
            _, h = tf.while_loop(lambda i, h: i < 10, lambda i, h: (i + 1, inner(h) + x), [0, h])
        loss = tf.reduce_sum(h, name="loss")
    values = np.linspace(0.1, 0.9, SIZE, dtype=np.float32)
    document = Document(
        graph=build.build(),
        request=GradientRequest((loss.ref,), (TensorRef("w"),)),
        feeds={"x:0": Constant(values)},
        initial={"w": Constant(values[::-1])},
    )
    limit = 8 * MIB
    assert max(sizes(document, 1 << 30)) > 2 * limit
    assert max(sizes(document, limit)) <= limit + 2 * ONE
    for there, wanted in zip(gradients(document, limit), gradients(document, 1 << 30), strict=True):
        np.testing.assert_array_equal(there, wanted)


# -- refused -------------------------------------------------------------------------------------


def python_cell(count: int = COUNT) -> Document:
    """A loop that calls a function of the user's, which is not called again for what it gave."""

    def cell(h: Tensor, w: Tensor, x: Tensor) -> Tensor:
        kind = (DType.FLOAT32,)
        seen = w.builder.one("PyFunc", h, token="look", Tin=kind, Tout=kind)
        return tf.tanh(h * w + x) + 0.0 * tf.reshape(seen, [SIZE])

    source = "def look(h):\n    return h\n"
    item = CodeItem("look", CodeKind.PYFUNC, source)
    return recurrent(cell, count).with_(code={"look": item})


def refused(session: DebugSession) -> str:
    stop = session.continue_()
    assert stop.reason is Reason.EXCEPTION
    assert stop.error is not None
    assert stop.error.kind == "ResourceExhaustedError"
    assert stop.error.node == "while/While"
    assert "Keep recorded" in stop.error.hint
    return stop.error.message


def test_what_cannot_be_done_again_is_refused_before_memory_is_taken() -> None:
    limit = 3 * MIB
    with little():
        program = derive(python_cell(), trusted=True)
        session = DebugSession(program, limit_bytes=limit)
        tracemalloc.start()
        try:
            message = refused(session)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert "of 3 MiB for recorded runs" in message
    assert peak <= limit + 2 * ONE
    assert session.timeline.nbytes <= limit + ONE
    enough = DebugSession(program, limit_bytes=1 << 30)
    assert enough.continue_().reason is Reason.END


def test_more_iterations_than_starts_can_be_kept_of_are_refused() -> None:
    with little():
        session = DebugSession(derive(recurrent(count=2000)), limit_bytes=MIB)
        refused(session)


def test_a_refusal_inside_a_loop_stops_there() -> None:
    """Stepping through iterations, as if the loop had been run."""
    with little():
        session = DebugSession(derive(python_cell(), trusted=True), limit_bytes=2 * MIB)
        session.run_to(f"0:{session.plan.loops[0]}")
        session.step_into()
        stop = session.stop
        for _ in range(COUNT * 20):
            stop = session.step()
            if stop.error is not None:
                break
        assert stop.reason is Reason.EXCEPTION
        assert stop.inside
        assert stop.error is not None
        assert stop.error.kind == "ResourceExhaustedError"
