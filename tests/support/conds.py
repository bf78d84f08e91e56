"""Small networks with conds: one as a document, one that is trained."""

from __future__ import annotations

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from gradstep.core.train.optimizers import apply_updates
from tests.support.layouts import Case


def document(x: tuple[float, float]) -> Document:
    """loss = |y|², y = w x ("cond/scaled") where x is positive in sum, else -x ("cond/turned");
    w = [3, 4]."""
    build, axis = GraphBuilder(), np.array([0], np.int32)
    given = build.placeholder("x", shape=(2,))
    w = build.variable("w", shape=(2,))
    positive = call("Greater", call("Sum", given, axis), 0.0, name="positive")
    y = tf.cond(
        positive,
        lambda: call("Mul", w, given, name="scaled"),
        lambda: call("Neg", given, name="turned"),
    )
    call("Sum", call("Square", y, name="square"), axis, name="loss")
    return Document(
        graph=build.build(),
        request=GradientRequest.to("loss", "x", "w"),
        feeds={"x:0": Constant(np.array(x, np.float32))},
        initial={"w": Constant(np.array([3, 4], np.float32))},
    )


def trained() -> Case:
    """A network on tensors larger than a block, whose conds, one in the other, go another way in
    every run; its variables, of both kinds, are trained, and a mean moves in one branch."""
    build, all_of = GraphBuilder(), np.array([0, 1], np.int32)
    x, count = build.placeholder("x", shape=(300, 250)), build.variable("count")
    w, mean = build.variable("w", shape=(250,)), build.variable("mean")
    kind = {"dtype": DType.FLOAT32, "shape": Shape.of(250)}
    r = build.one("VarHandleOp", name="r", **kind)

    def read() -> Tensor:
        return build.one("ReadVariableOp", r, dtype=DType.FLOAT32)

    def moved() -> Tensor:
        update = call("AssignAdd", mean, 0.1 * (call("Mean", x, all_of) - mean))
        with build.control_dependencies([update.ref.op]):
            return call("Tanh", call("Tanh", x * w) * read()) * 2.0

    with build.as_default():
        turn = call("AssignAdd", count, 1.0)
        first = call("Equal", call("FloorMod", turn, 3.0), 1.0)
        second = call("Equal", call("FloorMod", turn, 3.0), 2.0)
        y = tf.cond(
            first, moved, lambda: tf.cond(second, lambda: call("Exp", -x) * w, lambda: x * read())
        )
    loss = call("Mean", call("Square", y + w), all_of, name="loss")
    found = zip(("w", "r"), gradients(loss, [w, r]), strict=True)
    updates = apply_updates(build, "Adam", {"learning_rate": 0.1}, [*found])
    random = np.random.default_rng(4)
    first_values = {n: random.normal(size=250).astype(np.float32) for n in ("w", "r")}
    zeros = {n: np.array(0, np.float32) for n in ("count", "mean")}
    return Case(
        build.build(),
        (loss.ref, y.ref),
        updates.targets,
        {x.ref: random.normal(size=(300, 250)).astype(np.float32)},
        {**first_values, **zeros, **updates.initial},
    )
