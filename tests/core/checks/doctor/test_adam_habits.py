"""Adam: epsilon against gradients, and steps of what has no gradient any more."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings


def scaled(scale: float, epsilon: float = 1e-8) -> Document:
    """loss = scale · sum(w)."""

    def draw(b: GraphBuilder) -> None:
        w = b.variable("w", shape=[4])
        tf.reduce_sum(tf.multiply(w, scale, name="p"), name="loss")

    adam = Optimizer("Adam", {"learning_rate": 0.1, "epsilon": epsilon})
    return drawn(draw, "loss", ["w"], initial={"w": np.ones(4)}, optimizers=(adam,))


def test_an_epsilon_above_the_gradient_rules() -> None:
    (found,) = findings(scaled(1e-10), "epsilon-rules", runs=2)
    assert found.node == "w"
    assert "Adam's epsilon, 1e-08, is larger than the gradients of w" in found.text
    assert "so steps are 1.2e+02 times smaller" in found.text


@pytest.mark.parametrize("document", [scaled(1.0), scaled(1e-10, 1e-14), scaled(0.0)])
def test_a_small_epsilon_and_no_gradient_at_all_are_left_alone(document: Document) -> None:
    assert not findings(document, "epsilon-rules", runs=2)


def test_a_bias_before_a_normalisation_has_a_gradient_of_rounding() -> None:
    """d loss / d b is the sum of what has a mean of 0 over the rows."""

    def draw(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[8, 3])
        y = tf.add(tf.matmul(x, b.variable("w", shape=[3, 3])), b.variable("b", shape=[3]))
        centred = tf.subtract(y, tf.reduce_mean(y, 0))
        tf.reduce_mean(tf.square(tf.matmul(centred, b.variable("v", shape=[3, 1]))), name="loss")

    random = np.random.default_rng(1)
    numbers = {name: random.normal(size=n) for name, n in (("w", (3, 3)), ("v", (3, 1)), ("b", 3))}
    adam = Optimizer("Adam", {"learning_rate": 0.1, "epsilon": 1e-6})
    document = drawn(
        draw,
        "loss",
        ["w", "b", "v"],
        initial=numbers,
        feeds={"x": random.normal(size=(8, 3))},
        optimizers=(adam,),
    )
    for code in ("epsilon-rules", "moved-by-memory"):
        assert not findings(document, code, runs=5)


def masked(optimizer: str) -> Document:
    """In run 1 all of w learns, afterwards the first half alone: the mask is multiplied by m."""

    def draw(b: GraphBuilder) -> None:
        w, m = b.variable("w", shape=[4]), b.variable("m", shape=[4])
        half = b.constant(np.array([1, 1, 0, 0], np.float32), name="half")
        mask = tf.multiply(m, 1.0, name="mask")  # as it was before it is changed
        tf.reduce_sum(tf.multiply(mask, tf.square(w, name="s"), name="p"), name="loss")
        with b.control_dependencies(["mask"]):
            later = tf.multiply(half, 1.0, name="later")
        b.one("Assign", m, later, name="freeze")

    adam = Optimizer(optimizer, {"learning_rate": 0.1})
    start = {"w": np.ones(4), "m": np.ones(4)}
    return drawn(draw, "loss", ["w"], initial=start, optimizers=(adam,), targets=("freeze",))


def test_adam_moves_what_has_no_gradient_any_more() -> None:
    (found,) = findings(masked("Adam"), "moved-by-memory", runs=3)
    assert (found.node, found.severity) == ("w", "info")
    assert "in run 3, 2 of 4 (50 %) of the elements of w have a gradient of exactly 0" in found.text


def test_gradient_descent_does_not_and_before_the_mask_nor_does_adam() -> None:
    assert not findings(masked("GradientDescent"), "moved-by-memory", runs=3)


def test_rmsprop_with_momentum_does_on_resource_variables_too() -> None:
    """The gradient of the second half is 0 from run 2 on, and its momentum is not."""

    def draw(b: GraphBuilder) -> None:
        w, ms, mom = (
            b.one("VarHandleOp", name=name, dtype=DType.FLOAT32, shape=Shape((4,)))
            for name in ("w", "ms", "mom")
        )
        m = b.variable("m", shape=[4])
        mask = tf.multiply(m, 1.0, name="mask")
        read = b.one("ReadVariableOp", w, name="read", dtype=DType.FLOAT32)
        grad = tf.multiply(mask, read, name="grad")
        numbers = [b.constant(np.float32(x)) for x in (0.1, 0.9, 0.9, 1e-7)]
        b.op("ResourceApplyRMSProp", w, ms, mom, *numbers, grad, name="step")
        with b.control_dependencies(["step", "mask"]):
            half = b.constant(np.array([1, 1, 0, 0], np.float32), name="half")
            later = tf.multiply(half, 1.0, name="later")
        b.one("Assign", m, later, name="freeze")
        tf.reduce_sum(grad, name="loss")

    start = {"w": np.ones(4), "m": np.ones(4), "ms": np.zeros(4), "mom": np.zeros(4)}
    document = drawn(draw, "loss", [], initial=start, targets=("step", "freeze"))
    (found,) = findings(document, "moved-by-memory", runs=3)
    assert found.node == "w"


def dying(is_masked: bool) -> Document:
    """The first step makes the biases of two of four units so small that these give 0 for all rows.
    is_masked: from then on, the weights of the two others are multiplied by 0 as well."""

    def draw(b: GraphBuilder) -> None:
        w, bias, m = b.variable("w", shape=[2, 4]), b.variable("b", shape=[4]), b.variable("m")
        mask = tf.multiply(m, 1.0, name="mask")  # as it was before it is changed
        left = tf.add(tf.multiply(mask, np.array([0, 0, 1, 1], np.float32)), [1.0, 1.0, 0.0, 0.0])
        weights = tf.multiply(w, left, name="left") if is_masked else w
        product = tf.matmul(b.placeholder("x", shape=[8, 2]), weights)
        units = tf.relu(tf.add(product, bias, name="sum"), name="units")
        slopes = np.array([[30.0], [30.0], [1.0], [1.0]], np.float32)
        tf.reduce_sum(tf.matmul(units, slopes), name="loss")
        with b.control_dependencies(["mask"]):
            b.one("Assign", m, 0.0, name="freeze")

    start = {"w": np.full((2, 4), 0.1), "b": np.array([0.5, 0.5, 90, 90]), "m": np.float32(1)}
    return drawn(
        draw,
        "loss",
        ["w", "b"],
        initial=start,
        feeds={"x": np.random.default_rng(1).uniform(size=(8, 2))},
        optimizers=(Optimizer("Momentum", {"learning_rate": 0.01, "momentum": 0.5}),),
        targets=("freeze",),
    )


def test_units_that_died_are_none_that_somebody_meant_to_freeze() -> None:
    assert not findings(dying(is_masked=False), "moved-by-memory", runs=3)
    (found,) = findings(dying(is_masked=True), "moved-by-memory", runs=3)
    assert found.node == "w"
    assert "4 of 8 (50 %)" in found.text
