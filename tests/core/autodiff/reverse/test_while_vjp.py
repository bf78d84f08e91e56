"""Gradients through loops: what is asked of them by name, what is taken again, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.check.frozen_values import freeze_values
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Edge, Graph, Phase, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.program.gradient_context import Situation

FEEDS = {"x": np.float32(2), "c": np.float32(1.5), "d": np.float32(1)}
IN_X = GradientRequest.to("y", "x", "c", "d")
THROUGH_FLOOR = Override("Identity", "while/floor", OverrideKind.OP)
MUL = TensorRef("while/mul")


@pytest.fixture(scope="module")
def graph() -> Graph:
    """y = x * (floor(c) + stop(d))^3, by a loop."""
    builder = GraphBuilder()
    with builder.as_default():
        x, c, d = (builder.placeholder(name, shape=[]) for name in "xcd")

        def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            factor = tf.floor(c, name="floor") + tf.stop_gradient(d, name="stop")
            return i + 1, tf.multiply(factor, a, name="mul")

        _, y = tf.while_loop(lambda i, a: i < 3, body, (0, x))
        tf.identity(y, name="y")
    return builder.build()


def run(derived: Differentiation, refs: list[TensorRef], feeds: Any = FEEDS) -> list[float]:
    assert not infer_declared(derived.graph).problems
    return [float(v) for v in Session(derived.graph).run(refs, feeds)]


def slopes(derived: Differentiation) -> list[float | None]:
    refs = [derived.gradients.get(TensorRef(name)) for name in "xcd"]
    values = iter(run(derived, [ref for ref in refs if ref is not None]))
    return [None if ref is None else next(values) for ref in refs]


CHANGES: list[tuple[GradientRequest, list[float | None]]] = [
    (IN_X, [8, None, None]),
    (replace(IN_X, overrides=(THROUGH_FLOOR,)), [8, 24, None]),
    (replace(IN_X, stops=frozenset({MUL})), [0, None, None]),
    (replace(IN_X, stopped_edges=frozenset({Edge("while/mul", 1)})), [0, None, None]),
    (replace(IN_X, overrides=(Override("Twice", "Mul"),)), [64, None, None]),
]
TWICE = {"Twice": lambda op, g: [2.0 * g * x for x in op.inputs[::-1]]}


def test_overrides_and_stops_inside_apply_by_name(graph: Graph) -> None:
    """One request after the other, each differentiated from scratch and after the one before."""
    before = None
    for request, wanted in [*CHANGES, *reversed(CHANGES)]:
        alone = differentiate(graph, request, TWICE)
        again = differentiate(graph, request, TWICE, before)
        assert slopes(alone) == slopes(again) == wanted
        assert [op.name for op in within(alone.graph)] == [op.name for op in within(again.graph)]
        before = again


def test_an_edit_elsewhere_leaves_the_loop_as_it_is(graph: Graph) -> None:
    before = differentiate(graph, IN_X)
    builder = GraphBuilder(graph)
    with builder.as_default():
        tf.identity(tf.square(builder.get("y")), name="z")
    again = differentiate(builder.build(), GradientRequest.to("z", "x", "c", "d"), None, before)
    assert slopes(again) == [2 * 16 * 8, None, None]


def test_every_inner_operation_has_its_gradient(graph: Graph) -> None:
    """Operations of the way back belong to those of the way there, inside loops as outside."""
    derived = differentiate(graph, IN_X)
    made = {op.name: op for op in within(derived.graph)}
    assert made[derived.gradients[MUL].op].origin == "while/NextIteration_1"
    product = made["gradients/while/mul_grad/Mul_1"]
    assert (product.origin, product.phase) == ("while/mul", Phase.BACKWARD)
    assert len(made) == len([*within(derived.graph)])
    assert Edge("while/floor", 0) in derived.blocked


WHYS = [
    ("c", IN_X, FEEDS, ("none", "not_differentiable", "while/floor")),
    ("d", IN_X, FEEDS, ("none", "not_differentiable", "while/stop")),
    ("c", replace(IN_X, stops=frozenset({MUL})), FEEDS, ("none", "stopped", "while/mul")),
    ("x", IN_X, {**FEEDS, "c": 0.5, "d": 0.0}, ("zero", "zero_factor", "while/mul")),
    ("x", IN_X, FEEDS, ("ok", "", None)),
]


@pytest.mark.parametrize(("wrt", "request_", "feeds", "wanted"), WHYS)
def test_why_walks_into_loops(
    graph: Graph, wrt: str, request_: GradientRequest, feeds: Any, wanted: tuple[Any, ...]
) -> None:
    point = {TensorRef(name): np.asarray(value, np.float32) for name, value in feeds.items()}
    found = Explainer(Situation(graph, request_, {}, point)).gradient("y", wrt)
    assert (found.state, found.cause, found.node) == wanted, found.text
    assert found.path[0] == "y"


def test_why_names_the_iteration_that_breaks() -> None:
    """0 to the half, in the loop inside; its slope is infinite."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[2])

        def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            def inner(j: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
                return j + 1, b * tf.pow(x - tf.cast(i, "float32"), 0.5, name="pow")

            return i + 1, tf.while_loop(lambda j, b: j < 3, inner, (0, a))[1]

        _, y = tf.while_loop(lambda i, a: i < 2, body, (0, x))
        tf.reduce_sum(y, name="y")
    given = {TensorRef("x"): np.array([1, 2], np.float32)}
    here = Situation(builder.build(), IN_X, {}, given)
    found = Explainer(here).gradient("y", "x")
    assert (found.state, found.cause, found.node) == (
        "nan",
        "zero_to_negative_power",
        "while/while/pow",
    )
    assert found.index == [0]
    assert "makes the first infinity" in found.text
    assert "iteration 1 of gradients/while/While_1_grad/While, iteration 1 of " in found.text


def test_why_says_that_there_were_no_iterations() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x, c = builder.placeholder("x", shape=[]), builder.placeholder("c", shape=[])
        _, y = tf.while_loop(lambda i, _: i < 0, lambda i, a: (i + 1, a * c), (0, x))
        tf.identity(y, name="y")
    given = {TensorRef(name): np.float32(2) for name in "xc"}
    found = Explainer(Situation(builder.build(), IN_X, {}, given)).gradient("y", "c")
    assert (found.state, found.cause, found.node) == ("zero", "no_iterations", "while/While")
    assert found.text.endswith("it comes from the iterations of while/While, and there were none.")


def test_a_loop_on_the_way_back_is_not_differentiated_again() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[])
        _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), (0, 1.0))
        _, z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a), (0, x))
        first, other = (gradients(t, x)[0] for t in (y, z))
        assert isinstance(first, Tensor)
        assert isinstance(other, Tensor)
        with pytest.raises(GradstepError, match="Second-order gradient for while loops") as caught:
            gradients(first, x)
        assert caught.value.kind == "TypeError"
        assert gradients(other, x) == [None]  # as in TensorFlow, which loses it on its stacks


@pytest.mark.parametrize("is_variable", [False, True])
def test_branches_in_a_loop_that_take_a_variable(is_variable: bool) -> None:
    """(x / 2 + x) x + x: a variable goes through a RefSwitch, everything else through a Switch."""
    builder = GraphBuilder()
    with builder.as_default():
        make = builder.variable if is_variable else builder.placeholder
        x = make("x", shape=[])

        def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            return i + 1, tf.cond(tf.equal(i, 1), lambda: a * x, lambda: a + x)

        _, y = tf.while_loop(lambda i, _: i < 3, body, (0, x * 0.5))
        (slope,) = gradients(y, x)
        assert isinstance(slope, Tensor)
    given = {"x": np.float32(0.75)}
    session = Session(builder.build(), initial=given if is_variable else {})
    assert session.run([slope.ref], {} if is_variable else given) == [3.25]


def test_gradients_inside_a_body_belong_to_it() -> None:
    """Descent in a loop, and the gradient of where it leads."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[])

        def body(i: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
            own, other = gradients(tf.square(w - x), [w, x])
            assert isinstance(own, Tensor)
            assert isinstance(other, Tensor)
            return i + 1, w - 0.125 * own + 0.125 * other

        _, w = tf.while_loop(lambda i, w: i < 3, body, (0, np.float32(8)))
        grad = gradients(w, x)[0]
        assert isinstance(grad, Tensor)
    graph = builder.build()
    assert not [op.name for op in graph if op.name.startswith("while/gradients")]
    found = Session(graph).run([w.ref, grad.ref], {"x": np.float32(0)})
    assert [float(v) for v in found] == [1.0, 0.875]


def test_what_is_drawn_in_a_loop_cannot_be_checked_and_says_so() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=(1,))
        _, y = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x + tf.random_normal([1])), (0, x)
        )
    request = GradientRequest((y.ref,), (x.ref,))
    here = {x.ref: np.ones(1, np.float32)}
    with pytest.raises(GradstepError, match="draws random numbers inside a loop"):
        freeze_values(Evaluator({}), builder.build(), request, here)


def test_what_comes_out_of_a_loop_beside_the_loss_has_zeros_if_it_can_have_a_gradient() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[])
        c = builder.placeholder("c", "complex64", [])
        i, y, z, w = tf.while_loop(
            lambda i, y, z, w: i < 3, lambda i, y, z, w: (i + 1, y * x, z + 1.0, w), (0, x, x, c)
        )
        found = gradients(y, [i, y, z, w, x])
    assert found[0] is None
    grads = [g for g in found if isinstance(g, Tensor)]
    values = Session(builder.build()).run([g.ref for g in grads], {"x": 2.0, "c": 1j})
    assert [complex(v) for v in values] == [1, 0, 0, 4 * 2.0**3]
