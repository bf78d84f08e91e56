"""Why is asked of what is shown: in loops, of the iteration that is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.why.questioned_run import Recollection, state_of
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.loop import graph_around, way_to, within
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import Explanation
from tests.core.checks.test_among_others import looped, masked_or_doubled
from tests.core.debug.test_chosen_iterations import backward, loops_of
from tests.support import looping
from tests.support.random_loops import SEEDS
from tests.support.whys import Build, given, graph_of

# Of each random program one iteration of its loops is looked at, or none.
CHOSEN = [(seed, (None, 0, 1)[number % 3]) for number, seed in enumerate(SEEDS)]


def why(session: DebugSession, name: str) -> str:
    here = Situation(session.program.graph, GradientRequest(), {}, dict(session.program.feeds))
    stop = session.stop
    return Explainer(here, session=session, run=stop.run, step=stop.step).value(name).text


def recollected(session: DebugSession) -> Recollection:
    return Recollection(session, 0, looked_at=session.looked_at())


@pytest.mark.parametrize(("seed", "chosen"), CHOSEN)
def test_it_is_asked_of_the_value_that_is_shown(seed: int, chosen: int | None) -> None:
    session = looping.random_session(seed)
    session.continue_()
    graph = session.program.graph
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


def differentiated(build: Build, wrt: str = "x", **values: Any) -> DebugSession:
    """With the gradient of loss."""
    graph = graph_of(build)
    derived = differentiate(graph, GradientRequest.to("loss", wrt))
    return DebugSession(
        Program(
            derived.graph,
            graph,
            fetches=(TensorRef("loss"), derived.gradients[TensorRef(wrt)]),
            feeds=given(values),
            gradients=derived.gradients,
            derived=(derived,),
        )
    )


def why_gradient(session: DebugSession, wrt: str, of: str = "loss") -> Explanation:
    here = Situation(session.program.forward, GradientRequest(), {}, dict(session.program.feeds))
    stop = session.stop
    return Explainer(here, session=session, run=stop.run, step=stop.step).gradient(of, wrt)


def vanishing(i: Tensor, a: Tensor, c: Tensor) -> Tensor:
    """In the third iteration nothing goes back."""
    return tf.multiply(a, tf.cast(tf.not_equal(i, 2), "float32"), name="times") + c


def test_a_gradient_in_a_loop_is_explained_where_it_is_looked_at() -> None:
    session = differentiated(looped(vanishing, 4), x=1, c=1)
    session.continue_()
    for number in (2, 3):
        session.choose_iteration("while/While", number)
        assert why_gradient(session, "while/times").text == (
            f"d loss / d while/times, in iteration {number + 1} of while/While: it is finite and "
            "not zero (norm 1)."
        )
    for number in (0, 1):
        session.choose_iteration("while/While", number)
        found = why_gradient(session, "while/times")
        assert found.text.startswith(
            f"d loss / d while/times, in iteration {number + 1} of while/While, is zero: a "
            "gradient arrives at while/times (Mul) and none of it goes on"
        )
        assert found.chain[0].iterations == [(2, "while/While")]


def test_where_it_stands_in_the_loop_on_the_way_back_that_gradient_is_meant() -> None:
    session = differentiated(looped(vanishing, 4), x=1, c=1)
    back = next(name for name in loops_of(session) if name.startswith("gradients/"))
    session.run_to(back)
    session.step_into()
    states = {}
    while session.stop.inside and session.stop.inside[0].iteration < 4:
        number = 4 - session.stop.inside[0].iteration
        shown = session.view().gradient("while/times")
        if shown is not None:
            found = why_gradient(session, "while/times")
            assert f"in iteration {number} of while/While" in found.text
            assert found.state == state_of(shown)
            states[number] = found.state
        session.step()
    assert states == {4: "ok", 3: "ok", 2: "zero", 1: "zero"}


def test_what_has_no_gradient_in_a_loop_says_why() -> None:
    session = differentiated(looped(vanishing, 4), x=1, c=1)
    session.continue_()
    loop = session.program.forward["while/While"].attrs["loop"]
    assert "is None" in why_gradient(session, loop.cond.short).text
    switch = next(
        op for op in loop.graph if op.type == "Switch" and op.inputs[0].op == loop.variables[1]
    )
    found = why_gradient(session, switch.name)
    assert found.text == (
        f"d loss / d {switch.name} is None: {switch.name} (Switch) is the loop's own, and not "
        f"differentiated by itself; ask of {loop.variables[1]}, which it passes on."
    )


@pytest.mark.parametrize(("seed", "chosen"), CHOSEN)
def test_of_each_gradient_in_a_loop_what_is_shown_is_explained(
    seed: int, chosen: int | None
) -> None:
    session = looping.random_session(seed, differentiated=True)
    session.continue_()
    for loop in loops_of(session) if chosen is not None else ():
        session.choose_iteration(loop, chosen)
    view, forward = session.view(), session.program.forward
    of = session.program.derived[0].of[0].short
    for op in within(forward):
        ref = op.output()
        if not way_to(forward, op.name):
            continue
        found, shown = why_gradient(session, ref.short, of), view.gradient(ref)
        if shown is None:
            assert found.state in ("none", "ok"), (ref, found.text)
        elif isinstance(shown, np.ndarray):
            assert found.state == state_of(shown), (ref, found.text)


def test_what_the_last_iteration_leaves_and_nobody_takes_has_no_gradient() -> None:
    """A state that is summed up on the way, and not looked at in the end."""

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[])
        b.placeholder("c", shape=[])

        def body(i: Tensor, state: Tensor, total: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            return i + 1, tf.multiply(state, x, name="next"), tf.add(total, state, name="sum")

        _, _, total = tf.while_loop(lambda i, s, t: i < 3, body, (0, x, 0.0))
        tf.identity(total, name="loss")

    session = differentiated(build, x=2)
    session.continue_()
    found = why_gradient(session, "while/next")
    assert found.state == "zero"
    assert found.cause == "last_iteration"
    assert found.text.startswith(
        "d loss / d while/next, in iteration 3 of while/While, is zero: no gradient comes back to "
    )
    assert "from behind the loop, in iteration 3 of while/While" in found.text
    session.choose_iteration("while/While", 1)
    assert why_gradient(session, "while/next").state == "ok"
