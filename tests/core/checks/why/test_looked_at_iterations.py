"""Why is asked of what is shown: in loops, of the iteration that is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.why.questioned_run import Recollection
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.loop import graph_around, way_to, within
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.gradient_context import Situation
from tests.core.checks.test_among_others import looped, masked_or_doubled
from tests.core.debug.test_chosen_iterations import backward, loops_of
from tests.support import looping
from tests.support.random_loops import SEEDS, RandomLoops
from tests.support.whys import given, graph_of


def why(session: DebugSession, name: str) -> str:
    here = Situation(session.program.graph, GradientRequest(), {}, dict(session.program.feeds))
    stop = session.stop
    return Explainer(here, session=session, run=stop.run, step=stop.step).value(name).text


def recollected(session: DebugSession) -> Recollection:
    return Recollection(session, 0, looked_at=session.looked_at())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("chosen", [None, 0, 1])
def test_it_is_asked_of_the_value_that_is_shown(seed: int, chosen: int | None) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        made = RandomLoops(
            tf, seed, lambda name, kind, shape: builder.placeholder(name, kind, shape)
        )
        fetches = tuple(y.ref for y in made.ys)
    graph = builder.build()
    feeds = {TensorRef(name): np.asarray(value) for name, value in made.feeds.items()}
    session = DebugSession(Program(graph, graph, fetches=fetches, feeds=feeds))
    session.continue_()
    for loop in loops_of(session) if chosen is not None else ():
        session.choose_iteration(loop, chosen)
    there, view = recollected(session), session.view()
    for op in within(graph):
        shown = view.value(ref := op.output())
        if isinstance(shown, np.ndarray) and shown.dtype != object:
            asked = there.array(ref)
            assert asked is not None, ref
            assert np.array_equal(asked, shown, equal_nan=True), ref
        elif shown is None and way_to(graph, op.name):
            assert there.array(ref) is None, ref


@pytest.mark.parametrize("number", [None, 0, 1, 2, 3])
def test_on_the_way_back_it_is_the_gradient_that_is_shown(number: int | None) -> None:
    session = backward(n=4)
    session.choose_iteration("while/While", number)
    gradient = session.program.gradients[TensorRef("while/times")]
    asked = recollected(session).array(gradient)
    assert (
        asked
        == session.view().gradient("while/times")
        == 3 ** (0 if number is None else 3 - number)
    )


@pytest.mark.parametrize("number", range(4))
def test_where_it_stands_in_a_loop_that_iteration_is_meant(number: int) -> None:
    session = looping.session(n=4)
    session.run_to("while/While")
    session.step_into()
    while session.stop.inside[0].iteration < number:
        session.step()
    session.run_to("while/times")
    session.step()
    value = 2 ** (number + 1)
    assert session.view().value("while/times") == value
    where = f"in iteration {number + 1} of while/While"
    assert why(session, "while/times") == (
        f"while/times, {where}, is finite and not zero: it is {value}."
    )
    session.choose_iteration("while/While", 0)
    assert "in iteration 1 of while/While, is finite and not zero: it is 2." in why(
        session, "while/times"
    )


def broken_in(iteration: int) -> DebugSession:
    def body(i: Tensor, a: Tensor, c: Tensor) -> Tensor:
        away = tf.cast(tf.not_equal(i, iteration), "float32")
        part: Any = tf.divide(c, away, name="part")
        return a + tf.minimum(part, 0.0)

    graph = graph_of(looped(body, 4))
    session = DebugSession(
        Program(graph, graph, fetches=(TensorRef("loss"),), feeds=given({"x": 1, "c": 1}))
    )
    session.continue_()
    return session


def test_without_a_choice_the_first_that_is_not_finite_is_told_of() -> None:
    session = broken_in(1)
    assert why(session, "while/part").startswith(
        "while/part, in iteration 2 of while/While, is infinite: "
    )
    session.choose_iteration("while/While", 2)
    assert why(session, "while/part") == (
        "while/part, in iteration 3 of while/While, is finite and not zero: it is 1."
    )
    session.choose_iteration("while/While", 1)
    assert "in iteration 2 of while/While, is infinite" in why(session, "while/part")
    session.choose_iteration("while/While", None)
    assert "in iteration 2 of while/While, is infinite" in why(session, "while/part")


def test_of_a_branch_that_this_iteration_did_not_take_it_says_so() -> None:
    graph = graph_of(looped(masked_or_doubled(flipped=False), 5))
    session = DebugSession(
        Program(graph, graph, fetches=(TensorRef("loss"),), feeds=given({"x": 1, "c": 3}))
    )
    session.continue_()
    twice = next(op.name for op in within(graph) if op.name.endswith("/twice"))
    assert "has no value: branch not taken because" in why(session, twice)
    session.choose_iteration("while/While", 1)
    assert why(session, twice).endswith(
        "in iteration 2 of while/While, is finite and not zero: it is 4."
    )
    assert graph_around(graph, twice)[twice].type == "Mul"
