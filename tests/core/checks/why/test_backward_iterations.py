"""The way back through a loop: which iteration is which, and what it is made of."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.why.backward_iterations import Level, iterations_back, level_of, plain
from gradstep.core.checks.why.recorded_values import LoopRan, Recorded
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor
from tests.core.checks.test_among_others import looped
from tests.support.whys import graph_of


def body(i: Tensor, a: Tensor, c: Tensor) -> Tensor:
    return tf.cond(tf.less(i, 2), lambda: tf.multiply(a, c, name="m"), lambda: a + c)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return graph_of(looped(body, 4))


@pytest.fixture(scope="module")
def whole(graph: Graph) -> Level:
    request = GradientRequest.to("loss", "x")
    derived = differentiate(graph, request, {})
    gradient = derived.gradients[TensorRef("x")]
    feeds = {TensorRef("x"): np.float32(1), TensorRef("c"): np.float32(3)}
    session = DebugSession(Program(derived.graph, graph, fetches=(gradient,), feeds=feeds))
    session.continue_()
    return Level(Recorded(session).run(0), graph)


def back_of(whole: Level) -> LoopRan:
    back = iterations_back(whole.ran, whole.graph["while/While"])
    assert back is not None
    return back


def test_iterations_are_gone_back_through_from_the_last(whole: Level) -> None:
    op, back = whole.graph["while/While"], back_of(whole)
    assert back.count == 4
    levels = [level_of(whole, op, back, number) for number in range(4)]
    assert [level.iteration for level in levels] == [
        ((count, "while/While"),) for count in (3, 2, 1, 0)
    ]
    assert levels[0].after is None
    for before, level in pairwise(levels):
        after = level.after
        assert after is not None
        assert (after.number, after.iteration, after.ran.rank) == (
            before.number,
            before.iteration,
            before.ran.rank,
        )
    assert (whole.iteration, whole.after) == ((), None)


def test_what_is_no_loop_has_no_iterations_back(whole: Level) -> None:
    assert iterations_back(whole.ran, whole.graph["loss"]) is None
    early = Recorded(whole.ran.session).up_to(0, whole.ran.plan.step_of["while/While"] + 1)
    assert iterations_back(early, whole.graph["while/While"]) is None


def test_what_an_argument_is_outside(whole: Level) -> None:
    op = whole.graph["while/While"]
    loop = loop_of(op)
    assert loop is not None
    level = level_of(whole, op, back_of(whole), 1)
    (captured,) = (name for name in loop.captures if "c" in name or "Enter" in name)
    outside = level.outside(TensorRef(captured))
    assert outside == op.inputs[loop.arguments.index(captured)]
    for ref in (TensorRef("while/Less"), TensorRef(loop.variables[1]), None):
        assert level.outside(ref) == ref
    assert whole.outside(TensorRef(captured)) == TensorRef(captured)


def test_the_loops_own_switches_are_left_out_and_those_of_conds_kept(graph: Graph) -> None:
    loop = loop_of(graph["while/While"])
    assert loop is not None
    switches = [op for op in loop.graph if op.type in ("Switch", "RefSwitch")]
    own = {op.name for op in switches if op.inputs[1] == loop.cond}
    kept = plain(loop)
    assert {op.name for op in loop.graph} - {op.name for op in kept} == own
    assert len(own) < len(switches)
    assert not any(ref is not None and ref.op in own for op in kept for ref in op.inputs)
